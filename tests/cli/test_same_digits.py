"""The same figure has the same digits in every export, in the line of ``run`` and on the screen."""

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from decodescope.cli.report import summary_line
from decodescope.metrics import numbers
from decodescope.metrics.latency import percentiles
from decodescope.traces.exports.figures import figures
from decodescope.traces.exports.page import as_html
from decodescope.traces.exports.played import played
from decodescope.traces.exports.report import as_markdown
from decodescope.traces.exports.subject import Export
from decodescope.traces.exports.summary import as_json
from decodescope.traces.exports.table import as_csv
from decodescope.traces.exports.timeline import as_perfetto
from decodescope.traces.generations import takes
from decodescope.traces.opened import Opened
from decodescope.traces.reader import Trace
from decodescope.tui.film import film, picture

from ..traces.exports.recorded import exported
from ..tui.fakes import MS, answer, finished, ready
from ..tui.test_film import screen_after

SIZE = (140, 40)
ON_SCREEN = ("TTFT", "TPOT", "ITL p50", "ITL p95", "ITL p99", "write", "read", "slowdown", "tokens", "elapsed", "seed")


@pytest.fixture(params=[MS // 3, 6_912_345, 9_996_000, 99_940_000, 1_204_000_000])
def export(request: pytest.FixtureRequest, tmp_path: Path) -> Export:
    events = answer([b" a"] * 30, total=100, cached=4, gap=request.param)
    # Not all alike, so that the percentiles differ.
    shifted = [*events[:-1], replace(events[-1], t=events[-1].t + request.param // 7)]
    return exported(tmp_path, [ready(), *shifted, finished(events[-1].t + 10**9)])


def _expected(export: Export) -> dict[str, str]:
    (subject,) = export.subjects
    return {figure.label: figure.text for figure in figures(subject)}


def test_the_line_of_run(export: Export) -> None:
    (subject,) = export.subjects
    line = summary_line(subject.run, subject.run.finish_reason)
    assert line is not None
    expected = _expected(export)
    assert f"TTFT {expected['TTFT']} · TPOT {expected['TPOT']} · write {expected['write']} · " in line
    assert f"read {expected['read']} (" in line
    assert line.startswith(f"{expected['tokens']} tokens")
    assert line.endswith(f"{expected['end']} · seed {expected['seed']}")


def test_markdown(export: Export) -> None:
    cells = dict(re.findall(r"^\| (\S.*?) \| (.*?) \|$", as_markdown(export), flags=re.MULTILINE))
    assert {label: cells[label].replace("\\", "") for label in _expected(export)} == _expected(export)


def test_the_page(export: Export) -> None:
    found = re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", as_html(export))
    assert dict(found) == _expected(export)


def test_the_timeline(export: Export) -> None:
    records = json.loads(as_perfetto(export))["traceEvents"]
    (told,) = (record["args"] for record in records if record["name"] == "generation 1")
    del told["verdict"]
    assert told == _expected(export)


def test_the_summary(export: Export) -> None:
    summary: dict[str, Any] = json.loads(as_json(export))
    expected = _expected(export)

    def ms(value: float) -> str:
        return numbers.milliseconds(value * 1e6)

    assert ms(summary["ttft_ms"]) == expected["TTFT"]
    assert ms(summary["tpot_ms"]) == expected["TPOT"]
    assert numbers.seconds(summary["e2e_ms"] * 1e6) == expected["elapsed"]
    assert numbers.seconds(summary["load_ms"] * 1e6) == expected["load"]
    for name in ("p50", "p95", "p99", "max"):
        assert ms(summary["itl_ms"][name]) == expected[f"ITL {name}"]
    assert numbers.rate(summary["predicted_per_second"]) == expected["write"]
    assert numbers.rate(summary["prompt_per_second"]) == expected["read"]
    assert numbers.count(summary["predicted_n"]) == expected["tokens"]


def test_the_table(export: Export) -> None:
    rows = list(csv.DictReader(io.StringIO(as_csv(export))))
    gaps = np.array([int(row["gap_ns"]) for row in rows[1:]])
    found, expected = percentiles(gaps), _expected(export)
    assert found is not None
    assert numbers.milliseconds(float(rows[0]["at_ms"]) * 1e6) == expected["TTFT"]
    assert numbers.milliseconds(float(gaps.mean())) == expected["TPOT"]
    assert numbers.milliseconds(found.p99) == expected["ITL p99"]
    assert numbers.rate(len(gaps) / gaps.sum() * 1e9) == expected["write"]


def _stands_in(text: str, expected: dict[str, str]) -> None:
    for label in ON_SCREEN:
        assert re.search(rf"{label}\s+{re.escape(expected[label])}(?!\S)", text), label


def test_the_picture(export: Export) -> None:
    opened = Opened(Path("a"), Trace(export.header, export.events, ()), tuple(takes(export.events)))
    root = ET.fromstring(picture(opened, SIZE))
    text = " ".join(text.replace("\xa0", " ") for text in root.itertext())
    _stands_in(text, _expected(export))


def test_the_film(export: Export) -> None:
    _stands_in(screen_after(film(played(export), "a", SIZE), SIZE), _expected(export))
