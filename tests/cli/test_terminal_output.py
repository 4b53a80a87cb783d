"""What a headless run shows on a terminal."""

import signal
import subprocess

import pytest

from decodescope.backends.events import LoadProgress, Log, PrefillProgress, PromptReady
from decodescope.cli.progress import ProgressLine
from decodescope.cli.streams import Messages

from ..conftest import DEADLINE_SECONDS, ScriptWriter
from .conftest import Starter
from .terminals import Terminal


def test_text_is_sanitised_on_a_terminal(start: Starter, script: ScriptWriter, terminal: Terminal) -> None:
    path = script({"text": "a\x1b[2J\x1b]0;t\x07b\u009b2J\tc\nnext [/INST]"})
    process = start("run", "hi", "-m", f"script:{path}", stdout=terminal.slave, stderr=subprocess.DEVNULL)
    assert process.wait(DEADLINE_SECONDS) == 0
    output = terminal.read_rest().decode()
    assert output == "a␛[2J␛]0;t␇b\ufffd2J\tc\r\nnext [/INST]\r\n"


@pytest.mark.parametrize("form", ["--json", "--jsonl"])
def test_json_is_sanitised_on_a_terminal(start: Starter, script: ScriptWriter, terminal: Terminal, form: str) -> None:
    path = script({"model": {"name": "n\u009b2J\u202ex"}}, {"text": "a\u009bb\x1b"})
    process = start("run", "hi", form, "-m", f"script:{path}", stdout=terminal.slave, stderr=subprocess.DEVNULL)
    assert process.wait(DEADLINE_SECONDS) == 0
    output = terminal.read_rest().decode()
    assert "n\ufffd2J\ufffdx" in output
    assert not set(output) & {"\x1b", "\u009b", "\u202e"}


def test_the_progress_line_leaves_nothing_behind(start: Starter, script: ScriptWriter, terminal: Terminal) -> None:
    path = script({"load_ms": 400}, {"prefill": 512, "cached": 96, "ms": 600}, {"text": "The answer."})
    process = start("run", "hi", "-m", f"script:{path}", "-s", "1", stdout=terminal.slave, stderr=terminal.slave)
    assert process.wait(DEADLINE_SECONDS) == 0
    output = terminal.read_rest().decode()
    assert "load" in output
    assert "of 512 tokens, 96 cached" in output
    screen = terminal.screen()
    assert screen[0] == "The answer."
    assert screen[1].startswith("1 token · TTFT")
    assert "of 512" not in "".join(screen)


def test_a_failure_while_loading_wipes_the_progress_line(
    start: Starter, script: ScriptWriter, terminal: Terminal
) -> None:
    path = script({"load_ms": 300}, {"load_error": "bad \x1b[31m tensor"})
    process = start("run", "hi", "-m", f"script:{path}", stderr=terminal.slave)
    assert process.wait(DEADLINE_SECONDS) == 3
    terminal.read_rest()
    screen = terminal.screen()
    assert "  bad ␛[31m tensor" in screen
    assert not any("load " in line for line in screen)


def test_no_progress_on_a_dumb_terminal(
    start: Starter, script: ScriptWriter, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "dumb")
    process = start("run", "hi", "-m", f"script:{script({'text': 'x'})}", stderr=terminal.slave)
    assert process.wait(DEADLINE_SECONDS) == 0
    assert b"\x1b" not in terminal.read_rest()


def test_a_terminal_that_goes_away(start: Starter, script: ScriptWriter, terminal: Terminal) -> None:
    path = script({"repeat": 1_000_000, "text": "tok ", "ms": 5})
    process = start("run", "hi", "-m", f"script:{path}", stdout=terminal.slave, stderr=terminal.slave)
    terminal.read_until(lambda output: b"tok" in output)
    process.send_signal(signal.SIGHUP)
    assert process.wait(DEADLINE_SECONDS) == 129


class _Recorded(Messages):
    """Stderr as a terminal of a given width, whose drawings are kept."""

    def __init__(self) -> None:
        super().__init__()
        self.terminal = True
        self.descriptor = None
        self.drawn: list[str] = []

    def draw(self, control: str) -> None:
        self.drawn.append(control)

    def can_show(self, text: str) -> bool:
        return text.isascii()


def test_figures_of_the_progress_line() -> None:
    messages = _Recorded()
    line = ProgressLine(messages)
    second = 1_000_000_000
    line.update(LoadProgress(t=0, fraction=0.0))
    line.update(LoadProgress(t=0, fraction=1.0))
    line.update(PromptReady(t=second, tokens=tuple(range(500)), cached=100))
    line._line._drawn_at = 0.0
    # 400 tokens to read; 200 of them read in 2 s: 100 tok/s, 2 s left, half the bar of 10 cells (80 columns).
    line.update(PrefillProgress(t=3 * second, processed=300, cached=100, total=500))
    line.update(Log(t=3 * second, level="info", text="x"))
    assert [text.removeprefix("\r\x1b[K") for text in messages.drawn] == [
        "load  ..........   0%",
        "load  warming up",
        "read  .......... 100 of 500 tokens, 100 cached",
        "read  #####..... 300 of 500 tokens, 100 cached  100 tok/s  2.0 s left",
        "",
    ]


def test_all_cached_divides_by_nothing() -> None:
    messages = _Recorded()
    ProgressLine(messages).update(PromptReady(t=0, tokens=(1, 2, 3), cached=3))
    assert messages.drawn == ["\r\x1b[Kread  ########## 3 of 3 tokens, 3 cached"]


def test_events_between_the_phases_draw_nothing() -> None:
    messages = _Recorded()
    line = ProgressLine(messages)
    line.update(PrefillProgress(t=0, processed=3, cached=0, total=3))
    line.clear()
    assert messages.drawn == []
