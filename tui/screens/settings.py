"""How the model is asked, changed between two turns."""

from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Grid, Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input, TextArea

from ...backends.fit import estimate
from ...backends.free_memory import available_bytes
from ...models.errors import ModelError
from ...models.facts import ModelFile
from ..options import ScopeOptions
from ..settings_form import NUMBERS, Form, FormError, about, default, filled, from_model, taken
from ..widgets.area import Area
from ..widgets.cells import Cells, Row, spread
from ..widgets.field import Field
from ..widgets.kept import KeptStatic
from ..widgets.tick import Tick
from .model_facts import fit_text

_LOADS_AGAIN = "Another context or number of threads loads the model again, and it reads the conversation anew."


class SettingsScreen(ModalScreen[ScopeOptions | None]):
    """Answers with the changed options; None: leave everything as it is."""

    AUTO_FOCUS = "Field"
    HORIZONTAL_BREAKPOINTS = [(0, "-slim"), (64, "-broad")]  # noqa: RUF012 (Textual's declaration)
    DEFAULT_CSS = """
    SettingsScreen {
        align: center middle;
        & > #dialog {
            width: 100%;
            max-width: 100;
            height: auto;
            max-height: 100%;
            background: $surface;
        }
        & .bar { background: $panel; padding: 0 1; }
        & #form { height: auto; max-height: 100%; padding: 1 1 0 1; }
        & Grid { height: auto; grid-rows: 1; grid-size: 4; grid-columns: 15 1fr 16 1fr; grid-gutter: 0 1; }
        &.-slim Grid { grid-size: 2; grid-columns: 15 1fr; }
        & Grid KeptStatic, & #texts KeptStatic { width: 15; color: $text-muted; }
        & #texts { grid-size: 2; grid-columns: 15 1fr; grid-rows: 3 2; grid-gutter: 1 1; margin: 1 0; }
        & Area {
            height: 100%;
            border: none;
            padding: 0;
            background: $boost;
            &:focus { border: none; background-tint: $primary 15%; }
            & .text-area--cursor-line { background: transparent; }
        }
        & #about, & #status { height: 2; padding: 0 1; }
        & #about { color: $text-muted; }
        & #status.-wrong { color: $text-error; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "Leave", show=False, priority=True),
        Binding("ctrl+s", "apply", "Apply", show=False, priority=True),
        # First of all, so that what is typed right after it goes to the next field.
        Binding("tab", "app.focus_next", "Next", show=False, priority=True),
        Binding("shift+tab", "app.focus_previous", "Previous", show=False, priority=True),
        Binding("up", "app.focus_previous", "Previous", show=False),
        Binding("down", "app.focus_next", "Next", show=False),
    ]

    def __init__(self, options: ScopeOptions, *, held: int = 0) -> None:
        """``held``: bytes that the engine at work gives back when another one takes its place."""
        super().__init__()
        self._options = options
        self._held = held
        form = filled(options)
        self._fields = {
            name: Field(form.numbers[name], placeholder=default(name, options), id=name) for name in NUMBERS
        }
        self._ignore_eos = Tick("go on when the model would stop (space)", form.ignore_eos, id="ignore_eos")
        self._system = Area(form.system, id="system")
        self._stop = Area(form.stop, id="stop")
        self._title = Cells(classes="bar")
        self._about = KeptStatic(id="about", markup=False)
        self._status = KeptStatic(id="status", markup=False)
        self._keys = Cells(classes="bar")
        self._confirmed: ScopeOptions | None = None
        """What was asked to be applied although it loads the model again."""

    def compose(self) -> ComposeResult:
        """Numbers in two columns, texts below them, what they mean and what is wrong at the end."""
        with Vertical(id="dialog"):
            yield self._title
            with VerticalScroll(id="form", can_focus=False):
                with Grid():
                    for name, label in NUMBERS.items():
                        yield KeptStatic(label, markup=False)
                        yield self._fields[name]
                yield self._ignore_eos
                with Grid(id="texts"):
                    yield KeptStatic("system prompt", markup=False)
                    yield self._system
                    yield KeptStatic("stop strings", markup=False)
                    yield self._stop
            yield self._about
            yield self._status
            yield self._keys

    @on(Cells.Resized)
    def _show_bars(self) -> None:
        width = self._title.content_size.width
        self._title.show_rows([spread((("Settings", "strong"),), (("from the next prompt on", "dim"),), width)])
        keys: Row = ()
        for display, label in (("enter", "apply"), ("^s", "apply"), ("tab", "next"), ("esc", "leave as it was")):
            keys += ((display, "accent"), (f" {label}   ", "dim"))
        self._keys.show_rows([keys])

    @on(events.DescendantFocus)
    def _show_about(self, event: events.DescendantFocus) -> None:
        self._about.update(about(event.widget.id or "", self._options))

    @on(Input.Changed)
    @on(TextArea.Changed)
    @on(Tick.Changed)
    def _changed(self) -> None:
        self._confirmed = None
        self._read()

    def _read(self) -> ScopeOptions | None:
        """Return what stands in the fields and say what it means; None when something cannot be taken."""
        form = Form(
            numbers={name: field.value for name, field in self._fields.items()},
            ignore_eos=self._ignore_eos.on,
            system=self._system.text,
            stop=self._stop.text,
        )
        try:
            changed = taken(form, self._options)
        except FormError as error:
            self._wrong = error.name
            self._say(error.words, wrong=error.name)
            return None
        self._say(self._consequence(changed))
        return changed

    def _consequence(self, changed: ScopeOptions) -> str:
        if changed.settings == self._options.settings:
            return from_model(changed)
        if not isinstance(changed.model, ModelFile):
            return _LOADS_AGAIN
        try:
            fit = estimate(changed.model, changed.settings, available_bytes() + self._held)
        except ModelError as error:
            return str(error)
        return f"{_LOADS_AGAIN} It {fit_text(fit)}."

    def _say(self, text: str, *, wrong: str = "") -> None:
        self._status.update(text)
        self._status.set_class(bool(wrong), "-wrong")
        for name, field in self._fields.items():
            field.set_class(name == wrong, "-invalid")

    @on(Input.Submitted)
    def action_apply(self) -> None:
        """Apply what stands in the fields; once more where that loads the model again."""
        changed = self._read()
        if changed is None:
            self.query_one(f"#{self._wrong}").focus()
        elif changed == self._options:
            self.dismiss(None)
        elif changed.settings != self._options.settings and changed != self._confirmed:
            self._confirmed = changed
            self._say("This loads the model again: enter or ^s once more goes on, esc leaves everything as it was.")
        else:
            self.dismiss(changed)

    def action_cancel(self) -> None:
        """Leave everything as it was."""
        self.dismiss(None)
