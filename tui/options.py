"""What the scope is started with."""

from typing import TYPE_CHECKING

import msgspec

from ..backends.requests import EngineSettings, Sampling

if TYPE_CHECKING:
    from ..backends.launch import Source


class ScopeOptions(msgspec.Struct, frozen=True):
    """One model and how it is to be asked."""

    model: "Source | None" = None
    """None: to be chosen from those that are found."""
    settings: EngineSettings = EngineSettings()
    sampling: Sampling = Sampling()
    """The sampling in force, with the model's own defaults where no other value was chosen."""
    chosen: frozenset[str] = frozenset()
    """The fields of ``sampling`` that were set explicitly."""
    max_tokens: int = -1
    """-1: until the model stops or the context is full."""
    stop: tuple[str, ...] = ()
    system: str | None = None
    """The system prompt."""
    raw: bool = False
    """Complete the prompt as it stands, without the chat template."""
    probabilities: bool = False
    """Compute how likely each token was whatever is looked at."""
    prompt: str | None = None
    """Asked as soon as the model is ready."""
    fps: int | None = None
    """Frames of text per second, from 1; None: as many as are usual."""
    low_bandwidth: bool = False
    """Draw less often and send less."""
    theme: str | None = None
    """Name of a theme of Textual's; None: the default."""
