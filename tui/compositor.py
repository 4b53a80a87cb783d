"""Partial updates that ask only the widgets that changed, and only for the rows that changed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from textual._compositor import ChopsUpdate, Compositor
from textual.geometry import Region
from textual.strip import Strip

from .conversation.graphemes import is_simple
from .widgets.prepared import PreparedLines

if TYPE_CHECKING:
    from textual.screen import Screen
    from textual.widget import Widget

    _Base = Screen[None]
else:
    _Base = object  # Textual inherits styles and component classes from the first base that is a widget


_Span = tuple[int, int, int]
"""Row, first column, column after the last."""


class SparingCompositor(Compositor):
    """Textual's own asks every widget that touches the smallest rectangle around all changes for all of its lines, and
    cuts every line of the screen where any two widgets meet. This one draws only the changed spans."""

    def __init__(self) -> None:
        super().__init__()
        self._spans: list[_Span] | None = None
        """What is being updated; ``None``: everything."""

    def render_partial_update(self) -> ChopsUpdate | None:
        """Return what has changed."""
        spans = list(self._regions_to_spans(self._dirty_regions))
        owners = self._owners(spans)
        if owners is not None and (update := self._whole(spans, owners)) is not None:
            self._dirty_regions.clear()
            return update
        self._spans = spans
        try:
            return super().render_partial_update()
        finally:
            self._spans = None

    def _owners(self, spans: Sequence[_Span]) -> "dict[Widget, tuple[Region, list[_Span]]] | None":
        """Return the widget that is seen in each span, with its region; ``None`` if several widgets share a span,
        or a span has none."""
        owners: dict[Widget, tuple[Region, list[_Span]]] = {}
        for span in spans:
            y, first, last = span
            for widget, (region, clip) in self.visible_widgets.items():  # from front to back
                left, top, width, height = shown = region.intersection(clip)
                if top <= y < top + height and first < left + width and last > left:
                    if not _covers(shown, span):
                        return None
                    owners.setdefault(widget, (region, []))[1].append(span)
                    break
            else:
                return None
        return owners or None

    def _whole(self, spans: list[_Span], owners: "dict[Widget, tuple[Region, list[_Span]]]") -> ChopsUpdate | None:
        """Return an update of spans that each belong to one widget; ``None`` if text that terminals measure differently
        has to be written from further left, or is cut elsewhere."""
        chops: dict[int, dict[int, Strip]] = {}
        ends: dict[int, list[int]] = {}
        for widget, (region, own) in owners.items():
            top = own[0][0]
            strips = widget.render_lines(Region(0, top - region.y, region.width, own[-1][0] + 1 - top))
            if len(strips) <= own[-1][0] - top:
                return None  # its size differs from its layout already
            for y, first, last in own:
                strip = strips[y - top]
                if not is_simple(strip.text) and (first > region.x or any(first < cut < last for cut in self.cuts[y])):
                    return None
                chops.setdefault(y, {})[first] = strip.crop(first - region.x, last - region.x)
                ends.setdefault(y, []).append(last)
        # Textual passes sequences with an item for every row, but uses only the rows of ``spans``.
        return ChopsUpdate(cast("Sequence[Mapping[int, Strip]]", chops), spans, cast("list[list[int]]", ends))

    def _get_renders(self, crop: Region | None = None) -> Iterable[tuple[Region, Region, list[Strip]]]:
        if self._spans is None:
            yield from super()._get_renders(crop)
            return
        spans = self._spans
        # From front to back: what a widget covers is not seen of those behind it.
        for widget, (region, clip) in self.visible_widgets.items():
            if not spans:
                return
            left, top, width, height = shown = region.intersection(clip)
            right, bottom = left + width, top + height
            rows = [y for y, first, last in spans if top <= y < bottom and first < right and last > left]
            if rows:
                part = Region(left, rows[0], width, rows[-1] + 1 - rows[0])
                yield region, part, widget.render_lines(part.translate(-region.offset))
                spans = [span for span in spans if not _covers(shown, span)]


def _covers(region: Region, span: _Span) -> bool:
    y, first, last = span
    return region.y <= y < region.bottom and region.x <= first and last <= region.right


class SparingScreen(_Base):
    """To be named before a screen's class: draws with a ``SparingCompositor``."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self._compositor = SparingCompositor()

    @contextmanager
    def one_update(self) -> Iterator[None]:
        """Send what is refreshed until it is left to the terminal then, in one piece, instead of by a message from each
        widget, an idle moment and a timer."""
        with PreparedLines.gather() as refreshed:
            yield
        shown = {widget for widget in refreshed if widget.display}
        widgets: set[Widget] = {*shown}
        if not all(map(_only_repaints, shown)) or not self._shows(widgets):
            for widget in refreshed:
                widget.check_idle()
        elif widgets:
            for widget in shown:
                widget._repaint_required = False
            self._compositor.update_widgets(widgets)
            self._compositor_refresh()

    def _shows(self, widgets: "set[Widget]") -> bool:
        """Whether the screen is seen, these widgets are, and nothing else is due first."""
        due = self._layout_required or self._scroll_required or self._repaint_required or self._recompose_required
        return (
            self.is_current
            and not self.app._batch_count
            and not due
            and not self._dirty_widgets
            and widgets <= self._compositor.visible_widgets.keys()
        )


def _only_repaints(widget: PreparedLines) -> bool:
    return widget._repaint_required and not (
        widget._layout_required
        or widget._scroll_required
        or widget._recompose_required
        or widget._refresh_styles_required
    )
