"""Every key of a replay in one place, as for the scope."""

from collections.abc import Sequence

from msgspec.structs import replace
from textual.binding import Binding

from ..keys import BACK, RECORDING_KEYS, Key, refusing

MOVING_KEYS = (
    Key(
        "space",
        "play",
        "play",
        "Pause, or play on, one answer after the other; from the start when it is over.",
        "space",
    ),
    Key("right", "step", "step", "The next token; left: the one before. Both pause.", "←→"),
    Key("home", "start", "start", "Go to the start.", "home", rank=7, pair="ends"),
    Key("end", "finish", "end", "Go to the end of this answer.", "end", rank=7, pair="ends"),
    Key("pagedown", "forward", "forth", "A twentieth forward; page up: back.", "pgup/dn", rank=6),
    Key("g", "find", "go to", "Go to a time, a token or a share from the request on: 12.5s, #340, 50%.", "g", rank=1),
    Key("minus", "slower", "slower", "Slower, down to a tenth.", "-", rank=3, pair="speed"),
    Key("plus", "faster", "faster", "Faster, up to 100 times.", "+", rank=3, pair="speed"),
    Key("r", "loop", "loop", "Begin anew at the end of the recording, or no longer.", "r", rank=5),
    Key("n", "next_take", "next", "The next answer of the recording; N: the one before.", "n"),
)
"""How a single recording is moved."""

REPLAY_KEYS = (*MOVING_KEYS, *(key for key in RECORDING_KEYS if key is not BACK))


_WALKING = {
    "right": Key("right", "step", "walk", "Look at the next token; left: at the one before.", "←→"),
    "home": Key("home", "start", "first", "Look at the first token.", "home", rank=7, pair="ends"),
    "end": Key("end", "finish", "newest", "Look at the newest token.", "end", rank=7, pair="ends"),
    "pagedown": Key("pagedown", "forward", "page", "Go down a page; page up: up.", "pgup/dn", rank=6),
}
"""What these keys do while one token is looked at."""


def keys_now(keys: Sequence[Key], *, playing: bool, walking: bool = False, several: bool = True) -> tuple[Key, ...]:
    """Return ``keys`` for the key bar, called what they do now.

    ``walking``: one token is looked at; ``several``: there is another answer.
    """
    now: list[Key] = []
    for key in keys:
        if key.key == "space":
            now.append(replace(key, label="pause" if playing else "play"))
        elif key.action != "next_take":
            now.append(_WALKING.get(key.key, key) if walking else key)
        elif several:
            now.append(key)
    return tuple(now)


_BESIDE = (
    Binding("left", "step_back", "The token before.", show=False, priority=True),
    Binding("pageup", "backward", "A twentieth back.", show=False, priority=True),
    Binding("N", "take_before", "The answer before.", show=False),
    Binding("equals_sign", "faster", "Faster.", show=False),
)


def replay_bindings() -> list[Binding]:
    """Return what is bound besides ``REPLAY_KEYS``: the other way, and the scope's keys that do not work here."""
    used = {name for key in REPLAY_KEYS for name in (key.key, key.letter)}
    return [*_BESIDE, *(binding for binding in refusing() if binding.key not in used)]
