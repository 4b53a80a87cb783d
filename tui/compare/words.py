"""What is said about a lane and about the comparison, as rows of cells."""

from typing import assert_never

from ...backends.text import visible
from ...comparison.lane import Lane, LanePhase
from ...comparison.runner import Stage
from ...metrics import numbers
from ...metrics.run import Run
from ...models.recipes import quantization_of
from ...models.sizes import size
from ..widgets.cells import Row, clip, row_width, spread
from ..widgets.phase_line import bar
from .marks import marker, role
from .moment import Counted, Moment, counted
from .race import Race

_BAR_AT_LEAST, _BAR_AT_MOST = 6, 24
_SIGN = "❯ "
_TAB_GAP = " "
"""The sign of the chosen one does not count as a gap."""


def lane_title(lane: Lane, *, chosen: bool, width: int) -> Row:
    """Return the line that names a lane; the chosen one carries a sign."""
    sign = _SIGN if chosen else "  "
    name = f"{marker(lane.number)} {lane.number + 1} "
    right = " · ".join(_facts(lane))
    room = width - len(sign) - len(name)
    label = clip(visible(lane.plan.label), room)
    left: Row = ((sign, "accent"), (name, role(lane.number)), (label, "strong" if chosen else ""))
    return spread(left, ((right, "dim"),), width)


def _facts(lane: Lane) -> list[str]:
    facts = []
    quantization = lane.plan.make or (quantization_of(lane.model) if lane.model else "")
    if quantization and quantization not in lane.plan.label:
        facts.append(visible(quantization))
    weights = lane.model.bytes if lane.model else lane.made.bytes if lane.made else None
    if weights is not None:
        facts.append(size(weights))
    return facts


_AT_WORK = frozenset({LanePhase.MAKING, LanePhase.LOADING, LanePhase.RUNNING, LanePhase.SCORING})


def lane_phase(lane: Lane, moment: Moment | None, race: Race | None, width: int, *, stopping: bool = False) -> Row:
    """Return the line that says where a lane stands, in the race where there is one; ``stopping``: all are to end."""
    if stopping and lane.phase in _AT_WORK:
        return _said("stopping …", "warn", "", width)
    if race is not None and lane.phase is not LanePhase.FAILED:
        return _racing(lane, moment, race, width)
    match lane.phase:
        case LanePhase.WAITING:
            done = _outcome(counted(moment), moment)
            return _said("waiting", "dim", f"· {done}" if done else "for its turn", width)
        case LanePhase.MAKING:
            return _measured(f"making {visible(lane.plan.make or '')}".rstrip(), lane.fraction, width)
        case LanePhase.LOADING:
            return (
                _said("loading", "accent", "warming up", width)
                if lane.fraction >= 1
                else _measured("loading", lane.fraction, width)
            )
        case LanePhase.RUNNING:
            return _running(moment, width)
        case LanePhase.SCORING:
            return _measured("scoring", lane.fraction, width)
        case LanePhase.DONE:
            return _said("done", "good", _outcome(counted(moment), moment), width)
        case LanePhase.CANCELLED:
            return _said("cancelled", "warn", _outcome(counted(moment), moment), width)
        case LanePhase.FAILED:
            return _said("failed", "bad", "", width)
        case _:
            assert_never(lane.phase)


def _said(word: str, own: str, text: str, width: int) -> Row:
    rest = clip(f" {text}", width - len(word) - 2) if text else ""
    return (("  ", ""), (word, own), (rest, ""))


def _measured(word: str, fraction: float, width: int) -> Row:
    text = f"{word} {fraction:.0%}"
    cells = min(width - len(text) - 4, _BAR_AT_MOST)
    if cells < _BAR_AT_LEAST:
        return (("  ", ""), (text, "accent"))
    return (("  ", ""), (f"{word} ", "accent"), (f"{fraction:4.0%} ", ""), *bar(fraction, 0.0, cells))


def _running(moment: Moment | None, width: int) -> Row:
    if moment is None:
        return _said("reading", "accent", "", width)
    tokens = len(moment.times)
    if tokens:
        return _said("writing", "accent", f"token {tokens:,}", width)
    read = moment.transcript.prompt_read(moment.at)
    return _said("reading", "accent", "" if read is None else f"{read[0]:,} / {read[1]:,} tokens", width)


def _outcome(figures: Counted, moment: Moment | None) -> str:
    if moment is None:
        return ""
    took = moment.run.e2e_ns
    return f"{_tokens(figures.tokens)} in {numbers.seconds(took)}" if took is not None else "no token"


def _racing(lane: Lane, moment: Moment | None, race: Race, width: int) -> Row:
    if moment is None:
        return _said("no answer", "warn", _where(race), width)
    if not moment.ended:
        return _running(moment, width)
    place = race.place(lane.number, race.length if moment.at is None else moment.at)
    text = _outcome(counted(moment), moment)
    if place is None:
        return _said("there", "warn", f"{text}, not ranked", width)
    return _said(ordinal(place), "good" if place == 1 else "accent", text, width)


def _where(race: Race) -> str:
    return f"{race.number}" if race.round_name == "answer" else f"in {race.round_name} {race.number}"


def absence(lane: Lane, race: Race | None) -> str:
    """Return what stands in place of the text of a lane that has written nothing in what is replayed; else nothing."""
    if race is None or lane.number in race.entries or lane.phase is LanePhase.FAILED:
        return ""
    return f"No answer {_where(race)}."


