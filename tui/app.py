"""The app: theme, keys, commands and the first screen."""

import contextlib
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType
from textual._compositor import CompositorUpdate
from textual.app import App, SystemCommand
from textual.command import CommandPalette
from textual.driver import Driver
from textual.screen import Screen

from ..backends.contract import Backend
from ..backends.requests import EngineSettings
from ..traces.tape import SessionTape
from .engine_link import EngineLink, Launch
from .frame_encoder import FrameEncoder
from .history import History, default_path
from .keys import KEYS
from .options import ScopeOptions
from .output import Traffic
from .screens.scope import ScopeScreen
from .screens.watching import Watching
from .terminal import NoTerminalError, Terminal, TerminalDriver, erases_in_background, lower_priority

if TYPE_CHECKING:
    from ..backends.launch import Source

__all__ = ["ScopeApp", "ScopeOptions", "run_scope"]

EXIT_DONE = 0
EXIT_CRASHED = 1
EXIT_USAGE = 2
EXIT_NOT_LOADED = 3

_COMMANDS_OF_TEXTUAL = frozenset({"Theme", "Quit"})


class _Palette(CommandPalette):
    """Textual's palette, whose page keys raise while its list is not laid out yet; then they do nothing."""

    def _action_command_list(self, action: str) -> None:
        with contextlib.suppress(KeyError, IndexError):
            super()._action_command_list(action)


class ScopeApp(App[None]):
    """Shows one scope."""

    TITLE = "decodescope"
    # At the top, where the oldest text is: the figures and the newest text stay in sight.
    CSS = """
    ToastRack { dock: top; align: right top; margin: 1 0 0 0; }
    Toast { width: auto; max-width: 80%; }
    """

    def __init__(
        self,
        options: ScopeOptions,
        link: EngineLink,
        history: History,
        driver_class: type[Driver] | None = None,
    ) -> None:
        super().__init__(driver_class=driver_class)
        self.animation_level = "none"
        self._options = options
        self._link = link
        self._history = history
        output = None if Terminal.current is None else Terminal.current.output
        self._watching = Watching(options, Traffic() if output is None else output.traffic, link)
        self._frames = FrameEncoder(lambda: output is not None and erases_in_background(output.fileno()))
        if options.theme is not None:
            self.theme = options.theme

    def get_default_screen(self) -> ScopeScreen:
        """Begin with the scope."""
        self.scope = ScopeScreen(self._options, self._link, self._history, self._watching)
        return self.scope

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """Offer everything that has a key, and the themes."""
        yield from (command for command in super().get_system_commands(screen) if command.title in _COMMANDS_OF_TEXTUAL)
        if isinstance(screen, ScopeScreen):
            for key in KEYS:
                if not key.action.startswith("app."):
                    yield SystemCommand(
                        f"{key.label.capitalize()} ({key.display})", key.help, getattr(screen, f"action_{key.action}")
                    )
            yield SystemCommand(
                "Low bandwidth", "Draw less often and send less, or as usual again.", screen.action_low_bandwidth
            )

    def action_help_quit(self) -> None:
        """Stop the answer on Ctrl+C; otherwise say how to quit."""
        if isinstance(self.screen, ScopeScreen) and self.screen.session.busy:
            self.screen.action_stop()
        else:
            self.notify("Press ctrl+q to quit.", markup=False)

    def action_command_palette(self) -> None:
        """Show the command palette."""
        if not CommandPalette.is_open(self):  # type: ignore[arg-type]
            self.push_screen(_Palette(id="--command-palette"))

    def exit(self, *arguments: Any, **how: Any) -> None:
        """Leave, also when the terminal takes no more frames."""
        if Terminal.current is not None:
            Terminal.current.expect_end()
        super().exit(*arguments, **how)

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        if isinstance(renderable, CompositorUpdate):
            self.scope.frame_goes_out()
            renderable = self._frames.wrap(renderable)
        super()._display(screen, renderable)


def run_scope(options: ScopeOptions, tape: SessionTape | None = None) -> int:
    """Open the scope on the terminal and return the exit code when it is closed; ``tape`` keeps what is received.

    0: closed by the user, also before a model was chosen. 1: the app crashed; the traceback is on stderr. 2: there is
    no terminal. 3: the model could not be loaded. 128 + n: ended by signal n. The terminal is restored and the engine
    ended in every case.
    """

    def launch(model: "Source", settings: EngineSettings) -> Backend:
        from ..backends.launch import launch as launch_engine

        return launch_engine(model, settings)

    return run_app(options, launch, tape)


def run_app(options: ScopeOptions, launch: Launch, tape: SessionTape | None = None) -> int:
    """Do as ``run_scope`` with engines from ``launch``."""
    link = EngineLink(launch, lower_priority, tape)
    try:
        terminal = Terminal()
        terminal.open()
    except NoTerminalError as error:
        sys.stderr.write(f"decodescope: {error} `decodescope run` needs none.\n")
        return EXIT_USAGE
    with terminal:
        app = ScopeApp(options, link, History(default_path()), TerminalDriver)
        terminal.watch(app)
        try:
            app.run()
        finally:
            link.close()
            link.tape.close()
    if terminal.exit_code is not None:
        return terminal.exit_code
    if app.return_code:
        return EXIT_CRASHED
    failure = app.scope.session.failure
    return EXIT_NOT_LOADED if failure is not None and failure.stage == "load" else EXIT_DONE
