"""A row per token as CSV."""

import csv
import io
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ...backends.text import visible
from ...backends.token_facts import Scheduling
from ...metrics.disturbance import Cause
from ...metrics.summary import as_ms
from ..no_text import NO_ID
from .subject import Export, Row, Subject

_FACTS = Scheduling.__struct_fields__
COLUMNS = (
    "generation",
    "token",
    "t_ns",
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

_FORMULA = ("=", "+", "-", "@")
_SCHEDULING = Scheduling()
_NO_VALUES = ("",) * 5


def as_csv(export: Export) -> str:
    """Return the tokens of all generations: RFC 4180 with line feeds; what has no value is empty.

    ``bytes`` has a token's bytes as hexadecimal digits. ``text`` is for reading: control characters are drawn as signs,
    so that a row is a line, and what a spreadsheet would take for a formula begins with an apostrophe.
    """
    rows = (row for subject in export.subjects for row in _rows(subject))
    return _written(COLUMNS, rows)


def lanes_as_csv(lanes: Sequence[tuple[str, Export]]) -> str:
    """Return the same of several lanes, of which the name stands in the first column."""
    rows = ((_readable(name), *row) for name, export in lanes for subject in export.subjects for row in _rows(subject))
    return _written(("lane", *COLUMNS), rows)


def _written(heading: Sequence[str], rows: Iterable[tuple[Any, ...]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(heading)
    writer.writerows(rows)
    return text.getvalue()


def _rows(subject: Subject) -> Iterator[tuple[Any, ...]]:
    return (_row(subject.number, row) for row in subject.rows())


def _row(number: int, row: Row) -> tuple[Any, ...]:
    token, reasoning, at, gap, cause = row
    facts = token.scheduling or _SCHEDULING
    # The first token comes out of the prefill: it has no decode of its own.
    decode = None if gap is None else token.decode_ns
    return (
        number,
        token.index,
        token.t,
        as_ms(at),
        gap,
        as_ms(gap),
        decode,
        as_ms(decode),
        token.sample_ns,
        as_ms(token.sample_ns),
        "" if cause is Cause.NONE else cause.name.lower(),
        *[getattr(facts, name) for name in _FACTS],
        *_chances(row),
        int(reasoning),
        int(token.control),
        "" if token.id == NO_ID else token.id,
        token.piece.hex(),
        _readable(token.piece.decode("utf-8", "replace")),
    )


def _chances(row: Row) -> tuple[Any, ...]:
    facts = row.token.probability
    if facts is None:
        return _NO_VALUES
    chance = math.exp(min(facts.logprob, 0.0))
    return chance, facts.logprob, facts.rank, facts.entropy_nats / math.log(2), facts.cost_ns


def _readable(text: str) -> str:
    text = visible(text)
    # Some spreadsheets look for a formula behind spaces, too.
    return f"'{text}" if text.lstrip().startswith(_FORMULA) else text
