"""Frames in few bytes: only cells that differ from those on the terminal, and only the part of a style that changes."""

from collections.abc import Callable, Iterable, Iterator
from functools import cache

import msgspec
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual._compositor import ChopsUpdate, CompositorUpdate, LayoutUpdate
from textual.strip import Strip

from .conversation.graphemes import is_simple

_RESET = "\x1b[0m"
_INVISIBLE_ON_SPACES = frozenset({"", "1", "2", "3", "1;2", "1;3", "2;3", "1;2;3"})
"""Bold, dim and italic."""
_GAP_AT_MOST = 4
"""So many cells that need not change are cheaper to write again than to step over."""
_ERASED_AT_LEAST = 8
"""Fewer spaces are as short as the sequence that erases them."""


class Pen(msgspec.Struct, frozen=True, eq=False):
    """A style as the parameters of SGR sequences. Pens that look the same are one object."""

    attributes: str
    foreground: str
    background: str

    @property
    def parameters(self) -> str:
        """All of it."""
        return ";".join(part for part in (self.attributes, self.foreground, self.background) if part)


@cache
def pen(attributes: str, foreground: str, background: str) -> Pen:
    """Return the one pen of these parameters."""
    return Pen(attributes, foreground, background)


@cache
def blank(of: Pen) -> Pen:
    """Return the pen for spaces: what they do not show is left out."""
    if of.attributes in _INVISIBLE_ON_SPACES:
        return pen("", "", of.background)
    return of


class _Encoded(CompositorUpdate):
    """An update of Textual's that is written by the encoder."""

    def __init__(self, update: CompositorUpdate, encoder: "FrameEncoder") -> None:
        self._update = update
        self._encoder = encoder

    def render_segments(self, console: Console) -> str:
        """Return the bytes, for ``console``'s colours."""
        return self._encoder.encode(self._update, console)


