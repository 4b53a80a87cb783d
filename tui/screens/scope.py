"""The scope: one model, one conversation, everything measured."""

import asyncio
import gc
from typing import TYPE_CHECKING, ClassVar, Literal

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen

from ...backends.events import Failed, Finished
from ...backends.text import visible
from ..engine_link import EngineLink
from ..history import History
from ..keys import bindings
from ..options import ScopeOptions
from ..plotting import curve
from ..session import Changes, Phase, Session
from ..widgets.cells import Cells
from ..widgets.kept import KeptDrawing, KeptHorizontal
from ..widgets.prompt_box import PromptBox
from .arrangement import ARRANGEMENT
from .asking import Asking
from .choosing import Choosing
from .face import Face
from .help import HelpScreen
from .looking import Looking
from .memory_speed import MemorySpeed
from .room import counter_lines, plot_lines
from .taking_out import copy_answer, keep_session, save_last_answer
from .watching import Watching
from .why import WhyScreen
from .wording import answer_note, ready_notes

if TYPE_CHECKING:
    pass

_SLOW_SECONDS = 0.5
_METER_SECONDS = 1.0
_COLLECTION_THRESHOLDS = (10_000, 20, 20)
_RETRY_SECONDS = 0.25
_TOLD_SECONDS, _WARNED_SECONDS = 3.0, 6.0


