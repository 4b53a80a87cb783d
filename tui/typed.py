"""What a terminal sends, as messages: keys, reports of the mouse and the like, and pastes, which are text.

Where the terminal brackets pastes, a paste is what stands between the brackets: one ``Paste``, whole, its control
characters made visible. Where it does not, a paste arrives as keys, and so does what a macro, a script or a slow
line sends at once. Such an enter must neither be lost nor send half a text, so these rules decide what it means:

- A burst is input without a pause of 25 ms; nobody types that fast.
- A burst with text after an enter is a paste: it stands in the input as lines, and its enters send nothing, the last
  one included. ``one\\rtwo`` sends nothing.
- A burst whose only enters are at its end was typed: ``one\\r`` is sent. That is known after the pause; an enter that
  comes alone does not wait.
- A burst with a backspace was typed by a person, and a slow line has bundled the keys.
- Within 0.3 s of such a paste, a burst with text and an enter still belongs to it, since lines come in pieces.

So a slow line can at worst turn an enter into a new line, or send the first line of a paste that stalls after it.
"""

import re
import time
from codecs import getincrementaldecoder
from collections.abc import Callable

from textual._xterm_parser import XTermParser
from textual.events import Event, Key, Paste
from textual.message import Message

from ..backends.text import visible

_SILENCE_SECONDS = 0.025
_IDLE_SECONDS = 0.1
_CONTINUED_SECONDS = 0.3
_BROKEN_OFF_SECONDS = 2.0
"""A paste that stops for that long has lost its end: what follows is keys again."""
_BULK = 64
"""Characters; so many at once are handed over as one text, since every key costs a good part of a millisecond."""
_PENDING_AT_MOST = 1 << 22

_BEGIN, _END = "\x1b[200~", "\x1b[201~"
"""Of a bracketed paste."""
_REPORT = re.compile(r"\x1b\[(?:<[\d;-]*[Mm]|[IO]|\?[\d;]*(?:\$y|u|c)|\d+;\d+R|48;[\d;:]*t|20[01]~)")
"""The mouse, the focus, answers of the terminal."""
_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]?|O.?|.)?", re.DOTALL)
"""A key that is more than one character."""
_COLOUR = re.compile(r"\x1b\[[\d;:]*m")
"""No key sends that, and no report contains it."""
_TEXT_AFTER_ENTER = re.compile(r"\r.*[^\x00-\x20\x7f]", re.DOTALL)
_MUCH_TEXT = re.compile(rf"([^\x00-\x1f\x7f]{{{_BULK},}})")


class TypedText(Event, bubble=False):
    """Text that came at once without brackets; for a widget that takes no text it is keys."""

    def __init__(self, typed: str) -> None:
        super().__init__()
        self._typed = typed

    @property
    def text(self) -> str:
        """The text for an input."""
        return _shown(self._typed)

    @property
    def keys(self) -> list[Key]:
        """The same as keys."""
        return [message for message in XTermParser().feed(self._typed) if isinstance(message, Key)]


