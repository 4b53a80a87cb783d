"""What is known of a copy, by the tools and the terminal that there are."""

import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from decodescope.tui import clipboard
from decodescope.tui.clipboard import CLIPBOARD, TMUX_BUFFER, outcome, put

from .scope_app import answered, scope

TEXT = "naïve\x1b[2J\n" * 20_000
TAKES = "import sys; open(sys.argv[0] + '.got', 'wb').write(sys.stdin.buffer.read())"
REFUSES = "import sys; sys.exit(1)"
HANGS = "import time; time.sleep(600)"
STAYS = f"""{TAKES}
import os, time
if os.fork() == 0:
    time.sleep(3)
"""
"""As wl-copy and xclip do, which hold on to what they were given as output."""

Tool = Callable[[str, str], Path]


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tool:
    """Puts a program where programs are looked for, and nothing else there."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))

    def make(name: str, program: str) -> Path:
        path = folder / name
        path.write_text(f"#!{sys.executable}\n{program}\n")
        path.chmod(0o755)
        return path.with_name(f"{name}.got")

    return make


@pytest.mark.parametrize(
    ("display", "name"), [("WAYLAND_DISPLAY", "wl-copy"), ("DISPLAY", "xclip"), ("DISPLAY", "xsel")]
)
@pytest.mark.parametrize("program", [TAKES, STAYS], ids=["takes", "stays"])
def test_a_tool_of_the_display(
    tool: Tool, monkeypatch: pytest.MonkeyPatch, display: str, name: str, program: str
) -> None:
    monkeypatch.setenv(display, ":0")
    got = tool(name, program)
    assert put(TEXT) == [CLIPBOARD]
    assert got.read_text() == TEXT


@pytest.mark.parametrize("program", [REFUSES, HANGS], ids=["refuses", "hangs"])
def test_a_tool_that_does_not_take_it_is_passed_over(tool: Tool, monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    monkeypatch.setattr(clipboard, "_TOOL_SECONDS", 1.0 if program is HANGS else 30.0)
    monkeypatch.setenv("DISPLAY", ":0")
    tool("xclip", program)
    assert put(TEXT) == []
    if program is REFUSES:
        got = tool("xsel", TAKES)
        assert put(TEXT) == [CLIPBOARD]
        assert got.read_text() == TEXT


@pytest.mark.parametrize("name", ["SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY"])
def test_over_ssh_the_display_is_another(tool: Tool, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("DISPLAY", "localhost:10.0")
    monkeypatch.setenv(name, "x")
    got = tool("xclip", TAKES)
    assert put(TEXT) == []
    assert not got.exists()


def test_without_a_display_or_a_tool_nothing_is_known(tool: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    tool("xclip", TAKES)
    assert put(TEXT) == []
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    assert put(TEXT) == []
    assert "Copied" not in outcome("it", [])


def test_the_clipboard_of_a_server_is_not_that_of_the_page(tool: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setenv("TEXTUAL_DRIVER", "textual.drivers.web_driver:WebDriver")
    got = tool("xclip", TAKES)
    assert put(TEXT) == []
    assert not got.exists()
    assert "page" in outcome("it", [])


NO_W = f"import sys\nif '-w' in sys.argv: sys.exit(1)\n{TAKES}"


@pytest.mark.parametrize("program", [TAKES, NO_W], ids=["new", "before 3.2"])
def test_tmux_takes_it_into_a_buffer(tool: Tool, monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    monkeypatch.setenv("TMUX", "/tmp/tmux-0/default,1,0")
    got = tool("tmux", program)
    assert put(TEXT) == [TMUX_BUFFER]
    assert got.read_text() == TEXT
    assert TMUX_BUFFER in outcome("it", [TMUX_BUFFER])
    assert CLIPBOARD not in outcome("it", [TMUX_BUFFER])
    tool("tmux", REFUSES)
    assert put(TEXT) == []
    assert "set-clipboard" in outcome("it", [])


async def test_the_screen_goes_on_while_a_tool_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    let_go = threading.Event()
    given: list[str] = []

    def waits(text: str) -> list[str]:
        let_go.wait(60)
        given.append(text)
        return [CLIPBOARD] if text == "blue" else []

    monkeypatch.setattr("decodescope.tui.terminal_app.put", waits)
    written: list[str] = []
    async with scope() as running:
        await running.press("ctrl+y")
        assert given == []
        await answered(running, [b"blue"])
        driver = running.app._driver
        assert driver is not None
        monkeypatch.setattr(driver, "write", written.append)
        await running.press("ctrl+y")
        running.app.copy_to_clipboard("red")
        await running.press("x")
        assert running.box.text == "x"
        assert not any("Copied" in toast for toast in running.toasts)
        let_go.set()
        await running.until(lambda: any("Copied 4 characters" in toast for toast in running.toasts))
        await running.until(lambda: any("\x1b]52;c;cmVk\x07" in frame for frame in written))
        assert not any("\x1b]52" in frame and "cmVk" not in frame for frame in written)
        assert given == ["blue", "red"]
        assert not any("Copied 3" in toast for toast in running.toasts)
        assert running.app.clipboard == "red"
