"""Records in which the agent says nothing: nothing may pass on silence."""

from __future__ import annotations

import msgspec

from quickchecks._run import Gap, GapKind, Message, Run, Text

__all__ = ("run_of_answer", "with_what_is_unsaid")


def run_of_answer(answer: object) -> Run:
    """Take what an agent gave as a run, in which stands what it does not say. A `Run` stays as whoever made it wants it.

    Args:
        answer: A Run, or anything an adapter recognises.

    Raises:
        RecordingError: It is not recognised, or malformed.
    """
    from quickchecks.adapters import as_run

    if isinstance(answer, Run):
        return answer
    run = as_run(answer)
    return with_what_is_unsaid(run, answer, run.messages[run.history_length :], "what was given holds")


def with_what_is_unsaid(run: Run, answer: object, new: tuple[Message, ...], giver: str) -> Run:
    """Let a run say that it holds no answer, where it holds none.

    Args:
        run: The run.
        answer: What it was made of.
        new: Its messages that are the answer.
        giver: How the note begins, such as "the target returned".
    """
    nothing = isinstance(answer, (list, tuple)) and not answer
    unsaid = _unsaid(() if nothing else new, run)
    if not unsaid:
        return run
    known = {gap.kind for gap in run.gaps}
    kinds: tuple[GapKind, ...] = ("calls", "text")
    missing = [Gap(kind, f"{giver} {unsaid}") for kind in kinds if kind not in known]
    return msgspec.structs.replace(run, gaps=(*run.gaps, *missing))


def _unsaid(new: tuple[Message, ...], run: Run) -> str:
    """What came where an answer should be; empty where there is one. A text without a letter is one."""
    if not new or new[-1].role != "assistant":
        heard = run.children or any(message.role == "assistant" for message in new)
        return "" if heard else "no message of the agent"
    parts = new[-1].parts
    if len(parts) != 1 or type(parts[0]) is not Text or parts[0].value is msgspec.UNSET:
        return ""
    value = parts[0].value
    if value == {} or value == []:
        return f"an empty {'object' if value == {} else 'list'}, which says nothing"
    return "NaN, which says nothing" if isinstance(value, float) and value != value else ""
