"""A comparison that is told again is the comparison that was."""

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from decodescope.backends import bandwidth
from decodescope.backends.bandwidth import Bandwidth
from decodescope.backends.events import Failed, Finished, RequestTaken, Token
from decodescope.comparison.export import as_json
from decodescope.comparison.lane import LanePhase
from decodescope.comparison.plan import LanePlan, Unusable
from decodescope.comparison.retold import RetoldComparison
from decodescope.comparison.runner import Comparison, Stage
from decodescope.models.facts import read_model
from decodescope.traces.errors import TraceError
from decodescope.traces.reader import read_trace

from ..conftest import ScriptWriter
from .driving import drive, plan
from .keeping import events_of, kept, retold, state

HOUR = 3_600_000


@pytest.fixture
def talkers(script: ScriptWriter) -> tuple[Path, Path, Path]:
    """Three scripts; the second writes five tokens where the others write seven."""
    one, two, three = (
        script(
            {"prefill": 20, "ms": 4},
            {"repeat": 4, "text": " abc", "ms": ms},
            {"text": " other", "ms": ms},
            *[{"text": " abc", "ms": ms}] * more,
            {"stop": "stop"},
            name=f"{ms}.jsonl",
        )
        for ms, more in ((1, 2), (2, 0), (3, 2))
    )
    return one, two, three


@pytest.mark.parametrize("together", [False, True])
def test_all_figures_are_the_same(talkers: tuple[Path, Path, Path], tmp_path: Path, together: bool) -> None:
    path = tmp_path / "a.jsonl.zst"
    comparison = kept(plan(*talkers, rounds=3, together=together), path)
    again = retold(path)
    assert state(again) == state(comparison)
    assert events_of(again) == events_of(comparison)
    assert [lane.scores_note for lane in again.lanes] == [lane.scores_note for lane in comparison.lanes]
    assert again.whole


@pytest.mark.parametrize("broken", [{"load_error": "no such tensor"}, {"error": "out of memory"}, {"signal": 9}])
def test_a_lane_that_failed(
    script: ScriptWriter, talkers: tuple[Path, Path, Path], tmp_path: Path, broken: dict[str, object]
) -> None:
    path = tmp_path / "a.jsonl"
    bad = script({"text": " x"}, broken, name="bad.jsonl")
    comparison = kept(plan(talkers[0], bad, talkers[1], rounds=2), path)
    again = retold(path)
    assert state(again) == state(comparison)
    assert [lane.phase for lane in again.lanes] == [LanePhase.DONE, LanePhase.FAILED, LanePhase.DONE]


