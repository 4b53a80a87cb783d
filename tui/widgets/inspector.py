"""One token with everything that is known about it."""

import math
import textwrap
from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size

from ...backends.token_facts import Alternative, Probability, Scheduling
from ...metrics import numbers
from ...metrics.run import Run
from ..inspection import Inspection, bits, inspect_token
from ..token_text import fitted, hexadecimal, token_sign
from .cells import Cells, Row, clip, row_width, side_by_side

NOT_COMPUTED = "not computed; f3 or an open inspector computes them from the next token on"
NOT_RECORDED = "not recorded"

_LABEL_CELLS = 8
_GAP_CELLS = 2
_SIDE_BY_SIDE = 72
_LEFT_SHARE = 0.58
_PERCENT_CELLS = 8
_PIECE_CELLS = 14


def inspector_rows(token: Inspection | None, width: int, height: int, missing: str = NOT_COMPUTED) -> list[Row]:
    """Return at most ``height`` lines about a token: facts and alternatives side by side where there is room. The last
    one says how many more there are.

    ``missing``: what is said where there are no probability facts.
    """
    if token is None:
        return [(("no token yet", "dim"),)]
    if width < _SIDE_BY_SIDE:
        facts = [_title(token, width), *_facts(token, width), *_bytes(token, width, "bytes")]
        rows = [*facts, (), *_likely(token, width, missing)]
        return _cut(rows, width, height, len(rows) - height)
    left = int(width * _LEFT_SHARE)
    right = width - left - _GAP_CELLS
    facts = [_title(token, left), *_facts(token, left)]
    beside = [*_likely(token, right, missing), *_bytes(token, right, "")]
    hidden = max(len(facts), len(beside)) - height
    # On the left, where words can be cut: on the right they would cost a figure.
    return side_by_side(_cut(facts, left, height, hidden), beside[: max(height, 0)], left + _GAP_CELLS)


def _cut(rows: list[Row], width: int, height: int, hidden: int) -> list[Row]:
    """Return the first ``height`` rows; the last one says that ``hidden`` more find no room."""
    if hidden <= 0 or height < 1:
        return rows[: max(height, 0)]
    rows = [*rows, *[()] * (height - len(rows))]
    words = f" … {hidden} more"
    told = words if width >= 2 * len(words) else clip(" …", width)
    last, room = rows[height - 1], width - len(told)
    kept: Row = ()
    for text, role in last:
        kept = (*kept, (set_cell_size(text, min(cell_len(text), room - row_width(kept))), role))
    return [*rows[: height - 1], (*kept, (" " * (room - row_width(kept)), ""), (told, "dim"))]


def _facts(token: Inspection, width: int) -> list[Row]:
    """The lines on time and cause, the most important first."""
    since = f"{token.since_ns / 1e9:,.3f} s in"
    lines: list[Row] = []
    for label, text in (
        ("time", f"{numbers.milliseconds(token.gap_ns)} · {numbers.times(token.medians)} median · {since}"),
        ("why", token.why),
        ("split", _split(token)),
        ("system", _system(token)),
    ):
        lines += _labelled(label, textwrap.wrap(text, max(width - _LABEL_CELLS, 8)), width)
    return lines


def _labelled(label: str, lines: Sequence[str], width: int) -> list[Row]:
    return [
        ((f"{'' if number else label:<{_LABEL_CELLS}}", "dim"), (clip(line, width - _LABEL_CELLS), ""))
        for number, line in enumerate(lines)
    ]


def _bytes(token: Inspection, width: int, label: str) -> list[Row]:
    room = width - (_LABEL_CELLS if label else 0)
    name = f" · id {numbers.MISSING if token.id is None else token.id}"
    text = hexadecimal(token.piece, max(room - len(name), 4)) + name
    return _labelled(label, [text], width) if label else [((clip(text, width), "dim"),)]


