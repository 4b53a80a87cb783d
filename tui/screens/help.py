"""The keys, and what the figures mean."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from ..keys import BOX_KEYS, KEYS, READING_KEYS, letter_display

_KEY_CELLS = 12

_FIGURES = (
    ("TTFT", "Time to first token: from the request to the first token; reading the prompt is most of it."),
    ("TPOT", "Time per output token: (last token − first token) / (tokens − 1)."),
    ("ITL", "Inter-token latency: the gap between two tokens; half of the gaps are below p50, 99 in 100 below p99."),
    ("write", "Tokens written per second over the whole answer; now: over its last two seconds."),
    ("read", "Prompt tokens read per second; tokens that the cache held already are left out."),
    ("slowdown", "read / write: how many times longer a token takes to write than to read."),
    ("elapsed", "Time since the engine took the request."),
    ("seed", "With the same seed, settings and prompt the answer is the same."),
)


def help_content() -> Content:
    """Return the whole text."""
    lines = [Content.styled("Keys", "bold"), Content("")]
    for key in KEYS:
        display = f"{key.display}  {letter_display(key)}" if key.letter else key.display
        lines.append(_entry(display, key.help))
    lines += [Content.styled("\nA single letter works while the prompt box has no focus (tab).", "dim")]
    lines += [Content.styled("\nIn the prompt box", "bold"), Content("")]
    lines += [_entry(key, text) for key, text in BOX_KEYS]
    lines += [Content.styled("\nIn the conversation and the tokens", "bold"), Content("")]
    lines += [_entry(key, text) for key, text in READING_KEYS]
    lines += [Content.styled("\nFigures", "bold"), Content("")]
    lines += [_entry(name, text) for name, text in _FIGURES]
    lines += [
        Content.styled("\nThey are stamped in the engine: loading the model and drawing are no part of them.", "dim")
    ]
    return Content("\n").join(lines)


def _entry(name: str, text: str) -> Content:
    return Content.assemble((f"{name:<{_KEY_CELLS}}", "bold"), text)


class HelpScreen(ModalScreen[None]):
    """Closes with the key that opened it, or escape."""

    DEFAULT_CSS = """
    HelpScreen {
        align: center middle;
        & > VerticalScroll {
            width: 90%;
            max-width: 96;
            height: auto;
            max-height: 90%;
            padding: 1 2;
            background: $surface;
            border: round $primary;
        }
        & Static { height: auto; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,f1,question_mark,q", "dismiss", "Close", show=False)]

    def compose(self) -> ComposeResult:
        """Show one scrollable text."""
        with VerticalScroll():
            yield Static(help_content(), markup=False)
