"""One generation as its events tell it."""

from collections.abc import Sequence

import numpy as np

from ..backends.events import (
    Event,
    Failed,
    Finished,
    PrefillProgress,
    PromptReady,
    RequestTaken,
    ThreadsChanged,
    Token,
)
from . import latency
from .baseline import WINDOW
from .disturbance import Cause, Disturbance, Spent, disturbance
from .explanation import explain, explain_first
from .fact_columns import FactColumns
from .judge import Judge
from .kind_columns import KindColumns
from .likelihood import Likelihood
from .pace import Pace, RunningMedian, pace, paces
from .prefill import PrefillForecast
from .series import BoolArray, Int8Array, Int64Array, Series
from .threads import FewerThreads, ThreadChanges

FEWEST_READ = 16
"""Prompt tokens that have to be computed before their rate says how fast the model reads."""


class Run:
    """Collects the events of one generation and answers with figures; no clock, no I/O.

    Times are ns on the engine's clock, durations ns, rates per second; ``None`` where there is no value. ``forecast``:
    how the prefill is foreseen; by default without knowing anything of the model.
    """

    def __init__(self, taken: RequestTaken, forecast: PrefillForecast | None = None) -> None:
        self.taken = taken
        self.forecast = PrefillForecast() if forecast is None else forecast
        self.prompt: PromptReady | None = None
        self.progress: PrefillProgress | None = None
        self.end: Finished | Failed | None = None
        self.last_pace = Pace.ORDINARY
        self.last_cause = Cause.NONE
        """What disturbed the newest token."""
        self._threads = ThreadChanges()
        self.facts = FactColumns()
        self.likelihood = Likelihood()
        self._prefill_end: int | None = None
        self._newest_t: int | None = None
        """The newest token's time."""
        self._times = Series()
        self._ids = Series()
        self._decode = Series()
        self._sample = Series()
        self.kinds = KindColumns()
        self._paces = Series()
        self._bytes = bytearray()
        self._piece_ends = Series()
        self._median = RunningMedian()
        self._final_median: float | None = None
        self._judge = Judge()

    def apply(self, event: Event) -> None:
        """Take in one event; events that concern the engine as a whole change nothing here."""
        if isinstance(event, Token):
            self._apply_token(event)
        elif isinstance(event, PrefillProgress):
            self.progress = event
            self.forecast.apply(event)
            if event.processed >= event.total:
                self._prefill_end = event.t
        elif isinstance(event, ThreadsChanged):
            self._threads.append(event)
        elif isinstance(event, PromptReady):
            self.prompt = event
            self.forecast.apply(event)
        elif isinstance(event, Finished | Failed) and self.end is None:
            # The engine may still fail when this generation is over.
            self.end = event
            if isinstance(event, Finished):
                self.kinds.end(event.parts)

    def _apply_token(self, token: Token) -> None:
        if self._newest_t is not None:
            gap = token.t - self._newest_t
            self.last_pace = pace(gap, self._median.value)
            self._median.add(gap)
            self.last_cause = self._judge.add(Spent.of(token, gap))
        self._newest_t = token.t
        self._paces.append(self.last_pace)
        self._times.append(token.t)
        self._ids.append(token.id)
        self._decode.append(token.decode_ns)
        self._sample.append(token.sample_ns)
        self.kinds.append(token)
        self._bytes += token.piece
        self._piece_ends.append(len(self._bytes))
        self.facts.append(token.scheduling)
        self.likelihood.append(token.probability)

    def apply_tokens(self, tokens: Sequence[Token]) -> None:
        """Take in all tokens of a run at once, before any other: the same comes out as one by one, much sooner."""
        times = np.array([token.t for token in tokens], dtype=np.int64)
        self._times.extend(times)
        self._ids.extend([token.id for token in tokens])
        self._decode.extend([token.decode_ns for token in tokens])
        self._sample.extend([token.sample_ns for token in tokens])
        self.kinds.extend(tokens)
        self._bytes += b"".join([token.piece for token in tokens])
        self._piece_ends.extend(np.cumsum(np.array([len(token.piece) for token in tokens], dtype=np.int64)))
        self.facts.extend([token.scheduling for token in tokens])
        self.likelihood.extend([token.probability for token in tokens])
        gaps = np.diff(times)
        between = gaps.tolist()
        self._paces.extend([int(Pace.ORDINARY)] * min(len(tokens), 1))
        self._paces.extend(paces(gaps, self._median.follow(between)))
        self._judge.extend([Spent.of(token, gap) for token, gap in zip(tokens[1:], between, strict=True)])
        self._settle()

    def take_tokens(self, other: "Run", count: int) -> None:
        """Take in the first ``count`` tokens of another run, before any other."""
        for own, column in (
            (self._times, other._times),
            (self._ids, other._ids),
            (self._decode, other._decode),
            (self._sample, other._sample),
            (self._paces, other._paces),
            (self._piece_ends, other._piece_ends),
        ):
            own.extend(column.values[:count])
        self._bytes += other._bytes[: int(other._piece_ends.values[count - 1]) if count else 0]
        self.kinds.take(other.kinds, count)
        self.facts.take(other.facts, count)
        self.likelihood.take(other.likelihood, count)
        self._median.take(other._median, self.itl_ns)
        gaps = max(count - 1, 0)
        recent = [self._spent(position) for position in range(max(1, count - WINDOW), count)]
        self._judge.take(other._judge, gaps, recent)
        self._settle()

    def _settle(self) -> None:
        if self.token_count:
            self._newest_t = int(self.token_times[-1])
            self.last_pace = Pace(int(self.paces[-1]))
            self.last_cause = Cause(int(self.causes[-1]))

    def _spent(self, position: int) -> Spent:
        times = self.token_times
        return Spent(
            gap=int(times[position] - times[position - 1]),
            decode=int(self.decode_ns[position]),
            sample=int(self.sample_ns[position]),
            probability=self.likelihood.cost_ns(position),
            facts=self.facts.at(position),
        )

    @property
    def token_count(self) -> int:
        """Tokens generated so far; control and reasoning tokens count."""
        return len(self._times)

    @property
    def token_times(self) -> Int64Array:
        """When each token was available, shape (n,)."""
        return self._times.values

    @property
    def token_ids(self) -> Int64Array:
        """Vocabulary ids, shape (n,)."""
        return self._ids.values

    @property
    def decode_ns(self) -> Int64Array:
        """The engine's own time in ``llama_decode`` per token, shape (n,)."""
        return self._decode.values

    @property
    def sample_ns(self) -> Int64Array:
        """The engine's own sampling time per token, shape (n,)."""
        return self._sample.values

    @property
    def reasoning(self) -> Int64Array:
        """1 for each reasoning token, shape (n,)."""
        return self.kinds.reasoning

    @property
    def control(self) -> Int64Array:
        """1 for each control or end-of-generation token, shape (n,)."""
        return self.kinds.control

    @property
    def paces(self) -> Int64Array:
        """The ``Pace`` of each token against the median when it came, shape (n,)."""
        return self._paces.values

    @property
    def causes(self) -> Int8Array:
        """The ``Cause`` that disturbed each token, shape (n,); ``NONE`` for the first, and while it is too early."""
        causes = np.zeros(self.token_count, dtype=np.int8)
        judged = self._judge.causes
        causes[1 : 1 + len(judged)] = judged
        return causes

    @property
    def outliers(self) -> BoolArray:
        """Whether each token was disturbed: it took at least 1.5 times its usual time for a known cause, or twice."""
        return np.not_equal(self.causes, Cause.NONE)

    @property
    def usual_ns(self) -> int | None:
        """What an undisturbed token takes now; ``None`` while it is too early to tell. Constant cost."""
        usual = self._judge.usual_ns
        return int(usual[-1]) if len(usual) else None

    @property
    def disturbance(self) -> Disturbance | None:
        """How much of the decode was disturbed; ``None`` while it is too early to tell."""
        usual = self._judge.usual_ns
        suspended = self.facts.suspended_ns(1, len(usual) + 1)
        return disturbance(self.itl_ns[: len(usual)], usual, self._judge.causes, suspended)

    def explain(self, position: int) -> str:
        """Return one line on why the token at ``position`` (from 0) took as long as it did; only what is known."""
        times = self.token_times
        if position == 0:
            return explain_first(int(times[0]) - self.taken.t, self.facts.at(0).suspended_ns)
        spent = self._spent(position)
        judged = position <= len(self._judge.usual_ns)
        usual = int(self._judge.usual_ns[position - 1]) if judged else None
        return explain(spent, usual, Cause(self._judge.causes[position - 1]) if judged else Cause.NONE)

    @property
    def thread_changes(self) -> list[tuple[int, ThreadsChanged]]:
        """Each change of the number of threads, and how many tokens came before it."""
        return self._threads.placed(self.token_times)

    @property
    def fewer_threads(self) -> FewerThreads | None:
        """For how long the engine used fewer threads than on a quiet machine; ``None``: it never did."""
        return self._threads.fewer(self.token_times)

    @property
    def piece_ends(self) -> Int64Array:
        """How many bytes the answer had up to and with each token, shape (n,)."""
        return self._piece_ends.values

    def text_bytes(self, count: int) -> bytes:
        """The first ``count`` bytes of the answer."""
        return bytes(self._bytes[:count])

    def piece(self, position: int) -> bytes:
        """The bytes of the token at ``position`` (from 0, the token with index ``position + 1``)."""
        ends = self._piece_ends.values
        return bytes(self._bytes[int(ends[position - 1]) if position else 0 : int(ends[position])])

    @property
    def itl_ns(self) -> Int64Array:
        """Inter-token latencies, shape (n − 1,)."""
        return latency.itl_ns(self.token_times)

    @property
    def running_median_ns(self) -> float | None:
        """Median ITL so far to within 1 %, at constant cost; for drawing. Reports use ``percentiles``."""
        return self._median.value

    @property
    def median_ns(self) -> float | None:
        """What the other gaps are drawn against: ``running_median_ns``, and once the run is over its exact p50."""
        if self.end is None:
            return self._median.value
        if self._final_median is None:
            figures = self.percentiles
            self._final_median = None if figures is None else figures.p50
        return self._final_median

    @property
    def percentiles(self) -> latency.Percentiles | None:
        """p50, p95, p99 and maximum of the ITLs."""
        return latency.percentiles(self.itl_ns)

    @property
    def ttft_ns(self) -> int | None:
        """Time to first token."""
        return latency.ttft_ns(self.taken.t, self.token_times)

    @property
    def ttfa_ns(self) -> int | None:
        """Time to the first token that holds part of the answer; ``None`` also if that is unknown."""
        known = not self.reasoning_unknown
        return latency.ttfa_ns(self.taken.t, self.token_times, self.kinds.answer) if known else None

    @property
    def reasoning_tokens(self) -> int:
        """How many reasoning tokens there are."""
        return int(self.reasoning.sum())

    @property
    def reasoning_unknown(self) -> bool:
        """Whether the model may mark its reasoning in an unknown way."""
        return self.prompt is not None and self.prompt.reasoning_unknown

    @property
    def reasoning_closed(self) -> bool | None:
        """Whether the reasoning was closed; ``None`` if there is none, and while the generation goes on."""
        if not isinstance(self.end, Finished) or not (self.end.unclosed or self.kinds.reasoned.any()):
            return None
        return not self.end.unclosed

    @property
    def tpot_ns(self) -> float | None:
        """Mean time per output token."""
        return latency.tpot_ns(self.token_times)

    @property
    def e2e_ns(self) -> int | None:
        """Last token − request taken."""
        return latency.e2e_ns(self.taken.t, self.token_times)

    @property
    def elapsed_ns(self) -> int | None:
        """How long the answer took: to its last token, or to its end where it has none; ``None``: neither is there."""
        whole = self.e2e_ns
        return self.end.t - self.taken.t if whole is None and self.end is not None else whole

    @property
    def decode_ns_total(self) -> int | None:
        """Last token − first token; ``None`` below two tokens."""
        times = self.token_times
        return None if len(times) < 2 else int(times[-1]) - int(times[0])

    @property
    def decode_rate(self) -> float | None:
        """Tokens per second: (N − 1) / (last − first)."""
        total = self.decode_ns_total
        return None if total is None else latency.rate_per_second(self.token_count - 1, total)

    def recent_decode_rate(self, window_ns: int = 2_000_000_000) -> float | None:
        """Tokens per second over the last ``window_ns`` before the newest token; at least two tokens are taken."""
        times = self.token_times
        if len(times) < 2:
            return None
        first = min(int(np.searchsorted(times, times[-1] - window_ns)), len(times) - 2)
        return latency.rate_per_second(len(times) - 1 - first, int(times[-1]) - int(times[first]))

    @property
    def prompt_tokens(self) -> int | None:
        """Tokens of the prompt, cached ones included."""
        return None if self.prompt is None else len(self.prompt.tokens)

    @property
    def cached_tokens(self) -> int | None:
        """Prompt tokens that the KV cache held already."""
        return None if self.prompt is None else self.prompt.cached

    @property
    def evaluated_tokens(self) -> int | None:
        """Prompt tokens computed so far: processed ones without the cached ones."""
        if self.prompt is None:
            return None
        return 0 if self.progress is None else self.progress.processed - self.progress.cached

    @property
    def prefill_ns(self) -> int | None:
        """From the tokenized prompt to its last progress; complete once everything is processed."""
        if self.prompt is None or self.progress is None:
            return None
        end = self.progress.t if self._prefill_end is None else self._prefill_end
        return end - self.prompt.t

    @property
    def prefill_done(self) -> bool:
        """Whether the whole prompt has been processed."""
        return self._prefill_end is not None

    @property
    def prefill_rate(self) -> float | None:
        """Prompt tokens evaluated (cached ones left out) per second of prefill."""
        evaluated, duration = self.evaluated_tokens, self.prefill_ns
        return None if evaluated is None or duration is None else latency.rate_per_second(evaluated, duration)

    @property
    def slowdown(self) -> float | None:
        """How many times longer a token takes to write than to read: prefill rate / decode rate.

        ``None`` without both, and below ``FEWEST_READ`` tokens read: a handful of prompt tokens, as after a cached
        prompt, is computed like written ones and says nothing of reading.
        """
        reading, writing = self.prefill_rate, self.decode_rate
        if reading is None or writing is None or (self.evaluated_tokens or 0) < FEWEST_READ:
            return None
        return reading / writing

    @property
    def context_used(self) -> int:
        """Tokens of the context that this run occupies so far."""
        if self.token_count:
            return (self.prompt_tokens or 0) + self.token_count
        return 0 if self.progress is None else self.progress.processed

    @property
    def finish_reason(self) -> str | None:
        """``stop``, ``length``, ``context``, ``cancelled``, ``failed``; ``None`` while it runs."""
        if self.end is None:
            return None
        return self.end.reason if isinstance(self.end, Finished) else "failed"
