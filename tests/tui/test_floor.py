"""Where the floor is, and why writing is slower than reading."""

import threading

import pytest

from decodescope.backends import bandwidth
from decodescope.backends.bandwidth import Bandwidth, BandwidthError
from decodescope.metrics.floor import MemoryFloor
from decodescope.tui.plotting.axis import Axis
from decodescope.tui.screens.why import WhyScreen
from decodescope.tui.session import Phase
from decodescope.tui.widgets.latency_plot import latency_rows
from decodescope.tui.widgets.phase_line import PhaseLine
from decodescope.tui.widgets.plot import Plot
from decodescope.tui.widgets.prefill_plot import prefill_rows

from .fakes import MS, answer, finished, progress, prompt, ready, taken
from .scope_app import scope
from .test_lines import session, text

GB = 1_000_000_000


def measurement(rate: float) -> Bandwidth:
    return Bandwidth(bytes_per_second=rate, threads=2, block_bytes=1 << 20, measured_at=0)


class TestFloorInThePlot:
    def test_the_floor_is_a_line_that_rises_with_the_context(self) -> None:
        run = session(*answer([b"a"] * 40)).run
        assert run is not None
        flat = MemoryFloor(weight_bytes=35_000_000, kv_bytes_per_token=0, bytes_per_second=10 * GB)
        rows = [text(row) for row in latency_rows(run, flat, Axis(), 120, 9)]
        assert "floor   3.5 ms" in rows[0]
        assert "50% of the memory's bandwidth in use" in rows[0]
        rising = MemoryFloor(weight_bytes=0, kv_bytes_per_token=1_000_000, bytes_per_second=100 * GB)
        drawn = [row for row in map(text, latency_rows(run, rising, Axis(), 120, 9)) if row != rows[0]]
        without = [text(row) for row in latency_rows(run, None, Axis(), 120, 9)]
        assert drawn[1:] != without[1:]

    def test_a_narrow_title_leaves_out_what_finds_no_room(self) -> None:
        run = session(*answer([b"a"] * 40)).run
        assert run is not None
        floor = MemoryFloor(weight_bytes=35_000_000, kv_bytes_per_token=0, bytes_per_second=10 * GB)
        for width in range(20, 130, 7):
            title = text(latency_rows(run, floor, Axis(), width, 6)[0])
            assert len(title) <= width


class TestPrefillPlot:
    def test_the_rate_against_depth_is_drawn_while_it_is_read(self) -> None:
        made = session(
            taken(),
            prompt(0, 4096),
            *(progress(step * 400 * MS + step * step * 20 * MS, step * 512, 4096) for step in range(1, 5)),
        )
        assert made.phase is Phase.PREFILL
        assert made.run is not None
        rows = [text(row) for row in prefill_rows(made.run, Axis(), 100, 8)]
        assert "foreseen" in rows[0]
        assert "at 4,096 tokens" in rows[0]
        assert any(character not in " │┤" for row in rows[1:] for character in row[6:50])
        assert all(len(row) == 100 for row in rows)

    def test_nothing_is_drawn_before_the_first_figure(self) -> None:
        made = session(taken(), prompt(0, 4096))
        assert made.run is not None
        assert prefill_rows(made.run, Axis(), 100, 8) == []

    async def test_the_plot_changes_from_reading_to_writing(self) -> None:
        async with scope() as running:
            running.engine.play(ready())
            await running.press(*"hi", "enter")
            await running.until(lambda: bool(running.engine.requests))
            running.engine.play(taken(), prompt(0, 2048), progress(400 * MS, 512, 2048), progress(820 * MS, 1024, 2048))
            await running.until(lambda: "by depth" in running.line(Plot))
            running.engine.play(*answer([b"a"] * 20), finished(900 * MS))
            await running.until(lambda: "time per token" in running.line(Plot))


class TestMeasuring:
    async def test_the_memory_is_measured_once_before_the_first_prompt_is_asked(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        release = threading.Event()

        def measure(threads: int) -> Bandwidth:
            assert threads == 2
            release.wait(60)
            return measurement(10 * GB)

        monkeypatch.setattr(bandwidth, "measure_bandwidth", measure)
        async with scope() as running:
            running.engine.play(ready(weights=92_000_000))
            await running.until(lambda: "measuring the memory" in running.line(PhaseLine))
            await running.press(*"hi", "enter")
            assert not running.engine.requests
            release.set()
            await running.until(lambda: bool(running.engine.requests))
            floor = running.session.floor
            assert isinstance(floor, MemoryFloor)
            assert floor.bytes_per_second == 10 * GB

    async def test_a_measurement_that_is_kept_is_used(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(bandwidth, "cached_bandwidth", lambda threads: measurement(5 * GB))
        async with scope() as running:
            running.engine.play(ready(weights=92_000_000))
            await running.until(lambda: running.session.phase is Phase.READY)
            assert running.session.bandwidth == 5 * GB

    async def test_without_memory_to_measure_in_there_is_no_floor_and_the_answer_comes(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(threads: int) -> Bandwidth:
            raise BandwidthError("There is too little free memory.")

        monkeypatch.setattr(bandwidth, "measure_bandwidth", refuse)
        async with scope() as running:
            running.engine.play(ready(weights=92_000_000))
            await running.press(*"hi", "enter")
            await running.until(lambda: bool(running.engine.requests))
            assert "There is too little free memory." in running.toasts


class TestWhy:
    async def test_the_panel_explains_with_the_figures_of_this_run(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(bandwidth, "cached_bandwidth", lambda threads: measurement(20 * GB))
        async with scope() as running:
            running.engine.play(ready(weights=92_000_000))
            await running.press(*"hi", "enter")
            await running.until(lambda: bool(running.engine.requests))
            await running.press("f5")
            assert isinstance(running.app.screen, WhyScreen)
            assert "before the second token" in "\n".join(running.shown())
            await running.press("f5")
            assert not isinstance(running.app.screen, WhyScreen)
            running.engine.play(*answer([b"a"] * 41), finished(900 * MS))
            await running.until(lambda: running.session.phase is Phase.DONE)
            await running.press("f5")
            shown = "\n".join(running.shown())
            # 100 tokens read in 100 ms; 40 gaps of 7 ms.
            for words in ("1,000 tok/s", "143 tok/s", "7.0×", "20.0 GB/s", "bandwidth is in use"):
                assert words in shown
            await running.press("escape")
            assert not isinstance(running.app.screen, WhyScreen)

    async def test_without_a_floor_it_says_why(self) -> None:
        async with scope() as running:
            running.engine.play(ready())
            await running.press(*"hi", "enter")
            await running.until(lambda: bool(running.engine.requests))
            running.engine.play(*answer([b"a"] * 41), finished(900 * MS))
            await running.until(lambda: running.session.phase is Phase.DONE)
            await running.press("f5")
            assert "is not known" in "\n".join(running.shown())