class Typed:
    """Takes bytes as they arrive, cut anywhere; bytes that are not UTF-8 become U+FFFD."""

    def __init__(self, *, debug: bool = False, clock: Callable[[], float] = time.monotonic) -> None:
        """``debug``: Textual's parser keeps a log. ``clock``: seconds."""
        self._decode = getincrementaldecoder("utf-8")("replace").decode
        self._parser = XTermParser(debug)
        self._clock = clock
        self._pasted: list[str] | None = None
        """The part of a bracketed paste that has arrived; None outside of one."""
        self._rest = ""
        """In a paste, characters held back, since its end may begin with them; otherwise the last characters, since a
        paste may begin with them."""
        self._burst = ""
        """The part of a burst that has arrived and is undecided."""
        self._silent = True
        """Whether the pause that ends a burst has passed since the last one."""
        self._lines = False
        """Whether the burst is a paste."""
        self._last = self._last_lines = float("-inf")
        """When something was typed last; when the last unbracketed paste ended."""

    @property
    def patience(self) -> float:
        """Seconds after which to call ``feed`` without data if nothing has come."""
        return _IDLE_SECONDS if self._silent else _SILENCE_SECONDS

    def feed(self, data: bytes) -> list[Message]:
        """Return the messages that are certain. ``data``: what was read; empty: nothing came within ``patience``."""
        messages: list[Message] = []
        text, came = self._decode(data), False
        while text:
            known = self._rest + text
            if self._pasted is not None:
                came = True
                pasted, mark, text = known.partition(_END)
                self._rest = "" if mark else _beginning_at_the_end(known, _END)
                self._pasted.append(pasted.removesuffix(self._rest))
                messages += self._paste_ended() if mark else ()
                continue
            keys, mark, after = known.partition(_BEGIN)
            new = (keys + mark).removeprefix(self._rest)
            self._rest, text = ("" if mark else known[1 - len(_BEGIN) :]), after
            typed = _REPORT.sub("", new[: -len(mark)] if mark else new)
            came |= bool(typed or mark)
            messages += self._taken(new, typed) if not mark else self._paste_begun(new, typed)
        now = self._clock()
        if came:
            self._last = now
        elif self._pasted is None and now - self._last >= _SILENCE_SECONDS:
            messages += self._burst_ended()
            messages += self._parser.tick()
        elif self._pasted is not None and now - self._last >= _BROKEN_OFF_SECONDS:
            messages += self._paste_ended()
        return messages

    def _paste_begun(self, new: str, typed: str) -> list[Message]:
        before, mark = new[: -len(_BEGIN)], new[-len(_BEGIN) :]
        missing = _BEGIN.removesuffix(mark)
        if missing and self._burst.endswith(missing):
            self._burst, mark = self._burst.removesuffix(missing), _BEGIN  # the parser has not had it
        messages = [*self._taken(before, typed), *self._burst_ended(), *self._parser.feed(mark)]
        self._pasted, self._rest = [], ""
        return messages

    def _paste_ended(self) -> list[Message]:
        text = _shown("".join(self._pasted or ()) + self._rest)
        self._pasted, self._rest, self._silent = None, "", True
        # The parser is spared the text: with an escape in it, it would take the rest for keys.
        others = [message for message in self._parser.feed(_END) if not isinstance(message, Paste)]
        return [*others, Paste(text)]

    def _taken(self, new: str, typed: str) -> list[Message]:
        """Take a part of a burst, ``typed`` without the reports; return the messages that are decided."""
        if not self._burst and not typed:
            return list(self._parser.feed(new)) if new else []
        continued, self._silent = not self._silent, self._silent and not typed
        self._burst += new
        if self._lines and "\x7f" not in new:
            return self._decided() if len(self._burst) > _PENDING_AT_MOST else []
        plain = _SEQUENCE.sub("", self._burst)
        enter, only_enters = "\r" in plain, not plain.strip("\r")
        by_hand = "\x7f" in plain
        held = enter and (continued or not only_enters)
        self._lines = not by_hand and (
            _TEXT_AFTER_ENTER.search(plain) is not None
            or _COLOUR.search(self._burst) is not None
            or (held and self._clock() - self._last_lines < _CONTINUED_SECONDS)
        )
        waits = self._lines or (not by_hand and (held or len(self._burst) >= _BULK))
        return [] if waits and len(self._burst) <= _PENDING_AT_MOST else self._decided()

    def _burst_ended(self) -> list[Message]:
        messages = self._decided()
        self._silent, self._lines = True, False
        return messages

    def _decided(self) -> list[Message]:
        burst, self._burst = self._burst, ""
        messages: list[Message] = []
        if self._lines:
            self._last_lines = self._clock()
            messages.append(TypedText(_REPORT.sub("", burst)))
            parts = _REPORT.findall(burst)
        else:
            parts = [burst] if "\x1b" in burst else _MUCH_TEXT.split(burst)
        for part in filter(None, parts):
            much = _MUCH_TEXT.fullmatch(part)
            messages += [TypedText(part)] if much else self._parser.feed(part)
        return messages


def _shown(text: str) -> str:
    return visible(text.replace("\r\n", "\n").replace("\r", "\n"), keep_lines=True)


def _beginning_at_the_end(text: str, mark: str) -> str:
    """Return the longest end of ``text`` with which ``mark`` may begin."""
    return next((mark[:length] for length in range(len(mark) - 1, 0, -1) if text.endswith(mark[:length])), "")
