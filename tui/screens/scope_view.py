"""What the scope and a recording have in common: one run drawn, looked at and taken out."""

from collections.abc import Iterable
from typing import ClassVar, Literal

from textual import on
from textual.app import ComposeResult, SystemCommand
from textual.screen import Screen

from ...backends.events import Failed, Finished
from ...backends.text import visible
from ..compositor import SparingScreen
from ..engine_link import BackendLink
from ..keys import Key
from ..session import Changes, Phase, Session
from ..widgets.cells import Cells
from ..widgets.counters import reasons
from ..widgets.kept import KeptHorizontal
from .arrangement import ARRANGEMENT
from .face import Face
from .looking import Looking
from .offering import Offering
from .room import counter_lines, plot_lines
from .taking_out import only_reasoning, save_last_answer
from .watching import Watching
from .wording import answer_note

_SLOW_SECONDS = 0.5
_METER_SECONDS = 1.0
_RETRY_SECONDS = 0.25
_TOLD_SECONDS, _WARNED_SECONDS = 3.0, 6.0


class ScopeView(SparingScreen, Looking, Offering, Screen[None]):
    """Owns the session; widgets draw it and answer with messages."""

    HORIZONTAL_BREAKPOINTS = [(0, "-slim"), (100, "-narrow"), (140, "-wide")]  # noqa: RUF012 (Textual's declaration)
    VERTICAL_BREAKPOINTS = [(0, "-short"), (20, "-tall"), (36, "-high")]  # noqa: RUF012

    DEFAULT_CSS = ARRANGEMENT

    recorded: ClassVar[bool] = False
    """Whether it can only be looked at."""

    _face: Face
    """Made by the screen itself."""

    def __init__(self, session: Session, link: BackendLink, watching: Watching) -> None:
        super().__init__()
        self.session = session
        self._link = link
        self._watching = watching
        self._draws_later = False

    def compose(self) -> ComposeResult:
        """Lay out what needs no heavy import."""
        face = self._face
        yield face.header
        yield face.warning
        yield KeptHorizontal(id="stage")
        yield face.failure
        with KeptHorizontal(id="strip"):
            yield face.legend
            yield face.newest
        yield face.phase
        yield face.counters
        yield face.plot
        yield from self.compose_foot()
        yield self._watching.line
        yield face.key_bar

    def compose_foot(self) -> ComposeResult:
        """Lay out what stands above the keys."""
        return ()

    def on_mount(self) -> None:
        """Show the first frame, then begin with what takes time."""
        self._slow_timer = self.set_interval(_SLOW_SECONDS, self._draw_slow, pause=True)
        self._meter_timer = self.set_interval(_METER_SECONDS, self._watching.draw, pause=True)
        self.call_after_refresh(self._begin_unless_left)

    async def _begin_unless_left(self) -> None:
        if self.is_attached:
            await self._begin()

    async def _begin(self) -> None:
        raise NotImplementedError

    def on_unmount(self) -> None:
        """Leave the event loop, which may close soon."""
        self._link.stop_reading()

    def _say(self, text: str, severity: Literal["information", "warning", "error"] = "information") -> None:
        seconds = _TOLD_SECONDS if severity == "information" else _WARNED_SECONDS
        self.notify(visible(text, keep_lines=True), severity=severity, timeout=seconds, markup=False)

    # Events

    def _readable(self) -> None:
        # In the screen's own message loop an exception ends the app; the event loop would only log it.
        self.call_next(self._read)

    def _read(self) -> None:
        with self.one_update():
            self._take_in(self.session.apply(self._link.receive()))
        self._link.rearm()
        if (news := self._watching.news()) is not None:
            self._say(news, "warning")

    def _take_in(self, changes: Changes) -> None:
        self._face.add(changes.pieces)
        if changes.ended is not None:
            self._generation_ended(changes.ended)
        if changes.became_ready:
            self._became_ready()
        if changes.ended is not None or changes.became_ready or self.session.phase is Phase.GONE:
            self._face.all(last=True)
        else:
            self._face.frame()
        if changes.ended is not None and self._face.reading is not None:
            self._face.reading.fill()

    def _became_ready(self) -> None:
        raise NotImplementedError

    def _generation_ended(self, ended: Finished | Failed) -> None:
        self._face.flush_text()
        if self._face.reading is not None:
            run = self.session.run
            tokens, answered = (0, False) if run is None else (run.token_count, run.ttfa_ns is not None)
            note = answer_note(ended, tokens, answered=answered, recorded=self.recorded)
            self._face.reading.conversation.end_answer(note)

    # Drawing

    def frame_goes_out(self) -> None:
        """A frame is about to go to the terminal."""
        if self._watching.meter.running and self._face.reading is not None:
            self._watching.meter.frame(self._face.reading.lines_painted)

    def _draw_slow(self) -> None:
        if not (self.session.busy or self.session.starting):
            self._slow_timer.pause()
        with self.one_update():
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

    # What the user asks for

    def action_tokens(self) -> None:
        """Show or hide the table of tokens."""
        shown = not self.has_class("-tokens")
        self.set_class(shown, "-tokens")
        if (reading := self._face.reading) is not None:
            if shown:
                reading.tokens_shown()
                self.call_after_refresh(self._keep_focus)
            elif reading.inspecting:
                self.call_after_refresh(reading.conversation.focus)  # it is hidden until then where it is narrow
        self._face.all()

    def _keep_focus(self) -> None:
        # The text that had the focus is hidden where it is narrow.
        if self.focused is None and self._face.view is not None:
            self._face.view.take_focus()

    def action_meter(self) -> None:
        """Show or hide what watching costs."""
        if self._watching.switch_meter():
            self._meter_timer.resume()
        else:
            self._meter_timer.pause()
        self._face.all()

    def offered_keys(self) -> Iterable[Key]:
        """Return the keys that work."""
        return self._face.key_bar.keys

    def further_commands(self) -> Iterable[SystemCommand]:
        """Return what has no key."""
        yield SystemCommand(
            "Low bandwidth", "Draw less often and send less, or as usual again.", self.action_low_bandwidth
        )

    def interrupt(self) -> bool:
        """Stop nothing: a recording is over."""
        return False

    def action_low_bandwidth(self) -> None:
        """Draw less often and send less, or as usual again."""
        self._say(self._watching.switch_low_bandwidth())
        self._face.all()

    def action_copy(self) -> None:
        """Copy the last answer."""
        if text := self.session.answer_text:
            what = "the reasoning (there is no answer)" if only_reasoning(self.session) else ""
            self.app.copy_to_clipboard(text, what)
        else:
            self._say("There is no answer to copy yet.")

    def action_save(self) -> None:
        """Save the last answer."""
        self._say(*save_last_answer(self.session))

    def action_why(self) -> None:
        """Say why it is slower to write than to read."""
        from .why import WhyScreen

        self.app.push_screen(WhyScreen(lambda: self.session))

    def action_help(self) -> None:
        """Show the keys and what the figures mean."""
        from .help import HelpScreen, scope_sections

        view = self._face.view
        tokens = () if view is None else view.tokens.reasons()
        missing = reasons(self.session)
        keys, warnings = self._face.key_bar.keys, self.session.warnings
        self.app.push_screen(HelpScreen(scope_sections(keys, missing, tokens, warnings)))
        self._face.warning.read()
