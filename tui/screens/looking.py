"""How the tokens are looked at: the keys for the lens, the inspector and the reasoning."""

from typing import TYPE_CHECKING

from ..engine_link import BackendLink
from ..session import Session
from .face import Face

if TYPE_CHECKING:
    from textual.screen import Screen

    from .tokens_view import TokensView

    _Base = Screen[None]
else:
    _Base = object


class Looking(_Base):
    """A part of the scope's screen; the engine computes what is looked at, and only that."""

    session: Session
    _face: Face
    _link: BackendLink

    def action_lens(self) -> None:
        """Tint and tell the tokens by something else."""
        if (reading := self._face.reading) is not None:
            reading.look_through(reading.lens.following())
            self._ask_for_facts(reading)

    def action_inspect(self) -> None:
        """Show one token in full, and walk from token to token; or no longer."""
        if (view := self._face.view) is not None:
            view.inspect(not view.inspecting)
            self.set_class(view.inspecting, "-inspects")
            if view.inspecting:
                view.take_focus()
            self._ask_for_facts(view)

    def _ask_for_facts(self, reading: "TokensView") -> None:
        needed = reading.needs_facts or self.session.keeps_probabilities
        if needed != self.session.probabilities:
            self.session.probabilities = needed
            self._link.probabilities(needed)
        self._face.all()

    def action_fold(self) -> None:
        """Show the reasoning in one line, or in full."""
        if (reading := self._face.reading) is not None:
            reading.conversation.fold(not reading.conversation.folded)
