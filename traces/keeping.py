"""What is kept of the lines of a recording: numbered without gaps, in range, and each event under its own lane."""

from collections.abc import Iterable

from msgspec.structs import replace

from ..backends.events import Event, Failed, Finished, RequestTaken, Token
from .lanes import MOST_LANES, ComparedModel, ComparisonBegun, LaneStands, Line, OfLanes, Record, ScoringBegun
from .memory import MemoryMeasured, Written
from .notes import Notes
from .plausible import MOST_NS, plausible, plausible_line, plausible_memory


class _Place:
    """Where the events of one engine have come to."""

    def __init__(self) -> None:
        self.index = self.said_index = 0
        """Of the last token of its generation, and what the file said of it."""
        self.latest = -MOST_NS
        self.unfinished = False


class Kept:
    """Takes lines in, in order, and notes what is not as it should be."""

    def __init__(self, notes: Notes) -> None:
        self.records: list[Record] = []
        self.memory: list[MemoryMeasured] = []
        self.comparison: ComparisonBegun | None = None
        self.over = False
        """Whether nothing more is taken: what follows is another recording, which cannot be part of this one."""
        self._notes = notes
        self._place: _Place | None = _Place()
        """``None``: nobody knows whose events come now."""
        self._lanes: dict[int, _Place] = {}
        self._told = False
        """Whether the file itself has told what is compared."""
        self._shift = 0
        """From the clock of this part of the file to that of the first, ns."""

    @property
    def unfinished(self) -> bool:
        """Whether it ends in the middle of an answer."""
        places = [*self._lanes.values(), *([] if self._place is None else [self._place])]
        return any(place.unfinished for place in places)

    def take(self, numbered: Iterable[tuple[int, Written]]) -> None:
        """Take records with the numbers of their lines."""
        for number, record in numbered:
            if self.over:
                return
            if isinstance(record, OfLanes):
                self._take_line(number, record)
            elif isinstance(record, MemoryMeasured):
                self._take_memory(number, record)
            elif not plausible(record):
                self._notes.add(number, "has an impossible number", "have impossible numbers")
            elif self._place is None:
                self._notes.add(number, "is of a lane that is not known", "are of lanes that are not known")
            else:
                self.records.append(self._in_order(number, record, self._place))

    def lose_track(self) -> None:
        """Know no longer whose events come: a line that may have told so cannot be read."""
        if self.comparison is not None:
            self._place = None

    def begin_another(self, number: int, began: int | None) -> None:
        """Go on with the recording whose header is line ``number`` as if it had been made right after the one before.

        ``began``: its own time, ns; ``None`` where that is not known. Nothing goes on after a comparison.
        """
        if self.comparison is not None:
            self._stop(f"Another recording begins in line {number:,}: it was not read.")
            return
        self._notes.say(
            f"Another recording begins in line {number:,}: the machine and the settings are the first one's."
        )
        latest = self._place.latest if self.records and self._place is not None else -MOST_NS
        if began is not None and latest > -MOST_NS and abs(began) < MOST_NS:
            self._shift = latest - began
        # It may have been made on another machine.
        forgotten = {one.threads: replace(one, bytes_per_second=None) for one in self.memory}
        self.memory += [replace(one, t=latest + 1) for one in forgotten.values()]

    def whole_comparison(self) -> ComparisonBegun | None:
        """Return what is compared; ``None`` where nothing is. Lanes of which the file does not tell have numbers."""
        if self.comparison is None or self._told:
            return self.comparison
        self._notes.say("What was compared is not in it: the lanes have numbers.")
        count = max(self._lanes, default=0) + 1
        lanes = tuple(ComparedModel(label=f"lane {lane}", name=f"lane {lane}") for lane in range(1, count + 1))
        return replace(self.comparison, lanes=lanes)

    def _stop(self, why: str) -> None:
        self._notes.say(why)
        self.over = True

    def _take_memory(self, number: int, measured: MemoryMeasured) -> None:
        if plausible_memory(measured):
            self.memory.append(replace(measured, t=measured.t + self._shift))
        else:
            self._notes.add(number, "has an impossible number", "have impossible numbers")

    def _take_line(self, number: int, line: Line) -> None:
        if not plausible_line(line):
            self._notes.add(number, "has an impossible number", "have impossible numbers")
            if isinstance(line, LaneStands):
                self.lose_track()
            return
        if self.comparison is None:
            if self.records:
                self._stop(f"A comparison begins in line {number:,}: it was not read, as it needs a file of its own.")
                return
            self._told = isinstance(line, ComparisonBegun)
            self.comparison, self._place = _known(line), None
        elif isinstance(line, ComparisonBegun):
            self._stop(f"Another comparison begins in line {number:,}: it was not read, as it needs a file of its own.")
            return
        if not self._of_its_lanes(line, self.comparison):
            self._notes.add(number, "tells of a lane that is not compared", "tell of lanes that are not compared")
            self.lose_track()
            return
        if isinstance(line, LaneStands):
            self._place = self._lanes.setdefault(line.lane, _Place())
        self.records.append(line)

    def _of_its_lanes(self, line: Line, comparison: ComparisonBegun) -> bool:
        count = len(comparison.lanes) if self._told else MOST_LANES
        numbers = line.lanes if isinstance(line, ScoringBegun) else (getattr(line, "lane", 0),)
        return isinstance(line, ComparisonBegun) or all(0 <= number < count for number in numbers)

    def _in_order(self, number: int, event: Event, place: _Place) -> Event:
        if self._shift:
            event = replace(event, t=event.t + self._shift)
        if event.t < place.latest:
            self._notes.add(number, "goes back in time", "go back in time")
        place.latest = event.t
        if isinstance(event, Token):
            place.index += 1
            if event.index != place.said_index + 1:
                self._notes.add(
                    number, "does not follow the token before it: some are missing", "do not follow the token before"
                )
            place.said_index = event.index
            if event.index != place.index:
                shift = place.index - event.index
                parts = event.parts and tuple(replace(part, index=max(part.index + shift, 0)) for part in event.parts)
                event = replace(event, index=place.index, parts=parts)
        elif isinstance(event, RequestTaken):
            place.index = place.said_index = 0
            place.unfinished = True
        elif isinstance(event, Finished | Failed):
            place.unfinished = False
        return event


def _known(line: Line) -> ComparisonBegun:
    """Return what is compared as far as ``line`` tells."""
    if isinstance(line, ComparisonBegun):
        return line
    return ComparisonBegun(t=line.t, lanes=(), prompt="", rounds=0, together=False, quality=True)
