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
    def results(self) -> "Results":
        """The figures so far."""
        ...

    def start(self) -> "list[tuple[int, Event]]":
        """Begin."""
        ...

    def filenos(self) -> frozenset[int]:
        """Return the descriptors to be watched."""
        ...

    def receive(self) -> "list[tuple[int, Event]]":
        """Take in what has arrived and return it with the numbers of its lanes."""
        ...

    def add_round(self) -> None:
        """Run one more round."""
        ...

    def cancel(self) -> None:
        """End what runs."""
        ...

    def close(self) -> None:
        """End everything."""
        ...
