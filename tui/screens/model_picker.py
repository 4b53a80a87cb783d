"""Which model: everything that is found on this machine, searched while it is typed."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widgets import Input

from ...backends.free_memory import available_bytes
from ...backends.requests import EngineSettings
from ...models.candidates import Candidate
from ...models.demo import DEMO_REMEDY
from ...models.discovery import Found
from ...models.facts import ModelFile
from ...models.scan import Scan
from ..widgets.cells import Cells, Row, spread
from ..widgets.field import Field
from ..widgets.kept import KeptHorizontal, KeptStatic
from ..widgets.model_list import Line, ModelList
from .model_facts import described, line_of, searched

_LOOK_SECONDS = 0.15


class ModelPicker(ModalScreen[ModelFile | None]):
    """Answers with the model that was chosen; None: leave everything as it is."""

    AUTO_FOCUS = "Field"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (130, "-wide")]  # noqa: RUF012 (Textual's declaration)
    VERTICAL_BREAKPOINTS = [(0, "-low"), (32, "-high")]  # noqa: RUF012
    DEFAULT_CSS = """
    ModelPicker {
        layout: vertical;
        background: $surface;
        & > .bar { background: $panel; padding: 0 1; }
        & #search-line { height: 1; padding: 0 1; margin: 1 0; }
        & #search-sign { width: 2; }
        & #found { height: 1fr; layout: vertical; }
        &.-high #facts { height: 12; }
        & #facts { height: 9; padding: 0 1; border-top: solid $foreground 20%; }
        &.-wide #found { layout: horizontal; }
        &.-wide #facts { width: 52; height: 100%; border-top: none; border-left: solid $foreground 20%; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "Leave", show=False, priority=True),
        Binding("enter", "choose", "Choose", show=False, priority=True),
        Binding("up", "move(-1)", "Up", show=False, priority=True),
        Binding("down", "move(1)", "Down", show=False, priority=True),
        Binding("pageup", "page(-1)", "Page up", show=False, priority=True),
        Binding("pagedown", "page(1)", "Page down", show=False, priority=True),
        Binding("ctrl+home", "move(-1000000)", "First", show=False, priority=True),
        Binding("ctrl+end", "move(1000000)", "Last", show=False, priority=True),
    ]

    def __init__(
        self,
        settings: EngineSettings,
        in_use: ModelFile | None,
        *,
        first: bool,
        held: int = 0,
        gpu_unknown: bool = True,
    ) -> None:
        """``first``: there is no model yet, and leaving quits. ``held``: bytes that the engine at work gives back when
        another one takes its place. ``gpu_unknown``: there may be a GPU, whose memory is not known."""
        super().__init__()
        self._settings = settings
        self._in_use = in_use
        self._first = first
        self._held = held
        self._gpu_unknown = gpu_unknown
        self._scan = Scan()
        self._revision = -1
        self._entries: list[Candidate | Found] = []
        self._chosen: int | None = None
        """Picked before its header was read."""
        self._moved = False
        self._title = Cells(classes="bar")
        self._list = ModelList()
        self._facts = KeptStatic(id="facts", markup=False)
        self._keys = Cells(classes="bar")

    def compose(self) -> ComposeResult:
        """Search above, list, facts beside or below."""
        yield self._title
        with KeptHorizontal(id="search-line"):
            sign = Cells(id="search-sign")
            sign.show_rows([(("❯", "accent"),)])
            yield sign
            yield Field(placeholder="Type to search: name, architecture, quantization, path")
        with KeptHorizontal(id="found"):
            yield self._list
            yield self._facts
        yield self._keys

    def on_mount(self) -> None:
        """Begin to look."""
        self._scan.start()
        self._timer = self.set_interval(_LOOK_SECONDS, self._look)
        self._look()

    def on_unmount(self) -> None:
        """Look no further."""
        self._scan.stop()

    # What is found

    def _look(self) -> None:
        if self._scan.done:
            self._timer.stop()
        if self._scan.revision != self._revision:
            self._revision = self._scan.revision
            self._entries = self._scan.entries
            self._show()
        self._answer_when_read()

    def _show(self) -> None:
        words = self.query_one(Field).value.lower().split()
        lines = [
            line_of(key, entry, in_use=self._is_in_use(entry))
            for key, entry in enumerate(self._entries)
            if all(word in searched(entry) for word in words)
        ]
        self._list.show(lines, self._list.highlighted if self._moved else self._preferred(lines))
        self._show_highlighted()

    def _preferred(self, lines: list[Line]) -> int | None:
        """Return what to highlight before a person has: the model in use, else the first that can be used."""
        in_use = next((line.key for line in lines if self._is_in_use(self._entries[line.key])), None)
        return next((line.key for line in lines if line.usable), None) if in_use is None else in_use

    def _is_in_use(self, entry: Candidate | Found) -> bool:
        model = entry.model if isinstance(entry, Found) else None
        return model is not None and self._in_use is not None and model.path == self._in_use.path

    @on(ModelList.Highlighted)
    def _highlight_moved(self) -> None:
        self._moved = True
        self._show_highlighted()

    def _show_highlighted(self) -> None:
        key = self._list.highlighted
        self._scan.want([*([] if key is None else [key]), *self._list.in_sight])
        if key is not None:
            free = available_bytes() + self._held
            facts = described(self._entries[key], self._settings, free, gpu_unknown=self._gpu_unknown)
            self._facts.update(facts)
        elif self._entries or not self._scan.done:
            self._facts.update("Nothing that is found so far matches." if self._entries else "Looking …")
        else:
            self._facts.update(f"No models were found. For the demo model: {DEMO_REMEDY}")
        self._show_bars()

    def _show_bars(self) -> None:
        number = len(self._entries)
        told = f"{number:,} found" + ("" if self._scan.done else ", looking …")
        width = self._title.content_size.width
        self._title.show_rows([spread((("Choose a model", "strong"),), ((told, "dim"),), width)])
        leave = "quit" if self._first else "leave"
        keys: Row = ()
        for display, label in (("enter", "choose"), ("↑↓ page", "move"), ("esc", leave)):
            keys += ((display, "accent"), (f" {label}   ", "dim"))
        self._keys.show_rows([keys])

    @on(Input.Changed)
    def _search(self) -> None:
        self._moved = False
        self._chosen = None
        self._show()

    @on(Cells.Resized)
    def _lay_out_again(self) -> None:
        self._show()

    # What is chosen

    def action_move(self, by: int) -> None:
        """Move the highlight."""
        self._moved = True
        self._chosen = None
        self._list.move(by)

    def action_page(self, by: int) -> None:
        """Move the highlight by what is in sight."""
        self._moved = True
        self._chosen = None
        self._list.page(by)

    @on(ModelList.Picked)
    def action_choose(self) -> None:
        """Choose the highlighted model, as soon as its header is read."""
        self._chosen = self._list.highlighted
        self._answer_when_read()

    def _answer_when_read(self) -> None:
        if self._chosen is None:
            return
        entry = self._entries[self._chosen]
        if isinstance(entry, Found):
            self._chosen = None
            if entry.model is not None:
                self.dismiss(entry.model)
            else:
                self.app.bell()

    def action_cancel(self) -> None:
        """Leave everything as it is."""
        self.dismiss(None)
