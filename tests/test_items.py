"""What stands in a dataset, and what is refused before anything is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from quickchecks import Item, Run, Turn, checks, run_evals_sync
from quickchecks import testing as t
from quickchecks._items import content_hash, items_of, load_items
from quickchecks.errors import ItemError, RecordingError


def test_items_are_mappings_items_runs_or_bare_inputs() -> None:
    run = t.run("It is sunny.")
    items = items_of(["Hello", {"input": {"city": "Oslo"}}, Item(input=3), run, ["a", "list"]])
    assert [item.asked for item in items] == [("Hello",), ({"city": "Oslo"},), (3,), (), (["a", "list"],)]
    assert items[3].run is run


def test_any_iterable_of_items_is_data() -> None:
    assert [item.input for item in items_of(name for name in ("a", "b"))] == ["a", "b"]


@pytest.mark.parametrize("name", ["expected", "ground_truth", "groundTruth", "expected_output", "reference"])
def test_what_is_expected_has_many_names(name: str) -> None:
    assert items_of([{"input": "a", name: "b"}])[0].expected == "b"


def test_other_keys_are_metadata() -> None:
    item = items_of([{"input": "a", "difficulty": "hard", "metadata": {"topic": "weather"}}])[0]
    assert item.metadata == {"topic": "weather", "difficulty": "hard"}
    assert item.field("difficulty") == "hard"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ([], "there is no data"),
        ("Hello", r"data is a list of items, not \"Hello\""),
        ({"input": "a"}, "write data="),
        (5, "data is a list of items"),
        ([None], "item 0 is None"),
        ([{}], "it is empty"),
        ([{"inptu": "a"}], "did you mean 'input'"),
        ([{"city": "Oslo"}], "if the mapping itself is the input"),
        ([{"input": "a", "inputs": ["b"]}], "exactly one of input, inputs and turns"),
        ([{"inputs": []}], "inputs is a list with at least one input"),
        ([{"inputs": "abc"}], "inputs is a list"),
        ([{"turns": []}], "turns is a list with at least one turn"),
        ([{"turns": ["a"]}], "item 0, turn 0 is a mapping with an input"),
        ([{"turns": [{"input": "a", "gate": []}]}], "has 'gate'"),
        ([{"turns": [{"input": "a", "gates": checks.includes("a")}]}], "gates and scorers are lists"),
        ([{"input": "a", "expected": 1, "reference": 2}], "'expected' and 'reference', which mean the same"),
        ([{"input": "a", "metadata": 3}], "metadata is a mapping"),
        ([{"input": "a", "id": True}], "an id is a text or a number"),
        ([{"input": "a", "id": ""}], "an id is a text or a number"),
        ([{"run": {"schema": "quickchecks.run/1", "messages": 5}}], "item 0: its run cannot be read"),
        ([Item()], "exactly one of input, inputs and turns"),
        ([Item(input="a", inputs=("b",))], "exactly one of input, inputs and turns"),
    ],
)
def test_what_cannot_be_understood_is_refused(data: object, said: str) -> None:
    with pytest.raises(ItemError, match=said):
        items_of(data)  # type: ignore[arg-type]


def test_an_item_with_lists_is_made_the_same_as_one_read_from_a_mapping() -> None:
    given = Item(inputs=["a", "b"], id=1)  # type: ignore[arg-type]
    assert items_of([given]) == items_of([{"inputs": ["a", "b"], "id": 1}])
    given = Item(turns=[{"input": "a"}])  # type: ignore[arg-type]
    assert items_of([given])[0].turns == (Turn("a"),)


class TestIds:
    def test_an_id_that_is_left_out_is_made_of_the_content(self) -> None:
        first, again, other = items_of(["a", "a", {"input": "a", "expected": "b"}])
        assert again.id == f"{first.id}#2"
        assert other.id != first.id
        assert [item.id for item in items_of(["x", "a"])][1] == first.id

    def test_one_and_the_text_one_are_the_same_id(self) -> None:
        with pytest.raises(ItemError, match="two items have the id '1': item 0 and item 2; ids are compared as text"):
            items_of([{"id": 1, "input": "a"}, {"id": 2, "input": "b"}, {"id": "1", "input": "c"}])

    def test_a_hash_tells_whether_an_item_has_changed(self) -> None:
        item = Item(input="a", expected="b", metadata={"note": 1})
        assert content_hash(item) == content_hash(Item(input="a", expected="b"))
        assert content_hash(item) != content_hash(Item(input="a", expected="c"))


class TestFiles:
    def test_json_lines_an_array_and_csv_are_the_same_data(self, tmp_path: Path) -> None:
        lines, array, table = tmp_path / "a.jsonl", tmp_path / "a.json", tmp_path / "a.csv"
        lines.write_text('\ufeff{"input": "ä", "expected": "1"}\r\n\r\n{"input": "b\u2028"}', encoding="utf-8")
        array.write_text('[{"input": "ä", "expected": "1"}, {"input": "b\u2028"}]', encoding="utf-8")
        table.write_text('input,expected\nä,1\n"b\u2028",\n', encoding="utf-8")
        read = [[(item.input, item.expected, item.id) for item in load_items(file)] for file in (lines, array, table)]
        assert read[0] == read[1] == read[2]
        assert read[0][1][0] == "b\u2028"

    def test_a_place_is_kept(self, tmp_path: Path) -> None:
        file = tmp_path / "a.jsonl"
        file.write_text('{"input": "a"}\n\n{"input": "b"}\n')
        assert [str(item.source) for item in load_items(file)] == [f"{file}:1", f"{file}:3"]

    @pytest.mark.parametrize(
        ("name", "text", "said"),
        [
            ("a.jsonl", '{"input": "a"}\n{"inputs": []}\n', ":2: item 1: inputs is a list"),
            ("a.jsonl", "", "a.jsonl: the file is empty$"),
            ("a.jsonl", "\n\n", "a.jsonl: there are only blank lines in the file$"),
            ("a.json", " \n", "there are only blank lines in the file$"),
            ("a.csv", "", "a.csv: the file is empty$"),
            ("a.csv", "\n \n", "a.csv: there are only blank lines in the file$"),
            (
                "a.yaml",
                "- input: a\n",
                "not valid JSON: .*\n  a data file is JSON Lines .*, a JSON array .*, or CSV with a header",
            ),
            ("a.txt", "Weather?\n", "not valid JSON: .*\n  a data file is JSON Lines"),
            ("a.json", "Weather?\n", "not valid JSON: [^\n]*$"),
            ("a.json", "[null]", r"a.json\[0\]: this record is null; a record is a mapping with an input, or the input itself$"),
            ("a.jsonl", '"a"\nnull\n', "a.jsonl:2: this record is null"),
            ("a.jsonl", '"a"\n<<<<<<< HEAD\n', r"a.jsonl:2: git left a conflict here \(<<<<<<<\)"),
            ("a.jsonl", '{"input": "a", "gates": []}', "which only a turn has: {'turns': \\[{'input': ..., 'gates'"),
            ("a.json", "[]", "no items"),
            ("a.csv", "input\n", "no items"),
            ("a.csv", "input,expected\na\n", ":2: the row has fewer cells than the header"),
            ("a.csv", "input\na,b\n", ":2: the row has more cells than the header"),
            ("a.csv", "input,expected,input\na,b,c\n", "a.csv:1: the column 'input' stands twice in the header"),
            ("a.csv", "input,,\na,,\n", "a.csv:1: two columns have no name in the header"),
            ("a.csv", "input;expected\na;b\n", "a.csv:1: the cells are separated by ';', and .* commas\n  save it with commas"),
            ("a.csv", "input\texpected\na\tb\n", "separated by a tab"),
            ("a.csv", 'input\n"a', "a.csv:2: this is not CSV: "),
            ("a.csv", 'input\n"a\n\nb', "a.csv:2: this is not CSV: "),
            ("a.csv", 'input\n\n"a\nb",c\n', "a.csv:3: the row has more cells than the header"),
            ("a.csv", '"in\nput;b"\n', "a.csv:1: the cells are separated by ';'"),
            ("a.jsonl", '{"input": "a"}\n{"input": "b", "input": "c"}', "a.jsonl:2: the key 'input' stands twice in one object$"),
            ("a.jsonl", '{"input": {"n": 1, "\\u006e": 2}}\n', "a.jsonl:1: the key 'n' stands twice"),
            ("a.json", '[{"input": "a:{"},\n {"input":\n 1,\n "expected": "x", "expected": 2}]', "a.json:4: the key 'expected'"),
            ("a.jsonl", '{"turns": [{"input": "a", "gates": ["no_tool_errors"]}]}', ":1: turn 0 has gates, and a data file"),
            ("a.jsonl", '{"turns": [{"inptu": "a"}]}', ":1: item 0, turn 0 is a mapping with an input, .*: did you mean 'input'"),
            ("a.jsonl", '{"turns": [{"input": "a", "gate": []}]}', "a turn has input, gates and scorers: did you mean 'gates'"),
            ("a.jsonl", '{"id": 7, "input": "a"}\n{"id": "7", "input": "b"}\n', "a.jsonl:1 and .*a.jsonl:2"),
        ],
    )
    def test_what_is_wrong_is_said_with_the_place(self, tmp_path: Path, name: str, text: str, said: str) -> None:
        file = tmp_path / name
        file.write_text(text)
        with pytest.raises((ItemError, RecordingError), match=said):
            load_items(file)

    @pytest.mark.parametrize(
        ("content", "said"),
        [
            ("input\nä\n".encode("utf-16"), "a.csv: the text is in UTF-16\n  save it as UTF-8"),
            ("input\nä\n".encode("latin-1"), "a.csv: a data file is UTF-8, this one is not\n  save it as UTF-8"),
        ],
    )
    def test_a_table_in_another_encoding_is_refused_with_what_to_do(self, tmp_path: Path, content: bytes, said: str) -> None:
        (tmp_path / "a.csv").write_bytes(content)
        with pytest.raises(RecordingError, match=said):
            load_items(tmp_path / "a.csv")

    @pytest.mark.parametrize(
        ("name", "text"), [("a.csv", "q,answer\na,\nb,B\n"), ("a.jsonl", '{"q": "a"}\n{"q": "b", "answer": "B"}')]
    )
    def test_a_field_that_is_mapped_must_be_in_some_record(self, tmp_path: Path, name: str, text: str) -> None:
        (tmp_path / name).write_text(text)
        items = load_items(tmp_path / name, fields={"input": "q", "expected": "answer"})
        assert [(item.input, item.expected) for item in items] == [("a", None), ("b", "B")]
        with pytest.raises(ItemError, match=f"{name}: no record has the field 'anwser', .* expected: did you mean 'answer'"):
            load_items(tmp_path / name, fields={"input": "q", "expected": "anwser"})

    def test_numbers_and_texts_that_are_no_keys_may_stand_twice(self, tmp_path: Path) -> None:
        (tmp_path / "a.jsonl").write_text('{"input": ["a", "a", {"a": "a"}, 1, 1, {}, {}], "expected": "\\ud800"}')
        assert load_items(tmp_path / "a.jsonl")[0].expected == "\ud800"

    def test_a_file_that_does_not_exist_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(RecordingError, match="missing.jsonl"):
            load_items(tmp_path / "missing.jsonl")
        with pytest.raises(RecordingError, match="missing.csv"):
            load_items(tmp_path / "missing.csv")

    def test_a_recording_is_data_that_needs_no_target(self, tmp_path: Path) -> None:
        data = [{"id": "x", "input": "Oslo", "expected": "cold"}, {"id": "y", "input": "Rome"}]
        first = run_evals_sync(data, lambda city: f"{city} is cold.", [checks.includes("cold")], record=tmp_path / "r.jsonl")
        items = load_items(tmp_path / "r.jsonl")
        assert [(item.id, item.expected) for item in items] == [("x", "cold"), ("y", None)]
        again = run_evals_sync(tmp_path / "r.jsonl", scorers=[checks.includes("cold")])
        assert dict(again.scores) == dict(first.scores)

    def test_repetitions_of_a_recording_are_told_apart(self, tmp_path: Path) -> None:
        run_evals_sync(["a"], str, [checks.includes("a")], repetitions=2, record=tmp_path / "r.jsonl")
        assert len({item.id for item in load_items(tmp_path / "r.jsonl")}) == 2


def test_the_fields_of_an_item_are_read_by_name() -> None:
    item = Item(input="a", run=Run(), metadata={"topic": "weather"})
    assert item.field("input") == "a"
    assert item.field("topic") == "weather"
    assert item.field("run") is item.field("expected") is item.field("nothing")
