"""A widget that is a few lines of prepared cells, and sends only what changed to the terminal."""

from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from ...backends.text import visible
from .prepared import PreparedLines

Row = tuple[tuple[str, str], ...]
"""One line as (text, role) spans; a role is a key of ``_ROLES``, the empty one for plain text."""

_ROLES: dict[str, tuple[str, float, bool]] = {
    # role: theme variable, how opaque, bold
    "": ("foreground", 1.0, False),
    "dim": ("foreground", 0.65, False),
    "strong": ("foreground", 1.0, True),
    "accent": ("text-primary", 1.0, True),
    "good": ("text-success", 1.0, True),
    "warn": ("text-warning", 1.0, True),
    "bad": ("text-error", 1.0, True),
    "track": ("foreground", 0.35, False),
    # One colour for each of several models; none of them is told by its colour alone.
    "lane1": ("text-primary", 1.0, True),
    "lane2": ("text-warning", 1.0, True),
    "lane3": ("text-success", 1.0, True),
    "lane4": ("text-error", 1.0, True),
    "lane5": ("foreground", 1.0, True),
    "lane6": ("foreground", 0.65, True),
}


def clip(text: str, width: int) -> str:
    """Cut ``text`` to ``width`` cells, with an ellipsis where something is missing."""
    if width <= 0:
        return ""
    return text if cell_len(text) <= width else set_cell_size(text, width - 1) + "…"


def row_width(row: Row) -> int:
    """Return the width of a row in cells."""
    return sum(cell_len(text) for text, _ in row)


def spread(left: Row, right: Row, width: int) -> Row:
    """Put one row at the left edge and one at the right; ``right`` goes when there is no room for both."""
    gap = width - row_width(left) - row_width(right)
    return (*left, (" " * gap, ""), *right) if gap >= 1 else left


def side_by_side(left: Sequence[Row], right: Sequence[Row], column: int) -> list[Row]:
    """Put two blocks beside each other; the right one begins at ``column``."""
    rows: list[Row] = []
    for number in range(max(len(left), len(right))):
        row = left[number] if number < len(left) else ()
        other = right[number] if number < len(right) else ()
        pad = " " * (column - row_width(row)) if other else ""
        rows.append((*row, (pad, ""), *other))
    return rows


def _visible(row: Row) -> Row:
    return tuple((visible(text), role) for text, role in row)


class Cells(PreparedLines, Widget):
    """Lines of cells; text is never markup."""

    DEFAULT_CSS = """
    Cells { height: 1; width: 1fr; }
    """

    class Resized(Message):
        """The widget has another size: what it shows has to be laid out again."""

        def can_replace(self, message: Message) -> bool:
            """One answer is enough for several of these."""
            return isinstance(message, Cells.Resized)

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._rows: list[Row] = []
        self._strips: dict[int, Strip] = {}
        """The finished lines, by number; made when they are asked for."""
        self._styles: dict[str, Style] = {}

    @property
    def plain(self) -> str:
        """The text of all lines."""
        return "\n".join("".join(text for text, _ in row) for row in self._rows)

    def show_rows(self, rows: Sequence[Row]) -> None:
        """Draw these lines; only cells that differ from the last ones are sent.

        Whatever would command the terminal is drawn as a sign.
        """
        new = [row if all(text.isprintable() for text, _ in row) else _visible(row) for row in rows]
        old, self._rows = self._rows, new
        if old == new:
            return
        width = self.content_size.width
        regions = []
        for y in range(max(len(old), len(new))):
            before = old[y] if y < len(old) else ()
            after = new[y] if y < len(new) else ()
            if before != after:
                self._strips.pop(y, None)
                start, end = _changed_span(before, after, width)
                regions.append(Region(start, y, end - start, 1))
        if regions and width:
            self.refresh(*regions)

    def on_resize(self) -> None:
        """Ask for another layout."""
        self._strips.clear()
        self.post_message(self.Resized())

    def notify_style_update(self) -> None:
        """Look the styles up again."""
        self._strips.clear()
        self._styles = {}
        super().notify_style_update()

    def render_line(self, y: int) -> Strip:
        """Return one prepared line."""
        strip = self._strips.get(y)
        if strip is None:
            strip = self._strips[y] = self._strip(self._rows[y] if y < len(self._rows) else ())
        return strip

    def _strip(self, row: Row) -> Strip:
        segments = [Segment(text, self._style(role)) for text, role in row if text]
        return Strip(segments).adjust_cell_length(self.content_size.width, self._style(""))

    def _style(self, role: str) -> Style:
        # Styles come from the theme's variables and not from component classes: a dozen of these widgets with as many
        # classes each would cost a third of the time to the first frame.
        style = self._styles.get(role)
        if style is None:
            variable, opacity, bold = _ROLES[role]
            background = self.background_colors[1]
            color = Color.parse(self.app.theme_variables[variable])
            # The terminal's own colours cannot be mixed; there the terminal dims.
            dim = color.ansi is not None and opacity < 1
            style = self._styles[role] = Style(
                color=background.blend(color, opacity).rich_color,
                bgcolor=background.rich_color,
                bold=bold or None,
                dim=dim or None,
            )
        return style


def _changed_span(before: Row, after: Row, width: int) -> tuple[int, int]:
    start = 0
    for one, other in zip(before, after, strict=False):
        if one != other:
            break
        start += cell_len(one[0])
    end = max(row_width(before), row_width(after))
    if row_width(before) == row_width(after):
        for one, other in zip(reversed(before), reversed(after), strict=False):
            if one != other:
                break
            end -= cell_len(one[0])
    return min(start, width), max(min(end, width), min(start, width) + 1)
