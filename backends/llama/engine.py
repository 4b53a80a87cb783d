"""The llama.cpp engine: one model, one request after the other."""

import secrets
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

from ..engine import Control, EngineError, Report
from ..events import LoadProgress, Log, ModelReady, PromptReady, RequestTaken, Tokenized
from ..reasoning import ReasoningSplitter
from ..reasoning_marks import UNKNOWN_REASONING, unknown_reasoning
from ..requests import MeasureRequest, Request, Sampling, ScoreRequest
from ..token_facts import Probability
from ..usage import ProcessUsage
from ..wire import OpenLlama
from .bindings import llama_cpp
from .complaints import Complaints
from .engine_threads import EngineThreads, Threads
from .generation import Generation
from .loading import (
    file_text,
    load_model,
    model_text,
    offloaded_layers,
    open_context,
    plan_context,
    used_devices,
)
from .memory import SequenceMemory
from .native import NativeLog
from .prompt import chat_tokens
from .sampling import Sampler
from .scheduler import Scheduler, Sequence
from .template import ChatTemplate
from .vocabulary import Vocabulary
from .warmup import warm_up

if TYPE_CHECKING:
    from .measuring import Meter
    from .probabilities import ProbabilityReader
    from .scoring import Scorer

_SEQUENCE = 0
_TAG_TOKENS = 32  # enough for the longest tag or header that a prompt may end with
_RAW = "Use --raw to complete the prompt as it stands."


