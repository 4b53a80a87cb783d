"""A headless browser, driven over a pipe with the DevTools protocol: no port, no driver, no network."""

import base64
import json
import os
import select
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from .conftest import DEADLINE_SECONDS

_CLOSING_SECONDS = 10.0
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)


def found() -> str | None:
    """Return the browser's path; ``None``: there is none here."""
    return os.environ.get("CHROMIUM") or next((path for name in _NAMES if (path := shutil.which(name))), None)


def _code(key: str) -> int:
    return 13 if key == "Enter" else ord(key.upper())


class Browser:
    """One page; what it says and asks the network for is kept."""

    def __init__(
        self, path: str, profile: Path, *, width: int = 1200, height: int = 1600, flags: tuple[str, ...] = ()
    ) -> None:
        commands, self._commands = os.pipe()
        self._replies, replies = os.pipe()

        def hand_over() -> None:
            # The protocol's: commands come on descriptor 3, replies go to 4.
            spare = (os.dup(commands), os.dup(replies))
            for number, one in enumerate(spare, start=3):
                os.dup2(one, number)

        self._process = subprocess.Popen(
            [path, *_FLAGS, *flags, f"--user-data-dir={profile}", f"--window-size={width},{height}", "about:blank"],
            preexec_fn=hand_over,
            close_fds=False,
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": str(profile)},
        )
        os.close(commands)
        os.close(replies)
        self._unread = b""
        self._number = 0
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []
        """What the page has told by itself."""
        targets = self.call("Target.getTargets")["targetInfos"]
        target = next(one["targetId"] for one in targets if one["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._session = None
        with suppress(OSError):  # it has gone already
            os.write(self._commands, json.dumps({"id": 0, "method": "Browser.close"}).encode() + b"\0")
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_CLOSING_SECONDS)
        # Its helpers are of its own session, which holds nobody else.
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._commands)
        os.close(self._replies)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Ask for something and return the answer."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        while True:
            told = self._next()
            if told.get("id") == self._number:
                assert "error" not in told, told
                result: dict[str, Any] = told["result"]
                return result
            self.events.append(told)

    def open(self, page: Path | str) -> None:
        """Show a file or an address and wait until it is whole."""
        self.events.clear()
        self.call("Page.navigate", url=page if isinstance(page, str) else page.resolve().as_uri())
        while not any(one.get("method") == "Page.loadEventFired" for one in self.events):
            self.events.append(self._next())

    def run(self, script: str) -> Any:
        """Return the value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def type(self, text: str) -> None:
        """Type at the page."""
        for character in text:
            key = "Enter" if character == "\r" else character
            self.call(
                "Input.dispatchKeyEvent", type="keyDown", key=key, text=character, windowsVirtualKeyCode=_code(key)
            )
            self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=_code(key))

    def control(self, letter: str) -> None:
        """Press a letter together with Ctrl."""
        pressed = {"key": letter, "modifiers": 2, "windowsVirtualKeyCode": _code(letter)}
        self.call("Input.dispatchKeyEvent", type="rawKeyDown", **pressed)
        self.call("Input.dispatchKeyEvent", type="keyUp", **pressed)

    def click(self, x: int, y: int) -> None:
        """Click at a place, in pixels."""
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def hear(self) -> None:
        """Take in what the page tells within a moment."""
        self.run("new Promise((done) => setTimeout(done, 50))")

    def scheme(self, name: str) -> None:
        """Prefer ``light`` or ``dark``."""
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def picture(self) -> bytes:
        """Return the page as a PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])

    @property
    def asked_for(self) -> list[str]:
        """The addresses that the page has asked for since it was opened."""
        sent = (one["params"] for one in self.events if one.get("method") == "Network.requestWillBeSent")
        return [one["request"]["url"] for one in sent]

    @property
    def received(self) -> bytes:
        """What has come over the page's connections."""
        frames = (
            one["params"]["response"] for one in self.events if one.get("method") == "Network.webSocketFrameReceived"
        )
        return b"".join(base64.b64decode(one["payloadData"]) for one in frames if one["opcode"] == 2)

    @property
    def complaints(self) -> list[str]:
        """What went wrong in the page: errors of its script, and what its policy refused."""
        said = []
        for one in self.events:
            if one.get("method") == "Runtime.exceptionThrown":
                said.append(str(one["params"]["exceptionDetails"]))
            elif one.get("method") == "Log.entryAdded" and one["params"]["entry"]["level"] == "error":
                said.append(one["params"]["entry"]["text"])
        return said

    def _next(self) -> dict[str, Any]:
        deadline = time.monotonic() + DEADLINE_SECONDS
        while b"\0" not in self._unread:
            ready, _, _ = select.select([self._replies], [], [], max(deadline - time.monotonic(), 0))
            data = os.read(self._replies, 1 << 20) if ready else b""
            if not data:
                raise TimeoutError("the browser says nothing more")
            self._unread += data
        line, _, self._unread = self._unread.partition(b"\0")
        told: dict[str, Any] = json.loads(line)
        return told
