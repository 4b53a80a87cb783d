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

import click
import psutil
import pyte
import pytest

from decodescope.cli.public_url import public_url

from ..browser import Browser, found
from ..conftest import DEADLINE_SECONDS, RunCommand, ScriptWriter
from ..proxy import OPENSSL, Proxy, certificate
from .conftest import Starter

BROWSER = found()
needs_browser = pytest.mark.skipif(BROWSER is None, reason="there is no Chromium here (CHROMIUM=… names one)")


class Served:
    """A server that runs."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stderr is not None
        self.process = process
        self.said = ""
        while (match := re.search(r"http://127\.0\.0\.1:(\d+)/", self.said)) is None:
            line = process.stderr.readline().decode()
            assert line, self.said
            self.said += line
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
    parts = _parts(page)
    assert len(parts) >= 5
    assert all(served.get(f"/{one}")[0] == 200 for one in parts)
    assert "https:" not in page


def _parts(page: str) -> list[str]:
    """Return the addresses of what the page loads, as they stand there."""
    found = re.findall(r'(?:href|src)="([^"]+)"|url\("([^"]+)"\)', page)
    addresses = (one or other for one, other in found)
    return [address for address in addresses if not address.startswith("data:") and not address.endswith("/")]


# Behind a proxy

NAME = "scope.example"
_ASKED = {
    "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
}  # fmt: skip


@pytest.fixture
def behind(start: Starter, script: ScriptWriter) -> Callable[..., Served]:
    def serve(*flags: str) -> Served:
        path = script({"text": "an answer"}, {"text": " for the page"})
        return Served(start("serve", "--port", "0", *flags, "-m", f"script:{path}"))

    return serve


@pytest.mark.parametrize("path", ["", "/a/scope"])
def test_the_page_and_the_scope_are_there_for_the_public_address(behind: Callable[..., Served], path: str) -> None:
    served = behind("--public-url", f"https://{NAME.upper()}:443{path}/")
    assert f"https://{NAME}{path}/" in served.said
    own = f"127.0.0.1:{served.port}"
    for host in (NAME, f"{NAME}:443", own):
        for below in {"", path}:
            status, page = served.get(f"{below}/", Host=host)
            assert status == 200
            assert all(one.startswith(f"{path}/") for one in _parts(page))
            assert f'data-socket="{path}/ws"' in page
            assert served.get(f"{below}/ws", **_ASKED, Host=host, Origin=f"https://{NAME}")[0] == 101
        assert [served.get(one, Host=host)[0] for one in _parts(page)] == [200] * len(_parts(page))
    # This machine's own way in stays, and a path without its slash is the page as well.
    assert served.get(f"{path}/ws", **_ASKED, Origin=f"http://{own}")[0] == 101
    assert served.get(path or "/", Host=NAME)[0] == 200


@pytest.mark.parametrize("public", [(), ("--public-url", f"https://{NAME}/")])
def test_what_a_proxy_tells_is_not_believed(behind: Callable[..., Served], public: tuple[str, ...]) -> None:
    served = behind(*public)
    own = f"127.0.0.1:{served.port}"
    told = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": own, "Forwarded": f"host={own};proto=https"}
    for host, origin in [
        ("elsewhere.example", "https://elsewhere.example"),
        ("elsewhere.example", f"http://{own}"),
        ("elsewhere.example", f"https://{NAME}"),
        (own, "https://elsewhere.example"),
        (own, f"https://{own}"),
        (own, f"http://{NAME}"),
        (own, f"https://{NAME}:8443"),
        (own, f"https://{NAME}.elsewhere.example"),
        (f"{NAME}.elsewhere.example", f"https://{NAME}.elsewhere.example"),
        (NAME, f"http://{NAME}"),
        (NAME, f"http://{own}"),
        (own, "null"),
    ]:
        status, text = served.get("/ws", **_ASKED, **told, Host=host, Origin=origin)
        assert status == 403, (host, origin)
        assert "--public-url" in text
    status, text = served.get("/", **told, Host="elsewhere.example")
    assert status == 403
    assert "elsewhere.example" in text
    assert "--public-url" in text
    if not public:
        assert served.get("/ws", **_ASKED, Host=NAME, Origin=f"https://{NAME}")[0] == 403


_FLAGS = ("--ignore-certificate-errors", f"--host-resolver-rules=MAP {NAME} 127.0.0.1")


@needs_browser
@pytest.mark.skipif(OPENSSL is None, reason="there is no openssl here")
@pytest.mark.parametrize(
    ("keeps_host", "takes_away"), [(True, ""), (False, "/a/scope")], ids=["all handed on", "rewritten"]
)
def test_a_prompt_is_typed_behind_tls(
    behind: Callable[..., Served], tmp_path: Path, keeps_host: bool, takes_away: str
) -> None:
    assert BROWSER is not None
    with (
        Proxy(certificate(tmp_path, NAME), keeps_host=keeps_host, takes_away=takes_away) as proxy,
        Browser(BROWSER, tmp_path / "profile", width=1000, height=700, flags=_FLAGS) as browser,
    ):
        public = f"https://{NAME}:{proxy.port}/a/scope/"
        served = behind("--public-url", public)
        proxy.upstream = served.port
        _ask(browser, public)
        assert browser.complaints == []
        assert all(url.startswith((public, "data:")) for url in browser.asked_for)
        programs = served.programs()
        browser.control("q")
        _wait(lambda: "has been closed" in browser.run("document.body.innerText"), browser)
        assert psutil.wait_procs(programs, DEADLINE_SECONDS)[1] == []


@needs_browser
@pytest.mark.skipif(OPENSSL is None, reason="there is no openssl here")
@pytest.mark.parametrize("keeps_host", [True, False])
def test_the_page_says_what_is_missing(behind: Callable[..., Served], tmp_path: Path, keeps_host: bool) -> None:
    assert BROWSER is not None
    with (
        Proxy(certificate(tmp_path, NAME), keeps_host=keeps_host, takes_away="/a/scope") as proxy,
        Browser(BROWSER, tmp_path / "profile", width=1000, height=700, flags=_FLAGS) as browser,
    ):
        proxy.upstream = behind().port
        address = f"https://{NAME}:{proxy.port}/a/scope/"
        browser.open(address)
        said = browser.run("document.body.innerText")
        assert f"{NAME}:{proxy.port}" in said
        assert "serve does not know" in said
        assert ("--public-url" if keeps_host else f"--public-url {address}") in said
        assert "closed" not in said
        assert not any(one.get("method") == "Network.webSocketCreated" for one in browser.events)


@needs_browser
@pytest.mark.skipif(OPENSSL is None, reason="there is no openssl here")
def test_a_connection_that_never_was_is_not_said_to_be_closed(behind: Callable[..., Served], tmp_path: Path) -> None:
    assert BROWSER is not None
    with (
        Proxy(certificate(tmp_path, NAME), keeps_host=True, upgrades=False) as proxy,
        Browser(BROWSER, tmp_path / "profile", width=1000, height=700, flags=_FLAGS) as browser,
    ):
        proxy.upstream = behind("--public-url", f"https://{NAME}:{proxy.port}").port
        browser.open(f"https://{NAME}:{proxy.port}/")
        _wait(lambda: "does not pass WebSockets on" in browser.run("document.body.innerText"), browser)
        assert "closed" not in browser.run("document.body.innerText")


@pytest.mark.parametrize(
    "url",
    [
        "", "scope.example", "ftp://a/", "https://", "https:///x", "https://a:b@c/", "https://a/?x", "https://a/#x",
        "https://a/../b", "https://a/{x}", "https://a/ b", "https://a//b", "https://a:99999/", "https://[x]/",
        "https://a\"b/", "https://a;b/",
    ],
)  # fmt: skip
def test_addresses_that_cannot_be_the_pages(url: str) -> None:
    with pytest.raises(click.BadParameter):
        public_url(url)


@pytest.mark.parametrize(
    ("url", "origin", "path"),
    [
        ("https://A.example", "https://a.example", ""),
        ("https://a.example:443/", "https://a.example", ""),
        ("http://a.example:80/x/y/", "http://a.example", "/x/y"),
        ("https://a.example:8443/x", "https://a.example:8443", "/x"),
        ("https://[::1]:1/", "https://[::1]:1", ""),
        ("https://bücher.example/", "https://xn--bcher-kva.example", ""),
    ],
)
def test_addresses_are_compared_as_browsers_write_them(url: str, origin: str, path: str) -> None:
    assert (public_url(url).origin, public_url(url).path) == (origin, path)


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
