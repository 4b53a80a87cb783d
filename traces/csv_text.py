"""CSV whose cells mean the same to spreadsheets, to pandas and to a reader that takes it line by line.

Programs guess what a cell is: ``3e31`` becomes a number, ``00012`` becomes 12, ``1-2`` a date, ``=1+1`` is computed,
``null`` a missing value, and numbers keep only 15 digits. So numbers have at most 15 digits, and a text that could be
taken for anything else begins with an apostrophe, which all of them keep. So does a text that itself begins with one:
without the first apostrophe every such cell is the original text.
"""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from typing import Any, Literal

_DIGITS = 15
_FORMULA = ("'", "=", "+", "-", "@", "＝", "＋", "－", "＠")
_WORDS = frozenset(
    """
    na n/a nan null none <na> 1.#ind 1.#qnan inf infinity
    true false wahr falsch vrai faux verdadero falso verdadeiro vero waar onwaar sant tosi epätosi sand falsk
    prawda fałsz pravda nepravda igaz hamis истина ложь
    """.split()  # noqa: SIM905 (a list of so many would be a page)
)
"""Words that pandas takes for a missing value or a number, and spreadsheets for true or false, in several languages."""
_ERROR = re.compile(r"#[A-Z0-9/]+[!?]?")
_MONTHS = tuple(
    """
    jan ene gen feb fev fév mar mär mrz mrt apr abr avr mai may maj mei mag jun juin giu jui jul lug aug ago aoû aou
    sep set oct okt ott nov dec dez dic déc des янв фев мар апр май мая июн июл авг сен окт ноя дек
    """.split()  # noqa: SIM905
)
"""Beginnings of the names of months."""
_WITH_NUMBERS = frozenset("e d a p am pm t h u eur usd chf kr kč zł ft lei руб r".split())  # noqa: SIM905
"""Letters that may stand beside digits in a number, a time or an amount of money."""


def csv_line(cells: Iterable[Any], *, quoted: bool = False) -> str:
    """Return a line of RFC 4180, ended by a line feed, of cells made by ``as_cell``; ``quoted``: put all in quotes."""
    text = io.StringIO()
    quoting: Literal[0, 1] = csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL
    csv.writer(text, lineterminator="\n", quoting=quoting).writerow(map(as_cell, cells))
    return text.getvalue()


def as_csv(heading: Sequence[str], rows: Iterable[Iterable[Any]]) -> str:
    """Return a table."""
    return "".join([csv_line(heading), *map(csv_line, rows)])


def as_cell(value: Any) -> str:
    """Return a cell: empty for ``None``, 1 and 0 for true and false; other values as described above."""
    match value:
        case None:
            return ""
        case bool():
            return str(int(value))
        case int():
            return str(value) if abs(value) < 10**_DIGITS else f"'{value}"
        case float():
            return repr(float(f"{value:.{_DIGITS}g}"))
        case str():
            return f"'{value}" if is_mistakable(value) else value
    raise TypeError(f"a cell cannot be a {type(value).__name__}")


def is_mistakable(text: str) -> bool:
    """Whether a spreadsheet or pandas could take a text for something else."""
    bare = text.strip().lower()
    if bare.startswith(_FORMULA) or bare in _WORDS or _ERROR.fullmatch(text.strip()):
        return True
    if not any(character.isnumeric() for character in bare) or "_" in bare:
        return False
    words = "".join(character if character.isalpha() else " " for character in bare).split()
    return all(word in _WITH_NUMBERS or word.startswith(_MONTHS) for word in words)
