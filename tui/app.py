"""The apps: the scope of one model, and the comparison of several."""

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace
from textual.driver import Driver
from textual.events import Event, Key, Paste

from ..backends.contract import Backend
from ..backends.requests import EngineSettings
from ..traces.tape import SessionTape
from ..traces.versions import SEVERAL_ENGINES
from .engine_link import EngineLink, Launch
from .history import History, default_path
from .options import ScopeOptions
from .screens.scope import ScopeScreen
from .screens.watching import Watching
from .terminal import lower_priority
from .terminal_app import EXIT_DONE, EXIT_NOT_LOADED, TerminalApp, run_on_terminal

if TYPE_CHECKING:
    from ..backends.launch import Source
    from ..comparison.plan import ComparisonPlan

__all__ = ["ScopeApp", "ScopeOptions", "run_compare", "run_scope"]


class ScopeApp(TerminalApp):
    """Shows one scope."""

    def __init__(
        self,
        options: ScopeOptions,
        link: EngineLink,
        history: History,
        driver_class: type[Driver] | None = None,
    ) -> None:
        super().__init__(options.theme, driver_class)
        self._options = options
        self._link = link
        self._history = history
        self._watching = Watching(options, self.traffic, link)

    def get_default_screen(self) -> ScopeScreen:
        """Begin with the scope."""
        self.scope = ScopeScreen(self._options, self._link, self._history, self._watching)
        return self.scope

    async def on_event(self, event: Event) -> None:
        """Have the scope see first what is typed: no key is overtaken by the next one, which finds another focus."""
        if isinstance(event, Key | Paste) and self._scope_is_shown:
            self.scope.take_typing(event)
        await super().on_event(event)

    def takes_text(self) -> bool:
        """Whether keys go into an input now: on the scope they always go into the prompt box."""
        return self._scope_is_shown or super().takes_text()

    @property
    def _scope_is_shown(self) -> bool:
        return bool(self.screen_stack) and self.screen is self.scope


def run_scope(options: ScopeOptions, tape: SessionTape | None = None) -> int:
    """Open the scope on the terminal and return the exit code when it is closed; ``tape`` keeps what is received.

    0: closed by the user, also before a model was chosen. 1: the app crashed; the traceback is on stderr. 2: there is
    no terminal. 3: the model could not be loaded. 128 + n: ended by signal n. The terminal is restored and the engine
    ended in every case.
    """

    def launch(model: "Source", settings: EngineSettings) -> Backend:
        from ..backends.launch import launch as launch_engine

        return launch_engine(model, replace(settings, adapt_threads=True))

    return run_app(options, launch, tape)


def run_app(options: ScopeOptions, launch: Launch, tape: SessionTape | None = None) -> int:
    """Do as ``run_scope`` with engines from ``launch``."""
    link = EngineLink(launch, lower_priority, tape)
    history = History(default_path())

    def outcome(app: ScopeApp) -> int:
        failure = app.scope.session.failure
        return EXIT_NOT_LOADED if failure is not None and failure.stage == "load" else EXIT_DONE

    def close() -> None:
        link.close()
        link.tape.close()
        history.close()

    return run_on_terminal(
        lambda driver: ScopeApp(options, link, history, driver),
        close,
        outcome,
        "`decodescope run` needs none.",
    )


def run_compare(
    plan: "ComparisonPlan",
    tape: SessionTape | None = None,
    settings: dict[str, Any] | None = None,
    *,
    theme: str | None = None,
    fps: int | None = None,
    low_bandwidth: bool = False,
) -> int:
    """Compare on the terminal and return the exit code when the screen is closed.

    ``tape`` keeps what is received; ``settings``: what all lanes are asked for, as they are to stand in a recording.

    0: closed by the user. 1: the app crashed; the traceback is on stderr. 2: there is no terminal. 3: none of the
    models could be loaded. 128 + n: ended by signal n. The terminal is restored and all engines ended in every case.
    """
    from .compare.app import run_compare_app
    from .compare.keeping import Keeping

    options = ScopeOptions(theme=theme, fps=fps, low_bandwidth=low_bandwidth)
    return run_compare_app(plan, Keeping(tape or SessionTape(format=SEVERAL_ENGINES), settings or {}), options)
