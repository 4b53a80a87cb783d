"""The meter of the screen's own cost, on clocks that stand where they are put."""

import numpy as np
import pytest

from decodescope.tui.output import Traffic
from decodescope.tui.self_meter import Cost, SelfMeter
from decodescope.tui.widgets.meter import cost_parts, meter_row

MS = 1_000_000


class Measured:
    """A meter and what it reads."""

    def __init__(self) -> None:
        self.now = self.cpu = 0
        self.engine: int | None = 0
        self.traffic = Traffic(lambda: self.now)
        self.meter = SelfMeter(self.traffic, lambda: self.engine, clock=lambda: self.now, cpu_ns=lambda: self.cpu)

    def write(self, size: int) -> None:
        self.traffic.handing_over()
        self.traffic.taken(size)

    def sample(self) -> Cost:
        cost = self.meter.sample()
        assert cost is not None
        return cost


def test_shares_and_rates_are_those_since_the_last_sample() -> None:
    measured = Measured()
    measured.write(10_000)
    measured.now, measured.cpu, measured.engine = 5_000 * MS, 900 * MS, 3_000 * MS
    measured.meter.start()
    measured.write(400)
    measured.write(600)
    measured.now, measured.cpu, measured.engine = 7_000 * MS, 980 * MS, 6_740 * MS
    # In 2 s: 80 ms of CPU, 3,740 ms of the engine's, 1,000 bytes in 2 frames.
    cost = measured.sample()
    assert cost.screen_share == pytest.approx(0.04)
    assert cost.engine_share == pytest.approx(1.87)
    assert cost.bytes_per_second == pytest.approx(500)
    assert cost.frames_per_second == pytest.approx(1)
    assert cost.delay_median_ns is None
    assert cost.delay_worst_ns is None
    measured.now = 8_000 * MS
    assert measured.sample().bytes_per_second == 0


def test_the_delay_ends_when_the_frame_that_paints_the_token_was_taken() -> None:
    measured = Measured()
    measured.meter.start()
    measured.meter.text_handed(np.array([10 * MS, 20 * MS]), painted=7)
    measured.meter.frame(painted=7)  # a frame of something else
    measured.now = 40 * MS
    measured.write(10)
    measured.meter.frame(painted=8)
    measured.now = 100 * MS
    assert measured.sample().delay_median_ns is None  # on its way
    measured.write(10)
    # Taken at 100 ms: 90 and 80 ms after the two tokens.
    cost = measured.sample()
    assert cost.delay_median_ns == 85 * MS
    assert cost.delay_worst_ns == 90 * MS


def test_text_that_waits_for_a_later_frame_counts_from_its_own_time() -> None:
    measured = Measured()
    measured.meter.start()
    measured.meter.text_handed(np.array([0]), painted=1)
    measured.meter.text_handed(np.array([100 * MS]), painted=1)
    measured.meter.frame(painted=3)
    measured.now = 500 * MS
    measured.write(10)
    assert measured.sample().delay_worst_ns == 500 * MS


def test_stopped_it_keeps_nothing() -> None:
    measured = Measured()
    assert measured.meter.sample() is None
    measured.meter.text_handed(np.array([0]), painted=1)
    measured.meter.frame(painted=2)
    measured.write(10)
    assert not measured.traffic.arrivals
    measured.meter.start()
    assert measured.meter.running
    measured.meter.stop()
    assert not measured.meter.running
    assert measured.meter.sample() is None


def test_an_engine_that_has_gone_has_no_share() -> None:
    measured = Measured()
    measured.meter.start()
    measured.now, measured.engine = 1_000 * MS, None
    assert measured.sample().engine_share is None
    measured.now, measured.engine = 2_000 * MS, 5
    assert measured.sample().engine_share is None


COST = Cost(0.039, 11_900, 8.2, 96.4 * MS, 118 * MS, 1.87)


def test_the_line_in_words() -> None:
    assert " · ".join(cost_parts(COST)) == (
        "screen 3.9 % of a core · 11.9 KB/s · 8.2 frames/s · token to terminal 96 ms, worst 118 · engine 187 %"
    )


@pytest.mark.parametrize(
    ("width", "text"),
    [
        (76, "screen 3.9 % of a core · 11.9 KB/s · 8.2 frames/s"),
        (60, "screen 3.9 % of a core · 11.9 KB/s · low bandwidth"),
        (10, "screen 3.9 % of a core · low bandwidth"),
    ],
)
def test_notes_stay_where_figures_find_no_room(width: int, text: str) -> None:
    notes = [] if width == 76 else ["low bandwidth"]
    assert "".join(part for part, _ in meter_row(COST, notes, width)) == text


def test_what_is_not_known_is_left_out() -> None:
    told = cost_parts(Cost(0.5, 0, 0))
    assert told == ["screen 50 % of a core", "0.0 KB/s", "0.0 frames/s"]
    assert "measuring" in meter_row(None, [], 80)[0][0]
