"""The keys, and what the figures mean."""

from collections.abc import Sequence
from typing import ClassVar

from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from ...backends.text import visible
from ...metrics.numbers import MISSING
from ..keys import BOX_KEYS, KEYS, READING_KEYS, Key, letter_display

_FIGURES = (
    ("TTFT", "Time to first token: from the request to the first token; reading the prompt is most of it."),
    ("TPOT", "Time per output token: (last token − first token) / (tokens − 1)."),
    ("ITL", "Inter-token latency: the gap between two tokens; half of the gaps are below p50, 99 in 100 below p99."),
    ("write", "Tokens written per second over the whole answer; now: over its last two seconds."),
    (
        "cached",
        "Prompt tokens that the KV cache held from the previous turn; shown instead of now once the answer is done.",
    ),
    ("read", "Prompt tokens read per second; tokens that the cache held already are left out."),
    ("TTFA", "Time to first answer, where the model reasons first: from the request to the first token of the answer."),
    ("slowdown", "read / write: how many times longer a token takes to write than to read."),
    ("median", "Dashes in the plot; what half of the tokens stay below."),
    ("floor", "The time per token that this machine's memory demands: all weights are read for each token."),
    ("disturbed", "Took at least 1.5 times the usual for a known cause, or twice; f4 says why."),
    (
        "usual",
        "In the inspector: what an undisturbed token takes at that point of the answer, from the tokens around it; "
        "the tint compares with the median of the whole answer instead.",
    ),
    (
        "KLD",
        "Kullback-Leibler divergence of a compared model's distribution from the reference's on the same text, nats.",
    ),
    ("elapsed", "Time from the request to the last token; while it runs, to now."),
    ("seed", "With the same seed, settings and prompt the answer is the same."),
)


Section = tuple[str, Sequence[tuple[str, str]], str]
"""Heading, entries and a remark below them."""


def key_entries(keys: Sequence[Key], *, letters: bool = True) -> list[tuple[str, str]]:
    """Return what each key is called and does; ``letters``: single letters work."""
    return [
        (f"{key.display}  {letter_display(key)}" if letters and key.letter else key.display, key.help) for key in keys
    ]


def scope_sections(
    keys: Sequence[Key],
    missing: Sequence[tuple[str, str]] = (),
    tokens: Sequence[tuple[str, str]] = (),
    warnings: Sequence[str] = (),
) -> list[Section]:
    """Return the help for a scope on which these keys work; ``missing``: (figure, why it has no value now),
    ``tokens``: (column of the table of tokens, why a token may have no value there), ``warnings``: of its engine, text
    of unknown origin."""
    asks = keys is KEYS
    return [
        *([("Warnings", [("!", visible(warning)) for warning in warnings], "")] if warnings else []),
        ("Keys", key_entries(keys, letters=not asks), ""),
        *([("In the prompt box", BOX_KEYS, "")] if asks else []),
        ("In the conversation and the tokens", READING_KEYS if asks else READING_KEYS[:-1], ""),
        ("Figures", _FIGURES, "Stamped in the engine: loading the model and drawing are no part of them."),
        *([("Figures without a value now", _by_reason(missing), "")] if missing else []),
        *([("Tokens without a value", _by_reason(tokens), "")] if tokens else []),
    ]


def _by_reason(missing: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    names: dict[str, list[str]] = {}
    for name, reason in missing:
        names.setdefault(reason, []).append(name)
    return [(MISSING, f"{', '.join(of_it)}: {reason}") for reason, of_it in names.items()]


def help_table(sections: Sequence[Section]) -> Table:
    """Return the whole text in two columns."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(ratio=1)
    for heading, entries, remark in sections:
        if table.rows:
            table.add_row()
        table.add_row("", Text(heading, style="bold underline"))
        for name, text in entries:
            table.add_row(Text(name), Text(text))
        if remark:
            table.add_row("", Text(remark, style="italic"))
    return table


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

    def __init__(self, sections: Sequence[Section]) -> None:
        super().__init__()
        self._sections = sections

    def compose(self) -> ComposeResult:
        """Show one scrollable text."""
        with VerticalScroll():
            yield Static(help_table(self._sections), markup=False)
