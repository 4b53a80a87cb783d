"""A race of recorded lanes with a log of its cost: ``python -m benchmarks.raced REPORT LANES TOKENS RATE``.

Runs on a terminal like the compare screen itself. The report, JSON, holds marks of this process's clock and CPU time,
one a second from the start of the race; it is there when the race is over.
"""

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from decodescope.backends.events import Event, Finished, PrefillProgress, PromptReady, RequestTaken, Token
from decodescope.backends.launch import ScriptFile
from decodescope.backends.requests import EngineSettings, Request, Sampling
from decodescope.comparison.plan import ComparisonPlan, LanePlan
from decodescope.tui.compare.app import CompareApp
from decodescope.tui.compare.contract import Compared
from decodescope.tui.options import ScopeOptions
from decodescope.tui.replay.recorded import Still
from decodescope.tui.terminal import lower_priority
from decodescope.tui.terminal_app import run_on_terminal

if TYPE_CHECKING:
    from decodescope.comparison.lane import Round
    from decodescope.comparison.results import Results

SECOND = 1_000_000_000
PROMPT_TOKENS = 100


class Recorded(Still):
    """A comparison that is done: one round of lanes that wrote words at a steady pace."""

    def __init__(self, plan: ComparisonPlan, tokens: int, rate: float) -> None:
        from decodescope.comparison.lane import Lane, LanePhase
        from decodescope.comparison.runner import Stage

        self.plan = plan
        self.stage = Stage.DONE
        self.round = 1
        self.lanes = tuple(
            Lane(number, lane, LanePhase.DONE, rounds=[_round(number, tokens, rate)])
            for number, lane in enumerate(plan.lanes)
        )

    @property
    def results(self) -> "Results":
        """See ``Compared``."""
        from decodescope.comparison.results import results

        return results(self.lanes, together=False)


def _round(number: int, tokens: int, rate: float) -> "Round":
    from decodescope.comparison.lane import Round
    from decodescope.metrics.run import Run

    taken = RequestTaken(t=0, request=1, sampling=Sampling(), seed=1)
    read = SECOND // 10 * (number + 1)
    events: list[Event] = [
        taken,
        PromptReady(t=0, tokens=tuple(range(PROMPT_TOKENS)), cached=0),
        PrefillProgress(t=read, processed=PROMPT_TOKENS, cached=0, total=PROMPT_TOKENS),
    ]
    for index in range(1, tokens + 1):
        piece = f" w{index:05d}" + "\n" * (index % 150 == 0)
        # Every lane at its own pace, and no token exactly like the one before.
        gap = SECOND / rate * (1 + 0.02 * number + 0.05 * (index % 7 - 3) / 3)
        read += int(gap)
        events.append(Token(t=read, index=index, id=index, piece=piece.encode(), decode_ns=int(gap), sample_ns=0))
    events.append(Finished(t=read, reason="length"))
    run = Run(taken)
    for event in events:
        run.apply(event)
    return Round(1, run, events)


class Marking:
    """The race's clock, which notes once a second what was spent."""

    def __init__(self) -> None:
        self._process = psutil.Process()
        self.marks: list[tuple[int, float]] = []

    def __call__(self) -> int:
        """Return ns."""
        now = time.perf_counter_ns()
        if not self.marks or now - self.marks[-1][0] >= SECOND:
            cpu = self._process.cpu_times()
            self.marks.append((now, cpu.user + cpu.system))
        return now


def main() -> None:
    """Race, and leave when the screen is closed."""
    report, lanes, tokens, rate = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
    plan = ComparisonPlan(
        lanes=tuple(LanePlan(f"lane {number}", ScriptFile(Path("recorded"))) for number in range(1, lanes + 1)),
        settings=EngineSettings(),
        request=Request(prompt="recorded"),
        rounds=1,
    )
    clock = Marking()
    lower_priority()

    class Reporting(CompareApp):
        """Looks now and then."""

        def on_mount(self) -> None:
            """Begin to look."""
            self.set_interval(0.5, self.look)

        def look(self) -> None:
            """Tell that the race is over."""
            board = self.compare.board
            if board is not None and board.race is not None and board.race.over and not report.exists():
                part = report.with_suffix(".part")
                part.write_text(json.dumps(clock.marks))
                part.rename(report)

    def make(plan: ComparisonPlan) -> Compared:
        return Recorded(plan, tokens, rate)

    sys.exit(
        run_on_terminal(
            lambda driver: Reporting(plan, make, ScopeOptions(), driver, clock=clock),
            lambda: None,
            lambda app: 0,
            "This needs one.",
        )
    )


if __name__ == "__main__":
    main()
