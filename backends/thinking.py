"""Which tokens are reasoning: the block that a reasoning model writes before its answer."""

TAGS = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<reasoning>", "</reasoning>"),
    ("<thought>", "</thought>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
    ("<|channel|>analysis", "<|end|>"),
)
_LONGEST = max(len(tag.encode()) for pair in TAGS for tag in pair)


class ThinkingTracker:
    """Follows the pieces of one answer and tells which belong to a thinking block at its beginning.

    Only tags that the model's chat template knows of count. The tags are part of the block; a block that is never
    closed lasts to the end.
    """

    def __init__(self, template_source: str, rendered_prompt: str) -> None:
        """``rendered_prompt``: its end tells whether the template has opened the block already."""
        self._tags = [
            (opening.encode(), closing.encode())
            for opening, closing in TAGS
            if opening.split(">")[0] in template_source or closing in template_source
        ]
        self._closing: bytes | None = None
        self._text = b""
        self._over = not self._tags
        for opening, closing in self._tags:
            if rendered_prompt.rstrip().encode().endswith(opening):
                self._closing = closing

    def feed(self, piece: bytes) -> bool:
        """Take the next piece, control tokens spelled out; True when its token is a reasoning token."""
        if self._over:
            return False
        self._text += piece
        if self._closing is not None:
            return self._inside(self._closing)
        begun = self._text.lstrip()
        for opening, closing in self._tags:
            if begun.startswith(opening):
                self._closing = closing
                self._text = begun[len(opening) :]
                return self._inside(closing)
        if any(opening.startswith(begun) for opening, _ in self._tags):
            return bool(begun)
        self._over = True
        return False

    def _inside(self, closing: bytes) -> bool:
        if closing in self._text:
            self._over = True
        self._text = self._text[-_LONGEST:]
        return True
