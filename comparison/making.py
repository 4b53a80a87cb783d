"""The quantizations that lanes wait for, made one after the other: each takes all cores."""

from collections.abc import Callable

from ..backends.events import Event, Failed
from ..backends.quantizing import Making
from ..models.errors import ModelError
from ..models.facts import ModelFile
from .lane import Lane
from .seats import failed

Make = Callable[[ModelFile, str], Making]


class Workshop:
    """Makes one quantization at a time."""

    def __init__(self, make: Make) -> None:
        self._make = make
        self._making: tuple[int, Making] | None = None

    @property
    def lane(self) -> int | None:
        """The lane for which something is being made."""
        return None if self._making is None else self._making[0]

    @property
    def filenos(self) -> frozenset[int]:
        """Descriptors that become readable when there is something to receive."""
        return frozenset() if self._making is None else frozenset([self._making[1].fileno()])

    def begin(self, lane: Lane) -> Failed | None:
        """Begin to make what ``lane`` needs, or return why that cannot be done."""
        source, kind = lane.plan.source, lane.plan.make
        if not isinstance(source, ModelFile) or kind is None:
            return failed("Only a model can be quantized.", remedy="Name a GGUF file.")
        try:
            self._making = lane.number, self._make(source, kind)
        except ModelError as error:
            return failed(error.what, error.reason, error.remedy)
        except OSError as error:
            return failed("The quantization cannot be made.", str(error))
        return None

    def receive(self) -> list[tuple[int, Event]]:
        """Return what has arrived, with the number of the lane; never waits."""
        if self._making is None:
            return []
        number, making = self._making
        return [(number, event) for event in making.receive()]

    def stop(self) -> None:
        """End what is being made, or was. Harmless when repeated."""
        if self._making is not None:
            self._making[1].close()
            self._making = None
