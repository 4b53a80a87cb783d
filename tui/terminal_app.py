"""What every app on the terminal has: frames in few bytes, commands, and an end that leaves the terminal as it was."""

import asyncio
import contextlib
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from textwrap import wrap
from typing import Any, ClassVar, TypeVar

from rich.console import RenderableType
from rich.segment import Segment
from textual._compositor import CompositorUpdate, LayoutUpdate
from textual.app import App, SystemCommand
from textual.binding import BindingType
from textual.command import CommandPalette
from textual.driver import Driver
from textual.events import Event, Key, Paste
from textual.geometry import Size
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

from ..backends.state_file import replace
from ..models.user_folders import own_folder
from .clipboard import outcome, put
from .frame_encoder import FrameEncoder
from .in_browser import in_browser
from .keys import app_bindings
from .output import Traffic
from .screens.offering import LEAST_SIZE, Offering
from .terminal import NoTerminalError, Terminal, TerminalDriver, erases_in_background
from .typed import TypedText

EXIT_DONE = 0
EXIT_CRASHED = 1
EXIT_USAGE = 2
EXIT_NOT_LOADED = 3
_LINES_FOR_A_TOAST = 8
_COPIED_SECONDS = 6.0
_CATCH_UP_SECONDS = 0.5
_THEME_NAME_AT_MOST = 200

_COMMANDS_OF_TEXTUAL = frozenset({"Theme", "Quit"})
_ACTIONS_OF_TEXTUAL = frozenset({"app.command_palette", "app.quit"})
"""The palette has them already, or they show the palette."""

_AnApp = TypeVar("_AnApp", bound="TerminalApp")


class _Palette(CommandPalette):
    """Textual's palette, whose page keys raise while its list is not laid out yet; then they do nothing."""

    def _action_command_list(self, action: str) -> None:
        with contextlib.suppress(KeyError, IndexError):
            super()._action_command_list(action)


