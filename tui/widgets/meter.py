"""The line that says what watching costs."""

from ..self_meter import Cost
from .cells import Cells, Row


def cost_parts(cost: Cost) -> list[str]:
    """Return the figures as text, the most important first."""
    parts = [
        f"screen {_percent(cost.screen_share)} of a core",
        f"{cost.bytes_per_second / 1000:.1f} KB/s",
        f"{cost.frames_per_second:.1f} frames/s",
    ]
    if cost.delay_median_ns is not None:
        worst = "" if cost.delay_worst_ns is None else f", worst {cost.delay_worst_ns / 1e6:,.0f}"
        parts.append(f"token to terminal {cost.delay_median_ns / 1e6:,.0f} ms{worst}")
    if cost.engine_share is not None:
        parts.append(f"engine {_percent(cost.engine_share)}")
    return parts


def _percent(share: float) -> str:
    return f"{share * 100:.1f} %" if share < 0.0995 else f"{share * 100:,.0f} %"


def meter_row(cost: Cost | None, notes: list[str], width: int) -> Row:
    """Return the line: figures (None: not yet known) and ``notes`` on the terminal; figures that find no room are left
    out from the end, notes stay."""
    told = " · ".join(notes)
    parts = ["measuring what watching costs"] if cost is None else cost_parts(cost)
    while len(parts) > 1 and len(" · ".join(parts)) + (len(told) + 3 if told else 0) > width:
        parts.pop()
    row: Row = ((" · ".join(parts), "dim"),)
    return (*row, (" · ", "dim"), (told, "warn")) if told else row


class MeterLine(Cells):
    """One line; hidden until it is asked for."""

    DEFAULT_CSS = """
    MeterLine { padding: 0 1; display: none; }
    """

    def show(self, cost: Cost | None, notes: list[str]) -> None:
        """Draw the figures, as for ``meter_row``."""
        self.show_rows([meter_row(cost, notes, self.content_size.width)])
