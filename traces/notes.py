"""What a reader has to say about a file, in a bounded number of sentences."""

_MOST = 20


class Notes:
    """Collects what was found; lines of the same kind are counted."""

    def __init__(self) -> None:
        self.cut = False
        """The file ends before its last line does."""
        self._sentences: list[str] = []
        self._lines: dict[str, tuple[int, int, str]] = {}
        self._others = 0

    def say(self, sentence: str) -> None:
        """Note something about the whole."""
        self._sentences.append(sentence)

    def add(self, line: int, one: str, more: str) -> None:
        """Note something about a line: "Line 7 ``one``.", "3 lines ``more``, the first is line 7." """
        known = self._lines.get(more)
        if known is not None:
            count, first, what = known
            self._lines[more] = (count + 1, first, what)
        elif len(self._lines) < _MOST:
            self._lines[more] = (1, line, one)
        else:
            self._others += 1

    def sentences(self) -> tuple[str, ...]:
        """Return everything, the most important first."""
        said = ["It was cut off: everything before the cut is here."] if self.cut else []
        said += self._sentences
        for more, (count, first, one) in self._lines.items():
            said.append(
                f"Line {first:,} {one}." if count == 1 else f"{count:,} lines {more}; the first is line {first:,}."
            )
        if self._others:
            said.append(f"{self._others:,} more lines are not as they should be.")
        return tuple(said)
