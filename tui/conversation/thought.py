"""Reasoning without the tags around it, which are no part of its text."""

from dataclasses import replace

from ...backends.thinking import TAGS
from .fragment import Fragment

_OPENING = tuple(opening for opening, _ in TAGS)
_CLOSING = tuple(closing for _, closing in TAGS)


class ThoughtText:
    """Takes the fragments of one block of reasoning and gives back what is to be shown.

    A tag may come in pieces: what may still become one is held back. Line breaks beside the tags go with them.
    """

    def __init__(self) -> None:
        self._held: list[Fragment] = []
        self._begun = False

    def feed(self, fragment: Fragment) -> list[Fragment]:
        """Take the next fragment; return what can be shown now."""
        self._held.append(fragment)
        if not self._begun and not self._begin():
            return []
        text = self._text()
        return self._release(_before_closing(text))

    def close(self) -> list[Fragment]:
        """The reasoning is over: return the rest, without the closing tag."""
        text = self._text() if self._begun else self._text().lstrip()
        rest = self._release(len(self._text()))
        return [] if not text.strip() or text.strip() in (*_OPENING, *_CLOSING) else rest

    def _begin(self) -> bool:
        """Skip what stands before the text; whether the text has begun."""
        text = self._text()
        begun = text.lstrip()
        for tag in _OPENING:
            if begun.startswith(tag):
                begun = begun[len(tag) :].lstrip("\r\n")
                break
        else:
            if any(tag.startswith(begun) for tag in _OPENING):
                return False
        self._release(len(text) - len(begun))
        self._begun = bool(begun)
        return self._begun

    def _text(self) -> str:
        return "".join(fragment.text for fragment in self._held)

    def _release(self, characters: int) -> list[Fragment]:
        released: list[Fragment] = []
        while characters > 0:
            fragment = self._held.pop(0)
            if len(fragment.text) > characters:
                self._held.insert(0, replace(fragment, text=fragment.text[characters:]))
                fragment = replace(fragment, text=fragment.text[:characters])
            characters -= len(fragment.text)
            released.append(fragment)
        return released


def _before_closing(text: str) -> int:
    """Return where the end of ``text`` begins that is a closing tag, or may become one, and the line breaks before."""
    body = text.rstrip()
    longest = 0
    for tag in _CLOSING:
        for length in range(min(len(tag), len(body)), longest, -1):
            # Spaces after part of a tag are no part of it.
            if body.endswith(tag[:length]) and (length == len(tag) or body == text):
                longest = length
                break
    if not longest and body != text and "\n" not in text[len(body) :]:
        return len(text)
    return len(body[: len(body) - longest].rstrip("\r\n"))
