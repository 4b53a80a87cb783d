"""The scope: one model, one conversation, everything measured."""

import asyncio
import gc
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.events import Key, Paste

from ...backends.events import Failed, Finished
from ..engine_link import EngineLink
from ..history import History
from ..keys import KEYS, bindings
from ..options import ScopeOptions
from ..plotting import curve
from ..session import Changes, Session
from ..widgets.cells import Cells
from ..widgets.kept import KeptHorizontal
from ..widgets.prompt_box import PromptBox
from .asking import Asking
from .choosing import Choosing
from .face import Face
from .memory_speed import MemorySpeed
from .scope_view import ScopeView
from .taking_out import keep_session
from .watching import Watching
from .wording import ready_notes

_COLLECTION_THRESHOLDS = (10_000, 20, 20)


class ScopeScreen(Asking, ScopeView):
    """Asks a live engine."""

    AUTO_FOCUS = "PromptBox"
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings(KEYS, letters=False),
        Binding("enter", "focus_prompt", "Go to the prompt box.", show=False),
    ]

    _link: EngineLink

    def __init__(self, options: ScopeOptions, link: EngineLink, history: History, watching: Watching) -> None:
        session = Session(
            sampling=options.sampling,
            max_tokens=options.max_tokens,
            stop=options.stop,
            system=options.system,
            raw=options.raw,
            probabilities=options.probabilities,
        )
        if options.model is None:
            session.choosing()
        super().__init__(session, link, watching)
        self._history = history
        self._choosing = Choosing(self, options, session, self._restart_engine, self._lay_out_again, self._say)
        self._box = PromptBox(history)
        self._face = Face(session, self._choosing.model_name, watching, self._draw_later, box=self._box)
        self._memory_speed = MemorySpeed(self, session, link.tape, self._memory_known, self._say)
        self._waiting_prompt = options.prompt

    def compose_foot(self) -> ComposeResult:
        """Lay out the prompt box."""
        with KeptHorizontal(id="prompt-line"):
            sign = Cells(id="prompt-sign")
            sign.show_rows([(("❯", "accent"),)])
            yield sign
            yield self._box

    async def _begin(self) -> None:
        self._start_engine()
        from .reading import Reading

        reading = Reading()
        await self.query_one("#stage").mount(reading)
        self._face.reading = reading
        if self._waiting_prompt is not None:
            reading.conversation.add_user(self._waiting_prompt)
        self._face.all()
        self._ask_waiting()
        self._tell_of_history()
        self.run_worker(asyncio.to_thread(curve.preload))
        # What has been made so far stays: collections need not look at it again and again.
        gc.freeze()
        gc.set_threshold(*_COLLECTION_THRESHOLDS)
        gc.enable()

    # The engine

    def _start_engine(self) -> None:
        options = self._choosing.options
        if options.model is None:
            self._choosing.choose_model()
            return
        self.session.engine_started()
        self._slow_timer.resume()
        failed = self._link.start(options.model, options.settings, self._readable, lambda: self._watching.pace.seconds)
        if failed is not None:
            self._from_here(failed)

    def _restart_engine(self) -> None:
        """Start an engine with the options now in force; what the last one has written of an answer stays."""
        self._after_end = ""
        if self.session.busy:
            self._read()
        if self.session.busy:
            self._from_here(Finished(t=self._face.clock(), reason="cancelled"))
        self._face.model_name = self._choosing.model_name
        self._start_engine()
        self._face.all()

    def _from_here(self, event: Finished | Failed) -> None:
        """Take in what no engine tells."""
        self._link.tape.take([event])
        self._take_in(self.session.apply([event]))

    def _read(self) -> None:
        super()._read()
        if (problem := self._link.tape.news()) is not None:
            self._say(problem, "error")

    def _take_in(self, changes: Changes) -> None:
        super()._take_in(changes)
        self._ask_waiting()

    def _became_ready(self) -> None:
        for text in ready_notes(self.session):
            self._say(text)
        self._memory_speed.find_out()

    def _memory_known(self) -> None:
        self._face.all()
        self._ask_waiting()

    def _generation_ended(self, ended: Finished | Failed) -> None:
        super()._generation_ended(ended)
        self._tell_of_history()
        action, self._after_end = self._after_end, ""
        if action:
            self.call_next(self.run_action, action)

    # What the user asks for

    def interrupt(self) -> bool:
        """Stop the answer."""
        if self.session.busy:
            self.action_stop()
            return True
        return False

    @on(PromptBox.Sent)
    def _sent(self, message: PromptBox.Sent) -> None:
        if not self._send(message.prompt):
            self._box.put_back(message)

    def take_typing(self, event: Key | Paste) -> None:
        """Go to the prompt box before it is given what is typed or pasted, wherever the focus is."""
        if isinstance(event, Paste) or event.is_printable:
            self.set_focus(self._box)

    def action_focus_prompt(self) -> None:
        """Go to the prompt box."""
        self._box.focus()

    def action_keep(self) -> None:
        """Save the session with all its times."""
        self._say(*keep_session(self._link.tape, self._choosing.options))

    def action_model(self) -> None:
        """Choose another model."""
        self._choosing.choose_model()

    def action_settings(self) -> None:
        """Change how the model is asked."""
        self._choosing.change_settings()
