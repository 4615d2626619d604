"""Our own wire form."""

from __future__ import annotations

import pytest

from quickchecks import Run, _wire, load_run, load_runs, testing
from quickchecks.errors import RecordingError


def whole_run() -> Run:
    inner = testing.run(testing.call("refund"), agent="billing")
    return testing.run(
        testing.user("Refund?"),
        testing.call("lookup", order="A-10", error="not found"),
        testing.call("billing", run=inner),
        "Done.",
    )


def test_the_wire_form_reads_back_as_the_same_run() -> None:
    run = whole_run()
    assert load_run(_wire.loads(_wire.dumps(run))) == run


def test_lone_surrogates_and_nan_survive() -> None:
    run = testing.run(testing.answer({"n": 1.5}), "half \ud83d")
    line = _wire.dumps(run).replace(b"1.5", b"NaN")
    assert load_run(_wire.loads(line)).text.endswith("half \ud83d")


def test_a_run_in_memory_is_given_as_it_is() -> None:
    run = whole_run()
    assert list(load_runs([run, run])) == [run, run]
    assert next(load_runs([run])) is run


@pytest.mark.parametrize(
    ("record", "path", "near"),
    [
        ({"mesages": []}, "", "messages"),
        ({"messages": [{"role": "assistant", "tool_calls": []}]}, "messages[0]", "role"),
        ({"messages": [{"role": "assistant", "parts": [{"type": "text", "txt": "x"}]}]}, "messages[0].parts[0]", "text"),
        ({"children": [{"schema": "quickchecks.run/1", "message": []}]}, "children[0]", "messages"),
    ],
)
def test_unknown_keys_are_refused_with_near_ones(record: dict[str, object], path: str, near: str) -> None:
    """Behind a misspelt key, calls and words would be lost, and every negative check would pass."""
    with pytest.raises(RecordingError, match=r"a key that quickchecks\.run/1 does not have") as caught:
        load_run({"schema": "quickchecks.run/1", **record})
    assert caught.value.path == path
    assert near in caught.value.hint


@pytest.mark.parametrize("length", [-1, 2])
def test_more_history_than_messages_is_refused(length: int) -> None:
    message = {"role": "assistant", "parts": [{"type": "text", "text": "x"}]}
    with pytest.raises(RecordingError, match="expected a number from 0 to 1") as caught:
        load_run({"schema": "quickchecks.run/1", "messages": [message], "history_length": length})
    assert caught.value.path == "history_length"


def test_a_run_in_which_the_agent_does_nothing_shows_nothing() -> None:
    assert load_run({"schema": "quickchecks.run/1"}).gap_kinds == {"calls", "text"}
    asked = {"role": "user", "parts": [{"type": "text", "text": "x"}]}
    assert load_run({"schema": "quickchecks.run/1", "messages": [asked]}).gap_kinds == {"calls"}


def test_what_was_read_without_a_message_of_the_agent_reads_back_as_the_same() -> None:
    for value, format in (([{"role": "user", "content": "q"}], "openai_chat"), ([], "reference"), ({"messages": []}, None)):
        run = load_run(value, format=format)
        assert load_run(_wire.loads(_wire.dumps(run))) == run


def test_messages_of_ours_are_a_run() -> None:
    run = whole_run()
    assert load_run(run.messages).tool_names == run.tool_names
    assert load_run(list(run.messages)).text == "Done."
    assert load_run(testing.run("Hi.").messages[-1]).text == "Hi."
    assert load_run(run.messages[:1]).gap_kinds == {"calls"}
    assert next(load_runs(run.messages)).text == "Done."


def test_other_things_among_messages_of_ours_are_refused() -> None:
    with pytest.raises(RecordingError, match="expected a Message") as caught:
        load_run([*whole_run().messages, {"role": "assistant", "content": "x"}])
    assert caught.value.path.startswith("[")


def test_a_later_version_is_refused() -> None:
    with pytest.raises(RecordingError, match=r"the schema is the text \"quickchecks.run/2\"") as caught:
        load_run({"schema": "quickchecks.run/2"})
    assert "update quickchecks" in caught.value.hint


def test_a_malformed_record_says_where() -> None:
    record = {"schema": "quickchecks.run/1", "messages": [{"role": "user", "parts": [{"type": "text", "text": 5}]}]}
    with pytest.raises(RecordingError, match="expected `str`, got `int`") as caught:
        load_run(record)
    assert caught.value.path == "messages[0].parts[0].text"


def test_another_value_is_not_read_as_one() -> None:
    with pytest.raises(RecordingError, match=r"expected an object with the schema quickchecks\.run/1"):
        load_run("hello", format="quickchecks")
