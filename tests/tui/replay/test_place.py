"""Where to go, as the reader writes it."""

import pytest

from decodescope.tui.replay.place import position_of
from decodescope.tui.replay.timeline import Timeline

from ..fakes import MS
from .replay_app import whole

TIMELINE = Timeline(whole())
ASKED = 1200 * MS


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("0.1s", ASKED + 100 * MS),
        (" 115 ms ", ASKED + 115 * MS),
        ("-1s", ASKED - 1000 * MS),
        ("\u22121s", ASKED - 1000 * MS),
        ("0:00.05", ASKED + 50 * MS),
        ("1:30", TIMELINE.length),
        ("#1", ASKED + 112 * MS),
        ("# 2", ASKED + 119 * MS),
        ("#0", ASKED + 112 * MS - 1),
        ("#9,999", TIMELINE.length),
        ("0%", ASKED),
        ("50%", ASKED + (TIMELINE.length - ASKED) // 2),
        ("100%", TIMELINE.length),
        ("900 %", TIMELINE.length),
        ("9" * 400 + "s", TIMELINE.length),
        ("9" * 400 + ":00", TIMELINE.length),
    ],
)
def test_understood(text: str, position: int) -> None:
    assert position_of(text, TIMELINE) == position


@pytest.mark.parametrize("text", ["", "12", "twelve", "#", "#x", "s", "1:2:3", "5 minutes", "[b]5s[/b]", "nan s"])
def test_not_understood(text: str) -> None:
    assert position_of(text, TIMELINE) is None
