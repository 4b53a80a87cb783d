"""Every key of several recordings beside each other."""

from typing import TYPE_CHECKING

from ..compare.help import FIGURES, of_the_table, without_value
from ..compare.keys import KEYS as COMPARE_KEYS
from ..compare.keys import LANE_KEYS as COMPARED_LANES
from ..keys import Key
from ..screens.help import Section, key_entries
from .keys import MOVING_KEYS

if TYPE_CHECKING:
    from ...comparison.results import Results

_BY_KEY = {key.key: key for key in MOVING_KEYS}
_OWN = (
    Key("space", "pause", "play", "Pause, or play on; from the start when all are done.", "space"),
    Key("right", "step", "step", "The chosen lane's next token; left: the one before. Both pause.", "←→"),
    Key("tab", "next_lane", "lane", "Go to the next lane; shift+tab: the one before.", "tab", rank=1),
    _BY_KEY["home"],
    Key("end", "finish", "end", "Go to the end.", "end", rank=7, pair="ends"),
    Key("pagedown", "forward", "forth", "A twentieth forward; page up: back.", "pgup/dn", rank=6),
    _BY_KEY["g"],
    _BY_KEY["minus"],
    _BY_KEY["plus"],
    Key("r", "loop", "loop", "Begin anew at the end, or no longer.", "r", rank=5),
    Key("n", "next_round", "next", "The next answers of the recordings; N: those before.", "n", rank=2),
)
_IN_A_COMPARISON = {
    "n": Key("n", "next_round", "next", "The next of the rounds that were run; N: the one before.", "n", rank=2)
}
_FROM_COMPARE = frozenset({"open", "sort", "reverse", "copy", "save", "help"})

LANE_KEYS = (
    *_OWN,
    *(key for key in COMPARE_KEYS if key.action in _FROM_COMPARE or key.action.startswith("app.")),
)

_NOTES = next(key for key in COMPARE_KEYS if key.action == "notes")
COMPARISON_KEYS = tuple(
    found
    for key in LANE_KEYS
    for found in ((_NOTES, key) if key.action == "copy" else (_IN_A_COMPARISON.get(key.key, key),))
)
"""Of a recorded comparison, in which answers are rounds."""


def help_of(results: "Results | None") -> tuple[Section, ...]:
    """Return the help; ``results``: of a recorded comparison, or ``None`` of several recordings."""
    made: list[Section] = [
        ("Keys", key_entries(LANE_KEYS if results is None else COMPARISON_KEYS), ""),
        ("Lanes", COMPARED_LANES[1:], ""),
        ("Figures", FIGURES, "All lanes begin with their requests; all times are the recorded ones."),
    ]
    if results is not None:
        made.append(of_the_table(results))
        made += without_value(results)
    return tuple(made)
