"""The timeline, against the rules of the trace-event format."""

import json
import os
import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from decodescope.backends.events import Event
from decodescope.traces.exports.timeline import as_perfetto

from ...browser import Browser, found
from ...tui.fakes import MS, ready, taken, token
from .recorded import GAP, SLOW, exported, quiet_then_disturbed, two_answers


def _records(text: str) -> list[dict[str, Any]]:
    whole = json.loads(text)
    assert set(whole) == {"displayTimeUnit", "otherData", "traceEvents"}
    assert whole["displayTimeUnit"] in ("ms", "ns")
    records: list[dict[str, Any]] = whole["traceEvents"]
    return records


def _check(records: list[dict[str, Any]]) -> None:
    """Raise AssertionError where the format's rules are broken."""
    before = 0.0
    open_until: dict[tuple[int, int], list[int]] = defaultdict(list)
    named: set[tuple[str, int, int]] = set()
    processes: set[int] = set()
    for record in records:
        assert record["ph"] in "MXiC"
        assert isinstance(record["name"], str)
        assert record["name"]
        assert isinstance(record["pid"], int)
        assert isinstance(record["tid"], int)
        assert record["ts"] >= before or record["ph"] == "M"
        before = max(before, record["ts"])
        track = (record["pid"], record["tid"])
        match record["ph"]:
            case "M":
                assert record["name"] in ("process_name", "thread_name", "thread_sort_index")
                assert (record["name"], *track) not in named
                named.add((record["name"], *track))
                processes.add(record["pid"])
            case "X":
                assert record["dur"] >= 0
                # As Perfetto reads them: what is beyond a nanosecond is cut off.
                start = int(record["ts"] * 1000)
                end = start + int(record["dur"] * 1000)
                stack = open_until[track]
                while stack and stack[-1] <= start:
                    stack.pop()
                # Slices of one thread lie within each other or side by side.
                assert all(end <= one for one in stack)
                stack.append(end)
                assert ("thread_name", *track) in named
                assert record["pid"] in processes
            case "i":
                assert record["s"] in "gpt"
            case "C":
                assert record["args"]
                assert all(isinstance(value, int | float) for value in record["args"].values())
    threads = [tid for what, _, tid in named if what == "thread_name"]
    assert len(threads) == len(set(threads))


def test_the_rules_of_the_format(tmp_path: Path) -> None:
    records = _records(as_perfetto(exported(tmp_path)))
    _check(records)
    assert {record["pid"] for record in records} == {1, 2}


def test_a_slice_per_token_with_its_cause(tmp_path: Path) -> None:
    records = _records(as_perfetto(exported(tmp_path, quiet_then_disturbed())))
    tokens = [record for record in records if record.get("cat") == "write (decode)"]
    assert [one["args"]["token"] for one in tokens] == list(range(1, 41))
    assert tokens[1]["dur"] == (GAP + 2000) / 1000
    assert tokens[1]["ts"] == 2_430_000.0
    slow = tokens[SLOW - 1]
    assert slow["args"]["cause"] == "preempted"
    assert "pre-empted 37 times" in slow["args"]["why"]
    (mark,) = (record for record in records if record.get("cat") == "disturbed")
    assert mark["name"] == "preempted"
    assert mark["args"] == {"token": SLOW, "why": slow["args"]["why"]}
    assert (mark["ts"], mark["dur"]) == (slow["ts"], slow["dur"])
    assert [one["args"]["token"] for one in tokens if one["cname"] == "terrible"] == [SLOW]


def test_the_time_of_each_token_as_a_curve(tmp_path: Path) -> None:
    records = _records(as_perfetto(exported(tmp_path, quiet_then_disturbed())))
    samples = [record for record in records if record["name"] == "ITL (ms)"]
    assert len(samples) == 40  # 39 gaps, and the end
    assert (samples[0]["ts"], samples[0]["args"]) == (2_430_000.0, {"ms": 6.914})
    assert samples[SLOW - 2]["args"] == {"ms": 82.948}
    assert samples[-1]["args"] == {"ms": 0}


def test_no_nanosecond_is_lost(tmp_path: Path) -> None:
    """Not even by a reader that cuts off instead of rounding, as Perfetto does."""
    chance = random.Random(7)
    times = [chance.randrange(10**14) for _ in range(5000)]
    events: list[Event] = [replace(ready("tiny"), t=0), taken(1)]
    events += [token(t, index, b"a") for index, t in enumerate(sorted(times), start=1)]
    records = _records(as_perfetto(exported(tmp_path, events)))
    _check(records)
    written = [record for record in records if record.get("cat") == "write (decode)"]
    assert [int(one["ts"] * 1000) + int(one["dur"] * 1000) for one in written] == sorted(times)


