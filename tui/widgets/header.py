"""The line at the top: which model, how it runs, how full its context is."""

from ...backends.events import ModelReady
from ...backends.text import visible
from ...metrics import numbers
from ...models.recipes import quantization_of
from .cells import Cells, Row, clip, row_width

_GAUGE_CELLS = 10
_NAME_AT_LEAST = 16


def model_facts(model: ModelReady, raw: bool) -> list[str]:
    """Return what is worth knowing about a model, the most important first."""
    devices = ", ".join(model.devices) or "CPU"
    facts = [
        quantization_of(model),
        numbers.size(model.bytes),
        f"{devices}, {model.threads} thread{'' if model.threads == 1 else 's'}",
    ]
    if model.gpu_layers:
        facts.append(f"{model.gpu_layers} of {model.layers} layers on the GPU")
    if not model.template:
        facts.append("no chat template, raw")
    else:
        facts.append("raw" if raw else model.template)
    return [visible(fact) for fact in facts if fact]


def gauge(used: int, size: int, width: int) -> Row:
    """Return the context gauge for a screen of ``width``: with a bar where there is room."""
    fullness = min(used / size, 1.0) if size else 0.0
    role = "bad" if fullness >= 0.98 else "warn" if fullness >= 0.9 else ""
    figures = f"{used:>{len(numbers.count(size))},} / {size:,}"
    warning = (" full" if fullness >= 0.98 else "     ") if width >= 100 else ""
    if width < 60:
        return ((figures, role),)
    filled = round(fullness * _GAUGE_CELLS)
    filled = max(filled, 1) if used else filled
    return (
        ("context ", "dim"),
        ("▓" * filled, role or "accent"),
        ("░" * (_GAUGE_CELLS - filled), "track"),
        (f" {figures}{warning}", role),
    )


def header_row(name: str, facts: list[str], context: Row, width: int) -> Row:
    """Return the whole line; facts that find no room are left out from the end, the name is cut last."""
    program = "decodescope  " if width >= 100 else ""
    room = width - row_width(context) - len(program) - 2
    shown = list(facts)
    while shown and len(" · ".join(["", *shown])) + min(len(name), _NAME_AT_LEAST) > room:
        shown.pop()
    rest = "".join(f" · {fact}" for fact in shown)
    title = clip(name, max(room - len(rest), 1))
    left: Row = ((program, "dim"), (title, "strong"), (clip(rest, max(room, 0)), ""))
    gap = max(width - row_width(left) - row_width(context), 1)
    return (*left, (" " * gap, ""), *context)


class Header(Cells):
    """One line."""

    DEFAULT_CSS = """
    Header {
        dock: top;
        padding: 0 1;
        background: $panel;
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._facts: tuple[ModelReady, bool, list[str]] | None = None
        """The model, whether it is used without its template, and the facts to show."""

    def show(self, name: str, model: ModelReady | None, used: int, *, raw: bool, temp: float) -> None:
        """Draw; ``name`` is of unknown origin, ``used`` counts tokens of the context; ``temp``: of the next request."""
        width = self.content_size.width
        context: Row = () if model is None else gauge(used, model.context, width)
        facts = [] if model is None else [*self._facts_of(model, raw), f"temp {temp:g}"]
        self.show_rows([header_row(visible(name), facts, context, width)])

    def _facts_of(self, model: ModelReady, raw: bool) -> list[str]:
        if self._facts is None or self._facts[0] is not model or self._facts[1] != raw:
            self._facts = (model, raw, model_facts(model, raw))
        return self._facts[2]
