"""Widgets whose lines are finished cells: nothing is put over them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar

import msgspec
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.geometry import Region
from textual.strip import Strip

if TYPE_CHECKING:
    from textual.widget import Widget as _Base
else:
    _Base = object  # Textual inherits styles and component classes from the first base that is a widget


class _Box(msgspec.Struct, frozen=True):
    """What stands around the content, and under it."""

    left: int
    right: int
    style: Style
    background: Color


class PreparedLines(_Base):
    """To be named before a widget's class. ``render_line`` returns finished cells; a box with nothing but room at its
    sides adds that room, which takes Textual's own way, made for borders and blended colours, ten times as long."""

    _box: _Box | None = None
    _box_known = False
    _gathered: ClassVar["set[PreparedLines] | None"] = None
    """What has been refreshed since ``gather``; ``None`` while nobody gathers."""

    @classmethod
    @contextmanager
    def gather(cls) -> Iterator["set[PreparedLines]"]:
        """Until it is left, refreshed widgets send no messages for that; whoever gathers them sees to it."""
        gathered: set[PreparedLines] = set()
        before, PreparedLines._gathered = PreparedLines._gathered, gathered
        try:
            yield gathered
        finally:
            PreparedLines._gathered = before

    def check_idle(self) -> None:
        """Have the widget drawn when there is nothing else to do."""
        if self._gathered is None:
            super().check_idle()
        else:
            self._gathered.add(self)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return the lines within ``crop``."""
        if not self._box_known:
            self._box, self._box_known = self._plain_box(), True
        box = self._box
        if box is None:
            return super().render_lines(crop)
        width = self.outer_size.width
        left = [Segment(" " * box.left, box.style)] if box.left else []
        right = [Segment(" " * box.right, box.style)] if box.right else []
        lines = []
        for y in crop.line_range:
            content = self.render_line(y).adjust_cell_length(max(width - box.left - box.right, 0), box.style)
            line = Strip([*left, *content, *right], width) if left or right else content
            for line_filter in self.get_line_filters():
                line = line.apply_filter(line_filter, box.background)
            lines.append(line if crop.column_span == (0, width) else line.crop(*crop.column_span))
        return lines

    def _plain_box(self) -> _Box | None:
        """Return the box where it is a plain one."""
        styles = self.styles
        padding = styles.padding
        plain = (
            styles.gutter == padding
            and not (padding.top or padding.bottom)
            and not any(edge for edge, _ in styles.outline)
            and not styles.has_rule("hatch")
            and not styles.tint.a
            and styles.text_opacity == 1.0
            and self.opacity == 1.0
        )
        if not plain:
            return None
        under, own = self.background_colors
        return _Box(padding.left, padding.right, Style(bgcolor=(under + own).rich_color), own)

    def _set_dirty(self, *regions: Region) -> None:
        # Every change of styles, also of those around it, ends in this without regions.
        if not regions:
            self._box_known = False
        super()._set_dirty(*regions)

    def notify_style_update(self) -> None:
        """Draw anew."""
        self._box_known = False
        super().notify_style_update()
