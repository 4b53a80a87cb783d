"""The scope on a recording: everything can be looked at, nothing asked."""

from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType

from ...backends.replay import ReplayBackend
from ...backends.requests import Sampling
from ...backends.text import visible
from ..engine_link import BackendLink
from ..keys import RECORDING_KEYS, bindings, refusing
from ..options import ScopeOptions
from ..output import Traffic
from ..session import Changes, Session
from ..terminal import Terminal
from ..widgets.cells import Cells
from .face import Face
from .scope_view import ScopeView
from .watching import Watching

Memory = Callable[[int], float | None]
"""Bytes per second that so many threads read, as far as is known."""

_REFUSED = "This is a recording: it can be looked at, not asked, changed or measured. esc goes back."


class RecordingScreen(ScopeView):
    """Plays a recording; pushed onto another screen, to which it goes back."""

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(RECORDING_KEYS), *refusing()]
    recorded = True

    def __init__(self, backend: ReplayBackend, name: str, told: str, memory: Memory | None) -> None:
        """``name``: of the model, until the recording tells it; ``told``: what is recorded, in a few words. Both are of
        unknown origin. ``memory``: of the machine of a file; ``None``: it is this one."""
        link = BackendLink()
        session = Session(sampling=Sampling(), recorded=memory is not None)
        terminal = Terminal.current
        traffic = Traffic() if terminal is None or terminal.output is None else terminal.output.traffic
        watching = Watching(ScopeOptions(), traffic, link)
        super().__init__(session, link, watching)
        self._backend = backend
        self._memory = memory or _measured_here
        self._told = Cells(id="told")
        self._told.show_rows([(("▌ ", "accent"), ("replay of ", "strong"), (visible(told), "dim"))])
        self._face = Face(session, name, watching, self._draw_later, keys=RECORDING_KEYS)
        self._face.clock = lambda: backend.now

    def compose_foot(self) -> ComposeResult:
        """Say what is shown."""
        yield self._told

    async def _begin(self) -> None:
        from .reading import Reading

        reading = Reading(recorded=True)
        await self.query_one("#stage").mount(reading)
        self._face.reading = reading
        reading.take_focus()
        self._link.attach(self._backend, self._readable, lambda: self._watching.pace.seconds)
        self._slow_timer.resume()
        self._face.all()

    def on_unmount(self) -> None:
        """End the replay."""
        self._link.close()
        self._backend.close()

    def _take_in(self, changes: Changes) -> None:
        if changes.taken is not None and self._face.reading is not None:
            self._face.flush_text()
            conversation = self._face.reading.conversation
            conversation.clear()
            for turn in changes.taken:
                conversation.add_user(turn.prompt)
                if turn.answer is not None:
                    conversation.add_answer(turn.answer)
            conversation.begin_answer()
            self._slow_timer.resume()
        super()._take_in(changes)

    def _became_ready(self) -> None:
        if (model := self.session.model) is not None:
            self.session.measured(self._memory(model.threads), model.threads)

    def action_back(self) -> None:
        """Go back to where it was opened."""
        self.dismiss()

    def action_refuse(self) -> None:
        """Say that a recording cannot be asked."""
        self._say(_REFUSED)


def _measured_here(threads: int) -> float | None:
    # Measuring now would disturb what still runs elsewhere.
    from ...backends.bandwidth import cached_bandwidth

    kept = cached_bandwidth(threads)
    return None if kept is None else kept.bytes_per_second
