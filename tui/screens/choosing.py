"""Which model answers and how it is asked: opens the screens that change it and puts the change into force."""

from collections.abc import Callable

from msgspec.structs import replace
from textual.screen import Screen

from ...backends.launch import sampling_of
from ...backends.text import visible
from ...models.facts import ModelFile
from ..options import ScopeOptions
from ..session import Session
from .wording import settings_note


class Choosing:
    """Holds the options in force."""

    def __init__(
        self,
        screen: Screen[None],
        options: ScopeOptions,
        session: Session,
        restart: Callable[[], None],
        redraw: Callable[[], None],
        say: Callable[[str], None],
    ) -> None:
        """``restart`` starts an engine with the options that are in force then, ``redraw`` draws the session anew,
        ``say`` tells the user."""
        self._screen = screen
        self._session = session
        self._restart = restart
        self._redraw = redraw
        self._say = say
        self.options = options

    @property
    def model_name(self) -> str:
        """The name of the model before the engine tells its own; of unknown origin."""
        return "no model" if self.options.model is None else self.options.model.name

    def choose_model(self) -> None:
        """Let another model be chosen; leaving without one quits where there is none yet."""
        from .model_picker import ModelPicker

        model = self.options.model
        ready = self._session.model
        picker = ModelPicker(
            self.options.settings,
            model if isinstance(model, ModelFile) else None,
            first=model is None,
            held=self._held(),
            gpu_unknown=self.options.settings.gpu_layers != 0 and (ready is None or ready.gpu_layers > 0),
        )
        self._screen.app.push_screen(picker, self._model_chosen)

    def change_settings(self) -> None:
        """Let the settings be changed."""
        from .settings import SettingsScreen

        self._screen.app.push_screen(SettingsScreen(self.options, held=self._held()), self._settings_changed)

    def _held(self) -> int:
        """Return the bytes of KV cache that the engine gives back when another one takes its place."""
        ready = self._session.model
        return 0 if ready is None or ready.gpu_layers else ready.kv_bytes_per_token * ready.context

    def _model_chosen(self, model: ModelFile | None) -> None:
        if model is not None:
            options = self.options
            sampling = sampling_of(model).applied(options.sampling, options.chosen)
            self.options = replace(options, model=model, sampling=sampling)
            self._configure()
            if self._session.turns:
                self._say(f"{visible(model.name)} reads the conversation anew with the next prompt.")
            self._restart()
        elif self.options.model is None:
            self._screen.app.exit()

    def _settings_changed(self, changed: ScopeOptions | None) -> None:
        if changed is None:
            return
        loads_again = changed.settings != self.options.settings
        self.options = changed
        self._configure()
        self._say(settings_note(changed))
        if loads_again:
            self._restart()
        else:
            self._redraw()

    def _configure(self) -> None:
        options = self.options
        self._session.configure(
            sampling=options.sampling, max_tokens=options.max_tokens, stop=options.stop, system=options.system
        )
