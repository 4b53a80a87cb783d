"""The scope in a browser: as a person uses it, and who may."""

import asyncio
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from pathlib import Path

import psutil
import pyte
import pytest

from ..browser import Browser, found
from ..conftest import DEADLINE_SECONDS, RunCommand, ScriptWriter
from .conftest import Starter

BROWSER = found()
needs_browser = pytest.mark.skipif(BROWSER is None, reason="there is no Chromium here (CHROMIUM=… names one)")


class Served:
    """A server that runs."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stderr is not None
        self.process = process
        said = process.stderr.readline().decode()
        match = re.search(r"http://127\.0\.0\.1:(\d+)/", said)
        assert match is not None, said
        self.address, self.port = match[0], int(match[1])

    def programs(self) -> list[psutil.Process]:
        """The scopes and their engines."""
        return psutil.Process(self.process.pid).children(recursive=True)

    def get(self, path: str, **headers: str) -> tuple[int, str]:
        """Ask for something; return the status and the text."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=DEADLINE_SECONDS)
        try:
            connection.request("GET", path, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.read().decode("utf-8", "replace")
        finally:
            connection.close()


@pytest.fixture
def served(start: Starter, script: ScriptWriter) -> Served:
    path = script({"text": "an answer"}, {"text": " for the page"}, name="it's a `script`; $(exit).jsonl")
    return Served(start("serve", "--port", "0", "-m", f"script:{path}"))


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    assert BROWSER is not None
    with Browser(BROWSER, tmp_path / "profile", width=1000, height=700) as opened:
        yield opened


def _wait(condition: Callable[[], bool], browser: Browser | None = None) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, b"" if browser is None else browser.received[-2000:]
        if browser is None:
            time.sleep(0.02)
        else:
            browser.hear()


def _screen(browser: Browser) -> str:
    screen = pyte.Screen(250, 80)
    pyte.ByteStream(screen).feed(browser.received)
    return "\n".join(line.rstrip() for line in screen.display)


def _ask(browser: Browser, address: str) -> None:
    browser.open(address)
    _wait(lambda: "Ask something" in _screen(browser), browser)
    browser.type("hello there\r")
    _wait(lambda: "an answer for the page" in _screen(browser), browser)


@needs_browser
def test_a_prompt_is_typed_and_the_answer_is_seen(served: Served, browser: Browser) -> None:
    _ask(browser, served.address)
    assert "hello there" in _screen(browser)
    assert browser.complaints == []
    assert all(url.startswith((served.address, "data:")) for url in browser.asked_for)
    programs = served.programs()
    assert len(programs) >= 2
    browser.control("q")
    _wait(lambda: browser.run("document.body.classList.contains('-closed')") is True, browser)
    assert psutil.wait_procs(programs, DEADLINE_SECONDS)[1] == []


_PASTE = """(() => {
  const data = new DataTransfer();
  data.setData("text/plain", "keep this\\ncolour \\x1b[31mred\\x1b[0m end");
  const paste = new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true });
  document.querySelector(".xterm-helper-textarea").dispatchEvent(paste);
  return null;
})()"""


@needs_browser
def test_a_paste_is_text_and_of_a_copy_it_is_said_that_the_browser_decides(served: Served, browser: Browser) -> None:
    _ask(browser, served.address)
    browser.run(_PASTE)
    _wait(lambda: re.search(r"❯ keep this\n *colour ␛\[31mred␛\[0m end", _screen(browser)) is not None, browser)
    browser.type("!\r")
    _wait(lambda: _screen(browser).count("an answer for the page") == 2, browser)
    browser.control("y")
    _wait(lambda: "to the page" in _screen(browser), browser)
    assert "Copied" not in _screen(browser)


_HAS_KEYBOARD = "document.activeElement.classList.contains('xterm-helper-textarea')"


@needs_browser
def test_the_page_takes_the_keyboard(served: Served, browser: Browser) -> None:
    browser.open(served.address)
    _wait(lambda: "Ask something" in _screen(browser), browser)
    assert browser.run(_HAS_KEYBOARD)
    for turned_to in (
        lambda: browser.run("window.dispatchEvent(new Event('focus')) && null"),
        lambda: browser.click(400, 300),
        lambda: browser.click(999, 699),
    ):
        browser.run("document.activeElement.blur()")
        assert not browser.run(_HAS_KEYBOARD)
        turned_to()
        assert browser.run(_HAS_KEYBOARD)
    browser.click(400, 300)
    browser.type("not r\r")
    _wait(lambda: "an answer for the page" in _screen(browser), browser)
    assert "not r" in _screen(browser)
    assert browser.complaints == []


@needs_browser
@pytest.mark.parametrize("leave", ["go elsewhere", "close"])
def test_leaving_the_page_ends_its_engine(served: Served, browser: Browser, leave: str) -> None:
    _ask(browser, served.address)
    programs = served.programs()
    if leave == "close":
        browser.call("Page.close")
    else:
        browser.open("about:blank")
    assert psutil.wait_procs(programs, DEADLINE_SECONDS)[1] == []
    assert served.process.poll() is None


@needs_browser
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_engine_outlives_the_server(served: Served, browser: Browser, ending: signal.Signals) -> None:
    _ask(browser, served.address)
    programs = served.programs()
    assert len(programs) >= 2
    served.process.send_signal(ending)
    assert served.process.wait(DEADLINE_SECONDS) == (0 if ending != signal.SIGKILL else -signal.SIGKILL)
    _, alive = psutil.wait_procs(programs, DEADLINE_SECONDS)
    assert alive == []


def test_other_pages_cannot_use_it(served: Served) -> None:
    own = served.address.removesuffix("/")
    asked = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    asked["Sec-WebSocket-Key"] = "AAAAAAAAAAAAAAAAAAAAAA=="
    assert served.get("/")[0] == 200
    assert served.get("/ws", **asked)[0] == 403
    assert served.get("/ws", **asked, Origin="http://elsewhere.example")[0] == 403
    assert served.get("/ws", **asked, Origin="null")[0] == 403
    named = {"Host": f"elsewhere.example:{served.port}", "Origin": f"http://elsewhere.example:{served.port}"}
    assert served.get("/ws", **asked, **named)[0] == 403
    assert served.get("/", Host="elsewhere.example")[0] == 403
    assert served.get("/static/../serving.py")[0] == 404
    assert served.get("/ws", **asked, Origin=own)[0] == 101


def test_what_the_page_loads_is_here(served: Served) -> None:
    _, page = served.get("/?fontsize=%22%3E%3Cscript%3E")
    assert "<script>" not in page
    parts = re.findall(r'(?:href|src)="(/[^"]+)"|url\("([^"]+)"\)', page)
    assert len(parts) >= 5
    assert all(served.get(one or other)[0] == 200 for one, other in parts)
    assert "https:" not in page


def test_no_more_scopes_than_allowed(start: Starter, script: ScriptWriter) -> None:
    from aiohttp import ClientSession

    served = Served(start("serve", "--port", "0", "--scopes", "1", "-m", f"script:{script({'text': 'x'})}"))
    address, own = f"{served.address}ws", served.address.removesuffix("/")

    async def connect() -> bytes:
        async with ClientSession() as session, session.ws_connect(address, origin=own) as first:
            assert await first.receive_bytes()
            async with session.ws_connect(address, origin=own) as second:
                return await second.receive_bytes()

    assert b"1 scope is open already" in asyncio.run(connect())
    _wait(lambda: not served.programs())


def test_another_address_takes_a_flag(decodescope: RunCommand) -> None:
    for host in ("0.0.0.0", "::", "somewhere"):
        done = decodescope("serve", "--host", host)
        assert done.returncode == 2
        assert b"could use this machine as you" in done.stderr
        assert b"--allow-remote" in done.stderr


def test_wrong_flags_are_said_at_once(decodescope: RunCommand, tmp_path: Path) -> None:
    assert decodescope("serve", "--no-such").returncode == 2
    assert decodescope("serve", "-f", "-").returncode == 2
    assert decodescope("serve", "--record", str(tmp_path / "a.jsonl")).returncode == 2
    assert decodescope("serve", "replay", "a.jsonl").returncode == 2
    assert decodescope("serve", "-m", str(tmp_path / "none.gguf")).returncode == 3


def test_its_help_is_its_own(decodescope: RunCommand) -> None:
    said = decodescope("serve", "-h").stdout
    assert b"--allow-remote" in said
    assert b"-h, --help" in said


def test_an_address_that_is_taken(served: Served, decodescope: RunCommand) -> None:
    done = decodescope("serve", "--port", str(served.port))
    assert done.returncode == 1
    assert f"127.0.0.1:{served.port}".encode() in done.stderr


def test_what_to_install_is_said(tmp_path: Path) -> None:
    without = "import sys; sys.modules['textual_serve'] = None; sys.argv[1:] = ['serve']; "
    code = without + "from decodescope.cli.main import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=DEADLINE_SECONDS, check=False)
    assert done.returncode == 1
    assert b"-m pip install" in done.stderr
    assert b"textual-serve" in done.stderr
