"""From a conversation to tokens, with what people wrote kept apart from what the template says."""

import re
from collections.abc import Sequence

import msgspec

from ..requests import Message
from .template import ChatTemplate
from .vocabulary import Vocabulary

_PRIVATE_USE = (range(0xE000, 0xF900), range(0xF0000, 0xFFFFE), range(0x100000, 0x10FFFE))


def chat_tokens(template: ChatTemplate, vocabulary: Vocabulary, messages: Sequence[Message]) -> list[int]:
    """Return the prompt's tokens.

    Control tokens come from the template alone: where a message's content holds the spelling of one, a private-use
    character stands in for it while the template is rendered, and that run of text is tokenized as plain text. Raises
    EngineError when the template refuses.
    """
    shield = _Shield(vocabulary.control_texts, messages)
    rendered = template.render(shield.messages)
    tokens: list[int] = []
    for text, plain in shield.fragments(rendered):
        tokens += vocabulary.tokenize(text, parse_special=not plain)
    return vocabulary.with_bos(tokens)


class _Shield:
    """Replaces control spellings in the contents of messages, and puts them back after rendering."""

    def __init__(self, control_texts: Sequence[str], messages: Sequence[Message]) -> None:
        self._pattern = re.compile("|".join(map(re.escape, control_texts))) if control_texts else None
        self._spelling_of: dict[str, str] = {}
        self.messages: Sequence[Message] = messages
        if self._pattern is None:
            return
        contents = "".join(message.content for message in messages)
        spellings = sorted(set(self._pattern.findall(contents)))
        stand_ins = (chr(code) for codes in _PRIVATE_USE for code in codes if chr(code) not in contents)
        stand_in_of = dict(zip(spellings, stand_ins, strict=False))
        self._spelling_of = {stand_in: spelling for spelling, stand_in in stand_in_of.items()}
        if stand_in_of:
            pattern = self._pattern
            self.messages = [
                msgspec.structs.replace(
                    message, content=pattern.sub(lambda match: stand_in_of[match[0]], message.content)
                )
                for message in messages
            ]

    def fragments(self, rendered: str) -> list[tuple[str, bool]]:
        """Cut the rendered prompt into (text, plain): plain runs hold spellings that must not become control tokens."""
        if not self._spelling_of or self._pattern is None:
            return [(rendered, False)]
        restore = str.maketrans(self._spelling_of)
        fragments: list[tuple[str, bool]] = []
        ordinary = ""
        for part in re.split(f"({self._pattern.pattern})", rendered):
            if any(stand_in in part for stand_in in self._spelling_of):
                fragments += [(ordinary, False), (part.translate(restore), True)]
                ordinary = ""
            else:
                ordinary += part
        fragments.append((ordinary, False))
        return [(text, plain) for text, plain in fragments if text]