class FrameEncoder:
    """Knows what the terminal shows. Every frame has to go through it, in order."""

    def __init__(self, erases: Callable[[], bool] = lambda: False) -> None:
        """``erases`` says whether the terminal erases cells in the current background; asked once, when it matters."""
        self._erases = erases
        self._can_erase: bool | None = None
        self._pens: dict[tuple[object, ...], Pen] = {}
        self._rows: dict[int, tuple[list[str], list[Pen | None]]] = {}
        self._width = 0
        self._out: list[str] = []
        self._pen: Pen | None = None
        self._at: tuple[int, int] | None = None

    def wrap(self, update: CompositorUpdate) -> CompositorUpdate:
        """Return the update as one that is encoded here when it is rendered."""
        return _Encoded(update, self)

    def encode(self, update: CompositorUpdate, console: Console) -> str:
        """Return what brings the terminal from the frame before to this one."""
        self._out, self._pen, self._at = [], None, None
        if isinstance(update, ChopsUpdate):
            for y, x, strip in _parts(update):
                self._strip(y, x, strip, console)
        elif isinstance(update, LayoutUpdate):
            # What the terminal shows may be anything: it was resized, or another program has drawn on it.
            self._rows.clear()
            self._width = update.region.right
            for y, strips in enumerate(update.strips, update.region.y):
                x = update.region.x
                for strip in strips:
                    self._strip(y, x, strip, console)
                    x += strip.cell_length
        else:
            self._rows.clear()
            return update.render_segments(console)
        if self._pen is not None:
            self._out.append(_RESET)
        return "".join(self._out)

    def _row(self, y: int, end: int) -> tuple[list[str], list[Pen | None]]:
        """Return what is known of a row, at least up to the column ``end``."""
        shown, pens = self._rows.setdefault(y, ([], []))
        missing = end - len(shown)
        if missing > 0:
            shown += [""] * missing
            pens += [None] * missing
        return shown, pens

    def _strip(self, y: int, x: int, strip: Strip, console: Console) -> None:
        end = x + strip.cell_length
        shown, shown_pens = self._row(y, end)
        segments = list(strip)
        text = "".join(segment.text for segment in segments)
        if not is_simple(text) or len(text) != strip.cell_length:
            # Terminals measure such text in ways of their own: all of it is written, from a known place, and nothing is
            # known of what stands to the right of it.
            shown[x:] = [""] * (len(shown) - x)
            self._move(y, x)
            self._out.append((_RESET if self._pen else "") + strip.render(console))
            self._pen = self._at = None
            return
        pens = self._pens_of(segments, console)
        before, before_pens = shown[x:end], shown_pens[x:end]
        if before_pens == pens and before == list(text):
            return
        shown[x:end], shown_pens[x:end] = text, pens
        changed = [
            column
            for column, (old, new, old_pen, new_pen) in enumerate(zip(before, text, before_pens, pens, strict=True))
            if old != new or old_pen is not new_pen
        ]
        for first, last in _runs(changed):
            self._write(y, x, first, last, text, pens)

    def _pens_of(self, segments: Iterable[Segment], console: Console) -> list[Pen]:
        pens: list[Pen] = []
        for text, style, _ in segments:
            own = self._pen_of(style, console)
            spaces = blank(own)
            if spaces is own or " " not in text:
                pens += [own] * len(text)
            else:
                pens += [spaces if character == " " else own for character in text]
        return pens

    def _pen_of(self, style: Style | None, console: Console) -> Pen:
        if style is None:
            return pen("", "", "")
        # By value: Textual adds the place of the text to styles, so that there is no end to different ones.
        key = (style._color, style._bgcolor, style._attributes & style._set_attributes)
        found = self._pens.get(key)
        if found is None:
            found = self._pens[key] = _parameters(style, console)
        return found

    def _write(self, y: int, x: int, first: int, last: int, text: str, pens: list[Pen]) -> None:
        """Write the cells ``first`` to ``last`` (exclusive) of a strip at ``x``."""
        start = first
        while start < last:
            own = pens[start]
            stop = start + 1
            while stop < last and pens[stop] is own:
                stop += 1
            part = text[start:stop]
            self._move(y, x + start)
            spaces = not own.attributes and not part.strip(" ")
            self._take(own, spaces=spaces)
            if spaces and stop - start >= _ERASED_AT_LEAST and self._may_erase():
                self._out.append(f"\x1b[{stop - start}X")
            else:
                self._out.append(part)
                # After the last column terminals differ in where the cursor stands.
                self._at = (y, x + stop) if x + stop < self._width else None
            start = stop

    def _may_erase(self) -> bool:
        if self._can_erase is None:
            self._can_erase = self._erases()
        return self._can_erase

    def _move(self, y: int, x: int) -> None:
        if self._at == (y, x):
            return
        if self._at is not None and self._at[0] == y and self._at[1] < x:
            self._out.append(f"\x1b[{x - self._at[1]}C")
        else:
            self._out.append(f"\x1b[{y + 1};{x + 1}H")
        self._at = (y, x)

    def _take(self, new: Pen, *, spaces: bool) -> None:
        """Change to a pen; ``spaces``: nothing but its background will be seen."""
        old = self._pen
        if spaces and old is not None and old.attributes in _INVISIBLE_ON_SPACES:
            new = pen(old.attributes, old.foreground, new.background)
        if old is new:
            return
        if old is None:
            self._out.append(f"\x1b[{new.parameters}m" if new.parameters else "")
        elif old.attributes != new.attributes and old.attributes:
            self._out.append(f"\x1b[0;{new.parameters}m" if new.parameters else _RESET)
        else:
            parts = [new.attributes if new.attributes != old.attributes else ""]
            if new.foreground != old.foreground:
                parts.append(new.foreground or "39")
            if new.background != old.background:
                parts.append(new.background or "49")
            self._out.append(f"\x1b[{';'.join(part for part in parts if part)}m")
        self._pen = new


def _parts(update: ChopsUpdate) -> Iterator[tuple[int, int, Strip]]:
    """Yield (row, column, cells) of what the update covers. As in Textual's own writing, a piece of a line is taken
    from its beginning, also where only its end was asked for."""
    for y, first, last in update.spans:
        for end, (x, strip) in zip(update.chop_ends[y], update.chops[y].items(), strict=False):
            if strip is not None and x < last and end > first:
                yield y, x, strip.crop(0, min(end, last) - x)


def _runs(columns: list[int]) -> Iterator[tuple[int, int]]:
    """Yield (first, last exclusive) of the columns, short gaps closed."""
    first = previous = columns[0]
    for column in columns[1:]:
        if column - previous > _GAP_AT_MOST:
            yield first, previous + 1
            first = column
        previous = column
    yield first, previous + 1


def _parameters(style: Style, console: Console) -> Pen:
    system = console._color_system
    if system is None:
        from rich.color import ColorSystem

        system = ColorSystem.TRUECOLOR
    plain = style.without_color.render("x", color_system=system)
    attributes = plain[2 : plain.index("m")] if plain.startswith("\x1b[") else ""
    foreground = "" if style.color is None else ";".join(style.color.downgrade(system).get_ansi_codes())
    background = (
        "" if style.bgcolor is None else ";".join(style.bgcolor.downgrade(system).get_ansi_codes(foreground=False))
    )
    return pen(attributes, foreground, background)
