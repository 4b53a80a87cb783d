"""The figures of the run, in a grid whose places never move."""

from typing import TYPE_CHECKING

import msgspec

from ...metrics import numbers
from ..session import Session
from .cells import Cells, Row
from .reasons import Reasons

if TYPE_CHECKING:
    from ...metrics.latency import Percentiles
    from ...metrics.run import Run

_CELL_AT_LEAST = 18
_CELL_AT_MOST = 22
_GAP = 2
NO_RUN = "Nothing has been asked yet."


class Figures(msgspec.Struct, frozen=True):
    """All figures as text, at one moment."""

    ttft: str = numbers.MISSING
    tpot: str = numbers.MISSING
    p50: str = numbers.MISSING
    p95: str = numbers.MISSING
    p99: str = numbers.MISSING
    now: str = numbers.MISSING
    write: str = numbers.MISSING
    read: str = numbers.MISSING
    slowdown: str = numbers.MISSING
    tokens: str = numbers.MISSING
    elapsed: str = numbers.MISSING
    seed: str = numbers.MISSING
    cached: str | None = None
    """Prompt tokens that the KV cache held; None before the answer is done."""
    ttfa: str | None = None
    """Time to first answer; None without reasoning."""


LABELS = {
    "ttft": "TTFT",
    "tpot": "TPOT",
    "p50": "ITL p50",
    "p95": "ITL p95",
    "p99": "ITL p99",
    "now": "now",
    "write": "write",
    "read": "read",
    "slowdown": "slowdown",
    "tokens": "tokens",
    "elapsed": "elapsed",
    "seed": "seed",
}

_ORDER_BY_COLUMNS = {
    # Related figures stand side by side in a wide grid and below each other in a narrow one.
    6: ("ttft", "tpot", "p50", "p95", "p99", "tokens", "read", "write", "now", "slowdown", "elapsed", "seed"),
    4: ("ttft", "tpot", "write", "now", "p50", "p95", "p99", "read", "tokens", "elapsed", "slowdown", "seed"),
}
_ORDER = ("ttft", "tpot", "write", "p50", "p95", "p99", "read", "now", "tokens", "elapsed", "slowdown", "seed")
_EMPHASISED = frozenset({"ttft", "tpot", "write", "read"})


def figures(session: Session, now: int) -> Figures:
    """Return the figures of the session's run at ``now`` (ns, the engine's clock)."""
    run = session.run
    return Figures() if run is None else _figures(run, run.percentiles, now)


def _figures(run: "Run", gaps: "Percentiles | None", now: int) -> Figures:
    return Figures(
        ttft=numbers.milliseconds(run.ttft_ns),
        tpot=numbers.milliseconds(run.tpot_ns),
        p50=numbers.milliseconds(None if gaps is None else gaps.p50),
        p95=numbers.milliseconds(None if gaps is None else gaps.p95),
        p99=numbers.milliseconds(None if gaps is None else gaps.p99),
        now=numbers.rate(run.recent_decode_rate() if run.end is None else None),
        write=numbers.rate(run.decode_rate),
        read=numbers.rate(run.prefill_rate),
        slowdown=numbers.times(run.slowdown),
        tokens=numbers.count(run.token_count),
        elapsed=numbers.seconds(now - run.taken.t if run.end is None else run.elapsed_ns),
        seed=str(run.taken.seed),
        cached=None if run.end is None or run.cached_tokens is None else numbers.count(run.cached_tokens),
        ttfa=numbers.milliseconds(run.ttfa_ns) if run.reasoning_tokens else None,
    )


def columns_for(width: int) -> int:
    """Return how many columns fit: 1, 2, 3, 4, 6 or 12."""
    fitting = (width + _GAP) // (_CELL_AT_LEAST + _GAP)
    return max(columns for columns in (1, 2, 3, 4, 6, 12) if columns <= max(fitting, 1))


def rows_for(width: int) -> int:
    """Return how many lines all figures take."""
    return -(-len(LABELS) // columns_for(width))


def figure_at(width: int, x: int, y: int) -> str | None:
    """Return the figure at a cell of a grid of ``width`` cells, by its name in ``LABELS``."""
    columns = columns_for(width)
    cell = min((width + _GAP) // columns - _GAP, _CELL_AT_MOST)
    column, within = divmod(x, cell + _GAP)
    order = _ORDER_BY_COLUMNS.get(columns, _ORDER)
    place = y * columns + column
    return order[place] if within < cell and column < columns and place < len(order) else None


def reasons(session: Session) -> list[tuple[str, str]]:
    """Return (label, sentence) for each figure that is a dash: why it has no value."""
    if session.run is None:
        return [("all", NO_RUN)]
    from ...metrics.absence import absences  # numpy comes after the first frame

    found = absences(session.run)
    if session.run.reasoning_tokens:
        found.pop("slowdown", None)  # TTFA stands in its place
    labels = {**LABELS, "ttfa": "TTFA"}
    return [(labels[name], reason) for name, reason in found.items()]


def grid(shown: Figures, width: int, height: int) -> list[Row]:
    """Return the lines; when there are fewer than needed, the last figures are left out."""
    columns = columns_for(width)
    order = _ORDER_BY_COLUMNS.get(columns, _ORDER)
    cell = min((width + _GAP) // columns - _GAP, _CELL_AT_MOST)
    rows: list[Row] = []
    for start in range(0, min(len(order), columns * height), columns):
        spans: list[tuple[str, str]] = []
        for name in order[start : start + columns]:
            label, value = LABELS[name], getattr(shown, name)
            if name == "slowdown" and shown.ttfa is not None:
                # A model that reasons: how long it took to begin its answer says more.
                label, value = "TTFA", shown.ttfa
            if name == "now" and shown.cached is not None:
                # The answer is done: what it reused of earlier turns takes the place of `now`.
                label, value = "cached", shown.cached
            gap = " " * _GAP if spans else ""
            spans.append((f"{gap}{label} ", "dim"))
            role = "dim" if value == numbers.MISSING else "strong" if name in _EMPHASISED else ""
            spans.append((f"{value:>{max(cell - len(label) - 1, 0)}}", role))
        rows.append(tuple(spans))
    return rows


class Counters(Reasons, Cells):
    """As many lines as the figures need."""

    DEFAULT_CSS = """
    Counters { padding: 0 1; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._session: Session | None = None
        self._run: Run | None = None
        self._gaps: Percentiles | None = None

    def show(self, session: Session, now: int, *, percentiles: bool = True) -> None:
        """Draw the session's figures at ``now`` (ns, the engine's clock); without ``percentiles`` the last
        ones are kept, since they need every gap."""
        self._session = session
        run = session.run
        if percentiles or run is not self._run:
            self._run, self._gaps = run, None if run is None else run.percentiles
        width, height = self.content_size
        self.show_rows(grid(Figures() if run is None else _figures(run, self._gaps, now), width, height))

    def reason_at(self, x: int, y: int) -> str | None:
        """See ``Reasons``."""
        name = figure_at(self.content_size.width, x, y)
        if name is None or self._session is None:
            return None
        run = self._session.run
        if run is None:
            return NO_RUN
        if name == "now" and run.end is not None and run.cached_tokens is not None:
            return None  # the number of cached tokens is shown there
        from ...metrics.absence import absences  # numpy comes after the first frame

        return absences(run).get("ttfa" if name == "slowdown" and run.reasoning_tokens else name)