def ordinal(place: int) -> str:
    """Return a place in words of figures: ``1st``, ``2nd``, ``3rd``, ``4th`` …"""
    return f"{place}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(place, 'th') }"


def _tokens(number: int) -> str:
    return f"{number:,} token{'' if number == 1 else 's'}"


def counter_rows(figures: Counted, width: int, height: int) -> list[Row]:
    """Return a lane's figures in ``height`` lines whose places never move."""
    cells = [
        ("TPOT", numbers.milliseconds(figures.tpot_ns)),
        ("tok/s", numbers.MISSING if figures.rate is None else numbers.rate(figures.rate).removesuffix(" tok/s")),
        ("TTFT", numbers.milliseconds(figures.ttft_ns)),
        ("tokens", numbers.count(figures.tokens)),
    ]
    columns = 4 if width >= 60 else 2
    cell = min((width - 2) // columns - 2, 18)
    rows: list[Row] = []
    for start in range(0, min(len(cells), height * columns), columns):
        spans: list[tuple[str, str]] = []
        for label, value in cells[start : start + columns]:
            own = "dim" if value == numbers.MISSING else "strong"
            spans += [("  ", ""), (f"{label} ", "dim"), (f"{value:>{max(cell - len(label) - 1, 0)}}", own)]
        rows.append(tuple(spans))
    return rows


def lane_tab(lane: Lane, *, chosen: bool) -> Row:
    """Return a lane in one word, for where not all of them are in view."""
    text = f"{lane.number + 1} {visible(lane.plan.label)}"
    return (
        (_SIGN if chosen else "  ", "accent"),
        (f"{marker(lane.number)} ", role(lane.number)),
        (clip(text, 18), "strong" if chosen else "dim"),
    )


def tabs(lanes: tuple[Lane, ...], chosen: int, width: int) -> Row:
    """Return all lanes in one line; their numbers only where there is no more room."""
    spans: Row = ()
    for lane in lanes:
        gap = ((_TAB_GAP, ""),) if spans else ()
        spans = (*spans, *gap, *lane_tab(lane, chosen=lane.number == chosen))
    if row_width(spans) <= width:
        return spans
    short: Row = ()
    for lane in lanes:
        gap = ((_TAB_GAP, ""),) if short else ()
        sign = _SIGN if lane.number == chosen else "  "
        short = (*short, *gap, (sign, "accent"), (f"{marker(lane.number)} {lane.number + 1}", role(lane.number)))
    return short


_STAGES = {
    Stage.PREPARING: ("preparing", "accent"),
    Stage.RUNNING: ("running", "accent"),
    Stage.SCORING: ("scoring", "accent"),
    Stage.DONE: ("done", "good"),
    Stage.CANCELLED: ("cancelled", "warn"),
}


def stage_row(stage: Stage, number: int, rounds: int, *, together: bool, run: Run | None, width: int) -> Row:
    """Return how far the comparison has come; ``run``: any of the round under way."""
    word, own = _STAGES[stage]
    how = "all at once: they disturb each other" if together else "one at a time"
    parts = {
        Stage.PREPARING: ["models are made and loaded", how],
        Stage.RUNNING: [f"round {number} of {rounds}", how],
        Stage.SCORING: ["the same text, scored by all"],
        Stage.DONE: [f"{rounds} round{'' if rounds == 1 else 's'}, {how}"],
        Stage.CANCELLED: ["what was done stays; r runs another round"],
    }[stage]
    if run is not None and run.prompt is not None and stage is Stage.RUNNING:
        parts.append(f"prompt of {_tokens(len(run.prompt.tokens))}")
    while len(parts) > 1 and len(word) + 1 + len(" · ".join(parts)) > width:
        parts.pop()
    return ((word, own), (clip(" " + " · ".join(parts), width - len(word)), ""))


def stopping_row(width: int) -> Row:
    """Return what stands in place of ``stage_row`` once the end was asked for."""
    word = "stopping …"
    return ((word, "warn"), (clip(" esc again: at once, without waiting for the engines", width - len(word)), ""))


_UNEQUAL = ("  answers differ in length: a place is no verdict", "  a place is no verdict")


def race_row(race: Race, at: int, rounds: int, width: int) -> Row:
    """Return the state of the race at ``at``: its clock, its speed and what the keys do next."""
    over = at >= race.length
    state = "■ over" if over else "▶" if race.playing else "paused"
    clock = f"{numbers.seconds(at):>6} / {numbers.seconds(race.length)}"
    which = f"{race.round_name} {race.number} of {rounds} "
    left: Row = ((f"{race.name} ", "accent"), (which, "dim"), (f"{state:<6} ", "strong"))
    right: Row = ((f"  {clock}", ""), (f"  {race.speed:g}×", "strong"))
    if race.looping:
        right = (*right, ("  loop", "accent"))
    while len(left) > 1 and row_width(left) + row_width(right) > width:
        left = left[1:]
    while len(right) > 1 and row_width(left) + row_width(right) > width:
        right = right[:-1]
    cells = min(width - row_width(left) - row_width(right), 60)
    done = at / race.length if race.length else 1.0
    if over and not race.equal:
        remark = next((text for text in _UNEQUAL if len(text) <= cells), "")
        return (*left, (remark, "warn"), *right)
    if cells < _BAR_AT_LEAST:
        return (*left, *right)
    return (*left, *bar(done, 0.0, cells), *right)
