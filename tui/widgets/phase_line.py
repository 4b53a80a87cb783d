"""The line that says what is going on: loading, reading, writing, or how it ended."""

from collections.abc import Sequence
from typing import assert_never

from ...backends.events import Finished
from ...metrics import numbers
from ...metrics.ending import ending_of
from ..session import Phase, Session
from .cells import Cells, Row, clip

_BAR_CELLS_AT_MOST = 40
_LABEL_CELLS = 8


def bar(done: float, cached: float, cells: int) -> Row:
    """Return a bar: ``cached`` and ``done`` are fractions of the whole, ``cached`` being the part of ``done`` that
    needed no work. The kinds differ in their character, not only in colour."""
    cached_cells = round(cached * cells)
    done_cells = max(round(done * cells), cached_cells)
    return (
        ("▒" * cached_cells, "dim"),
        ("█" * (done_cells - cached_cells), "accent"),
        ("░" * (cells - done_cells), "track"),
    )


def phase_row(session: Session, now: int, width: int) -> Row:
    """Return the line for a session at ``now`` (ns, the engine's clock)."""
    if session.stopping:
        return _line("stop", "warn", "stopping …", width)
    match session.phase:
        case Phase.CHOOSING:
            return _line("model", "dim", "none chosen yet", width)
        case Phase.LOADING:
            return _with_bar("load", session.load_fraction, 0.0, f"{session.load_fraction:4.0%} of the model", width)
        case Phase.WARMING_UP:
            return _with_bar("load", 1.0, 0.0, "100% · warming up", width)
        case Phase.MEASURING:
            return _with_bar("load", 1.0, 0.0, "100% · measuring the memory, once", width)
        case Phase.READY:
            return _line("ready", "dim", _ready(session), width)
        case Phase.WAITING:
            return _line("read", "accent", "waiting for the engine", width)
        case Phase.PREFILL:
            return _prefill(session, now, width)
        case Phase.DECODE:
            return _decode(session, now, width)
        case Phase.DONE:
            return _parts("done", "good", _outcome(session, width), width)
        case Phase.CANCELLED:
            return _parts("stopped", "warn", _outcome(session, width), width)
        case Phase.FAILED:
            return _parts("failed", "bad", _outcome(session, width), width)
        case Phase.GONE:
            return _line("failed", "bad", "there is no engine", width)
        case _:
            assert_never(session.phase)


def _line(label: str, role: str, text: str, width: int) -> Row:
    return ((f"{label:<{_LABEL_CELLS}}", role), (clip(text, width - _LABEL_CELLS), ""))


def _parts(label: str, role: str, parts: Sequence[str], width: int) -> Row:
    """As many of the parts as fit, the first in any case."""
    shown = list(parts)
    while len(shown) > 1 and len(" · ".join(shown)) > width - _LABEL_CELLS:
        shown.pop()
    return _line(label, role, " · ".join(shown), width)


def _with_bar(label: str, done: float, cached: float, text: str, width: int) -> Row:
    room = width - _LABEL_CELLS - len(text) - 2
    cells = min(max(room, 0), _BAR_CELLS_AT_MOST)
    if cells < 6:
        return _line(label, "accent", text, width)
    return ((f"{label:<{_LABEL_CELLS}}", "accent"), *bar(done, cached, cells), (f"  {text}", ""))


def _ready(session: Session) -> str:
    if session.model is None:
        return ""
    loaded = f"loaded in {numbers.seconds(session.model.load_ns)}"
    warmed = f"warmed up in {numbers.seconds(session.model.warmup_ns)}"
    return " · ".join([f"{loaded}, {warmed}", *numbers.sampling_facts(session.sampling.temp, session.sampling.seed)])


