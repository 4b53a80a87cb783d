"""The line that ``run`` prints and the screen say the same of the same run."""

import pytest

from decodescope.backends.requests import EngineSettings, Sampling
from decodescope.cli.options import GenerationOptions
from decodescope.cli.outputs import Outcome, PlainOutput
from decodescope.cli.streams import Data, Messages
from decodescope.tui.plotting.axis import Axis
from decodescope.tui.session import Session
from decodescope.tui.widgets.counters import figures, grid
from decodescope.tui.widgets.latency_plot import latency_rows

from .fakes import MS, answer, finished, ready


@pytest.mark.parametrize(
    "gap", [MS // 40, MS // 3, 6_912_345, 9_996_000, 99_940_000, 99_960_000, 1_204_000_000, 12_345_678_901]
)
def test_every_figure_of_the_line_stands_on_the_screen(gap: int, capsys: pytest.CaptureFixture[str]) -> None:
    session = Session(sampling=Sampling())
    session.apply([ready()])
    session.ask("q")
    events = [*answer([b"a"] * 4, gap=gap), finished(10**12)]
    session.apply(events)
    output = PlainOutput(Data(), Messages())
    for event in events:
        output.event(event)
    options = GenerationOptions((), EngineSettings(), Sampling(), -1, (), None, False)
    output.end(Outcome(options, model=session.model, run=session.run))
    line = capsys.readouterr().err.strip()

    rows = grid(figures(session, 10**12), 200, 12)
    said = dict(part.split(" ", 1) for part in line.split(" · ") if part.split(" ", 1)[0] in ("TTFT", "TPOT", "write"))
    said["read"] = line.split("read ", 1)[1].split(" (")[0]
    shown = {}
    for row in rows:
        for (label, _), (value, _) in zip(row[::2], row[1::2], strict=True):
            shown[label.strip()] = value.strip()
    assert len(said) == 4
    assert {name: shown[name] for name in said} == said


def test_the_plot_has_the_median_of_the_figures_once_the_run_is_over() -> None:
    session = Session(sampling=Sampling())
    session.apply([ready()])
    session.ask("q")
    session.apply([*answer([b"a"] * 40, gap=64 * MS), finished(10**12)])
    assert session.run is not None
    title = "".join(text for text, _ in latency_rows(session.run, None, Axis(), 120, 9)[0])
    rows = grid(figures(session, 10**12), 200, 12)
    assert title.endswith("median  64.0 ms")
    assert any("p50" in text for row in rows for text, _ in row)
    assert any(text.strip() == "64.0 ms" for row in rows for text, _ in row)
