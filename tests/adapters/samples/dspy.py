"""Values of DSPy: predictions, and their fields as dicts."""

from foreign import foreign

TRACE = "Execution error in book_hotel: \nTraceback (most recent call last):\n  File\nValueError: no rooms left"
TRAJECTORY = {
    "thought_0": "look",
    "tool_name_0": "get_weather",
    "tool_args_0": {"city": "Oslo"},
    "observation_0": "Rain",
    "thought_1": "book",
    "tool_name_1": "book_hotel",
    "tool_args_1": {"city": "Oslo"},
    "observation_1": TRACE,
    "thought_2": "done",
    "tool_name_2": "finish",
    "tool_args_2": {},
    "observation_2": "Completed.",
}
FIELDS = {"trajectory": TRAJECTORY, "reasoning": "because", "answer": "It rains."}


def prediction(**fields: object) -> object:
    usage = fields.pop("_lm_usage", None)
    return foreign("dspy.primitives.prediction:Prediction", _store=fields, _lm_usage=usage)


SAMPLES = [FIELDS, {"trajectory": {"tool_name_0": "finish"}}, prediction(**FIELDS), prediction(answer="x")]
VALID = FIELDS
