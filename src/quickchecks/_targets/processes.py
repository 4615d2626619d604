"""A running program that is asked in lines, and that ends with all it has started.

It gets a session of its own, so that what it starts ends with it: a launcher that is killed alone leaves behind the program
that it waits for, which holds the pipe open for ever. Two threads serve each. One reads: whatever comes while nothing is
asked is nobody's answer. One waits for the program to end, and then ends what it left. Nothing here waits for a lock that
one of them holds while it blocks, so that a loop may call everything but `ask`.
"""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from queue import SimpleQueue
from tempfile import TemporaryFile
from threading import Event, Lock, Thread
from time import monotonic
from typing import BinaryIO

from quickchecks import _render
from quickchecks._targets.masking import Mask

__all__ = ("GRACE", "Process", "ProgramError", "end_all")

#: The longest line that is read, in bytes.
LONGEST_LINE = 64 * 2**20
#: What a program gets to end once its input is closed, in seconds.
GRACE = 1.0
_SAID = 600


class ProgramError(Exception):
    """The program cannot be started, died, or answered what is no answer."""


class Process:
    """One running program.

    Args:
        words: The command.
        cwd: The folder it runs in.
        env: Its variables.
        mask: Takes secrets out of what it said.

    Raises:
        ProgramError: It cannot be started.
    """

    def __init__(self, words: Sequence[str], cwd: str, env: Mapping[str, str], mask: Mask) -> None:
        self._name = words[0]
        self._mask = mask
        self._owner = os.getpid()
        self._errors: BinaryIO = TemporaryFile()  # noqa: SIM115 - it stays open while the program runs
        try:
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                cwd=cwd,
                env=env,
                bufsize=0,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            self._errors.close()
            reason = getattr(error, "strerror", None) or mask(str(error))
            raise ProgramError(f"{self._name} cannot be started: {reason}") from None
        self._gone = Event()
        self._lock = Lock()  # held for moments only
        self._writing = Lock()  # held by whoever uses its input
        self._answers: SimpleQueue[bytes | None] = SimpleQueue()
        self._is_asked = self._is_ended = False
        self._unasked = b""
        _living.add(self)
        self._listener = Thread(target=self._listen, name="quickchecks program", daemon=True)
        self._listener.start()
        Thread(target=self._keep, name="quickchecks program", daemon=True).start()

    @property
    def lives(self) -> bool:
        """Whether it can be asked; one that spoke without being asked can, and says so then."""
        return bool(self._unasked) or not (self._is_ended or self._gone.is_set())

    @property
    def is_asked(self) -> bool:
        """Whether it has still to answer."""
        return self._is_asked

    def ask(self, question: bytes) -> bytes:
        """Send one line, and wait for one. A program of which this raises is ended.

        Raises:
            ProgramError: It ended, or it said something before it was asked.
        """
        with self._lock:
            unasked, self._unasked = self._unasked, b""
            self._is_asked = not unasked
        if unasked:
            self.end()
            said = self.quoted(unasked)
            raise ProgramError(
                f"{self._name} wrote a line that nobody asked for, so that its answers cannot be told apart: {said}; it answers "
                "each question with one line, and everything else belongs on standard error"
            )
        self._write(question + b"\n")
        line = self._answers.get()
        if line is None or not line.strip():
            problem = f"{self._name} {self._ending()}{self._said()}"
            self.end()
            raise ProgramError(problem)
        if len(line) > LONGEST_LINE:
            self.end()
            raise ProgramError(f"{self._name} answered with a line of more than {LONGEST_LINE // 2**20} MB")
        return line

    def refuse(self, line: bytes, problem: str) -> ProgramError:
        """End it, because nobody knows whether its next line answers this question or the next one; says why."""
        self.end()
        return ProgramError(
            f"{self._name} answered with {problem}: {self.quoted(line)}; what is no answer belongs on standard error"
        )

    def quoted(self, line: bytes) -> str:
        """What it wrote, to be shown."""
        return _render.value(self._mask(line[: 2**16].decode("utf-8", "replace").rstrip("\r\n"))[:300])

    def close_input(self) -> None:
        """Say that there will be no more questions."""
        if self._writing.acquire(blocking=False):
            try:
                assert self._process.stdin is not None
                with suppress(OSError):
                    self._process.stdin.close()
            finally:
                self._writing.release()

    def ended_within(self, seconds: float) -> bool:
        """Whether it ends by itself within this time."""
        return self._gone.wait(max(seconds, 0))

    def end(self) -> None:
        """See to it that it is gone, with all that it started; waits for nothing."""
        self._is_ended = True
        if not self._gone.is_set():
            self._kill()
        self._answers.put(None)
        self.close_input()
        with suppress(OSError, ValueError):
            self._errors.close()

    def end_at_exit(self, until: float) -> None:
        """End it when this program ends, which no thread of it outlives."""
        if self._owner == os.getpid() and (self._is_asked or not self.ended_within(until - monotonic())):
            self._kill()

    def _write(self, data: bytes) -> None:
        """Write all; what cannot be written is noticed when no answer comes."""
        left = memoryview(data)
        with self._writing, suppress(OSError, ValueError):
            assert self._process.stdin is not None
            while left and not self._is_ended:
                left = left[self._process.stdin.write(left) :]
        if self._is_ended:
            self.close_input()

    def _listen(self) -> None:
        """Read what it says, until there is no more to come."""
        assert self._process.stdout is not None
        try:
            pending = bytearray()
            while chunk := self._process.stdout.read(2**16):
                pending += chunk
                if b"\n" in chunk or len(pending) > LONGEST_LINE or not self._is_asked:
                    pending = self._heard(pending)
            with self._lock:
                self._is_asked, asked = False, self._is_asked
            self._answers.put(bytes(pending) if asked else None)
        finally:
            self._process.stdout.close()

    def _heard(self, said: bytearray) -> bytearray:
        """Take lines; gives what is left of them, the beginning of an answer."""
        said = said.lstrip()
        line, ended, rest = said.partition(b"\n")
        with self._lock:
            if self._is_asked and not ended and len(said) <= LONGEST_LINE:
                return said
            if self._is_asked:
                self._is_asked = False
                self._answers.put(bytes(line))
                said = rest.lstrip()
            if not said:
                return said
            self._unasked = self._unasked or bytes(said[: 2**12])
        self._kill()
        return bytearray()

    def _keep(self) -> None:
        self._process.wait()
        self._kill()  # what it left behind holds its output open
        self._gone.set()
        _living.discard(self)
        self._listener.join(GRACE)
        self._answers.put(None)  # what began a session of its own may hold the output open even now

    def _kill(self) -> None:
        if os.name == "nt":
            tree = ["taskkill", "/F", "/T", "/PID", str(self._process.pid)]
            Thread(target=lambda: subprocess.run(tree, check=False, capture_output=True), daemon=True).start()
            return
        with suppress(ProcessLookupError, PermissionError):  # there is nobody left in it
            os.killpg(self._process.pid, signal.SIGKILL)

    def _ending(self) -> str:
        if self._is_ended:
            return "was ended before it answered"
        if not self.ended_within(GRACE):
            return "closed its output without an answer"
        code = self._process.returncode
        return f"ended without an answer (exit code {code})" if code >= 0 else f"was ended by signal {-code}"

    def _said(self) -> str:
        try:
            size = self._errors.seek(0, os.SEEK_END)
            self._errors.seek(max(size - 2**14, 0))
            said = self._mask(self._errors.read().decode("utf-8", "replace").strip())
        except (OSError, ValueError):
            return ""
        return f"; the last it wrote to standard error: {_render.value(said[-_SAID:])}" if said else ""


_living: set[Process] = set()


def end_all(processes: Sequence[Process]) -> None:
    """End programs that wait for a question; each may first end by itself."""
    for process in processes:
        process.close_input()
    until = monotonic() + GRACE
    for process in processes:
        process.ended_within(until - monotonic())
        process.end()


def _end_living() -> None:
    """End what still runs when this program ends."""
    left = [process for process in _living.copy() if process.lives]
    until = monotonic() + GRACE
    for process in left:
        if not process.is_asked:
            process.close_input()
    for process in left:
        process.end_at_exit(until)


atexit.register(_end_living)
