"""The app of a comparison."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.driver import Driver

from ..options import ScopeOptions
from ..screens.watching import Watching
from ..terminal import lower_priority, playing_clock
from ..terminal_app import EXIT_DONE, EXIT_NOT_LOADED, TerminalApp, run_on_terminal
from .contract import Compared
from .keeping import Keeping
from .screen import CompareScreen, Make

if TYPE_CHECKING:
    from ...comparison.plan import ComparisonPlan


class _NoEngine:
    """The engines of a comparison take turns: there is no one whose cost could be shown."""

    def engine_cpu_ns(self) -> int | None:
        return None


class CompareApp(TerminalApp):
    """Shows one comparison."""

    def __init__(
        self,
        plan: "ComparisonPlan",
        make: Make,
        options: ScopeOptions,
        driver_class: type[Driver] | None = None,
        *,
        when_ready: Callable[[], None] = lambda: None,
        clock: Callable[[], int] = time.perf_counter_ns,
        keeping: Keeping | None = None,
    ) -> None:
        """``options``: of them theme, frames per second and bandwidth. ``when_ready`` is called whenever a model has
        become ready; ``clock`` is the race's, ns; ``keeping``: what is received is kept there."""
        super().__init__(options.theme, driver_class)
        self._plan = plan
        self._make = make
        self._watching = Watching(options, self.traffic, _NoEngine())
        self._when_ready = when_ready
        self._clock = clock
        self._keeping = keeping

    def get_default_screen(self) -> CompareScreen:
        """Begin with the comparison."""
        self.compare = CompareScreen(
            self._plan, self._make, self._watching, self._when_ready, self._clock, self._keeping
        )
        return self.compare


def run_compare_app(plan: "ComparisonPlan", keeping: Keeping, options: ScopeOptions) -> int:
    """Do as ``tui.app.run_compare``."""
    made: list[Compared] = []

    def make(plan: "ComparisonPlan") -> Compared:
        from ...comparison.keeping import KeptComparison

        made.append(KeptComparison(plan, keeping.tape))
        return made[-1]

    return run_compare_with(plan, make, options, made, keeping)


def run_compare_with(
    plan: "ComparisonPlan", make: Make, options: ScopeOptions, made: list[Compared], keeping: Keeping
) -> int:
    """Do so with a comparison from ``make``, which is found in ``made`` once it is there."""

    def end() -> None:
        for comparison in made:
            comparison.close()
        keeping.tape.close()

    def outcome(app: CompareApp) -> int:
        lanes = [lane for comparison in made for lane in comparison.lanes]
        lost = bool(lanes) and all(lane.failed is not None and lane.model is None for lane in lanes)
        return EXIT_NOT_LOADED if lost else EXIT_DONE

    return run_on_terminal(
        lambda driver: CompareApp(
            plan, make, options, driver, when_ready=lower_priority, clock=playing_clock, keeping=keeping
        ),
        end,
        outcome,
        "`decodescope compare --json` needs none.",
    )
