"""The floor of a recording is that of the machine where it was made."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace as changed

from decodescope.backends import bandwidth
from decodescope.backends.bandwidth import Bandwidth
from decodescope.backends.events import Event
from decodescope.metrics.floor import MemoryFloor, NoFloor
from decodescope.traces.memory import MemoryMeasured
from decodescope.traces.opened import Opened
from decodescope.traces.reader import Trace, read_trace
from decodescope.tui.compare.opened import OpenedLane
from decodescope.tui.session import Phase, Session

from ..fakes import MS, answer, finished, ready
from ..scope_app import happened, scope
from .replay_app import Replayed, opened, replay
from .test_replayed_comparison import compared, two_rounds

GB = 1_000_000_000
MEASURED = MemoryMeasured(t=0, threads=2, bytes_per_second=20 * GB)
EVENTS: list[Event] = [ready(weights=92_000_000), *answer([b"a"] * 41), finished(900 * MS)]


@pytest.fixture(autouse=True)
def other_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one that replays is another one."""
    here = Bandwidth(bytes_per_second=3 * GB, threads=2, block_bytes=1, measured_at=0)
    monkeypatch.setattr(bandwidth, "cached_bandwidth", lambda threads: here)


def with_memory(one: Opened, *memory: MemoryMeasured) -> Opened:
    return Opened(one.path, changed(one.trace, memory=memory), one.takes)


def rate(session: Session) -> Any:
    floor = session.floor
    return floor.bytes_per_second if isinstance(floor, MemoryFloor) else floor


async def test_the_floor_is_the_recorded_one() -> None:
    async with replay(with_memory(opened(EVENTS), MEASURED), paused=True) as running:
        await running.went("end")
        assert rate(running.screen.session) == 20 * GB
        await running.sees("-  - floor ")
        await running.press("f5")
        await running.sees("measured on the machine of the recording")


async def test_without_one_in_the_recording_there_is_none() -> None:
    async with replay(opened(EVENTS), paused=True) as running:
        await running.went("end")
        assert rate(running.screen.session) is NoFloor.NOT_RECORDED
        await running.press("f5")
        await running.sees("not in the recording")
        assert "not been measured yet" not in running.shown()


async def opened_lane(running: Replayed) -> OpenedLane:
    await running.press("enter")
    await happened(lambda: isinstance(running.app.screen, OpenedLane))
    screen = running.app.screen
    assert isinstance(screen, OpenedLane)
    await happened(lambda: screen.session.phase is Phase.DONE)
    return screen


@pytest.mark.parametrize("memory", [(), (MEASURED,)])
async def test_a_lane_of_a_recorded_comparison(memory: tuple[MemoryMeasured, ...]) -> None:
    weighed = [
        changed(record, weight_bytes_per_token=92_000_000) if isinstance(record, type(ready())) else record
        for record in two_rounds()
    ]
    async with replay(with_memory(compared(weighed), *memory), paused=True) as running:
        screen = await opened_lane(running)
        assert rate(screen.session) == (20 * GB if memory else NoFloor.NOT_RECORDED)


async def test_the_lane_of_a_file() -> None:
    files = [with_memory(opened(EVENTS, "a.jsonl"), MEASURED), opened(EVENTS, "b.jsonl")]
    async with replay(*files, paused=True) as running:
        assert rate((await opened_lane(running)).session) == 20 * GB
        await running.press("escape", "tab")
        assert rate((await opened_lane(running)).session) is NoFloor.NOT_RECORDED


def kept(folder: Path) -> Trace:
    (path,) = folder.glob("decodescope-*")
    return read_trace(path)


async def test_the_scope_keeps_what_it_measures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with scope() as running:
        running.engine.play(ready(weights=92_000_000))
        await running.until(lambda: rate(running.session) == 3 * GB)
        await running.press("ctrl+o")
    assert [(one.threads, one.bytes_per_second) for one in kept(tmp_path).memory] == [(2, 3 * GB)]
