"""What is known about the model, the conversation and the generation that is under way; no drawing."""

from enum import Enum, auto
from typing import TYPE_CHECKING, assert_never

import msgspec
from msgspec.structs import replace

from ..backends.events import (
    Event,
    Failed,
    Finished,
    LoadProgress,
    Log,
    Measured,
    MeasuredWith,
    ModelReady,
    PrefillProgress,
    PromptReady,
    Quantized,
    QuantizeProgress,
    RequestTaken,
    Scored,
    ThreadsChanged,
    Token,
    Tokenized,
)
from ..backends.requests import Message, Request, Sampling
from ..backends.text import Piece
from .transcript import AnswerText, Turn, turns_of

if TYPE_CHECKING:
    from ..metrics.floor import MemoryFloor, NoFloor
    from ..metrics.prefill import PrefillForecast
    from ..metrics.reuse import LostReuse
    from ..metrics.run import Run


class Phase(Enum):
    """Where the scope stands."""

    CHOOSING = auto()
    """No model is chosen yet."""
    LOADING = auto()
    WARMING_UP = auto()
    MEASURING = auto()
    """The engine is ready and idle; the machine's memory is being measured."""
    READY = auto()
    WAITING = auto()
    """Asked; the engine has not yet said how long the prompt is."""
    PREFILL = auto()
    DECODE = auto()
    DONE = auto()
    CANCELLED = auto()
    FAILED = auto()
    """The generation failed; the engine takes the next request."""
    GONE = auto()
    """There is no engine any more."""


BUSY = frozenset({Phase.WAITING, Phase.PREFILL, Phase.DECODE})
STARTING = frozenset({Phase.LOADING, Phase.WARMING_UP, Phase.MEASURING})


class Changes(msgspec.Struct):
    """What a batch of events changed."""

    pieces: list[Piece] = msgspec.field(default_factory=list)
    ended: Finished | Failed | None = None
    """The generation that was under way has ended."""
    became_ready: bool = False
    taken: list[Turn] | None = None
    """The conversation of a request that this session did not ask for; what was there before is gone."""


