"""The line that ``run`` prints and the screen say the same of the same run."""

import pytest

from decodescope.backends.requests import EngineSettings, Sampling
from decodescope.cli.options import GenerationOptions
from decodescope.cli.outputs import Outcome, PlainOutput
from decodescope.cli.streams import Data, Messages
from decodescope.tui.session import Session
from decodescope.tui.widgets.counters import figures, grid

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
