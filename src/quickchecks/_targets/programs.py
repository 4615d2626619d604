"""A program as a target: one JSON object a line on its standard input, one on its standard output for each.

A line that is sent holds `input`, `history` (the earlier messages in OpenAI's form), `turn` (from 0), `session` (an id, new
for each conversation) and `id` (new for each question). What comes back is an object with `output`, or with `messages`, or
with `error`; an `id` in it must be that of the question. What the program writes to its standard error is shown when it
dies. A program that died is started again for the next question; no two conversations share one at the same time.
"""

from __future__ import annotations

import os
import shlex
from asyncio import get_running_loop
from collections.abc import Mapping
from threading import Lock, Thread
from typing import Any

from quickchecks import _render, _wire
from quickchecks._mocks import ToolMocks
from quickchecks._run import Run
from quickchecks._scorer.read_only import read_only_run
from quickchecks._targets.masking import Mask
from quickchecks._targets.processes import GRACE, Process, ProgramError, end_all
from quickchecks.adapters import Dialogue, as_run, recognise
from quickchecks.adapters._record import ANSWER_KEYS, ENVELOPE_KEYS, is_envelope
from quickchecks.errors import TargetError, nearest_names

__all__ = ("Program", "ProgramError")

_OPTIONS = ("cwd", "env")


class Program:
    """A command, and the programs that run it.

    Args:
        target: The command after "cmd:", such as "cmd:node agent.js". No shell reads it.
        options: `cwd` (the folder it runs in), `env` (variables beside those of this process).

    Raises:
        TargetError: The command is empty or cannot be split into words, or an option is unknown.
    """

    def __init__(self, target: str, options: Mapping[str, object]) -> None:
        for name in options:
            if name not in _OPTIONS:
                raise TargetError(f"a program takes no {name!r}: {nearest_names(str(name), _OPTIONS)}")
        try:
            self.words = shlex.split(target.removeprefix("cmd:"), posix=os.name != "nt")
        except ValueError as error:
            raise TargetError(f"the command {_render.value(target)} cannot be split into words: {error}") from None
        if not self.words:
            raise TargetError("the target 'cmd:' names no program; write cmd:node agent.js")
        cwd = options.get("cwd")
        if cwd is not None and not isinstance(cwd, (str, os.PathLike)):
            raise TargetError(f"cwd is a folder, not {_render.value(cwd)}")
        self.cwd = os.path.abspath("" if cwd is None else os.fspath(cwd))
        env = _variables(options.get("env"))
        self._env = {**os.environ, **env}
        self._mask = Mask(env.values())
        self._idle: list[Process] = []
        self._busy: set[Process] = set()
        self._lock = Lock()
        self._closed = False

    def converse(self, mocks: ToolMocks | None) -> Dialogue:
        """Begin a conversation."""
        with self._lock:
            self._closed = False
        return _ProgramDialogue(self)

    def take(self) -> Process:
        """A program that nobody talks to; a new one where there is none.

        Raises:
            ProgramError: It cannot be started, or nobody wants its answer any more.
        """
        with self._lock:
            while self._idle:
                process = self._idle.pop()
                if process.lives:
                    self._busy.add(process)
                    return process
                process.end()
        process = Process(self.words, self.cwd, self._env, self._mask)
        with self._lock:
            self._busy.add(process)
            if not self._closed:
                return process
        self.end(process)
        raise ProgramError(f"{self.words[0]} was not asked, because the evaluation has ended")

    def give_back(self, process: Process) -> None:
        """Keep a program for the next conversation."""
        with self._lock:
            if process.lives and not self._closed:
                self._busy.discard(process)
                self._idle.append(process)
                return
        self.end(process)

    def end(self, process: Process) -> None:
        """End a program that is of no more use."""
        with self._lock:
            self._busy.discard(process)
        process.end()

    def read(self, process: Process, line: bytes, identity: str) -> Run:
        """Read what a program answered to the question with this identity.

        Raises:
            ProgramError: It is no answer, or one to another question.
            RecordingError: It is malformed.
        """
        try:
            found = _wire.loads(line)
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise process.refuse(line, "a line that is no JSON object")
        answered = found.pop("id", identity)
        if answered != identity:
            raise process.refuse(line, "the id of another question")
        answers = [key for key in ANSWER_KEYS if key in found]
        if not answers and not found.get("error") and "messages" not in found:
            raise process.refuse(line, "an object that has neither output nor messages nor error")
        if found.get("error"):
            found["error"] = self._mask.inside(found["error"])
        if not is_envelope(found) and ((known := recognise(found)) is None or known.name == "values"):
            if len(answers) > 1:
                raise process.refuse(
                    line, f"an object that has {_render.listed(answers, joint=' and ')}, of which one is the answer"
                )
            found = _envelope(found)
        return read_only_run(as_run(found))

    def close(self) -> None:
        """End all programs. Those that wait for a question get a moment to end by themselves; no loop is held up by that."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
            busy, self._busy = self._busy, set()
        for process in busy:
            process.end()
        if not idle:
            return
        ending = Thread(target=end_all, args=(idle,), name="quickchecks programs", daemon=True)
        ending.start()
        if not _is_on_loop():
            ending.join(2 * GRACE)


class _ProgramDialogue(Dialogue):
    """A conversation with a program, which is told what was said before."""

    blocks = True
    takes_session = True

    def __init__(self, program: Program) -> None:
        self._program = program
        self._process: Process | None = None
        self._lock = Lock()  # held for moments only
        self._asking = self._closed = False

    def ask(self, asked: Any, session: Any = None) -> Run:
        """Send one question and read the answer."""
        process = self._taken()
        identity = f"{session.id}-{session.turn}"
        question = {"input": asked, "history": session.history, "turn": session.turn, "session": session.id, "id": identity}
        line = process.ask(_wire.dumps(question))
        run = self._program.read(process, line, identity)
        with self._lock:
            self._asking = False
        return run

    async def close(self) -> None:
        """Give the program back; one that was still to answer is ended, because its answer would come to someone else."""
        with self._lock:
            self._closed = True
            process, self._process = self._process, None
        if process is None:
            return
        if self._asking:
            self._program.end(process)
        else:
            self._program.give_back(process)

    def _taken(self) -> Process:
        """The program of this conversation; a thread that was left behind gets none."""
        with self._lock:
            self._asking = True
            process = self._process
        if process is None or not process.lives:
            if process is not None:
                self._program.end(process)
            process = self._program.take()
        with self._lock:
            if not self._closed:
                self._process = process
                return process
        self._program.end(process)
        raise ProgramError("the program was not asked, because the time of the item is over")


def _envelope(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer with what stands beside it as metadata; it would otherwise be taken for the answer itself."""
    beside = {key: item for key, item in answer.items() if key not in ENVELOPE_KEYS}
    known = {key: item for key, item in answer.items() if key in ENVELOPE_KEYS}
    metadata = known.get("metadata")
    return {
        **known,
        "metadata": {**beside, **(metadata if isinstance(metadata, dict) else {"metadata": metadata} if metadata else {})},
    }


def _variables(env: object) -> dict[str, str]:
    if env is None:
        return {}
    if not isinstance(env, Mapping):
        raise TargetError(f"env is a mapping of variables, not a value of type {type(env).__name__}")
    return {str(name): str(value) for name, value in env.items()}


def _is_on_loop() -> bool:
    try:
        get_running_loop()
    except RuntimeError:
        return False
    return True