def test_what_could_not_be_used_at_all(talkers: tuple[Path, Path, Path], tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    asked = plan(*talkers[:2])
    failed = Failed(t=1, stage="load", what="There is no such model.", remedy="Name one.")
    asked = type(asked)(
        lanes=(*asked.lanes, LanePlan("none", Unusable("none.gguf", failed))),
        settings=asked.settings,
        request=asked.request,
    )
    comparison = kept(asked, path)
    again = retold(path)
    assert state(again) == state(comparison)
    assert again.lanes[2].failed == failed


def test_cancelled_in_the_second_round(talkers: tuple[Path, Path, Path], script: ScriptWriter, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"

    def course(comparison: Comparison) -> None:
        comparison.start()
        drive(comparison, lambda events: comparison.round == 2 and any(isinstance(e, Token) for _, e in events))
        comparison.cancel()
        drive(comparison)

    comparison = kept(plan(*talkers, rounds=3), path, course=course)
    assert comparison.stage is Stage.CANCELLED
    again = retold(path)
    assert state(again) == state(comparison)
    assert again.results.notes[0] == "Cancelled in round 2 of 3."


def test_a_round_was_added_after_it_was_cancelled(talkers: tuple[Path, Path, Path], tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"

    def course(comparison: Comparison) -> None:
        comparison.start()
        drive(comparison, lambda events: comparison.round == 2 and any(isinstance(e, Token) for _, e in events))
        comparison.cancel()
        drive(comparison)
        comparison.add_round()
        drive(comparison)

    comparison = kept(plan(*talkers, rounds=2), path, course=course)
    assert comparison.stage is Stage.DONE
    again = retold(path)
    assert state(again) == state(comparison)
    assert [one.number for one in again.lanes[0].rounds] == [one.number for one in comparison.lanes[0].rounds]
    assert max(one.number for one in again.lanes[0].rounds) == 3


@pytest.mark.parametrize("text", [True, False])
def test_closed_in_the_middle_of_an_answer(
    talkers: tuple[Path, Path, Path], script: ScriptWriter, tmp_path: Path, text: bool
) -> None:
    path = tmp_path / "a.jsonl"
    slow = script({"prefill": 20}, {"repeat": 6, "text": " abc"}, {"text": "x", "ms": HOUR}, name="slow.jsonl")

    def course(comparison: Comparison) -> None:
        comparison.start()
        drive(comparison, lambda events: any(isinstance(e, Token) and e.index == 6 for n, e in events if n == 1))
        comparison.close()

    comparison = kept(plan(talkers[0], slow), path, course=course, text=text)
    trace = read_trace(path)
    assert trace.notes == ("It ends in the middle of an answer.",)
    again = RetoldComparison(trace)
    if text:
        assert state(again) == state(comparison)
    assert as_json(again.results)["lanes"][1]["compared_n"] == 6


def test_scores_of_quantizations(demo_model: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    model = read_model(demo_model)
    asked = plan(model, model, quality=True, make=("Q4_0", None), tokens=6)
    comparison = kept(asked, path)
    again = retold(path)
    assert state(again) == state(comparison)
    row = again.results.rows[1]
    assert row.mean_kld is not None
    for mine, theirs in zip(again.lanes, comparison.lanes, strict=True):
        assert mine.scores is not None
        assert theirs.scores is not None
        assert mine.scores.tokens == theirs.scores.tokens
        assert mine.scores.pieces == theirs.scores.pieces
        assert [mine.scores.probability(place) for place in mine.scores.positions] == [
            theirs.scores.probability(place) for place in theirs.scores.positions
        ]
    # The same without its text: what is known of the tokens are their numbers.
    hidden = tmp_path / "b.jsonl"
    without = kept(asked, hidden, text=False)
    told = RetoldComparison(read_trace(hidden))
    assert as_json(told.results)["lanes"] == as_json(without.results)["lanes"]
    assert told.lanes[0].scores is not None
    assert set(told.lanes[0].scores.tokens) == {-1}


@pytest.mark.parametrize("together", [False, True])
def test_without_text_the_figures_stay(talkers: tuple[Path, Path, Path], tmp_path: Path, together: bool) -> None:
    path = tmp_path / "a.jsonl"
    comparison = kept(plan(*talkers, rounds=2, together=together, prompt="my secret"), path, text=False)
    again = retold(path)
    assert as_json(again.results) == as_json(comparison.results)
    assert again.results.rows[1].diverged_at == 6
    rates = [one.characters_rate for one in again.results.rows[1].all_rounds]
    assert rates == [one.characters_rate for one in comparison.results.rows[1].all_rounds]
    assert None not in rates
    told = path.read_text()
    for secret in ("abc", "other", "secret"):
        assert secret not in told


def test_without_text_and_cut_off_nothing_is_made_up(talkers: tuple[Path, Path, Path], tmp_path: Path) -> None:
    path, cut = tmp_path / "a.jsonl", tmp_path / "cut.jsonl"
    kept(plan(*talkers[:2]), path, text=False)
    cut.write_bytes(b"".join(line for line in path.read_bytes().splitlines(True) if b'"event":"answer"' not in line))
    rows = RetoldComparison(read_trace(cut)).results.rows
    assert rows[1].all_rounds[0].characters_rate is None
    assert (rows[1].diverged_at, rows[1].compared_tokens) == (None, 0)
    assert rows[1].decode_rate is not None


def _cuts(data: bytes) -> Iterator[int]:
    place = data.index(b"\n", data.index(b"\n") + 1) + 1
    while place < len(data):
        after = data.find(b"\n", place) + 1 or len(data)
        yield place  # between two lines
        yield (place + after) // 2  # within one
        place = after


def test_cut_anywhere(talkers: tuple[Path, Path, Path], tmp_path: Path) -> None:
    path, cut = tmp_path / "a.jsonl", tmp_path / "cut.jsonl"
    comparison = kept(plan(*talkers[:2], rounds=2, together=True), path)
    data = path.read_bytes()
    whole = [event for lane in comparison.lanes for one in lane.rounds for event in one.events]
    seen = 0
    for place in _cuts(data):
        cut.write_bytes(data[:place])
        trace = read_trace(cut)
        if data[place - 1 : place] != b"\n":
            assert "It was cut off: everything before the cut is here." in trace.notes
        again = RetoldComparison(trace)
        report = as_json(again.results)
        assert again.stage is Stage.CANCELLED
        assert not again.whole
        assert "The recording ends in round" in report["notes"][0]
        told = [event for lane in again.lanes for one in lane.rounds for event in one.events]
        assert all(event in whole for event in told)
        seen = max(seen, len(told))
    assert seen == len(whole)


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.jsonl.zst"])
def test_cut_anywhere_when_compressed(talkers: tuple[Path, Path, Path], tmp_path: Path, name: str) -> None:
    path, cut = tmp_path / name, tmp_path / f"cut-{name}"
    kept(plan(*talkers[:2]), path)
    data = path.read_bytes()
    opened = 0
    for place in range(40, len(data), 97):
        cut.write_bytes(data[:place])
        try:
            trace = read_trace(cut)
        except TraceError:  # within the first line
            assert not opened
            continue
        if trace.comparison is not None:
            opened += 1
            as_json(RetoldComparison(trace).results)
    assert opened > 10


def test_scores_that_do_not_fit_are_left_out(demo_model: Path, tmp_path: Path) -> None:
    path, damaged = tmp_path / "a.jsonl", tmp_path / "damaged.jsonl"
    model = read_model(demo_model)
    kept(plan(model, model, quality=True, tokens=4), path)
    lines = path.read_bytes().splitlines(keepends=True)
    place = next(number for number, line in enumerate(lines) if line.startswith(b'{"event":"scored"'))
    damaged.write_bytes(b"".join([*lines[: place + 1], lines[place], *lines[place + 1 :]]))
    again = RetoldComparison(read_trace(damaged))
    assert again.notes == ("1 stretch of scores does not fit to the text or to those before: left out.",)
    assert as_json(again.results) == as_json(retold(path).results)
    far = lines[place].replace(b'"first":1,', b'"first":100000,')
    assert far != lines[place]
    damaged.write_bytes(b"".join([*lines[:place], far, *lines[place + 1 :]]))
    assert len(RetoldComparison(read_trace(damaged)).notes) == 1


def test_a_recording_goes_on_with_what_was_received(talkers: tuple[Path, Path, Path], tmp_path: Path) -> None:
    """While it runs, the file tells as much as the comparison has done."""
    path = tmp_path / "a.jsonl.gz"

    def course(comparison: Comparison) -> None:
        comparison.start()
        events = drive(comparison, lambda new: any(isinstance(event, Finished) for _, event in new))
        told = RetoldComparison(read_trace(path))
        assert events_of(told) == events_of(comparison)
        assert sum(isinstance(event, RequestTaken) for _, event in events) >= 1
        drive(comparison)

    kept(plan(*talkers[:2]), path, course=course)
    assert gzip.decompress(path.read_bytes()).endswith(b'"in_turn":false}\n')


def test_an_answer_without_its_end_stays_in_its_round(talkers: tuple[Path, Path, Path], tmp_path: Path) -> None:
    path, damaged = tmp_path / "a.jsonl", tmp_path / "damaged.jsonl"
    kept(plan(*talkers[:2], rounds=2), path)
    lines = path.read_bytes().splitlines(keepends=True)
    first = next(number for number, line in enumerate(lines) if line.startswith(b'{"event":"finished"'))
    damaged.write_bytes(b"".join([*lines[:first], *lines[first + 1 :]]))
    again = RetoldComparison(read_trace(damaged))
    assert [[one.number for one in lane.rounds] for lane in again.lanes] == [[1, 2], [1, 2]]
    assert again.lanes[0].rounds[0].run.end is None
    assert again.lanes[0].rounds[0].run.token_count == 7


def test_what_is_no_comparison(tmp_path: Path) -> None:
    from ..traces.samples import written

    with pytest.raises(ValueError, match="nothing is compared"):
        RetoldComparison(read_trace(written(tmp_path / "a.jsonl")))


def test_nothing_is_kept_of_a_comparison_that_never_began(talkers: tuple[Path, Path, Path], tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    kept(plan(*talkers), path, course=lambda comparison: None)
    assert len(path.read_bytes().splitlines()) == 1


def test_what_was_measured_of_the_machine_is_kept(
    talkers: tuple[Path, Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.jsonl"
    here = Bandwidth(bytes_per_second=7e9, threads=1, block_bytes=1, measured_at=0)
    monkeypatch.setattr(bandwidth, "cached_bandwidth", lambda threads: replace(here, threads=threads))
    comparison = kept(plan(*talkers[:2]), path)
    threads = {lane.model.threads for lane in comparison.lanes if lane.model is not None}
    assert {(one.threads, one.bytes_per_second) for one in read_trace(path).memory} == {(one, 7e9) for one in threads}
