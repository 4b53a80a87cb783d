"""Keeping a comparison as a recording, after the fact."""

from dataclasses import dataclass
from typing import Any

from ...traces.tape import SessionTape
from ..screens.taking_out import Told, keep


@dataclass(frozen=True, slots=True)
class Keeping:
    """What the compare screen has received so far."""

    tape: SessionTape
    settings: dict[str, Any]
    """What all lanes are asked for, under the long names of the flags."""

    def save(self) -> Told:
        """Save it in the current directory, and return how that went."""
        return keep(self.tape, self.settings, "comparison")
