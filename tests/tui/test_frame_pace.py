"""The pace of the screen, on a terminal whose waits are made up."""

import pytest

from decodescope.tui.frame_pace import FramePace, Tempo, tempo
from decodescope.tui.output import Traffic

MS = 1_000_000


class Line:
    """A terminal that keeps frames waiting for as long as is said."""

    def __init__(self, chosen: Tempo | None = None) -> None:
        self.now = 0
        self.traffic = Traffic(lambda: self.now)
        self.pace = FramePace(chosen or Tempo(frame=0.1), self.traffic)

    def frames(self, count: int, waited_ms: float = 0) -> None:
        for _ in range(count):
            self.traffic.handing_over()
            self.traffic.waits()
            self.now += int(waited_ms * MS)
            self.traffic.goes_on()
            self.traffic.taken(100)
            self.pace.next_frame()


def test_the_tempo_that_is_asked_for() -> None:
    assert tempo(None, low_bandwidth=False).frame == pytest.approx(1 / 9)
    assert tempo(20, low_bandwidth=False).frame == pytest.approx(0.05)
    low = tempo(None, low_bandwidth=True)
    assert low.frame > Tempo().frame
    assert low.figures > Tempo().figures
    # A number of frames goes before low bandwidth; the rest of it stays.
    assert tempo(5, low_bandwidth=True).frame == pytest.approx(0.2)
    assert tempo(5, low_bandwidth=True).figures == low.figures


def test_a_terminal_that_keeps_up_changes_nothing() -> None:
    line = Line()
    line.frames(50, waited_ms=5)  # a twentieth of the time
    assert line.pace.seconds == pytest.approx(0.1)
    assert not line.pace.slowed


def test_late_frames_slow_down_and_punctual_ones_speed_up_again() -> None:
    line = Line()
    periods = []
    for _ in range(4):
        line.frames(1, waited_ms=60)
        periods.append(line.pace.seconds)
        line.now += 500 * MS
        line.frames(0)
    assert periods[0] == pytest.approx(0.15)
    assert periods[1] == pytest.approx(0.225)
    # 60 ms are more than a quarter of 225 ms, and less than that of 337 ms.
    assert periods[2] == pytest.approx(0.3375)
    assert periods[3] == pytest.approx(0.3375)
    assert line.pace.slowed
    line.frames(5 * 8)
    assert line.pace.seconds == pytest.approx(0.1)
    assert not line.pace.slowed


def test_it_never_waits_longer_than_two_seconds() -> None:
    line = Line()
    line.frames(40, waited_ms=5000)
    assert line.pace.seconds == pytest.approx(2.0)


def test_one_frame_a_second_is_slow_enough_to_be_kept() -> None:
    line = Line(Tempo(frame=5.0))
    line.frames(5, waited_ms=4000)
    assert line.pace.seconds == pytest.approx(5.0)


def test_a_wait_that_goes_on_counts() -> None:
    line = Line()
    line.traffic.handing_over()
    line.traffic.waits()
    line.now += 50 * MS
    line.pace.next_frame()
    assert line.pace.slowed
    line.now += 200 * MS
    line.pace.next_frame()
    assert line.pace.seconds == pytest.approx(0.225)


def test_frames_are_held_back_when_three_are_on_their_way() -> None:
    line = Line()
    for expected in (False, False, True):
        line.traffic.handing_over()
        assert line.pace.congested is expected
    line.traffic.taken(10)
    assert not line.pace.congested


def test_a_line_that_is_slow_from_the_start_is_told_from_one_that_stuck() -> None:
    slow, stuck, later = Line(), Line(), Line()
    slow.frames(2)
    slow.frames(4, waited_ms=2000)
    assert slow.pace.slow_from_the_start
    stuck.frames(1, waited_ms=60_000)
    stuck.frames(30)
    assert not stuck.pace.slow_from_the_start
    later.frames(40)
    later.frames(20, waited_ms=2000)
    assert not later.pace.slow_from_the_start
