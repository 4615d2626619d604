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


def test_fields_of_a_later_release_are_passed_over() -> None:
    assert load_run({"schema": "quickchecks.run/1", "brand_new": 1}) == Run()


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
