"""What is said about a replay, as rows of cells."""

from ...backends.text import visible
from ...metrics import numbers
from ..widgets.cells import Row, clip, row_width, spread
from .player import Player

MINUS = "\u2212"


def when(ns: int) -> str:
    """Return a time since the request; negative before it."""
    return f"{MINUS if ns < 0 else ''}{numbers.seconds(abs(ns))}"


def state_row(player: Player, position: int, told: str, takes: tuple[int, int], width: int) -> Row:
    """Return the state of the replay at ``position``, and what is replayed; ``told`` is of unknown origin, ``takes``:
    (number from 1, how many)."""
    timeline = player.timeline
    over = player.over_at(position)
    state = "■ over" if over else "‖ paused" if player.paused else "▶ playing"
    # As everywhere, an answer lasts until its last token: what the engine tidies up after it does not count.
    answered = timeline.of_token(timeline.token_count) if timeline.token_count else timeline.length
    whole = when(timeline.since_asked(answered))
    clock = f"{when(timeline.since_asked(min(position, answered))):>{len(whole) + 1}} of {whole}"
    tokens = f"#{timeline.tokens(position):,} of {timeline.token_count:,}"
    left: Row = ((f"{state:<9} ", "accent"), (clock, "strong"), (f"  {player.speed:g}×", "strong"), (f"  {tokens}", ""))
    if player.loop:
        left = (*left, ("  loop", "accent"))
    if takes[1] > 1:
        left = (*left, (f"  answer {takes[0]:,} of {takes[1]:,}", ""))
    if position >= timeline.length and not player.last and player.paused:
        left = (*left, ("  n: next answer", "accent"))
    while len(left) > 1 and row_width(left) > width:
        left = left[:-1]
    room = width - row_width(left) - 2
    return spread(left, ((clip(visible(told), room), "dim"),), width) if room >= 8 else left