def _prefill(session: Session, now: int, width: int) -> Row:
    run = session.run
    if run is None or run.prompt is None:
        return _line("read", "accent", "", width)
    total = len(run.prompt.tokens)
    cached = run.prompt.cached
    processed = cached if run.progress is None else run.progress.processed
    parts = [
        f"{processed:>{len(numbers.count(total))},} / {total:,} tokens" + (f", {cached:,} cached" if cached else "")
    ]
    rate = run.prefill_rate
    if rate is not None:
        parts.append(f"{numbers.rate(rate):>11}")
    left = run.forecast.remaining_ns
    if left is not None and run.progress is not None:
        # Between two events time goes on.
        parts.append(f"{numbers.seconds(max(0, left - max(0, now - run.progress.t))):>5} left")
    if session.model is not None and session.model.progress == "micro-batch" and width >= 100:
        parts.append(f"in steps of {session.model.micro_batch:,}")
    parts += _fewer_threads(session, width)
    parts += _prefilled_again(session, width)
    while len(parts) > 1 and len(" · ".join(parts)) > width - _LABEL_CELLS:
        parts.pop()
    whole = max(total, 1)
    return _with_bar("read", processed / whole, cached / whole, " · ".join(parts), width)


def _prefilled_again(session: Session, width: int) -> list[str]:
    lost = session.lost_reuse
    return [] if lost is None else [lost.sentence if width >= 116 else lost.brief]


def _fewer_threads(session: Session, width: int) -> list[str]:
    if session.threads is None or session.model is None:
        return []
    why = ": another program is using a core" if width >= 100 else ""
    return [f"{session.threads} of {session.model.threads} threads{why}"]


def against_reading(session: Session) -> str | None:
    """Return in words how writing compares with reading; None where that is not known."""
    factor = None if session.run is None else session.run.slowdown
    if factor is None:
        return None
    if factor < 1:
        return f"{numbers.times(1 / factor)} faster than reading"
    return f"{numbers.times(factor)} slower than reading"


def _decode(session: Session, now: int, width: int) -> Row:
    run = session.run
    if run is None:
        return _line("write", "accent", "", width)
    limit = session.max_tokens
    parts = [f"token {run.token_count:,}" + (f" of at most {limit:,}" if limit > 0 else "")]
    parts += _fewer_threads(session, width)
    waited = now - int(run.token_times[-1])
    median = run.running_median_ns
    if median is not None and waited > max(20 * median, 1e9):
        parts.append(f"nothing for {numbers.seconds(waited)}")
    elif (comparison := against_reading(session)) is not None:
        parts.append(comparison)
    return _parts("write", "accent", parts, width)


def _outcome(session: Session, width: int) -> list[str]:
    run = session.run
    if run is None:
        return []
    end = run.end
    # The line's own label says what else there is.
    answered = run.ttfa_ns is not None
    reason = ""
    if isinstance(end, Finished) and end.reason != "cancelled":
        reason = ending_of(end, run.token_count, answered=answered)
    if run.token_count == 0:
        return [reason or "before the first token"]
    parts = [f"{numbers.counted(run.token_count, 'token')} in {numbers.seconds(run.e2e_ns)}"]
    parts += _prefilled_again(session, width)
    if run.fewer_threads is not None:
        fewer = run.fewer_threads
        parts.append(fewer.sentence if width >= 140 else f"{fewer.fewest} of {fewer.most} threads")
    disturbance = run.disturbance
    if disturbance is not None and disturbance.disturbed:
        lost = disturbance.sentence if width >= 100 else f"{disturbance.disturbed:,} disturbed"
        parts.append(lost + ("" if disturbance.quotable else ": not to be quoted"))
    if reason:
        parts.append(reason)
    if run.reasoning.any():
        parts.append(f"first answer {'after ' + numbers.milliseconds(run.ttfa_ns) if answered else 'none'}")
    elif (comparison := against_reading(session)) is not None:
        parts.append(comparison)
    return parts


class PhaseLine(Cells):
    """One line."""

    DEFAULT_CSS = """
    PhaseLine { padding: 0 1; }
    """

    def show(self, session: Session, now: int) -> None:
        """Draw the session's phase at ``now`` (ns, the engine's clock)."""
        self.show_rows([phase_row(session, now, self.content_size.width)])
