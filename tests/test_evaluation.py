"""An evaluation as a whole: its doors, its options, what breaks it off, and that nothing turns green by mistake."""

from __future__ import annotations

import asyncio
import contextvars
import io
import json
import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Unpack

import pytest

from quickchecks import (
    EvalResult,
    Gate,
    ItemResult,
    Run,
    Threshold,
    checks,
    create_scorer,
    load_runs,
    no_evidence,
    not_applicable,
    run_evals,
    run_evals_sync,
)
from quickchecks import testing as t
from quickchecks._evaluation import EvalOptions
from quickchecks._loops import LoopThread
from quickchecks._progress import Bar
from quickchecks.errors import EvalFailed, ItemError, QuickchecksError, ScorerDefinitionError, SettingsError, TargetError

#: Seconds after which something that hangs fails.
GUARD = 30


def in_a_loop(
    data: str | Path | Iterable[object],
    target: Callable[..., object] | None = None,
    scorers: Iterable[object] = (),
    gates: Iterable[object] = (),
    **options: Unpack[EvalOptions],
) -> EvalResult:
    return asyncio.run(run_evals(data, target, scorers, gates, **options))


DOORS = pytest.mark.parametrize("run", [in_a_loop, run_evals_sync])
RunIt = Callable[..., EvalResult]
ANY = (checks.includes("x"),)


def never(text: object) -> str:
    pytest.fail("the target was called")


class TestRefusals:
    @DOORS
    @pytest.mark.parametrize(
        ("options", "said"),
        [
            ({"concurrency": 0}, "concurrency is a whole number from 1 on, not 0"),
            ({"concurrency": -1}, "concurrency"),
            ({"concurrency": 1.5}, "concurrency"),
            ({"concurrency": True}, "concurrency"),
            ({"concurrency": None}, "concurrency"),
            ({"retries": -1}, "retries is a whole number from 0 on"),
            ({"repetitions": 0}, "repetitions"),
            ({"max_errors": -1}, "max_errors"),
            ({"timeout": 0}, "timeout is a number of seconds above 0"),
            ({"timeout": 1e-9}, "timeout is in seconds, and 1e-09 is too short to be kept: the shortest is 0.001"),
            ({"timeout": float("nan")}, "timeout"),
            ({"record": 5}, "record is the path of a file, not 5"),
            ({"record": ""}, "record: '' is no regular file"),
            ({"record": "a\0b"}, "record: 'a.x00b' cannot be written: embedded null"),
            ({"timeout": float("inf")}, "timeout"),
            ({"timeout": "1"}, "timeout"),
            ({"on_error": "ignore"}, "on_error is 'record' or 'raise'"),
            ({"on_item_complete": 5}, "on_item_complete is a function"),
        ],
    )
    def test_an_option_that_makes_no_sense(self, run: RunIt, options: dict[str, Any], said: str) -> None:
        with pytest.raises(SettingsError, match=said):
            run(["a"], never, ANY, **options)

    @DOORS
    def test_an_option_that_does_not_exist(self, run: RunIt) -> None:
        options: dict[str, Any] = {"timout": 5}
        with pytest.raises(SettingsError, match="there is no option 'timout': did you mean 'timeout'?"):
            run(["a"], never, ANY, **options)
        options = {"zzz": 5}
        with pytest.raises(SettingsError, match="there is no option 'zzz': there are concurrency, max_errors"):
            run(["a"], never, ANY, **options)

    @DOORS
    def test_nothing_to_score_with(self, run: RunIt) -> None:
        with pytest.raises(ScorerDefinitionError, match=r"give gates=\[...\] or scorers=\[...\]"):
            run(["a"], never)

    @DOORS
    def test_nobody_to_ask(self, run: RunIt) -> None:
        with pytest.raises(TargetError, match="item 'b' has to be asked, and there is no target"):
            run([{"id": "a", "input": "a", "output": "x"}, {"id": "b", "input": "b"}], None, ANY)

    def test_a_recording_that_is_refused_leaves_no_file(self, tmp_path: Path) -> None:
        with pytest.raises(QuickchecksError):
            run_evals_sync([], never, ANY, record=tmp_path / "runs.jsonl")
        assert list(tmp_path.iterdir()) == []