class Session:
    """Applies events; owns no clock, no process and no widget."""

    def __init__(
        self,
        *,
        sampling: Sampling,
        max_tokens: int = -1,
        stop: tuple[str, ...] = (),
        system: str | None = None,
        raw: bool = False,
        probabilities: bool = False,
        recorded: bool = False,
    ) -> None:
        """``probabilities``: requests ask for probability facts whatever is looked at.

        ``recorded``: what is shown comes from a file, and was measured on the machine where that was made.
        """
        self.configure(sampling=sampling, max_tokens=max_tokens, stop=stop, system=system)
        self._asked_raw = raw
        self.recorded = recorded
        self.turns: list[Turn] = []
        self.phase = Phase.LOADING
        self.model: ModelReady | None = None
        self.load_fraction = 0.0
        self.run: Run | None = None
        self.failure: Failed | None = None
        self.warnings: list[str] = []
        """The warnings of the engine in use, each once."""
        self.keeps_probabilities = self.probabilities = probabilities
        """Whether requests ask for probability facts, at any time and now."""
        self.stopping = False
        """The generation under way has been told to stop."""
        self.bandwidth: float | None = None
        """Bytes per second that the memory gives to as many threads as the model uses."""
        self.threads: int | None = None
        """How many threads the engine computes with now, if that is not the model's usual number; else ``None``."""
        self._context_before = 0
        self._earlier: Run | None = None
        """The previous run on the same engine."""
        self.lost_reuse: LostReuse | None = None
        """What the run could not reuse of the cache, although it belongs to the same conversation."""
        self._of_last_engine: Run | None = None
        """A run whose engine is gone: nothing of it is in the context any more."""
        self._forecast: PrefillForecast | None = None
        """The last run's."""
        self._answer = AnswerText()
        self._asked = False
        """A request of this session's own is on its way to the engine."""

    def configure(self, *, sampling: Sampling, max_tokens: int, stop: tuple[str, ...], system: str | None) -> None:
        """Set how the next requests ask; ``system``: the system prompt."""
        self.sampling = sampling
        self.max_tokens = max_tokens
        self._stop = stop
        self._system = system

    @property
    def raw(self) -> bool:
        """Whether prompts are completed as they stand: asked for, or the model has no chat template."""
        return self._asked_raw or (self.model is not None and not self.model.template)

    @property
    def busy(self) -> bool:
        """Whether a generation is under way."""
        return self.phase in BUSY

    @property
    def starting(self) -> bool:
        """Whether the model is being loaded or warmed up."""
        return self.phase in STARTING

    @property
    def answer_text(self) -> str:
        """The last answer as it was generated, without reasoning; the reasoning when there is nothing else."""
        return self._answer.text

    @property
    def last_prompt(self) -> str | None:
        """What was asked last."""
        return self.turns[-1].prompt if self.turns else None

    @property
    def context_used(self) -> int:
        """Tokens in the context, as far as is known; what was there before while a prompt is not yet taken."""
        if self.run is None or self.run.prompt is None or self.run is self._of_last_engine:
            return self._context_before
        return max(self.run.context_used, self.run.prompt.cached)

    @property
    def floor(self) -> "MemoryFloor | NoFloor | None":
        """The floor of the time per token on the machine that generates, or why there is none.

        ``None``: no model is ready.
        """
        if self.model is None:
            return None
        from ..metrics.floor import NoFloor, memory_floor

        floor = memory_floor(self.model, self.bandwidth)
        return NoFloor.NOT_RECORDED if self.recorded and floor is NoFloor.NOT_MEASURED else floor

    def measure(self) -> None:
        """Hold prompts back until the memory has been measured."""
        self.phase = Phase.MEASURING

    def measured(self, bytes_per_second: float | None, threads: int) -> None:
        """Take the memory's bandwidth, None where it could not be measured; of no use to a model of other threads."""
        if self.model is None or self.model.threads != threads:
            return
        self.bandwidth = bytes_per_second
        if self.phase is Phase.MEASURING:
            self.phase = Phase.READY

    def stop(self) -> None:
        """Take the generation under way for one that ends soon."""
        self.stopping = self.busy

    def choosing(self) -> None:
        """Wait for a model to be chosen."""
        self.phase = Phase.CHOOSING

    def engine_started(self) -> None:
        """Wait for an engine to load; the conversation stays."""
        self._asked = False
        self.phase = Phase.LOADING
        self._context_before = 0
        self._of_last_engine = self.run
        self._earlier = None
        self.model = None
        self.load_fraction = 0.0
        self.failure = None
        self.warnings.clear()

    def ask(self, prompt: str) -> Request:
        """Begin a turn and return what to ask the engine.

        A turn that has no answer (stopped or failed before its first token) is left out of what the model reads:
        chat templates refuse two user turns in a row.
        """
        self.turns.append(Turn(prompt))
        return self._begin()

    def ask_again(self) -> Request | None:
        """Begin the last turn anew; None when there is none."""
        if not self.turns:
            return None
        self.turns[-1].answer = None
        return self._begin()

    def take_back(self) -> str | None:
        """Remove the last turn and return its prompt; None when there is none."""
        if not self.turns:
            return None
        self._forget_answer()
        if self.phase is not Phase.GONE:
            self.phase = Phase.READY
        return self.turns.pop().prompt

    def clear(self) -> None:
        """Forget the conversation and the last run."""
        self.turns.clear()
        self._forget_answer()
        self._context_before = 0
        if self.model is not None and self.phase is not Phase.GONE:
            self.phase = Phase.READY

    def _begin(self) -> Request:
        self._forget_answer()
        self.phase = Phase.WAITING
        self._asked = True
        if self.raw:
            return self._request(prompt=self.turns[-1].prompt)
        messages = [Message("system", self._system)] if self._system else []
        for turn in self.turns[:-1]:
            if turn.answer is not None:
                messages += [Message("user", turn.prompt), Message("assistant", turn.answer)]
        messages.append(Message("user", self.turns[-1].prompt))
        return self._request(messages=tuple(messages))

    def _request(self, *, messages: tuple[Message, ...] = (), prompt: str | None = None) -> Request:
        return Request(
            messages=messages,
            prompt=prompt,
            sampling=self.sampling,
            max_tokens=self.max_tokens,
            stop=self._stop,
            probabilities=self.probabilities,
        )

    def _forget_answer(self) -> None:
        self._context_before = self.context_used
        self.stopping = False
        self.lost_reuse = None
        if self.run is not None:
            self._forecast = self.run.forecast
            self._earlier = None if self.run is self._of_last_engine else self.run
        self.run = None
        if self.phase is not Phase.GONE:
            self.failure = None
        self._answer = AnswerText()

    def apply(self, events: list[Event]) -> Changes:
        """Take in events in order and say what changed."""
        changes = Changes()
        for event in events:
            self._apply(event, changes)
        return changes

    def _apply(self, event: Event, changes: Changes) -> None:
        match event:
            case Token():  # first, since there are so many
                self._token(event, changes)
            case LoadProgress():
                if not event.fraction and self.model is not None:  # another model, as in a recording
                    self.warnings.clear()
                self.load_fraction = event.fraction
                self.phase = Phase.WARMING_UP if event.fraction >= 1 else Phase.LOADING
            case ModelReady():
                self.model = event
                self._forecast = None
                self.bandwidth = self.threads = None
                self.phase = Phase.READY
                changes.became_ready = True
                if event.template_note and not self._asked_raw:
                    self._warn(f"{event.template_note} Prompts are completed as plain text.")
            case Log():
                if event.level != "info":
                    self._warn(event.text)
            case RequestTaken():
                if not self._asked:
                    self._adopt(event, changes)
                self._asked = False
                self.run = self._new_run(event)
            case ThreadsChanged():
                self._to_run(event)
                usual = self.model is not None and event.after >= self.model.threads
                self.threads = None if usual else event.after
            case PromptReady() | PrefillProgress():
                self._to_run(event)
                self.phase = Phase.PREFILL
                if isinstance(event, PromptReady):
                    self._compare_with_cache()
            case Finished():
                self._to_run(event)
                self._end(event, changes)
                self.phase = Phase.CANCELLED if event.reason == "cancelled" else Phase.DONE
            case Failed():
                self._failed(event, changes)
            case Tokenized() | Scored() | QuantizeProgress() | Quantized() | MeasuredWith() | Measured():
                pass  # of a comparison or a measurement; none of one conversation
            case _:
                assert_never(event)

    def _warn(self, text: str) -> None:
        if text not in self.warnings:
            self.warnings.append(text)

    def _adopt(self, taken: RequestTaken, changes: Changes) -> None:
        """Take over the conversation of a request that somebody else has made, as in a recording."""
        self._forget_answer()
        self.sampling, self.max_tokens = taken.sampling, taken.max_tokens
        self._asked_raw = not taken.messages
        self.turns = turns_of(taken)
        self.phase = Phase.WAITING
        changes.taken = [replace(turn) for turn in self.turns]  # as they were before the answer
        changes.pieces.clear()

    def _new_run(self, taken: RequestTaken) -> "Run":
        # numpy is loaded when the first run begins and not before the first frame.
        from ..metrics.prefill import forecast_for
        from ..metrics.run import Run

        return Run(taken, None if self.model is None else forecast_for(self.model, self._forecast))

    def _compare_with_cache(self) -> None:
        if self._earlier is not None and self.run is not None and self.model is not None:
            from ..metrics.reuse import lost_reuse

            self.lost_reuse = lost_reuse(self._earlier, self.run, self.model)

    def _to_run(self, event: Event) -> None:
        if self.run is not None:
            self.run.apply(event)

    def _token(self, token: Token, changes: Changes) -> None:
        if self.run is None:
            return
        self.run.apply(token)
        self.phase = Phase.DECODE
        changes.pieces += self._answer.feed(token)

    def _failed(self, failed: Failed, changes: Changes) -> None:
        self.failure = failed
        if self.busy:
            self._to_run(failed)
            self._end(failed, changes)
        self.phase = Phase.FAILED if failed.stage == "generate" else Phase.GONE

    def _end(self, end: Finished | Failed, changes: Changes) -> None:
        changes.pieces += self._answer.finish(end if isinstance(end, Finished) else None)
        self.stopping = self._asked = False
        changes.ended = end
        # Reasoning alone is not an answer that can be given back to the model.
        if self.turns and self._answer.begun and (self._answer.answer or not self._answer.apart):
            self.turns[-1].answer = self._answer.answer