def _title(token: Inspection, width: int) -> Row:
    number = f"#{token.index:,} "
    kind = " control" if token.control else " reasoning" if token.reasoning else ""
    room = max(width - len(number) - len(kind), 1)
    return ((number, "dim"), (fitted(token_sign(token.piece), room).rstrip(" "), "strong"), (kind, "dim"))


def _split(token: Inspection) -> str:
    cost = None if token.probability is None else token.probability.cost_ns
    parts = [
        f"decode {numbers.bare_milliseconds(token.decode_ns)}",
        f"sample {numbers.bare_milliseconds(token.sample_ns)}",
        *([] if cost is None else [f"chances {numbers.bare_milliseconds(cost)}"]),
        f"rest {numbers.bare_milliseconds(token.rest_ns)}",
    ]
    return " · ".join(parts) + " ms"


def _system(token: Inspection) -> str:
    facts = token.facts
    parts = [
        _counted(facts.involuntary_switches, "pre-emption"),
        f"waited {numbers.bare_milliseconds(facts.wait_ns)} ms" if facts.wait_ns is not None else "",
        *_faults(facts),
        f"cpu {numbers.bare_milliseconds(facts.cpu_ns)} ms" if facts.cpu_ns is not None else "",
        _counted(facts.voluntary_switches, "sleep") if facts.voluntary_switches else "",
    ]
    return " · ".join(part for part in parts if part) or numbers.MISSING


def _faults(facts: Scheduling) -> list[str]:
    if facts.major_faults == 0 and facts.minor_faults == 0:
        return ["no page faults"]
    return [_counted(facts.major_faults, "disk fault"), _counted(facts.minor_faults, "page fault")]


def _counted(number: int | None, what: str) -> str:
    return "" if number is None else numbers.counted(number, what)


def _likely(token: Inspection, width: int, missing: str) -> list[Row]:
    if token.probability is None:
        lines = textwrap.wrap(f"probability, rank, entropy: {numbers.MISSING} {missing}", max(width, 8))
        return [((line, "dim"),) for line in lines]
    return likely_rows(token.probability, token.id, width)


def likely_rows(facts: Probability, id: int | None, width: int) -> list[Row]:
    """Return the lines on the probability of the token ``id``, and of what could have come instead."""
    chance, entropy = numbers.percent(math.exp(facts.logprob)), bits(facts.entropy_nats)
    words = f"{chance} · rank {facts.rank:,} · entropy {numbers.entropy(entropy)}"
    if len(words) > width:
        words = words.replace("entropy ", "")
    return [((clip(words, width), "strong"),), *(_alternative(one, id, width) for one in facts.top)]


def _alternative(alternative: Alternative, chosen: int | None, width: int) -> Row:
    share = math.exp(alternative.logprob)
    piece = max(min(_PIECE_CELLS, width - 4 - _PERCENT_CELLS), 1)
    bar = max(width - 4 - piece - _PERCENT_CELLS, 0)
    filled = min(round(share * bar), bar)
    taken = alternative.id == chosen
    return (
        ("▸ " if taken else "  ", "accent"),
        (fitted(token_sign(alternative.piece), piece), "strong" if taken else ""),
        (" " + "█" * filled, "accent" if taken else "dim"),
        ("░" * (bar - filled), "track"),
        (f" {numbers.percent(share):>{_PERCENT_CELLS}}", "strong" if taken else ""),
    )


class Inspector(Cells):
    """As many lines as the screen gives it."""

    DEFAULT_CSS = """
    Inspector { padding: 0 1; background: $surface; }
    """

    def __init__(self, missing: str) -> None:
        """``missing``: what is said where there are no probability facts."""
        super().__init__()
        self._missing = missing

    def show(self, run: Run | None, index: int | None) -> None:
        """Draw the token ``index`` (from 1) of a run; ``None``: there is none."""
        token = None if run is None or index is None else inspect_token(run, index)
        width, height = self.content_size
        self.show_rows(inspector_rows(token, width, height, self._missing))
