"""What adapting the threads gains while another program keeps a core busy, and what it costs while none does."""

from decodescope.backends.contract import Backend
from decodescope.backends.events import Event, Finished, ThreadsChanged
from decodescope.backends.requests import Request, Sampling

from . import PROMPT, THREADS
from .engine_speed import collect, decode_ns, engine
from .figures import Figure, paired_ratio
from .token_facts import busy_core

QUIET_PAIRS, BUSY_PAIRS = 15, 5
TOKENS, BUSY_TOKENS = 128, 300
_DRAWN = Sampling(temp=0.8, ignore_eos=True)
"""Neither greedy nor with a seed, since such requests keep all threads."""


def adapting() -> list[Figure]:
    """Decode with ``-t auto``: on a quiet machine, and beside a process that never rests."""
    if THREADS < 2:
        return [Figure("-t auto", "not measured", "shown", None, "there is only one core")]
    with engine(context=2048) as fixed, engine(context=2048, threads=None, adapt_threads=True) as adapting:
        quiet, own_ns, fixed_ns = paired_ratio(
            lambda: _decode_ns(fixed, TOKENS), lambda: _decode_ns(adapting, TOKENS), QUIET_PAIRS
        )
        rates = f"{(TOKENS - 1) / fixed_ns * 1e9:.1f} and {(TOKENS - 1) / own_ns * 1e9:.1f} tok/s"
    with engine(context=2048, threads=1) as one, engine(context=2048, threads=None, adapt_threads=True) as adapting:
        changes: list[str] = []

        def beside_a_busy_core() -> float:
            with busy_core():
                return _decode_ns(adapting, BUSY_TOKENS, changes)

        busy, busy_ns, one_ns = paired_ratio(beside_a_busy_core, lambda: _decode_ns(one, BUSY_TOKENS), BUSY_PAIRS)
        per_token = f"{busy_ns / (BUSY_TOKENS - 1) / 1e6:.1f} and {one_ns / (BUSY_TOKENS - 1) / 1e6:.1f} ms a token"
    return [
        Figure(f"decode, -t auto / -t {THREADS}, quiet", f"{quiet:.3f}", "≥ 0.99", quiet >= 0.99, rates),
        Figure(
            f"TPOT, -t auto with one of {THREADS} cores busy / one thread on a quiet machine",
            f"{busy:.2f}",
            "≤ 1.5",
            busy <= 1.5,
            f"{per_token}; threads: {', '.join(changes) or 'unchanged'}",
        ),
    ]


def _decode_ns(backend: Backend, tokens: int, changes: list[str] | None = None) -> float:
    backend.generate(Request(prompt=PROMPT, max_tokens=tokens, sampling=_DRAWN))
    events: list[Event] = collect(backend, Finished)
    if changes is not None:
        changes += [f"{event.before} → {event.after}" for event in events if isinstance(event, ThreadsChanged)]
    return decode_ns(events)
