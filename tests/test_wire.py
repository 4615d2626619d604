"""The one JSON module: what msgspec refuses is read and written as well."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType
from typing import NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quickchecks import _wire
from quickchecks._run import Message, Run, Text, ToolCall
from quickchecks._wire import JsonError, dumps, loads, shown, to_builtins

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None)),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(codec=None)), inner, max_size=4),
    max_leaves=10,
)


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b'{"n": 1}', {"n": 1}),
        (b'\xef\xbb\xbf{"n": 1}', {"n": 1}),
        ("\ufeff[1]", [1]),
        (rb'"half \ud83d"', "half \ud83d"),
        (b'"half \xed\xa0\xbd"', "half \ud83d"),
        ('"raw \ud83d"', "raw \ud83d"),
        (rb'"\u0000"', "\0"),
        (b"[Infinity, -Infinity]", [math.inf, -math.inf]),
        (b"12345678901234567890123", 12345678901234567890123),
        (rb'"\ud83d\ude00"', "\U0001f600"),
    ],
)
def test_what_recordings_hold_is_read(data: bytes | str, value: object) -> None:
    assert loads(data) == value


def test_not_a_number_is_read_as_a_float() -> None:
    assert math.isnan(loads(b"NaN"))


@pytest.mark.parametrize("data", [b"", b"{", b"{'a': 1}", b"[1,]", b"\xff", "nul", b"1 2", b'"\x00"', b"9" * 5000])
def test_what_is_no_json_is_said_to_be_none(data: bytes | str) -> None:
    with pytest.raises(JsonError, match="not valid JSON"):
        loads(data)


@pytest.mark.parametrize("data", [b"[" * 100_000, b'{"a":' * 100_000])
def test_hostile_nesting_is_refused(data: bytes) -> None:
    with pytest.raises(JsonError, match="nested too deeply"):
        loads(data)


@given(JSON)
def test_every_value_survives_the_wire(value: object) -> None:
    """Only what JSON has no word for changes: NaN and the infinities become null."""
    written = dumps(value)
    assert b"\n" not in written
    assert loads(written) == json.loads(json.dumps(value), parse_constant=lambda _: None)


class Unspeakable:
    def __str__(self) -> NoReturn:
        raise RuntimeError("no")


@dataclass
class Point:
    x: int
    when: date


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (
            {
                "a": {
                    1,
                }
            },
            b'{"a":[1]}',
        ),
        ({1: "a"}, b'{"1":"a"}'),
        ({("a", 1): "b"}, b'{"(\'a\', 1)":"b"}'),
        (MappingProxyType({"a": 1}), b'{"a":1}'),
        (Point(1, date(2026, 3, 1)), b'{"x":1,"when":"2026-03-01"}'),
        ([Point(1, date(2026, 3, 1)), "\ud83d"], rb'[{"x":1,"when":"2026-03-01"},"\ud83d"]'),
        ({"e": ValueError("boom")}, b'{"e":"boom"}'),
        ([Unspeakable()], b'["<Unspeakable that cannot be shown>"]'),
        ([10**5000], b'["<int that cannot be shown>"]'),
        ([math.nan, "\ud83d"], rb'[null,"\ud83d"]'),
    ],
)
def test_values_that_json_does_not_know_are_written_as_well_as_can_be(value: object, written: bytes) -> None:
    assert dumps(value) == written


def test_what_holds_itself_ends() -> None:
    loop: list[object] = []
    loop.append(loop)
    assert dumps(loop) == rb'["\u2026"]'


def test_what_is_nested_too_deeply_is_cut_off() -> None:
    nested: list[object] = []
    for _ in range(100_000):
        nested = [nested]
    assert dumps(nested).count(b"[") == _wire.MAX_DEPTH


def test_a_struct_is_written_the_same_with_and_without_msgspec() -> None:
    """A lone surrogate makes msgspec refuse the record; everything beside it is still written as msgspec writes it."""
    call = ToolCall("look", '{"a": 1}', "c1", result={"ok": True})
    run = Run((Message("user", (Text("hi"),)), Message("assistant", (Text("yes \ud83d"), call))), agent="root")
    plain = Run((Message("user", (Text("hi"),)), Message("assistant", (Text("yes ?"), call))), agent="root")
    assert loads(dumps(run)) == {**loads(dumps(plain)), "messages": to_builtins(run)["messages"]}
    assert shown(run).replace("\\ud83d", "?") == shown(plain)