def test_load_and_prefill(tmp_path: Path) -> None:
    records = _records(as_perfetto(exported(tmp_path, quiet_then_disturbed())))
    slices = {record["name"]: record for record in records if record["ph"] == "X"}
    assert (slices["load"]["ts"], slices["load"]["dur"]) == (0, 1_200_000)
    assert (slices["warm-up"]["ts"], slices["warm-up"]["dur"]) == (1_200_000, 80_000)
    assert (slices["prefill"]["ts"], slices["prefill"]["dur"]) == (2_010_000, 417_000)
    read = [record for record in records if record["name"] == "prompt tokens read"]
    assert [(one["ts"], one["args"]["computed"]) for one in read] == [
        (2_010_000, 0),
        (2_200_000, 160),
        (2_427_000, 416),
    ]
    assert {one["args"]["cached"] for one in read} == {96}


def test_one_generation(tmp_path: Path) -> None:
    records = _records(as_perfetto(exported(tmp_path, number=2)))
    _check(records)
    assert [record["name"] for record in records if record["name"].startswith("generation")] == ["generation 2"]


def test_no_folder_is_in_it(tmp_path: Path) -> None:
    assert "/secret" not in as_perfetto(exported(tmp_path))


def test_a_file_that_goes_back_in_time(tmp_path: Path) -> None:
    events = two_answers()
    events[20] = replace(events[20], t=5 * MS)
    _check(_records(as_perfetto(exported(tmp_path, events))))


def test_cut_in_the_middle_of_an_answer(tmp_path: Path) -> None:
    records = _records(as_perfetto(exported(tmp_path, quiet_then_disturbed()[:20])))
    _check(records)
    assert any(record["name"] == "generation 1" for record in records)


def test_without_text(tmp_path: Path) -> None:
    text = as_perfetto(exported(tmp_path, text=False))
    _check(_records(text))
    assert "secret" not in text


def test_a_model_that_comes_within_an_answer_ends_it(tmp_path: Path) -> None:
    """What follows belongs to no answer, as in all other forms."""
    events: list[Event] = [
        taken(1 * MS),
        replace(ready("tiny"), t=2 * MS),
        token(3 * MS, 1, b"a"),
        token(4 * MS, 2, b"b"),
    ]
    records = _records(as_perfetto(exported(tmp_path, events)))
    _check(records)
    (generation,) = [one for one in records if one["name"] == "generation 1"]
    assert (generation["ts"], generation["dur"]) == (0.0, 1000.0)
    assert not [one for one in records if one.get("cat", "").startswith("write")]


VIEWER = os.environ.get("TRACE_VIEWER")
"""A page that holds the viewer of chrome://tracing."""
_READ = """(() => {
  const model = new tr.Model();
  new tr.importer.Import(model).importTraces([window.trace]);
  return {
    warnings: model.importWarnings.map((one) => one.message),
    processes: model.getAllProcesses().map((process) => ({
      name: process.name,
      counters: Object.fromEntries(Object.values(process.counters).map(
        (one) => [one.name, one.series.map((series) => series.samples.length)])),
      threads: Object.values(process.threads).map((thread) => ({
        name: thread.name,
        slices: thread.sliceGroup.slices.map((one) => [one.title, one.parentSlice?.title ?? null]),
      })),
    })),
  };
})()"""


@pytest.mark.skipif(found() is None, reason="there is no Chromium here (CHROMIUM=… names one)")
@pytest.mark.skipif(VIEWER is None, reason="TRACE_VIEWER=… names no viewer")
def test_in_the_viewer_of_chrome(tmp_path: Path) -> None:
    browser, viewer = found(), VIEWER
    assert browser is not None
    assert viewer is not None
    with Browser(browser, tmp_path / "profile") as page:
        page.open(Path(viewer))
        page.run(f"window.trace = {json.dumps(as_perfetto(exported(tmp_path)))}; 0")
        read = page.run(_READ)
    assert read["warnings"] == []
    first, second = read["processes"]
    assert first["name"] == "tiny"
    assert first["counters"] == {"model loaded": [3], "prompt tokens read": [3, 3], "ITL (ms)": [40]}
    threads = {one["name"]: one["slices"] for one in first["threads"]}
    assert list(threads) == ["load", "generation", "read (prefill)", "write (decode)", "disturbed"]
    assert len(threads["write (decode)"]) == 40
    assert {parent for _, parent in threads["write (decode)"]} == {None}
    assert [slice_[1] for slice_ in threads["generation"]] == [None, "generation 1"]
    assert [slice_[0] for slice_ in threads["disturbed"]] == ["preempted"]
    assert len(second["threads"]) == 4
