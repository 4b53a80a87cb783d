"""What the screen needs of a comparison."""

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ...backends.events import Event
    from ...comparison.lane import Lane
    from ...comparison.plan import ComparisonPlan
    from ...comparison.results import Results
    from ...comparison.runner import Stage


class Compared(Protocol):
    """As ``comparison.runner.Comparison``, whose imports take too long for the first frame."""

    plan: "ComparisonPlan"
    lanes: "tuple[Lane, ...]"
    stage: "Stage"
    round: int

    @property
    def results(self) -> "Results": ...
    def start(self) -> "list[tuple[int, Event]]": ...
    def filenos(self) -> frozenset[int]: ...
    def receive(self) -> "list[tuple[int, Event]]": ...
    def add_round(self) -> None: ...
    def cancel(self) -> None: ...
    def close(self) -> None: ...
