"""What two models thought of the same token, beside each other."""

from collections.abc import Sequence

from ...backends.token_facts import Probability
from ...metrics import numbers
from ..token_text import fitted, token_sign
from ..widgets.cells import Row, clip, row_width, side_by_side, spread
from ..widgets.inspector import likely_rows
from .scored_text import ScoredText

NOT_SCORED = "not scored: nothing, or too little, stands before it"

_GAP_CELLS = 2
_SIDE_BY_SIDE = 52
_KLD_CELLS_AT_LEAST = 40


def distribution_rows(
    text: ScoredText | None, position: int | None, labels: tuple[str, str], width: int, height: int
) -> list[Row]:
    """Return at most ``height`` lines about the token at ``position`` (from 0).

    ``labels``: the lane's and the reference's, fit to be drawn. Below each stand the probability and the rank of the
    text's token, the entropy, and the likeliest tokens: beside each other where there is room.
    """
    if text is None or position is None:
        return [(("no token yet", "dim"),)]
    id, own, reference = text.id(position), text.own[position], text.reference[position]
    if not text.compared:
        return [_title(text, position, width), *_block(f"{labels[0]}, the reference", own, id, width)][:height]
    beside = width >= _SIDE_BY_SIDE
    left = (width - _GAP_CELLS) // 2 if beside else width
    right = width - left - _GAP_CELLS if beside else width
    mine = _block(labels[0], own, id, left)
    theirs = _block(f"{labels[1]}, the reference", reference, id, right)
    blocks = side_by_side(mine, theirs, left + _GAP_CELLS) if beside else [*mine, *theirs]
    return [_title(text, position, width), *blocks][:height]


def _title(text: ScoredText, position: int, width: int) -> Row:
    number = f"#{position + 1:,} "
    part = " prompt" if position < text.prompt_tokens and not text.given else ""
    told = _told(text, position) if width >= _KLD_CELLS_AT_LEAST else ()
    room = max(width - len(number) - len(part) - row_width(told) - 1, 1)
    sign = fitted(token_sign(text.piece(position)), room).rstrip(" ")
    return spread(((number, "dim"), (sign, "strong"), (part, "dim")), told, width)


def _told(text: ScoredText, position: int) -> Row:
    kld, same = text.divergence(position), text.same_top(position)
    if kld is None:
        return ()
    top: Sequence[tuple[str, str]] = [] if same is None else [(" · same top" if same else " · other top", "")]
    return (("KLD ", "dim"), (f"{numbers.nats(kld)} nats", "strong"), *top)


def _block(label: str, facts: Probability | None, id: int, width: int) -> list[Row]:
    heading: Row = ((clip(label, width), "accent"),)
    if facts is None:
        return [heading, ((clip(NOT_SCORED, width), "dim"),)]
    return [heading, *likely_rows(facts, id, width)]