class TestSyncDoor:
    def test_it_works_inside_a_running_loop(self) -> None:
        async def notebook() -> EvalResult:
            return run_evals_sync(["x"], str, gates=ANY)

        assert asyncio.run(notebook()).passed

    @pytest.mark.parametrize("kind", ["sync", "async"])
    def test_a_target_may_evaluate_something_itself(self, kind: str) -> None:
        def block(text: str) -> str:
            return str(run_evals_sync([text], str, gates=ANY).verdict)

        async def wait(text: str) -> str:
            return block(text)

        run_evals_sync(["x"], str, ANY)
        threads = threading.active_count()
        result = run_evals_sync(["x"], block if kind == "sync" else wait, gates=[checks.equals("passed")])
        assert result.passed, result.explain()
        start = time.perf_counter()
        while threading.active_count() > threads:
            assert time.perf_counter() - start < GUARD, "a thread is left"
            time.sleep(0.01)

    def test_the_context_of_the_caller_goes_along(self) -> None:
        variable = contextvars.ContextVar("variable", default="unset")
        variable.set("x")

        async def wait(text: str) -> str:
            return variable.get()

        assert run_evals_sync(["a"], lambda text: variable.get(), gates=ANY).passed
        assert run_evals_sync(["a"], wait, gates=ANY).passed

    def test_a_loop_that_was_abandoned_does_not_hinder_the_next_evaluation(self) -> None:
        before = LoopThread.shared()

        async def target(text: str) -> str:
            time.sleep(0.7 if text == "block" else 0)
            return "x"

        run_evals_sync(["block"], target, ANY, timeout=0.1)
        assert LoopThread.shared() is not before
        assert run_evals_sync(["x"], target, gates=ANY).passed
        before._thread.join(GUARD)
        assert before.loop.is_closed()

    def test_nothing_is_printed_or_warned_of(self, capfd: pytest.CaptureFixture[str]) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            run_evals_sync(["x", "y"], str, gates=ANY, timeout=5)
        assert capfd.readouterr() == ("", "")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class TestProgress:
    @pytest.fixture(autouse=True)
    def no_ci(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("CI", raising=False)

    def test_a_terminal_gets_a_bar_that_is_taken_away_again(self, monkeypatch: pytest.MonkeyPatch) -> None:
        screen = Terminal()
        monkeypatch.setattr(sys, "stderr", screen)
        run_evals_sync(["x", "x"], str, ANY)
        assert "] 2/2, " in screen.getvalue()
        assert screen.getvalue().endswith("\r\x1b[2K")

    def test_it_says_how_many_broke(self, monkeypatch: pytest.MonkeyPatch) -> None:
        screen = Terminal()
        monkeypatch.setattr(sys, "stderr", screen)
        bar = Bar(1)
        bar.advance(failed=True)
        assert "1/1, 1 broke, " in screen.getvalue()

    @pytest.mark.parametrize("where", ["a file", "CI", "nowhere", "switched off"])
    def test_nothing_else_does(self, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
        screen = io.StringIO() if where == "a file" else Terminal()
        monkeypatch.setattr(sys, "stderr", None if where == "nowhere" else screen)
        if where == "CI":
            monkeypatch.setenv("CI", "true")
        run_evals_sync(["x"], str, ANY, progress=False if where == "switched off" else None)
        assert screen.getvalue() == ""

    def test_it_can_be_had_anywhere(self, monkeypatch: pytest.MonkeyPatch) -> None:
        screen = io.StringIO()
        monkeypatch.setattr(sys, "stderr", screen)
        run_evals_sync(["x"], str, ANY, progress=True)
        assert "1/1" in screen.getvalue()


class TestRecording:
    @DOORS
    def test_every_run_is_kept_in_the_order_of_the_data(self, run: RunIt, tmp_path: Path) -> None:
        async def target(text: str) -> str:
            await asyncio.sleep(0.02 if text == "slow" else 0)
            if text == "bad":
                raise ValueError("boom")
            return "x"

        file = tmp_path / "new" / "runs.jsonl"
        result = run(["slow", "bad", "fast"], target, ANY, record=file)
        runs = list(load_runs(file))
        about: list[Any] = [(one.metadata or {})["item"] for one in runs]
        assert [one["id"] for one in about] == [item.id for item in result.items]
        assert [one.error is None for one in runs] == [True, False, True]
        assert [path.name for path in file.parent.iterdir()] == ["runs.jsonl"]
        again = run(file, scorers=ANY)
        assert dict(again.scores) == dict(result.scores)
        assert [item.errored for item in again.items] == [False, True, False]

    def test_a_line_is_there_before_the_item_is_told(self, tmp_path: Path) -> None:
        lines: list[int] = []

        def told(item: ItemResult) -> None:
            (file,) = tmp_path.iterdir()
            lines.append(len(file.read_bytes().splitlines()))

        run_evals_sync(["a", "b", "c"], str, ANY, record=tmp_path / "runs.jsonl", concurrency=1, on_item_complete=told)
        assert lines == [1, 2, 3]

    def test_a_recording_that_cannot_be_written_costs_no_result(self, tmp_path: Path) -> None:
        def told(item: ItemResult) -> None:
            (file,) = tmp_path.iterdir()
            file.unlink()
            (tmp_path / "runs.jsonl").mkdir(exist_ok=True)
            (tmp_path / "runs.jsonl" / "full").touch()

        result = run_evals_sync(["x"], str, gates=ANY, record=tmp_path / "runs.jsonl", on_item_complete=told)
        assert result.passed
        assert "the runs are not recorded" in result.warnings[0]

    def test_what_was_recorded_before_stays_when_an_error_is_raised(self, tmp_path: Path) -> None:
        def target(text: str) -> str:
            if text == "bad":
                raise ValueError("boom")
            return "x"

        with pytest.raises(ValueError, match="boom"):
            run_evals_sync(["a", "bad"], target, ANY, on_error="raise", concurrency=1, record=tmp_path / "runs.jsonl")
        assert [run.text for run in load_runs(tmp_path / "runs.jsonl.part")] == ["x", ""]

    def test_what_is_broken_off_replaces_no_recording_and_passes_nowhere(self, tmp_path: Path) -> None:
        file = tmp_path / "runs.jsonl"
        run_evals_sync(["x1", "x2", "x3"], str, gates=ANY, record=file)
        before = file.read_bytes()

        async def main() -> None:
            task = asyncio.create_task(run_evals(["x1", "x2", "wait"], wait, gates=ANY, concurrency=1, record=file))
            await asyncio.sleep(0.1)
            task.cancel()
            with pytest.raises(asyncio.CancelledError) as caught:
                await task
            assert caught.value.partial.recording == "runs.jsonl.part"  # type: ignore[attr-defined]

        async def wait(text: str) -> str:
            await asyncio.sleep(GUARD if text == "wait" else 0)
            return text

        asyncio.run(main())
        assert file.read_bytes() == before
        part = tmp_path / "runs.jsonl.part"
        assert [run.text for run in load_runs(part)] == ["x1", "x2"]
        again = run_evals_sync(part, gates=ANY)
        assert again.verdict == "undecided"
        assert "(runs.jsonl.part holds what was finished when an evaluation was broken off)" in again.explain()
        assert run_evals_sync(file, gates=ANY).verdict == "passed"

    @pytest.mark.skipif(os.name == "nt", reason="there is no limit of this kind there")
    def test_a_full_disk_costs_neither_a_result_nor_the_recording_before(self, tmp_path: Path) -> None:
        script = tmp_path / "full.py"
        script.write_text(
            "import resource, sys\n"
            "from quickchecks import checks, run_evals_sync\n"
            "run_evals_sync(['x'], str, [checks.includes('x')], record=sys.argv[1])\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))\n"
            "result = run_evals_sync(['x' * 300] * 50, str, gates=[checks.includes('x')], record=sys.argv[1])\n"
            "print(result.verdict, len(result.items), result.recording, *result.warnings, sep='\\n')\n"
        )
        command = [sys.executable, str(script), str(tmp_path / "runs.jsonl")]
        done = subprocess.run(command, capture_output=True, text=True, timeout=GUARD, check=True)
        verdict, items, name, kept, recorded = done.stdout.splitlines()
        assert (verdict, items, name) == ("passed", "50", "runs.jsonl.part")
        assert "could not be kept: OSError: [Errno 27] File too large" in kept
        assert recorded == "the runs are not recorded: OSError: [Errno 27] File too large"
        assert [run.text for run in load_runs(tmp_path / "runs.jsonl")] == ["x"]

    @pytest.mark.parametrize("place", ["", "sub", "pipe", "link"])
    @pytest.mark.parametrize("suffix", ["", ".part"])
    @pytest.mark.skipif(os.name == "nt", reason="there are no pipes of this kind there")
    def test_it_is_refused_where_no_file_can_be(self, place: str, suffix: str, tmp_path: Path) -> None:
        (tmp_path / f"sub{suffix}").mkdir()
        os.mkfifo(tmp_path / f"pipe{suffix}")
        (tmp_path / f"link{suffix}").symlink_to(tmp_path / "nowhere")
        with pytest.raises(SettingsError, match="is no regular file, so that no recording can take its place"):
            run_evals_sync(["a"], never, ANY, record=f"{tmp_path}/{place}")

    @pytest.mark.skipif(os.name == "nt", reason="there are no such devices there")
    @pytest.mark.parametrize("device", ["/dev/full", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "/dev/new"])
    def test_it_is_no_device(self, device: str) -> None:
        with pytest.raises(SettingsError, match="is no regular file"):
            run_evals_sync(["a"], never, ANY, record=device)

    def test_it_is_not_what_the_items_are_read_from(self, tmp_path: Path) -> None:
        file, part = tmp_path / "runs.jsonl", tmp_path / "runs.jsonl.part"
        run_evals_sync(["x"], str, gates=ANY, record=file)
        part.write_bytes(file.read_bytes())
        for data in (file, part):
            with pytest.raises(SettingsError, match="is what the items are read from; record to another file"):
                run_evals_sync(data, never, ANY, record=file)
        assert part.read_bytes() == file.read_bytes()
        assert run_evals_sync(file, gates=ANY, record=tmp_path / "again.jsonl").passed


class TestWarnings:
    def test_a_tool_that_nobody_ever_called_is_named_with_the_nearest_ones(self) -> None:
        run = t.run(t.call("delete_user", result="ok"), "x")
        result = run_evals_sync([run], gates=[checks.did_not_call("delete_users")])
        assert result.warnings == ("no run here ever called 'delete_users'; near: 'delete_user' (1 run)",)
        assert not run_evals_sync([run], gates=[checks.did_not_call("delete_user")]).warnings

    def test_there_is_none_where_the_record_cannot_show_calls(self) -> None:
        assert not run_evals_sync(["x"], str, [checks.called_tool("search")]).warnings


class TestBreakingOff:
    def test_a_cancelled_evaluation_carries_what_was_finished(self) -> None:
        async def target(number: int) -> str:
            await asyncio.sleep(0 if number < 3 else GUARD)
            return "x"

        async def main() -> EvalResult:
            task = asyncio.create_task(run_evals(range(10), target, gates=ANY, concurrency=2))
            await asyncio.sleep(0.1)
            task.cancel()
            with pytest.raises(asyncio.CancelledError) as caught:
                await task
            partial = caught.value.partial  # type: ignore[attr-defined]
            assert isinstance(partial, EvalResult)
            assert len(asyncio.all_tasks()) == 1, "no worker is left"
            return partial

        partial = asyncio.run(main())
        assert [item.index for item in partial.items] == [0, 1, 2]
        assert partial.interrupted
        assert partial.verdict == "undecided"
        assert "broken off: 3 of 10 runs were finished" in partial.warnings
        assert "(interrupted)" in partial.explain()

    @pytest.mark.slow
    @pytest.mark.skipif(os.name == "nt", reason="a process there gets no SIGINT of its own")
    @pytest.mark.parametrize("kind", ["async", "sync"])
    def test_ctrl_c_gives_what_was_finished_at_any_moment(self, kind: str, tmp_path: Path) -> None:
        script = tmp_path / "evaluation.py"
        script.write_text(textwrap.dedent(INTERRUPTED))
        whole = interrupted(script, kind, None)
        assert len(whole["items"]) == 300
        assert not whole["interrupted"]
        chance = random.Random(kind)
        finished = []
        for _ in range(10):
            part = interrupted(script, kind, chance.uniform(0, 0.25))
            assert all(item == whole["items"][index] for index, item in part["items"].items())
            assert part["recorded"] == len(part["items"])
            assert part["interrupted"] or len(part["items"]) == 300
            assert part["file"] == ("evaluation.jsonl.part" if part["interrupted"] else "evaluation.jsonl")
            finished.append(len(part["items"]))
        assert any(0 < many < 300 for many in finished), finished


INTERRUPTED = """
    import asyncio, json, signal, sys, time
    from pathlib import Path
    from quickchecks import checks, load_runs, run_evals_sync

    kind, file = sys.argv[1], Path(sys.argv[2])

    async def wait(number):
        await asyncio.sleep(0.001 * (number % 7))
        return f"answer {number}" if number % 3 else {"output": "", "error": f"{number} broke"}

    def block(number):
        time.sleep(0.001 * (number % 7))
        return f"answer {number}" if number % 3 else {"output": "", "error": f"{number} broke"}

    began = False

    def told(item):
        global began
        if not began:
            began = True
            print("began", flush=True)

    result = run_evals_sync(
        range(300), wait if kind == "async" else block, gates=[checks.includes("answer"), checks.excludes("7")],
        concurrency=5, timeout=20, record=file, on_item_complete=told,
    )
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # what comes now comes too late to interrupt anything
    items = {
        item.index: [item.id, item.run.text, str(item.error), [(score.outcome, score.reason) for score in item.scores]]
        for item in result.items
    }
    recorded = sum(1 for run in load_runs(file.with_name(result.recording))) if items else 0
    print(json.dumps({"items": items, "interrupted": result.interrupted, "recorded": recorded, "file": result.recording}))
"""


def interrupted(script: Path, kind: str, after: float | None) -> dict[str, Any]:
    """What the script prints when it is interrupted so many seconds after its first item."""
    command = [sys.executable, str(script), kind, str(script.with_suffix(".jsonl"))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "began\n"
            if after is not None:
                time.sleep(after)
                process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=GUARD)
        finally:
            process.kill()
    if after is not None and process.returncode == -signal.SIGINT and "KeyboardInterrupt" in err and "run_evals_sync" not in err:
        return {
            "items": {},
            "interrupted": True,
            "recorded": 0,
            "file": "evaluation.jsonl.part",
        }  # it came after the evaluation, while the script printed
    assert process.returncode == 0, err
    assert err == ""
    found: dict[str, Any] = json.loads(out.splitlines()[-1])
    return found


def test_a_program_ends_although_a_target_hangs(tmp_path: Path) -> None:
    script = tmp_path / "hangs.py"
    script.write_text(
        "import time\n"
        "from quickchecks import checks, run_evals_sync\n"
        "print(run_evals_sync(['a'], lambda text: time.sleep(600), [checks.includes('x')], timeout=0.1).summary.errored)\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=GUARD, check=True)
    assert (done.stdout, done.stderr) == ("1\n", "")


def always(value: object) -> Callable[..., object]:
    def score(output: str) -> object:
        if isinstance(value, Exception):
            raise value
        return value

    return score


class TestNoFalseGreen:
    """For each way in which nothing was shown, the verdict is not "passed", and a sentence says why."""

    @staticmethod
    def not_green(result: EvalResult, verdict: str | None, *said: str) -> None:
        assert result.verdict == verdict
        assert not result.passed
        told = result.explain()
        assert all(words in told for words in said), told
        with pytest.raises(EvalFailed) as caught:
            result.raise_for_verdict()
        assert str(caught.value) == told

    @DOORS
    def test_a_gate_that_broke(self, run: RunIt) -> None:
        result = run(["x", "x"], str, gates=[always(ValueError("boom"))])
        self.not_green(result, "failed", "the scorer broke on 2", "ValueError: boom")

    @DOORS
    def test_a_gate_that_broke_is_not_forgiven(self, run: RunIt) -> None:
        result = run(["x"], str, gates=[always(ValueError("boom")), *ANY], max_errors=5)
        self.not_green(result, "failed", "the scorer broke on 1")

    @DOORS
    def test_a_threshold_whose_scorer_broke(self, run: RunIt) -> None:
        result = run(["x"], str, [Threshold(always(ValueError("boom")), min=0)], max_errors=5)
        self.not_green(result, "undecided", "no item was judged: the scorer broke on 1")

    @DOORS
    @pytest.mark.parametrize(
        "entry", [{"gates": [always(not_applicable("no"))]}, {"scorers": [Threshold(always(not_applicable("no")), 0)]}]
    )
    def test_no_item_that_it_applies_to(self, run: RunIt, entry: dict[str, Any]) -> None:
        self.not_green(run(["x"], str, **entry), "undecided", "no item was judged: it does not apply to 1")

    @DOORS
    @pytest.mark.parametrize(
        "entry", [{"gates": [always(no_evidence("no"))]}, {"scorers": [Threshold(always(no_evidence("no")), 0)]}]
    )
    def test_no_evidence(self, run: RunIt, entry: dict[str, Any]) -> None:
        self.not_green(run(["x"], str, **entry), "undecided", "no evidence on 1")

    @DOORS
    def test_an_answer_alone_does_not_show_that_no_tool_was_called(self, run: RunIt) -> None:
        result = run(["x"], str, gates=[checks.used_no_tools()])
        self.not_green(result, "undecided", "no evidence on 1", "does not show which tools were called")

    @DOORS
    @pytest.mark.parametrize("value", [float("nan"), float("inf"), None, "1", -1, 2])
    def test_a_score_that_is_no_number_in_its_range(self, run: RunIt, value: object) -> None:
        self.not_green(run(["x"], str, gates=[always(value)]), "failed", "the scorer broke on 1")
        result = run(["x"], str, [Threshold(always(value), min=0)])
        self.not_green(result, "failed", "no item was judged: the scorer broke on 1", "1 error, none may be")
        assert dict(result.scores) == {}

    @DOORS
    def test_an_exception_in_a_callback_hides_no_failure(self, run: RunIt) -> None:
        def told(item: ItemResult) -> None:
            raise RuntimeError("the callback breaks")

        result = run(["a"], str, gates=ANY, on_item_complete=told)
        self.not_green(result, "failed", "0 of 1 items passed", "on_item_complete raised for item")

    @DOORS
    @pytest.mark.parametrize("max_errors", [0, 5])
    def test_all_items_broke(self, run: RunIt, max_errors: int) -> None:
        def target(text: str) -> str:
            raise ConnectionError("down")

        result = run(["a", "b"], target, [Threshold(checks.includes("x"), 0)], [checks.excludes("y")], max_errors=max_errors)
        self.not_green(result, "undecided" if max_errors else "failed", "no item was judged: 2 broke", "ConnectionError: down")

    @DOORS
    def test_some_items_broke(self, run: RunIt) -> None:
        def target(text: str) -> str:
            if text == "bad":
                raise ConnectionError("down")
            return "x"

        result = run(["a", "bad"], target, gates=ANY)
        self.not_green(
            result, "failed", "1 of 1 judged items passed", "1 more broke before it could be judged", "1 error, none may be"
        )
        assert run(["a", "bad"], target, gates=ANY, max_errors=1).passed

    @DOORS
    def test_a_run_that_says_that_it_failed(self, run: RunIt) -> None:
        result = run(["a"], lambda text: {"output": "", "error": "502 from upstream"}, gates=[checks.excludes("y")])
        self.not_green(result, "failed", "no item was judged: 1 broke", "502 from upstream")

    @DOORS
    def test_no_data(self, run: RunIt) -> None:
        with pytest.raises(ValueError, match="there is no data"):
            run([], never, gates=ANY)

    @DOORS
    def test_two_checks_that_nobody_could_tell_apart(self, run: RunIt) -> None:
        with pytest.raises(ScorerDefinitionError, match="nobody could tell their scores apart"):
            run(["a"], never, gates=[always(True), always(False)])

    @DOORS
    def test_a_recording_that_lost_its_tool_results(self, run: RunIt, tmp_path: Path) -> None:
        call = {"id": "1", "type": "function", "function": {"name": "pay", "arguments": "{}"}}
        chat = [
            {"role": "user", "content": "Pay."},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "assistant", "content": "Paid."},
        ]
        file = tmp_path / "runs.jsonl"
        file.write_text(json.dumps({"messages": chat}) + "\n")
        result = run(file, gates=[checks.no_tool_errors()])
        self.not_green(result, "failed", "0 of 1 items passed", "call 1 of 1, pay(), has no result")

    @DOORS
    def test_nothing_was_asserted(self, run: RunIt) -> None:
        result = run(["x"], str, ANY)
        self.not_green(result, None, "no verdict: nothing was asserted (there are no gates, and no scorers with a threshold)")

    @DOORS
    def test_too_few_items_for_a_confidence(self, run: RunIt) -> None:
        result = run(["x"] * 5, str, gates=[Gate(ANY[0], pass_rate=0.9, confidence=0.95)])
        self.not_green(result, "undecided", "24 more clean items would decide")

    def test_an_evaluation_that_was_broken_off(self) -> None:
        result = EvalResult(run_evals_sync(["x"], str, gates=ANY).items, interrupted=True)
        self.not_green(result, "undecided", "(interrupted)")


@DOORS
def test_gates_stand_in_their_results_and_scorers_in_the_scores(run: RunIt) -> None:
    length = create_scorer(id="length", description="Length.").generate_score(lambda output: len(output) / 10)
    result = run(["xx", "xxxx"], str, [Threshold(length, min=0.3)], gates=ANY, name="lengths")
    assert dict(result.scores) == {"length": pytest.approx(0.3)}
    assert [one.label for one in result.gate_results] == ["includes('x')"]
    assert result.explain().startswith("lengths: passed · 2 items")


def test_a_bare_scorer_of_a_turn_is_shown_with_its_mean() -> None:
    turns = [{"input": "x", "gates": ANY, "scorers": [checks.includes("y")]}]
    told = run_evals_sync([{"turns": turns}], str).explain()
    assert "turn 0: includes('y')  0  (1 failed)" in told
    assert told.count("turn 0: includes('x')") == 1


def test_runs_are_data_of_their_own() -> None:
    runs: Sequence[Run] = [t.run("x"), t.run("y")]
    assert run_evals_sync(runs, scorers=ANY).scores["includes('x')"] == 0.5


def test_an_error_alone_is_no_answer() -> None:
    """Many wrappers answer with it; a check of something absent would pass on it."""
    result = run_evals_sync(["q"], lambda q: {"error": "rate limit"}, gates=[checks.excludes("zz")])
    assert result.verdict == "failed"
    assert result.items[0].error is not None


def test_recorded_outputs_beside_a_target_are_told() -> None:
    result = run_evals_sync([{"input": "q", "output": "ok"}], lambda q: "never", gates=[checks.includes("ok")])
    assert any("brought what was answered" in warning for warning in result.warnings)


@pytest.mark.parametrize("key", ["gates", "scorers", "expectd", "ground_thruth"])
def test_what_an_item_cannot_have_is_refused(key: str) -> None:
    with pytest.raises(ItemError, match=key):
        run_evals_sync([{"input": "q", key: ["x"]}], str, gates=[checks.includes("q")])


def test_a_gate_of_another_range_is_refused() -> None:
    points = create_scorer(id="points", score_range=(0, 10)).generate_score(lambda run: 5)
    with pytest.raises(ScorerDefinitionError, match="threshold"):
        run_evals_sync(["q"], str, gates=[points])


def test_a_recording_replaces_nothing_but_a_recording(tmp_path: Path) -> None:
    program = tmp_path / "agent.py"
    program.write_text("x = 1\n")
    for place in (program, tmp_path):
        with pytest.raises(SettingsError, match="record"):
            run_evals_sync(["q"], str, gates=[checks.includes("q")], record=place)
    assert program.read_text() == "x = 1\n"
