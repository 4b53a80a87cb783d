"""How the reader moves a replay."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from .player import Player

if TYPE_CHECKING:
    from ..screens.scope_view import ScopeView

    _Base = ScopeView
else:
    _Base = object


class Moving(_Base):
    """A part of the screen of a replay: the keys that act on the clock of one answer."""

    player: Player | None

    def _moved(self) -> None:
        raise NotImplementedError

    def _with_player(self, change: Callable[[Player], None]) -> None:
        if self.player is None:
            self._say("A moment: the recording is still being taken in.")
        else:
            change(self.player)
            self._moved()

    def action_step(self) -> None:
        """Go to the next token."""
        self._with_player(lambda player: player.step(1))

    def action_step_back(self) -> None:
        """Go to the token before."""
        self._with_player(lambda player: player.step(-1))

    def action_start(self) -> None:
        """Go to the start."""
        self._with_player(lambda player: player.seek(0))

    def action_finish(self) -> None:
        """Go to the end of this answer."""
        self._with_player(Player.finish)

    def action_forward(self) -> None:
        """Go a twentieth forward."""
        self._with_player(lambda player: player.seek_share(1))

    def action_backward(self) -> None:
        """Go a twentieth back."""
        self._with_player(lambda player: player.seek_share(-1))

    def action_slower(self) -> None:
        """Play slower."""
        self._with_player(lambda player: player.change_speed(-1))

    def action_faster(self) -> None:
        """Play faster."""
        self._with_player(lambda player: player.change_speed(1))

    def action_loop(self) -> None:
        """Begin anew at the end, or no longer."""

        def switch(player: Player) -> None:
            player.loop = not player.loop

        self._with_player(switch)

    def action_find(self) -> None:
        """Ask where to go."""
        from .go_to import GoToScreen

        if self.player is not None:
            self.app.push_screen(GoToScreen(self.player.timeline), self._go_to)

    def _go_to(self, position: int | None) -> None:
        if position is not None:
            self._with_player(lambda player: player.seek(position))