class LlamaEngine:
    """An ``Engine`` on llama.cpp's low-level C API."""

    def __init__(self, opening: OpenLlama) -> None:
        self._opening = opening
        self._complaints = Complaints()
        self._log = NativeLog(self._complaints.observe)  # llama.cpp calls it for as long as this process lives
        self._requests = 0
        self._probability_reader: ProbabilityReader | None = None
        self._scorer: Scorer | None = None
        self._meter: Meter | None = None
        self._metered: Threads | None = None

    def load(self, report: Report) -> ModelReady:
        """See ``Engine``."""
        started = time.perf_counter_ns()
        log = self._log
        log.install()
        llama_cpp.llama_backend_init()
        settings = self._opening.settings
        used = used_devices(settings)
        size = plan_context(self._opening, used)
        if size.note:
            text = f"Context: {size.tokens:,} tokens, {size.note}."
            if size.overlong:
                text += f" Answers get worse beyond that: use -c {self._opening.trained_context}."
            report(Log(t=time.perf_counter_ns(), level="warning" if size.overlong else "info", text=text))
        model = load_model(
            self._opening,
            log,
            lambda fraction: report(LoadProgress(t=time.perf_counter_ns(), fraction=fraction)),
        )
        node_progress = not any(device.is_gpu and not device.name.startswith("Metal") for device in used)
        rollback = not (llama_cpp.llama_model_is_recurrent(model) or llama_cpp.llama_model_is_hybrid(model))
        loaded = open_context(model, settings, size, log)
        self._context_tokens = size.tokens
        self._vocabulary = Vocabulary(model)
        self._template = template = self._read_template(model)
        unknown = [UNKNOWN_REASONING] if unknown_reasoning(self._template_source) else []
        for text in dict.fromkeys((*self._opening.warnings, *self._complaints.sentences, *unknown)):
            report(Log(t=time.perf_counter_ns(), level="warning", text=text))
        self._scheduler = Scheduler(
            loaded.handle, loaded.batch, loaded.micro_batch, node_progress=node_progress, rollback=rollback
        )
        self._context = loaded.handle
        self._loaded = loaded
        self._threads = EngineThreads(
            loaded.handle,
            loaded.threads,
            loaded.micro_batch,
            adapt=settings.adapt_threads and settings.threads is None,
            adapt_batch=settings.threads_batch is None,
        )
        self._memory = SequenceMemory(loaded.handle, _SEQUENCE, loaded.batch, loaded.micro_batch, rollback=rollback)
        loaded_at = time.perf_counter_ns()
        warm_up(loaded.handle, self._scheduler, self._vocabulary, loaded.micro_batch, self._context_tokens)
        ready = time.perf_counter_ns()
        return ModelReady(
            t=ready,
            name=self._opening.name,
            file=file_text(self._opening.path),
            architecture=model_text(model, "general.architecture"),
            quantization=self._opening.quantization,
            requantized_from=self._opening.requantized_from,
            dominant_type=self._opening.dominant_type,
            bytes=llama_cpp.llama_model_size(model),
            parameters=llama_cpp.llama_model_n_params(model),
            trained_context=llama_cpp.llama_model_n_ctx_train(model),
            context=self._context_tokens,
            context_note=size.note,
            layers=llama_cpp.llama_model_n_layer(model),
            gpu_layers=offloaded_layers(model, settings, used),
            threads=loaded.threads.decode,
            threads_batch=loaded.threads.batch,
            micro_batch=loaded.micro_batch,
            devices=tuple(device.name for device in used),
            template=template.name if isinstance(template, ChatTemplate) else "",
            template_note="" if isinstance(template, ChatTemplate) else f"{template.what} {template.reason}".rstrip(),
            kv_bytes_per_token=self._opening.kv_bytes_per_token,
            weight_bytes_per_token=self._opening.weight_bytes_per_token,
            weight_bytes_per_pass=self._opening.weight_bytes_per_pass,
            sliding_window=self._opening.sliding_window,
            attention_growth=self._opening.attention_growth,
            progress="node" if node_progress else "micro-batch",
            rollback=rollback,
            load_ns=loaded_at - started,
            warmup_ns=ready - loaded_at,
        )

    def generate(self, request: Request, control: Control, report: Report) -> None:
        """See ``Engine``."""
        taken = time.perf_counter_ns()
        with closing(ProcessUsage()) as usage:
            self._serve(request, control, report, taken, usage)

    def _serve(self, request: Request, control: Control, report: Report, taken: int, usage: ProcessUsage) -> None:
        self._requests += 1
        seed = request.sampling.seed if request.sampling.seed >= 0 else secrets.randbits(32)
        report(
            RequestTaken(
                t=taken,
                request=self._requests,
                messages=request.messages,
                prompt=request.prompt or "",
                sampling=request.sampling,
                seed=seed,
                max_tokens=request.max_tokens,
                stop=request.stop,
            )
        )
        prompt = self._tokenize(request)
        if len(prompt) >= self._context_tokens:
            raise EngineError(
                f"The prompt has {len(prompt):,} tokens and the context holds {self._context_tokens:,}.",
                remedy="Use a shorter prompt, or ask for a larger context (-c).",
            )
        if not request.cache_prompt:
            self._memory.drop()
        cached = self._memory.reuse(prompt, exact=request.sampling.determined)
        sampler = self._sampler(request.sampling, seed)
        sampler.observe(prompt)
        sequence = Sequence(_SEQUENCE, prompt, cached, sampler)
        self._scheduler.sequences = [sequence]
        report(
            PromptReady(
                t=time.perf_counter_ns(),
                tokens=tuple(prompt),
                cached=cached,
                reasoning_unknown=unknown_reasoning(self._template_source),
            )
        )
        generation = Generation(
            self._scheduler,
            sequence,
            self._vocabulary,
            request,
            context_tokens=self._context_tokens,
            splitter=self._splitter(prompt),
            usage=usage,
            probability=self._probability,
            control=control,
            report=report,
            threads=self._threads,
        )
        self._threads.begin(report, exact=request.sampling.determined)
        try:
            report(generation.run())
        finally:
            self._threads.end()
            self._memory.settle(sequence)
            self._scheduler.sequences = []
            sampler.close()

    def score(self, request: ScoreRequest, control: Control, report: Report) -> None:
        """See ``Engine``."""
        self._check_text(request)
        report(self._ready_scorer().score(request, self._memory, _SEQUENCE, control))

    def tokenize(self, text: str, report: Report) -> None:
        """See ``Engine``."""
        vocabulary = self._vocabulary
        tokens = vocabulary.with_bos(vocabulary.tokenize(text, parse_special=False))
        bos = vocabulary.bos if vocabulary.adds_bos and vocabulary.bos >= 0 else None
        report(Tokenized(t=time.perf_counter_ns(), tokens=tuple(tokens), bos=bos))

    def measure(self, request: MeasureRequest, control: Control, report: Report) -> None:
        """See ``Engine``."""
        own = self._loaded.threads
        threads = own if request.threads is None else Threads(request.threads, request.threads)
        if self._meter is None or threads != self._metered:
            from .measuring import Meter, measured_with

            # Nothing is left of what other threads have computed, and the random tokens begin anew.
            self._memory.drop()
            self._meter = Meter(self._scheduler, self._memory, self._vocabulary, _SEQUENCE, self._context_tokens)
            self._metered = threads
            report(measured_with(self._context, repack=self._opening.settings.repack))
        self._threads.use(threads)
        try:
            report(self._meter.measure(request, control, report))
        finally:
            self._threads.use(None)

    def _check_text(self, request: ScoreRequest) -> None:
        count = len(request.tokens)
        if not 1 <= request.first < count:
            raise EngineError("There is nothing to score.", remedy="Give a text of at least two tokens.")
        if count > self._context_tokens + 1:
            raise EngineError(
                f"The text has {count:,} tokens and the context holds {self._context_tokens:,}.",
                remedy="Use a shorter text, or ask for a larger context (-c).",
            )
        if not (min(request.tokens) >= 0 and max(request.tokens) < self._vocabulary.size):
            raise EngineError(
                "The text has tokens that this model does not know.",
                f"Its vocabulary has {self._vocabulary.size:,} tokens.",
                "Score texts with models of the same vocabulary.",
            )

    def _ready_scorer(self) -> "Scorer":
        if self._scorer is None:
            from .scoring import Scorer

            loaded = self._loaded
            self._scorer = Scorer(
                loaded.handle,
                self._scheduler,
                self._vocabulary,
                micro_batch=loaded.micro_batch,
                threads=loaded.threads.batch,
            )
        return self._scorer

    def prepare_probabilities(self) -> None:
        """See ``Engine``. Imports numpy, which takes longer than ten tokens."""
        from . import probabilities  # noqa: F401

    def _probability(self, token: int, logits_at: int) -> Probability | None:
        if self._probability_reader is None:
            from .probabilities import ProbabilityReader

            self._probability_reader = ProbabilityReader(self._context, self._vocabulary)
        return self._probability_reader.read(token, logits_at)

    @property
    def _template_source(self) -> str:
        return self._template.source if isinstance(self._template, ChatTemplate) else ""

    def _splitter(self, prompt: list[int]) -> ReasoningSplitter:
        end = b"".join(self._vocabulary.control_piece(token) for token in prompt[-_TAG_TOKENS:])
        return ReasoningSplitter(self._template_source, end.decode("utf-8", "replace"))

    def _tokenize(self, request: Request) -> list[int]:
        if request.prompt is not None:
            tokens = self._vocabulary.with_bos(self._vocabulary.tokenize(request.prompt, parse_special=True))
        elif isinstance(self._template, EngineError):
            raise EngineError(self._template.what, self._template.reason, _RAW)
        else:
            tokens = chat_tokens(self._template, self._vocabulary, request.messages)
        if not tokens:
            raise EngineError("The prompt is empty.", remedy="Type a prompt.")
        return tokens

    def _sampler(self, sampling: Sampling, seed: int) -> Sampler:
        suppressed = self._vocabulary.end_of_generation if sampling.ignore_eos else ()
        return Sampler(sampling, seed, self._vocabulary.size, self._context_tokens, suppressed)

    def _read_template(self, model: Any) -> ChatTemplate | EngineError:
        """Compile the template in the file; if it is not usable, requests that need it fail with the reason."""
        source = llama_cpp.llama_model_chat_template(model, None)
        if not source:
            return EngineError("This model has no chat template.", remedy=_RAW)
        vocabulary = self._vocabulary
        try:
            return ChatTemplate(
                source.decode("utf-8", "replace"), vocabulary.text(vocabulary.bos), vocabulary.text(vocabulary.eos)
            )
        except EngineError as error:
            return error
