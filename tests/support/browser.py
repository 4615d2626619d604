"""Opens pages in a headless Chromium, and tells what they are like there: over the pipe of its DevTools, without a package.

It is looked for as `chromium`, `chromium-browser`, `google-chrome`, or where the variable `QUICKCHECKS_BROWSER` says.
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

__all__ = ("Browser", "browser", "found_browser")

_OPTIONS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-quic", "--hide-scrollbars",
    "--remote-debugging-pipe",
)  # fmt: skip


#: So long a busy machine may take for an answer.
_SECONDS = 120


def found_browser() -> str | None:
    """The command of a Chromium; None when there is none."""
    named = os.environ.get("QUICKCHECKS_BROWSER")
    names = [named] if named else ["chromium", "chromium-browser", "google-chrome"]
    return next((found for name in names if (found := shutil.which(name))), None)


class Browser:
    """One page of a running browser.

    Args:
        program: Its process.
        commands: Where commands are written.
        answers: Where answers are read.
    """

    def __init__(self, program: subprocess.Popen[bytes], commands: int, answers: int) -> None:
        self._program, self._commands = program, commands
        self._answers = os.fdopen(answers, "rb", buffering=0)
        self._rest = b""
        self._number = 0
        self._session: str | None = None
        #: The addresses that anything was asked for, in order.
        self.requests: list[str] = []
        #: What was complained about.
        self.complaints: list[str] = []
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = str(self._ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"])
        for domain in ("Page", "Network", "Runtime", "Log"):
            self._ask(f"{domain}.enable")

    def look(self, *, width: int = 1280, height: int = 900, scheme: Literal["light", "dark"] = "light", media: str = "") -> None:
        """Say how the page is looked at."""
        self._ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self._ask("Emulation.setEmulatedMedia", media=media, features=features)

    def open(self, file: Path) -> None:
        """Open a file, and wait until it has loaded."""
        self.requests.clear()
        self.complaints.clear()
        self._ask("Page.navigate", url=file.resolve().as_uri())
        while self._message().get("method") != "Page.loadEventFired":
            pass

    def ask(self, expression: str) -> object:
        """The value of an expression in the page."""
        answer = self._ask("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        result = answer["result"]
        assert isinstance(result, dict)
        return result.get("value")

    def click_all(self, selector: str) -> None:
        """Click everything that a selector finds."""
        self.ask(f"document.querySelectorAll({json.dumps(selector)}).forEach(found => found.click())")

    def picture(self, file: Path, *, whole: bool = True) -> None:
        """Write what is to be seen to a file, for a person who looks at it."""
        data = self._ask("Page.captureScreenshot", format="png", captureBeyondViewport=whole, fromSurface=True)["data"]
        file.write_bytes(base64.b64decode(str(data)))

    def close(self) -> None:
        """End the browser."""
        self._answers.close()
        os.close(self._commands)
        self._program.terminate()
        self._program.wait(20)

    def _ask(self, method: str, **params: object) -> dict[str, object]:
        self._number += 1
        message: dict[str, object] = {"id": self._number, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._message()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                result = answer["result"]
                assert isinstance(result, dict)
                return result

    def _message(self) -> Mapping[str, object]:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._answers], [], [], _SECONDS)
            read = self._answers.read(1 << 16) if ready else b""
            assert read, "the browser ended, or answers no more"
            self._rest += read
        line, self._rest = self._rest.split(b"\0", 1)
        message: dict[str, object] = json.loads(line)
        params = message.get("params")
        if isinstance(params, dict):
            if message.get("method") == "Network.requestWillBeSent":
                self.requests.append(params["request"]["url"])
            if message.get("method") in ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown"):
                self.complaints.append(json.dumps(params))
        return message


@contextmanager
def browser(command: str) -> Iterator[Browser]:
    """A running browser, with a profile of its own that is gone afterwards."""
    to_browser, from_us = os.pipe()
    from_browser, to_us = os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        # The browser reads its descriptor 3 and writes its descriptor 4, whatever the numbers are here.
        shell = f'exec "$@" 3<&{to_browser} 4>&{to_us}'
        program = subprocess.Popen(
            ["bash", "-c", shell, "-", command, *_OPTIONS, f"--user-data-dir={profile}"],
            pass_fds=(to_browser, to_us),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(to_us)
        opened = None
        try:
            opened = Browser(program, from_us, from_browser)
            yield opened
        finally:
            if opened is None:
                program.kill()
                program.wait(20)
            else:
                opened.close()
