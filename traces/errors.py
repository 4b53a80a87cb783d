"""What can be wrong with a recording as a whole."""


class TraceError(Exception):
    """A recording that cannot be written or read, in words: what, the reason, what to do."""

    def __init__(self, what: str, reason: str = "", remedy: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.reason = reason
        self.remedy = remedy
