"""Tells apart what a model writes: its reasoning, its answer, other channels, and the tags and headers around them.

Only markers that the model's chat template contains count. Two kinds of markers are known: pairs of tags around the
reasoning, and headers that name the channel of the message that follows them.
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from .reasoning_marks import ANSWER_NAMES, REASONING_NAMES, TAGS, WRAPPERS, Headers, Tags, known_headers, known_tags
from .token_facts import Kind, Part

_SPACE = b" \t\r\n"
_BREAKS = b"\r\n"


class Split(NamedTuple):
    """What a token is, as ``Token`` reports it."""

    parts: tuple[Part, ...] | None
    reasoning: bool
    control: bool


class _Marker(NamedTuple):
    text: bytes
    reached: Callable[[str], None]
    anywhere: bool = True
    """Otherwise only at the beginning of a line: in the middle of one, the text is about the tag."""


class ReasoningSplitter:
    """Follows the pieces of one answer and classifies every byte.

    The result does not depend on how the text is cut into pieces. Bytes that may begin a marker are classified with a
    later token, or by ``finish``. Line breaks next to a tag belong to it; reasoning that is never closed lasts to the
    end; it may start again at the beginning of a line.
    """

    def __init__(self, template_source: str, prompt_end: str) -> None:
        """``prompt_end``: the end of the rendered prompt; the template may have opened the reasoning there."""
        ending = prompt_end.rstrip()
        self._tags = known_tags(TAGS, template_source)
        at_end = [tags for tags in self._tags if ending.endswith((tags.opening, tags.closing))]
        self._wrappers = known_tags(WRAPPERS, template_source) if self._tags else []
        self._headers = known_headers(template_source)
        self._kind: Kind = "answer"
        self._name = ""
        self._lead = "start"
        """What leading white space is. ``start``: undecided until text follows; ``gap``: after reasoning, where
        line breaks do not belong to the answer; ``trim``: line breaks before the reasoning; empty: text."""
        self._closing: str | None = None
        """The only marker that ends the reasoning."""
        self._wrapper: str | None = None
        """The marker that ends the answer's wrapper."""
        self._header: str | None = None
        """The part of a header that has arrived; also of one that the prompt began and that may be complete."""
        self._header_of: Headers | None = None
        self._told = False
        self._last = b"\n"
        self._buffer = b""
        self._sizes: list[tuple[int, int]] = []
        """(index of a token, bytes) of what is in the buffer."""
        self._parts: list[Part] = []
        self._message_markers = {
            marker.encode() for one in self._headers for marker in (*one.begins, *one.bodies, *one.ends)
        } - {b"\n"}
        self._beginnings = re.compile(b"[%b]" % b"".join(map(re.escape, self._first_bytes())))
        self._read_prompt(ending, at_end)

    def _read_prompt(self, ending: str, at_end: list[Tags]) -> None:
        for tags in at_end:
            if ending.endswith(tags.opening):
                self._open(tags)
            else:
                self._close("")
        for headers in self._headers:
            begin = max(ending.rfind(marker) for marker in headers.begins)
            if begin >= 0 and not at_end:
                self._append(0, ending[begin:].encode() + (b"\n" if "\n" in headers.bodies else b""))
                self._decide()
                self._buffer, self._sizes, self._parts = b"", [], []
        if self._kind == "control":
            # The model may go on with the header, or begin the text at once.
            self._name_body()
            self._lead = "start"

    @property
    def unclosed(self) -> bool:
        """Whether the reasoning has not ended yet."""
        return self._told or self._kind == "reasoning"

    def feed(self, index: int, piece: bytes, *, control: bool = False) -> Split:
        """Take the next piece, control tokens spelled out, and return what its token is."""
        if piece:
            self._told = False
        if not (self._tags or self._headers or self._wrappers):
            return Split(None, False, control)
        before = self._kind
        if control:
            self._take_control(piece)
        else:
            self._append(index, piece)
            self._decide()
        parts, self._parts = tuple(self._parts), []
        reasoning = "reasoning" in (before, self._kind)
        if any(part.kind in ("answer", "channel") for part in parts):
            reasoning = False
        elif not control and not parts and self._lead == "start":
            # A tag, as far as is known now; a later ``parts`` says what it was.
            reasoning = reasoning or bool(self._buffer.strip())
        if control:
            return Split(parts or None, reasoning, True)
        if len(parts) == 1 and not self._buffer and parts[0].size == len(piece) and parts[0].index == index:
            kind = parts[0].kind
            if kind == ("reasoning" if reasoning else "answer"):
                return Split(None, reasoning, False)
            if kind == "control" and ("control" in (before, self._kind) or piece in self._message_markers):
                return Split(None, reasoning, True)
        elif not piece and not parts and not self._buffer:
            return Split(None, reasoning, False)
        return Split(parts, reasoning, False)

    def told(self, index: int, piece: bytes) -> Split:
        """Take a piece that is declared to be reasoning."""
        self._decide(final=True)
        self._told = True
        parts, self._parts = self._parts, []
        return Split((*parts, Part(index, "reasoning", len(piece))) if parts else None, True, False)

    def finish(self) -> tuple[Part, ...] | None:
        """Return what the last bytes are; ``None`` if nothing is pending."""
        self._decide(final=True)
        return tuple(self._parts) or None

    # Bytes

    def _first_bytes(self) -> set[bytes]:
        """Return what a marker can begin with, and what can stand beside one."""
        headers = [(*one.begins, *one.bodies, *one.ends) for one in self._headers]
        tags = [(one.opening, one.closing) for one in (*self._tags, *self._wrappers)]
        return {b"\r", b"\n", *(marker.encode()[:1] for group in (*headers, *tags) for marker in group)}

    def _append(self, index: int, piece: bytes) -> None:
        if piece:
            self._buffer += piece
            self._sizes.append((index, len(piece)))

    def _say(self, kind: Kind, count: int) -> None:
        """Say what the next bytes are."""
        if not count:
            return
        if kind == "control" and self._kind == "control":
            self._header = (self._header or "") + self._buffer[:count].decode("utf-8", "replace")
        self._last = self._buffer[count - 1 : count]
        self._buffer = self._buffer[count:]
        name = self._name if kind == "channel" else ""
        while count:
            index, size = self._sizes[0]
            taken = min(size, count)
            count -= taken
            if taken < size:
                self._sizes[0] = (index, size - taken)
            else:
                self._sizes.pop(0)
            last = self._parts[-1] if self._parts else None
            if last is not None and (last.index, last.kind, last.name) == (index, kind, name):
                self._parts[-1] = Part(index, kind, last.size + taken, name)
            else:
                self._parts.append(Part(index, kind, taken, name))

    def _say_text(self, count: int, *, marker_follows: bool = False) -> None:
        """Say that the next bytes are text of the current kind, the line breaks beside a marker left out."""
        if self._lead and count:
            space = count - len(self._buffer[:count].lstrip(_BREAKS if self._lead == "trim" else _SPACE))
            if self._lead == "gap" and not marker_follows and space < count:
                # What a line begins with belongs to it.
                space = 1 + max(self._buffer.rfind(one, 0, space) for one in (b"\r", b"\n"))
            if self._lead != "start" or (marker_follows and space == count):
                self._say("control", space)
                count -= space
            if count:
                self._lead = ""
        breaks = 0
        if marker_follows and self._kind == "reasoning":
            breaks = count - len(self._buffer[:count].rstrip(_BREAKS))
        self._say(self._kind, count - breaks)
        self._say("control", breaks)

    def _decide(self, *, final: bool = False) -> None:
        if not self._lead and not self._beginnings.search(self._buffer):
            self._say(self._kind, len(self._buffer))
            return
        while True:
            markers = list(self._markers())
            found = [(at, marker) for marker in markers if (at := self._find(marker)) >= 0]
            if not found:
                break
            at, marker = min(found, key=lambda one: one[0])
            self._say_text(at, marker_follows=True)
            self._reach(marker)
        self._say_text(len(self._buffer) - (0 if final else self._open_end(markers)))

    def _reach(self, marker: _Marker) -> None:
        kept, self._kind = self._kind, "answer"  # so that the marker's bytes are not taken for words of a header
        self._say("control", len(marker.text))
        self._kind = kept
        marker.reached(marker.text.decode())

    def _find(self, marker: _Marker) -> int:
        at = self._buffer.find(marker.text)
        while at >= 0 and not self._stands(marker, at):
            at = self._buffer.find(marker.text, at + 1)
        return at

    def _stands(self, marker: _Marker, at: int) -> bool:
        """Whether a marker can stand at a place of the buffer."""
        if marker.anywhere:
            return True
        if self._lead in ("start", "gap") and not self._buffer[:at].strip(_SPACE):
            return True
        before = self._buffer[at - 1 : at] if at else self._last
        return marker.reached == self._marker_opens and before == b"\n"

    def _open_end(self, markers: list[_Marker]) -> int:
        """Return how many bytes at the end cannot be classified yet."""
        buffer = self._buffer
        longest = max((len(marker.text) for marker in markers), default=1)
        held = 0
        for size in range(min(longest - 1, len(buffer)), 0, -1):
            end, at = buffer[len(buffer) - size :], len(buffer) - size
            if any(marker.text.startswith(end) and self._stands(marker, at) for marker in markers):
                held = size
                break
        rest = buffer[: len(buffer) - held]
        if self._kind == "reasoning":
            held += len(rest) - len(rest.rstrip(_BREAKS))
        elif self._lead in ("start", "gap") and not rest.strip(_SPACE):
            held = len(buffer)
        return held

    # Markers

    def _markers(self) -> Iterator[_Marker]:
        """Yield the markers that can come next."""
        if self._closing is not None:
            yield _Marker(self._closing.encode(), self._close)
            # The beginning of an answer also ends the reasoning.
            for wrapper in self._wrappers:
                if wrapper.opening.startswith("<|"):
                    yield _Marker(wrapper.opening.encode(), self._wrap)
            return
        for headers in self._headers:
            yield from (_Marker(one.encode(), self._begin_header) for one in headers.begins)
            yield from (_Marker(one.encode(), self._end_message) for one in headers.ends)
            if self._header is not None and self._header_of is headers:
                yield from (_Marker(one.encode(), self._end_header) for one in headers.bodies)
        if self._kind == "control":
            return
        if self._header is not None and self._lead == "start":
            yield _Marker(b"to=", self._resume_header, anywhere=False)
        if self._kind == "answer":
            for tags in self._tags:
                yield _Marker(tags.opening.encode(), self._marker_opens, anywhere=False)
        if self._lead in ("start", "gap"):
            yield from (_Marker(tags.closing.encode(), self._close, anywhere=False) for tags in self._tags)
            yield from (_Marker(one.opening.encode(), self._wrap, anywhere=False) for one in self._wrappers)
        if self._wrapper is not None:
            yield _Marker(self._wrapper.encode(), self._unwrap)

    def _take_control(self, piece: bytes) -> None:
        """Take a control token, which is a marker or none, but never part of one."""
        self._decide(final=False)
        marker = next((one for one in self._markers() if one.text == piece), None)
        self._say_text(len(self._buffer), marker_follows=marker is not None)
        if marker is not None:
            marker.reached(marker.text.decode())
        elif self._kind == "control":
            self._header = (self._header or "") + piece.decode("utf-8", "replace")

    def _marker_opens(self, opening: str) -> None:
        self._open(next(tags for tags in self._tags if tags.opening == opening))

    def _open(self, tags: Tags) -> None:
        self._kind, self._name, self._closing, self._lead = "reasoning", "", tags.closing, "trim"
        self._header = None

    def _close(self, closing: str) -> None:
        self._kind, self._name, self._closing, self._lead = "answer", "", None, "gap"

    def _wrap(self, opening: str) -> None:
        self._close("")
        self._wrapper = next(one.closing for one in self._wrappers if one.opening == opening)

    def _unwrap(self, closing: str) -> None:
        self._wrapper = None
        self._lead = "gap"

    def _begin_header(self, marker: str) -> None:
        within = marker == "<|channel|>" and self._header is not None
        self._header = (self._header or "") + marker if within else marker
        self._header_of = next(one for one in self._headers if marker in one.begins)
        self._kind, self._name, self._lead = "control", "", ""

    def _resume_header(self, words: str) -> None:
        self._header = f"{self._header} {words}"
        self._kind, self._name, self._lead = "control", "", ""

    def _end_header(self, marker: str) -> None:
        self._header = (self._header or "") + marker
        self._name_body()
        self._header = None

    def _name_body(self) -> None:
        """Begin the text that a header stands before."""
        assert self._header_of is not None
        name = self._header_of.name(self._header or "")
        if name in REASONING_NAMES:
            self._kind, self._name, self._lead = "reasoning", "", "trim"
        elif name in ANSWER_NAMES:
            self._kind, self._name, self._lead = "answer", "", ""
        else:
            self._kind, self._name, self._lead = "channel", name, ""

    def _end_message(self, marker: str) -> None:
        self._close("")
        self._header = None
