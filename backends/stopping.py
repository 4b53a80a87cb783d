"""Stop strings over a stream of pieces."""


class StopStrings:
    """Finds the first stop string in a byte stream that comes in pieces.

    A stop string may be spread over any number of pieces, and may begin within one.
    """

    def __init__(self, stops: tuple[str, ...]) -> None:
        self._stops = tuple(stop.encode() for stop in stops if stop)
        self._keep = max((len(stop) for stop in self._stops), default=1) - 1
        self._tail = b""

    def feed(self, piece: bytes) -> tuple[bool, int]:
        """Take the next piece and return (found, held).

        ``held`` counts bytes at the end of the stream so far: those from the stop string on, when one was found; else
        those that may be the beginning of one.
        """
        if not self._stops:
            return False, 0
        text = self._tail + piece
        found = [position for stop in self._stops if (position := text.find(stop)) >= 0]
        if found:
            return True, len(text) - min(found)
        self._tail = text[-self._keep :] if self._keep else b""
        return False, max(_overlap(text, stop) for stop in self._stops)


def _overlap(text: bytes, stop: bytes) -> int:
    """Length of the longest proper beginning of ``stop`` that ``text`` ends with."""
    return next((size for size in range(min(len(stop) - 1, len(text)), 0, -1) if text.endswith(stop[:size])), 0)
