"""Low bandwidth and the meter as a person meets them."""

import re
from pathlib import Path

import pytest

from decodescope.backends.launch import ScriptFile
from decodescope.tui.engine_link import EngineLink
from decodescope.tui.frame_pace import Tempo
from decodescope.tui.options import ScopeOptions
from decodescope.tui.output import Traffic
from decodescope.tui.screens.watching import BEHIND, CHOSEN, Watching
from decodescope.tui.session import Phase
from decodescope.tui.widgets.counters import Counters
from decodescope.tui.widgets.meter import MeterLine
from decodescope.tui.widgets.newest_token import NewestToken

from .fakes import MS, FakeBackend, answer, finished, tokens
from .scope_app import Scope, asked, default_options, scope


class Line:
    """A terminal that keeps frames waiting for as long as is said."""

    def __init__(self, *, fps: int | None = None, low_bandwidth: bool = False) -> None:
        self.now = 0
        self.traffic = Traffic(lambda: self.now)
        options = ScopeOptions(ScriptFile(Path("x")), fps=fps, low_bandwidth=low_bandwidth)
        self.watching = Watching(options, self.traffic, EngineLink(lambda model, settings: FakeBackend()))

    def news(self, frames: int, *, waited_ms: int) -> list[str]:
        """What is said in the course of so many frames."""
        said = []
        for _ in range(frames):
            self.traffic.handing_over()
            self.traffic.waits()
            self.now += waited_ms * MS
            self.traffic.goes_on()
            self.traffic.taken(100)
            self.watching.pace.next_frame()
            if (news := self.watching.news()) is not None:
                said.append(news)
        return said


@pytest.fixture
def over_ssh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSH_CONNECTION", "192.0.2.1 50000 192.0.2.2 22")


def test_a_slow_terminal_is_told_once() -> None:
    line = Line()
    assert line.news(10, waited_ms=0) == []
    assert line.news(60, waited_ms=900) == [BEHIND]
    line.news(60, waited_ms=0)
    assert line.news(10, waited_ms=900) == []
    assert not line.watching.low_bandwidth


@pytest.mark.usefixtures("over_ssh")
def test_a_slow_ssh_line_gets_low_bandwidth_by_itself_and_only_then() -> None:
    quick, slow = Line(), Line()
    assert quick.news(60, waited_ms=2) == []
    assert not quick.watching.low_bandwidth
    ordinary = slow.watching.pace.tempo
    assert CHOSEN in slow.news(10, waited_ms=900)
    assert slow.watching.low_bandwidth
    assert slow.watching.pace.tempo.frame > ordinary.frame
    assert "--fps 9" in CHOSEN
    slow.watching.switch_low_bandwidth()
    assert slow.watching.pace.tempo == ordinary
    assert CHOSEN not in slow.news(30, waited_ms=900)


@pytest.mark.usefixtures("over_ssh")
@pytest.mark.parametrize(("fps", "low"), [(9, False), (None, True)])
def test_flags_go_before_what_is_measured(fps: int | None, low: bool) -> None:
    line = Line(fps=fps, low_bandwidth=low)
    assert CHOSEN not in line.news(30, waited_ms=900)
    assert line.watching.low_bandwidth is low


def test_nothing_is_said_while_it_could_not_be_seen() -> None:
    line = Line()
    line.traffic.waits()
    for _ in range(3):
        line.traffic.handing_over()
        line.now += 900 * MS
        line.watching.pace.next_frame()
    assert line.watching.pace.slowed
    assert line.watching.news() is None
    line.traffic.taken(100)
    assert line.watching.news() == BEHIND


async def test_f6_shows_the_meter_above_the_keys_and_hides_it_again() -> None:
    async with scope() as running:
        meter = running.screen.query_one(MeterLine)
        assert not meter.display
        await running.press("f6")
        assert "measuring" in running.shown()[-2]
        await running.until(lambda: "of a core" in running.shown()[-2])
        await running.press("f6")
        assert not meter.display
        assert not running.app._watching.meter.running
        await running.press("f6")
        assert meter.display


async def test_the_engines_cpu_is_left_out_where_it_is_no_process() -> None:
    async with scope() as running:
        await running.press("f6")
        await running.until(lambda: "of a core" in running.line(MeterLine))
        assert "engine" not in running.line(MeterLine)


async def test_low_bandwidth_is_a_command_of_the_palette() -> None:
    async with scope() as running:
        commands = {command.title: command for command in running.app.get_system_commands(running.screen)}
        commands["Low bandwidth"].callback()
        assert running.app._watching.low_bandwidth
        await running.until(lambda: any("Low bandwidth" in toast for toast in running.toasts))
        commands["Low bandwidth"].callback()
        assert not running.app._watching.low_bandwidth


async def test_percentiles_wait_for_their_time_and_the_last_ones_are_shown() -> None:
    async with scope(options=default_options()) as running:
        await asked(running)
        running.app._watching.pace.tempo = Tempo(frame=0.01, figures=3600)
        running.screen._face.all()  # what is due next is by this tempo
        running.engine.play(*answer([b"one "] * 10))
        await running.until(lambda: running.session.phase is Phase.DECODE)
        drawn = percentiles(running)
        running.engine.play(*tokens(900 * MS, [b"two "] * 10, first=11))
        await running.until(lambda: "two two" in "\n".join(running.shown()))
        running.screen._face.at_leisure()
        assert percentiles(running) == drawn
        assert "#20" in running.line(NewestToken)
        running.engine.play(finished(1_000 * MS))
        await running.until(lambda: running.session.phase is Phase.DONE)
        assert percentiles(running) != drawn


def percentiles(running: Scope) -> list[str]:
    return re.findall(r"ITL p\d+ +[\d.,]+", running.line(Counters))