class ScopeScreen(KeptDrawing, Asking, Looking, Screen[None]):
    """Owns the session; widgets draw it and answer with messages."""

    AUTO_FOCUS = "PromptBox"
    HORIZONTAL_BREAKPOINTS = [(0, "-slim"), (100, "-narrow"), (140, "-wide")]  # noqa: RUF012 (Textual's declaration)
    VERTICAL_BREAKPOINTS = [(0, "-short"), (20, "-tall"), (36, "-high")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings(),
        Binding("enter", "focus_prompt", "Go to the prompt box.", show=False),
    ]

    DEFAULT_CSS = ARRANGEMENT

    def __init__(self, options: ScopeOptions, link: EngineLink, history: History, watching: Watching) -> None:
        super().__init__()
        self._link = link
        self._history = history
        self._watching = watching
        self.session = Session(
            sampling=options.sampling,
            max_tokens=options.max_tokens,
            stop=options.stop,
            system=options.system,
            raw=options.raw,
        )
        if options.model is None:
            self.session.choosing()
        self._choosing = Choosing(self, options, self.session, self._restart_engine, self._lay_out_again, self._say)
        self._face = Face(self.session, self._choosing.model_name, history, watching, self._draw_later)
        self._memory_speed = MemorySpeed(self, self.session, self._memory_known, self._say)
        self._draws_later = False
        self._waiting_prompt = options.prompt

    def compose(self) -> ComposeResult:
        """Lay out what needs no heavy import."""
        face = self._face
        yield face.header
        yield KeptHorizontal(id="stage")
        yield face.failure
        with KeptHorizontal(id="strip"):
            yield face.legend
            yield face.newest
        yield face.phase
        yield face.counters
        yield face.plot
        with KeptHorizontal(id="prompt-line"):
            sign = Cells(id="prompt-sign")
            sign.show_rows([(("❯", "accent"),)])
            yield sign
            yield face.box
        yield self._watching.line
        yield face.key_bar

    def on_mount(self) -> None:
        """Show the first frame, then begin with what takes time."""
        self._slow_timer = self.set_interval(_SLOW_SECONDS, self._draw_slow, pause=True)
        self._meter_timer = self.set_interval(_METER_SECONDS, self._watching.draw, pause=True)
        self.call_after_refresh(self._begin)

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
        if self._history.problem:
            self._say(self._history.problem, "warning")
        self.run_worker(asyncio.to_thread(curve.preload))
        # What has been made so far stays: collections need not look at it again and again.
        gc.freeze()
        gc.set_threshold(*_COLLECTION_THRESHOLDS)
        gc.enable()

    def on_unmount(self) -> None:
        """Leave the event loop, which closes soon."""
        self._link.stop_reading()

    def _say(self, text: str, severity: Literal["information", "warning", "error"] = "information") -> None:
        seconds = _TOLD_SECONDS if severity == "information" else _WARNED_SECONDS
        self.notify(visible(text, keep_lines=True), severity=severity, timeout=seconds, markup=False)

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

    def _readable(self) -> None:
        # In the screen's own message loop an exception ends the app; the event loop would only log it.
        self.call_next(self._read)

    def _read(self) -> None:
        self._take_in(self.session.apply(self._link.receive()))
        self._link.rearm()
        if (news := self._watching.news()) is not None:
            self._say(news, "warning")
        if (problem := self._link.tape.news()) is not None:
            self._say(problem, "error")

    def _take_in(self, changes: Changes) -> None:
        for log in changes.logs:
            if log.level != "info":
                self._say(log.text, log.level)
        self._face.add(changes.pieces)
        if changes.ended is not None:
            self._generation_ended(changes.ended)
        if changes.became_ready:
            for text, severity in ready_notes(self.session, raw=self._choosing.options.raw):
                self._say(text, severity)
            self._memory_speed.find_out()
        if changes.ended is not None or changes.became_ready or self.session.phase is Phase.GONE:
            self._face.all()
        else:
            self._face.frame()
        self._ask_waiting()

    def _memory_known(self) -> None:
        self._face.all()
        self._ask_waiting()

    def _generation_ended(self, ended: Finished | Failed) -> None:
        self._face.flush_text()
        if self._conversation is not None:
            run = self.session.run
            self._conversation.end_answer(answer_note(ended, 0 if run is None else run.token_count))
        action, self._after_end = self._after_end, ""
        if action:
            self.call_next(self.run_action, action)

    # Drawing

    def frame_goes_out(self) -> None:
        """A frame is about to go to the terminal."""
        if self._watching.meter.running and self._face.reading is not None:
            self._watching.meter.frame(self._face.reading.lines_painted)

    def _draw_slow(self) -> None:
        if not (self.session.busy or self.session.starting):
            self._slow_timer.pause()
        self._face.at_leisure()

    def _draw_later(self) -> None:
        if not self._draws_later:
            self._draws_later = True
            self.set_timer(_RETRY_SECONDS, self._draw_held_back)

    def _draw_held_back(self) -> None:
        self._draws_later = False
        self._face.all()

    @on(Cells.Resized)
    def _lay_out_again(self) -> None:
        self._face.all()

    def on_resize(self) -> None:
        """Share the height out."""
        width, height = self.size
        self._face.counters.styles.height = counter_lines(width, height)
        self._face.plot.styles.height = plot_lines(height)

    @on(PromptBox.FocusChanged)
    def _show_keys(self, message: PromptBox.FocusChanged) -> None:
        self._face.keys(letters=not message.focused)

    # What the user asks for

    @on(PromptBox.Sent)
    def _sent(self, message: PromptBox.Sent) -> None:
        self._send(message.prompt)

    def action_focus_prompt(self) -> None:
        """Go to the prompt box."""
        self._face.box.focus()

    def action_tokens(self) -> None:
        """Show or hide the table of tokens."""
        shown = not self.has_class("-tokens")
        self.set_class(shown, "-tokens")
        if (reading := self._face.reading) is not None:
            if shown:
                reading.tokens_shown(self.session.run)
            elif reading.inspecting:
                self.call_after_refresh(reading.conversation.focus)  # it is hidden until then where it is narrow
        self._face.all()

    def action_meter(self) -> None:
        """Show or hide what watching costs."""
        if self._watching.switch_meter():
            self._meter_timer.resume()
        else:
            self._meter_timer.pause()
        self._face.all()

    def action_low_bandwidth(self) -> None:
        """Draw less often and send less, or as usual again."""
        self._say(self._watching.switch_low_bandwidth())
        self._face.all()

    def action_copy(self) -> None:
        """Copy the last answer."""
        self._say(*copy_answer(self.app, self.session))

    def action_save(self) -> None:
        """Save the last answer."""
        self._say(*save_last_answer(self.session))

    def action_keep(self) -> None:
        """Save the session with all its times."""
        self._say(*keep_session(self._link.tape, self._choosing.options))

    def action_why(self) -> None:
        """Say why it is slower to write than to read."""
        self.app.push_screen(WhyScreen(lambda: self.session))

    def action_model(self) -> None:
        """Choose another model."""
        self._choosing.choose_model()

    def action_settings(self) -> None:
        """Change how the model is asked."""
        self._choosing.change_settings()

    def action_help(self) -> None:
        """Show the keys and what the figures mean."""
        self.app.push_screen(HelpScreen())