class TerminalApp(App[None]):
    """An app whose screens say what they offer."""

    TITLE = "decodescope"
    BINDINGS: ClassVar[list[BindingType]] = app_bindings()
    _gives_way: ClassVar[bool] = True
    """Whether a window that is too small shows a notice instead."""
    # At the top, where the oldest text is: the figures and the newest text stay in sight.
    CSS = """
    ToastRack { dock: top; align: right top; margin: 1 0 0 0; }
    Toast { width: auto; max-width: 80%; }
    """

    def __init__(self, theme: str | None, driver_class: type[Driver] | None = None) -> None:
        """``theme``: the name of one of Textual's; ``None``: the default."""
        super().__init__(driver_class=driver_class)
        self.animation_level = "none"
        self._copying, self._writing_theme = asyncio.Lock(), asyncio.Lock()
        output = None if Terminal.current is None else Terminal.current.output
        self.traffic = Traffic() if output is None else output.traffic
        """What goes to the terminal."""
        self._frames = FrameEncoder(lambda: output is not None and erases_in_background(output.fileno()))
        self._theme_given = theme is not None
        self._theme_file: Path | None = None
        self._theme_kept = ""
        """The theme in the file, or one that need not be saved."""
        self._painted = False
        self._notice: list[str] = []
        """The notice on a window that is too small."""
        if theme is not None:
            self.theme = theme

    def keep_theme(self, path: Path | None) -> None:
        """Use the theme in the file at ``path``, unless another is given, and save the chosen one there.

        Call it before the app runs. A name that is not, or no longer, that of a theme is ignored.
        """
        if path is None:
            return
        with contextlib.suppress(OSError, UnicodeDecodeError):
            with path.open(encoding="utf-8") as file:
                kept = file.read(_THEME_NAME_AT_MOST).strip()
            if not self._theme_given and kept in self.available_themes:
                self.theme = kept
        self._theme_file, self._theme_kept = path, self.theme

    def watch_theme(self, name: str) -> None:
        """Save a theme that was chosen."""
        if self._theme_file is not None and name != self._theme_kept:
            self._theme_kept = name
            self.run_worker(self._write_theme(self._theme_file), group="theme")

    async def _write_theme(self, path: Path) -> None:
        try:
            async with self._writing_theme:
                await asyncio.to_thread(replace, path, f"{self.theme}\n".encode())
        except OSError as error:
            self.notify(f"The theme could not be saved: {error.strerror}", severity="warning", markup=False)
        else:
            if self._theme_given:
                self.notify("Theme saved for starts without --theme and without `theme` in the settings.", markup=False)

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """Offer everything that has a key, and the themes."""
        yield from (command for command in super().get_system_commands(screen) if command.title in _COMMANDS_OF_TEXTUAL)
        if isinstance(screen, Offering):
            for key in screen.offered_keys():
                if key.action not in _ACTIONS_OF_TEXTUAL:
                    of, action = (self, key.of_the_app) if key.of_the_app else (screen, key.action)
                    yield SystemCommand(
                        f"{key.label.capitalize()} ({key.display})", key.help, getattr(of, f"action_{action}")
                    )
            yield from screen.further_commands()

    async def on_event(self, event: Event) -> None:
        """Keep keys in order; hand text that came at once over as a paste, or as keys where nothing takes text."""
        if isinstance(event, TypedText):
            for one in [Paste(event.text)] if self.takes_text() else event.keys:
                await self.on_event(one)
        elif isinstance(event, Key) and not (event.is_forwarded or event.is_printable) and (box := self._input()):
            await self._caught_up(box)
            if not await self._edited(box, event.key):
                await super().on_event(event)
        else:
            await super().on_event(event)

    def takes_text(self) -> bool:
        """Whether keys go into an input now."""
        return self._input() is not None

    def _input(self) -> Widget | None:
        from textual.widgets import Input, TextArea

        focused = self.focused if self.screen_stack else None
        return focused if isinstance(focused, Input | TextArea) else None

    async def _edited(self, box: Widget, key: str) -> bool:
        """Do at once what a key does in an input. Textual would do it only after all keys that have arrived by then."""
        if box is not self._input() or key not in box._bindings.key_to_bindings:
            return False
        return await self._check_bindings(key, priority=True) or await self._check_bindings(key)

    async def _caught_up(self, box: Widget) -> None:
        """Wait until earlier keys are in the input, and until everyone that the input notifies has been notified."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_CATCH_UP_SECONDS):
                for node in (box, box, *box.ancestors):
                    heard = asyncio.Event()
                    if node is not self and node.call_later(heard.set):
                        await heard.wait()

    def copy_to_clipboard(self, text: str, what: str = "") -> None:
        """Copy, then say what is known about the result; ``what``: a description of the text, instead of its length."""
        if text:
            self._clipboard = text
            what = what or ("1 character" if len(text) == 1 else f"{len(text):,} characters")
            self.run_worker(self._copy(text, what), group="clipboard")

    async def _copy(self, text: str, what: str) -> None:
        async with self._copying:
            taken = await asyncio.to_thread(put, text)
        if not taken:
            super().copy_to_clipboard(text)
        self.notify(outcome(what, taken), timeout=_COPIED_SECONDS, markup=False)

    def notify(self, message: str, **how: Any) -> None:
        """Show a notification; not twice the same, and none where it would cover everything."""
        shown = any(one.message == message for one in self._notifications)
        if not shown and self.size.height >= _LINES_FOR_A_TOAST:
            super().notify(message, **how)

    def action_help_quit(self) -> None:
        """Stop what runs on Ctrl+C; otherwise say how to quit."""
        if not (isinstance(self.screen, Offering) and self.screen.interrupt()):
            self.notify("Press ctrl+q to quit.", markup=False)

    def action_command_palette(self) -> None:
        """Show the command palette."""
        if not CommandPalette.is_open(self):  # type: ignore[arg-type]
            self.push_screen(_Palette(id="--command-palette"))

    def _check_resize(self) -> None:
        event = self._resize_event
        super()._check_resize()
        # A terminal that is back at its old size has lost cells meanwhile, and no layout changes.
        if event is not None and self.screen_stack and event.size == self.screen.size:
            self.redraw()

    def redraw(self) -> None:
        """Draw everything, whatever the terminal shows now."""
        self._frames.forget()
        self.refresh()

    def action_redraw(self) -> None:
        """Set the terminal up again and draw everything: another program may have written to it."""
        if isinstance(self._driver, TerminalDriver):
            self._driver.set_up_again()
        else:
            self.redraw()

    def action_suspend_process(self) -> None:
        """Give the terminal back and stop until a shell continues the screen. The engine keeps running."""
        if in_browser():
            self.notify("In a browser there is no shell to go back to.", markup=False)
        elif isinstance(self._driver, TerminalDriver):
            if self._driver.can_suspend:
                self._driver.suspend()
            else:
                self.notify(
                    "decodescope cannot be suspended: no shell with job control started it, so none could continue it.",
                    markup=False,
                )

    def exit(self, *arguments: Any, **how: Any) -> None:
        """Leave, also when the terminal takes no more frames."""
        if Terminal.current is not None:
            Terminal.current.expect_end()
        super().exit(*arguments, **how)

    def _needed(self) -> tuple[int, int]:
        """Return the least size that the screen needs; a dialog needs that of the screen below it."""
        return next((one.least_size() for one in reversed(self.screen_stack) if isinstance(one, Offering)), LEAST_SIZE)

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        if isinstance(renderable, CompositorUpdate):
            size, needed = self.size, self._needed()
            if self._gives_way and (size.width < needed[0] or size.height < needed[1]):
                notice = too_small(size, needed)
                if notice == self._notice and not isinstance(renderable, LayoutUpdate):
                    return
                self._notice = notice
                super()._display(screen, self._frames.wrap(_lines(notice, size)))
                return
            if self._notice and not isinstance(renderable, LayoutUpdate):
                self.redraw()
                return
            self._notice = []
            for shown in self.screen_stack:
                if isinstance(shown, Offering):
                    shown.frame_goes_out()
            renderable = self._frames.wrap(renderable)
        super()._display(screen, renderable)
        if not self._painted and renderable is not None:
            self._painted = True
            if Terminal.current is not None:
                self.call_later(Terminal.current.call_witness)


def too_small(size: Size, needed: tuple[int, int]) -> list[str]:
    """Return the notice for a window of this size, in lines that fit."""
    has, serves = f"{size.width}×{size.height}", "{}×{}".format(*needed)
    for text in (f"This window is {has}; decodescope needs {serves}.", f"needs {serves}", serves):
        lines = wrap(text, max(size.width, 1))
        if len(lines) <= size.height:
            return lines
    return []


def _lines(texts: Sequence[str], size: Size) -> LayoutUpdate:
    lines = [Strip([Segment(text)]).adjust_cell_length(size.width) for text in texts]
    blank = [Strip.blank(size.width)] * (size.height - len(lines))
    return LayoutUpdate([[line] for line in [*lines, *blank]], size.region)


def theme_file() -> Path | None:
    """Return the file that holds the theme chosen last; ``None`` for a user without a home."""
    folder = own_folder("state")
    return None if folder is None else folder / "theme"


def run_on_terminal(
    make: Callable[[type[Driver]], _AnApp], end: Callable[[], None], outcome: Callable[[_AnApp], int], instead: str
) -> int:
    """Run an app on the terminal and return the exit code: the signal's that ended it, or that of a crash, else
    ``outcome``'s. ``end`` ends the engines in every case; ``instead`` says what to do without a terminal. Where
    textual-serve has started the process, the app is shown in the browser."""
    if in_browser():
        return _run_in_browser(make, end, outcome)
    try:
        terminal = Terminal()
        terminal.open()
    except NoTerminalError as error:
        sys.stderr.write(f"decodescope: {error} {instead}\n")
        return EXIT_USAGE
    with terminal:
        app = make(TerminalDriver)
        app.keep_theme(theme_file())
        terminal.watch(app)
        try:
            app.run()
        finally:
            end()
    if terminal.exit_code is not None:
        return terminal.exit_code
    return EXIT_CRASHED if app.return_code else outcome(app)


def _run_in_browser(
    make: Callable[[type[Driver]], _AnApp], end: Callable[[], None], outcome: Callable[[_AnApp], int]
) -> int:
    from .browser_driver import BrowserDriver

    app = make(BrowserDriver)
    app.keep_theme(theme_file())
    try:
        app.run()
    finally:
        end()
    return EXIT_CRASHED if app.return_code else outcome(app)
