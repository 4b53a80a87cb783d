"""A row per token as CSV."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

from ...backends.text import visible
from ...backends.token_facts import Scheduling
from ...metrics.disturbance import Cause
from ...metrics.summary import as_ms
from .. import csv_text
from ..no_text import NO_ID
from .subject import Export, Row

_FACTS = Scheduling.__struct_fields__
COLUMNS = (
    "generation",
    "token",
    "since_start_ns",
    "at_ms",
    "gap_ns",
    "gap_ms",
    "decode_ns",
    "decode_ms",
    "sample_ns",
    "sample_ms",
    "cause",
    *_FACTS,
    "probability",
    "logprob",
    "rank",
    "entropy_bits",
    "probability_ns",
    "thinking",
    "control",
    "id",
    "bytes",
    "text",
)
"""The heading."""

_SCHEDULING = Scheduling()
_NO_VALUES = (None,) * 5


def as_csv(export: Export) -> str:
    """Return the tokens of all generations as a table of ``traces.csv_text``.

    ``since_start_ns`` counts from when the recording was begun. ``bytes`` has a token's exact bytes as hexadecimal
    digits after ``hex:``. ``text`` is for reading: control characters are shown as signs, so that a row is a line.
    """
    return csv_text.as_csv(COLUMNS, _rows(export))


def lanes_as_csv(lanes: Sequence[tuple[str, Export]]) -> str:
    """Return the same of several lanes, of which the name stands in the first column."""
    rows = ((visible(name), *row) for name, export in lanes for row in _rows(export))
    return csv_text.as_csv(("lane", *COLUMNS), rows)


def _rows(export: Export) -> Iterator[tuple[Any, ...]]:
    start = export.events[0].t if export.header is None else export.header.t
    return (_row(subject.number, start, row) for subject in export.subjects for row in subject.rows())


def _row(number: int, start: int, row: Row) -> tuple[Any, ...]:
    token, reasoning, at, gap, cause = row
    facts = token.scheduling or _SCHEDULING
    # The first token comes out of the prefill: it has no decode of its own.
    decode = None if gap is None else token.decode_ns
    return (
        number,
        token.index,
        token.t - start,
        as_ms(at),
        gap,
        as_ms(gap),
        decode,
        as_ms(decode),
        token.sample_ns,
        as_ms(token.sample_ns),
        None if cause is Cause.NONE else cause.name.lower(),
        *[getattr(facts, name) for name in _FACTS],
        *_chances(row),
        reasoning,
        token.control,
        None if token.id == NO_ID else token.id,
        f"hex:{token.piece.hex()}" if token.piece else None,
        visible(token.piece.decode("utf-8", "replace")) or None,
    )


def _chances(row: Row) -> tuple[Any, ...]:
    facts = row.token.probability
    if facts is None:
        return _NO_VALUES
    chance = math.exp(min(facts.logprob, 0.0))
    return chance, facts.logprob, facts.rank, facts.entropy_nats / math.log(2), facts.cost_ns
