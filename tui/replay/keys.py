"""Every key of a replay in one place, as for the scope."""

from collections.abc import Sequence

from msgspec.structs import replace
from textual.binding import Binding

from ..keys import BACK, RECORDING_KEYS, Key, refusing

MOVING_KEYS = (
    Key("space", "play", "play", "Pause, or play on; from the start when it is over.", "space"),
    Key("right", "step", "step", "The next token; left: the one before. Both pause.", "←→"),
    Key("home", "start", "start", "Go to the start.", "home", rank=7),
    Key("end", "finish", "end", "Go to the end.", "end", rank=7),
    Key("pagedown", "forward", "forth", "A twentieth forward; page up: back.", "pgup/dn", rank=6),
    Key("g", "find", "go to", "Go to a time, a token or a share: 12.5s, #340, 50%.", "g", rank=1),
    Key("minus", "slower", "slower", "Slower, down to a tenth.", "-", rank=3),
    Key("plus", "faster", "faster", "Faster, up to 100 times.", "+", rank=3),
    Key("r", "loop", "loop", "Begin anew at the end, or no longer.", "r", rank=5),
    Key("n", "next_take", "next", "The next answer of the recording; N: the one before.", "n", rank=4),
)
"""How a single recording is moved."""

REPLAY_KEYS = (*MOVING_KEYS, *(key for key in RECORDING_KEYS if key is not BACK))


def keys_now(keys: Sequence[Key], *, playing: bool) -> tuple[Key, ...]:
    """Return ``keys`` for the key bar: space is called what it does now."""
    label = "pause" if playing else "play"
    return tuple(replace(key, label=label) if key.key == "space" else key for key in keys)


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
