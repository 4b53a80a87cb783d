"""The real screen as a picture and as a film."""

import itertools
import json
import re
import xml.etree.ElementTree as ET
from datetime import UTC, datetime
from pathlib import Path

import pyte
import pytest
from msgspec.structs import replace

from decodescope.backends.events import Event, Finished
from decodescope.traces.exports.played import as_cast, played
from decodescope.traces.generations import takes
from decodescope.traces.header import Header
from decodescope.traces.opened import Opened
from decodescope.traces.reader import Trace
from decodescope.tui.film import MOST_FRAMES, film, frame_times, picture

from ..traces.exports.recorded import exported, quiet_then_disturbed, two_answers
from ..traces.samples import HEADER
from .fakes import MS, finished, progress, prompt, ready, taken, token
from .replay.test_replayed_comparison import compared, two_rounds

SIZE = (100, 30)
S = 1_000_000_000


def screen_after(frames: list[tuple[float, str]], size: tuple[int, int] = SIZE) -> str:
    screen = pyte.Screen(*size)
    stream = pyte.Stream(screen)
    for _, data in frames:
        stream.feed(data)
    return "\n".join(screen.display)


def opened(events: list[Event], name: str) -> Opened:
    found = tuple(takes(events))
    return Opened(Path(name), Trace(None, tuple(events), ("a note",)), found, len(found) - 1)


def test_the_picture_is_whole_and_refers_to_nothing() -> None:
    svg = picture(opened(quiet_then_disturbed(), "a <b>.jsonl"), SIZE)
    root = ET.fromstring(svg)
    assert root.tag.endswith("svg")
    assert "font-face" not in svg
    assert not re.findall(r"url\((?!#)", svg)
    assert "href" not in svg
    shown = "".join(root.itertext()).replace("\xa0", " ")
    assert "a <b>.jsonl" in shown
    assert "430 ms" in shown
    assert "#40 of 40" in shown
    assert "─▾─" in shown  # the track, with what was disturbed
    assert "a note" not in shown
    assert "\x1b" not in svg


def test_characters_that_xml_does_not_know_are_replaced() -> None:
    pieces = "a\ufffeb\uffffc\U0001f999d"
    events: list[Event] = [ready(), taken(1 * MS), prompt(2 * MS, 1), progress(3 * MS, 1, 1)]
    events += [token(4 * MS, 1, pieces.encode()), finished(5 * MS)]
    svg = picture(opened(events, "\uffff.jsonl"), SIZE)
    shown = "".join(ET.fromstring(svg).itertext())
    assert "a\ufffdb\ufffdc\U0001f999d" in shown
    assert "\ufffd.jsonl" in shown


def test_the_film_follows_the_recorded_time() -> None:
    frames = film(quiet_then_disturbed(), "a.jsonl", SIZE)
    times = [at for at, _ in frames]
    assert times == sorted(times)
    assert times[0] == 0.0
    assert 2.8 <= times[-1] <= 2.9  # the last event comes at 2,430 + 38 × 6.9 + 83 + 1 ms
    reading = screen_after([one for one in frames if one[0] <= 2.2])
    assert "256 / 512 tokens" in reading
    assert "token" not in reading.split("TTFT")[0].split("512 tokens")[0]
    end = screen_after(frames)
    assert "done" in end
    assert "40 tokens" in end
    assert "430 ms" in end
    assert "replay" not in end
    assert "quit" not in end


def test_the_film_gives_the_terminal_back() -> None:
    frames = film(quiet_then_disturbed(), "a.jsonl", SIZE)
    screen = pyte.Screen(*SIZE)
    stream = pyte.Stream(screen)
    for _, data in frames[:-1]:
        stream.feed(data)
    assert screen.cursor.hidden
    stream.feed(frames[-1][1])
    assert not screen.cursor.hidden
    assert screen.cursor.y == SIZE[1] - 1


def test_only_one_generation(tmp_path: Path) -> None:
    whole = exported(tmp_path, two_answers())
    assert len(played(whole)) == len(two_answers())
    (tmp_path / "b").mkdir()
    second = list(played(exported(tmp_path / "b", two_answers(), number=2)))
    assert len(second) == 6
    end = screen_after(film(second, "a.jsonl", SIZE))
    assert "It failed." in end
    assert "40 tokens" not in end


def test_waiting_for_the_next_question_is_not_filmed(tmp_path: Path) -> None:
    """Of what lies between an answer and the next model a second stays; nothing else changes."""
    events = two_answers()
    shown = played(exported(tmp_path, events))
    gaps = [later.t - one.t for one, later in itertools.pairwise(events)]
    expected = [S if isinstance(one, Finished) else gap for one, gap in zip(events, gaps, strict=False)]
    assert max(gaps) > 7 * S
    assert [later.t - one.t for one, later in itertools.pairwise(shown)] == expected


def test_an_asciicast_has_a_head_and_a_line_per_frame() -> None:
    events: list[Event] = [
        taken(1 * S),
        prompt(2 * S, 1),
        token(3 * S, 1, b"a"),
        token(4 * S, 2, b"b"),
        finished(5 * S),
    ]
    made = as_cast([(0.0, "\x1b[2J"), (1.25, "é\n"), (4.0, "end")], events, SIZE, "a\ud800\x1b", HEADER)
    head, *lines = (json.loads(line) for line in made.splitlines())
    assert head["version"] == 2
    assert (head["width"], head["height"]) == SIZE
    assert head["title"] == "a�␛"
    assert datetime.fromtimestamp(head["timestamp"], UTC) == datetime.fromisoformat(HEADER.recorded)
    assert lines == [
        [0.0, "o", "\x1b[2J"],
        [1.0, "m", "read"],
        [1.25, "o", "é\n"],
        [2.0, "m", "write"],
        [4.0, "o", "end"],
        [4.0, "m", "done"],
    ]


@pytest.mark.parametrize("header", [None, replace(HEADER, recorded="long ago"), replace(HEADER, recorded="")])
def test_without_a_date(header: Header | None) -> None:
    head = json.loads(as_cast([(0.0, "")], [taken(1)], SIZE, "a", header).splitlines()[0])
    assert "timestamp" not in head


@pytest.mark.parametrize(
    ("times", "frames"),
    [
        ([5], [0]),
        ([0, 7 * MS, 14 * MS, 120 * MS], [0, 100 * MS, 200 * MS]),
        ([0, 3500 * MS], [0, S, 2 * S, 3 * S, 3500 * MS]),
    ],
)
def test_when_there_is_a_frame(times: list[int], frames: list[int]) -> None:
    assert frame_times(times) == frames


def test_a_long_recording_has_a_bounded_number_of_frames() -> None:
    times = [place * 7 * MS for place in range(100_000)]
    found = frame_times(times)
    assert len(found) <= MOST_FRAMES + 2
    assert found[-1] >= times[-1]


@pytest.mark.parametrize("size", [(120, 40), (200, 60)])
def test_the_picture_of_a_comparison_has_all_lanes(size: tuple[int, int]) -> None:
    root = ET.fromstring(picture(compared(two_rounds(), first=1), size))
    shown = "".join(root.itertext()).replace("\xa0", " ")
    assert "round 2 of 2 ■ over" in shown
    assert "1st" in shown
    assert "2nd" in shown
    assert "all rounds" in shown
