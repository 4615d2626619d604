"""Which call a result answers."""

from __future__ import annotations

import time

from quickchecks import ToolCall
from quickchecks.adapters._pairing import Pairing, complete


def waiting(name: str, id: str | None) -> ToolCall:
    return ToolCall(name, None, id, "requested")


def test_a_known_id_that_fits_no_call_fits_none() -> None:
    pairing = Pairing()
    pairing.begin([waiting("f", "a")])
    assert pairing.find("b", "f") is None


def test_a_result_without_an_id_answers_the_latest_message_first() -> None:
    early, late = waiting("f", "a"), waiting("f", "b")
    pairing = Pairing()
    pairing.begin([early])
    pairing.begin([late])
    found = pairing.find(None, "f")
    assert found is late
    complete(late, "ok")
    assert pairing.find(None, None) is early


def test_within_a_message_the_first_unanswered_call_comes_first() -> None:
    calls = [waiting("f", "x"), waiting("f", "x"), waiting("f", "y")]
    pairing = Pairing()
    pairing.begin(calls)
    complete(calls[0], 1)
    assert pairing.find("x", None) is calls[1]


def test_many_equal_ids_take_no_longer_than_many_ids() -> None:
    pairing = Pairing()
    pairing.begin([waiting("f", "same") for _ in range(50_000)])
    begun = time.perf_counter()
    for _ in range(50_000):
        call = pairing.find("same", "f")
        assert call is not None
        complete(call, None)
    assert time.perf_counter() - begun < 5
