"""The format of a script: JSON Lines, played in order.

One object a line, blank lines and lines that begin with ``#`` skipped. ``ms`` is the time until the event.

========================================================  ==========================================================
``{"model": {"name": "x", "context": 4096}}``              what the engine says of itself (any of the fields)
``{"load_ms": 200}``                                       loading takes that long
``{"load_error": "no such tensor"}``                       loading fails
``{"load_signal": 11}``                                    loading ends with that signal
``{"prefill": 512, "cached": 0, "ms": 900}``               a prompt of that many tokens is read
``{"text": "Hel", "ms": 7}``                               a token
``{"hex": "f09f", "ms": 7}``                               a token of these bytes
``{"think": "hm", "ms": 7}``                               a reasoning token
``{"control": "<|im_end|>", "ms": 7}``                     a control token
``{"threads": {"from": 2, "to": 1, "why": "exact"}}``      the threads change
``{"log": "context shifted"}``                             a line in the log that is shown
``{"stderr": "ggml: out of memory"}``                      native output
``{"error": "out of memory", "remedy": "smaller -c"}``     the generation fails
``{"signal": 9}``                                          the engine's process is ended by that signal
``{"stop": "length"}``                                     the generation ends with that reason
``{"signal": 11, "repack": true}``                         either signal, only where weights may be repacked
``{"repeat": 1000, "text": " tok", "ms": 6.6}``            any line, that many times
========================================================  ==========================================================

A token's line may say more about the token::

    {"text": "x", "ms": 92, "facts": {"involuntary": 37, "wait_ms": 82, "minor_faults": 0, "major_faults": 0}}
    {"text": " the", "ms": 7, "logprob": -0.4, "top": [[" the", -0.4], [" a", -1.9]], "entropy": 1.1}

The ``template`` of the model's facts stands for its chat template: reasoning tags that it contains also count in the
text (``{"model": {"template": "<think></think>"}}``), and a tag that it ends with, such as ``<think>``, is open when
the answer begins.

``facts`` has ``involuntary``, ``voluntary`` (switches), ``minor_faults``, ``major_faults``, ``read_bytes``,
``wait_ms``, ``longest_wait_ms``, ``suspended_ms`` and ``cpu_ms``, which become the token's scheduling facts, and
``sample_ms`` and ``rest_ms``, which say how much of the time went to sampling and to neither sampling nor decode. What
is left out is not known; a line without ``facts`` has none. ``logprob`` (natural logarithm), ``top``, ``rank``
(default: its place in ``top``), ``entropy`` (nats, default 0) and ``probability_ms`` (the cost) become the probability
facts, which are sent only while they are asked for.

A request plays up to a ``stop``, an ``error`` or the end of the file; the next request goes on from there, and from the
beginning after the end.
"""

import signal
import stat
from pathlib import Path
from zlib import crc32

import msgspec

from ..events import FinishReason, ThreadsReason
from ..token_facts import Alternative, Probability
from .facts import ScriptedFacts, nanoseconds

_LONGEST_MS = 1_000_000_000
_OTHER_IDS = 2**20  # beyond any number of tokens, since a script's tokens have their number as id

_KINDS = (
    "model",
    "load_ms",
    "load_error",
    "load_signal",
    "prefill",
    "text",
    "hex",
    "think",
    "control",
    "threads",
    "log",
    "stderr",
    "error",
    "signal",
    "stop",
)


class ScriptError(Exception):
    """A line that cannot be played; the message names it."""


class ScriptedModel(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a scripted engine says of itself."""

    name: str = "scripted"
    architecture: str = "script"
    quantization: str = "none"
    bytes: int = 0
    parameters: int = 0
    trained_context: int = 4096
    context: int = 4096
    layers: int = 0
    kv_bytes_per_token: int = 0
    weight_bytes_per_token: int | None = None
    weight_bytes_per_pass: int | None = None
    template: str = "script"
    devices: tuple[str, ...] = ("script",)


class ScriptedThreads(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the number of threads changes."""

    before: int = msgspec.field(name="from")
    after: int = msgspec.field(name="to")
    why: ThreadsReason


class Line(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One line; exactly one of the fields that name a kind is given."""

    model: ScriptedModel | None = None
    load_ms: float | None = None
    load_error: str | None = None
    load_signal: int | None = None
    prefill: int | None = None
    text: str | None = None
    hex: str | None = None
    think: str | None = None
    control: str | None = None
    threads: ScriptedThreads | None = None
    log: str | None = None
    stderr: str | None = None
    error: str | None = None
    signal: int | None = None
    stop: FinishReason | None = None
    cached: int = 0
    ms: float = 0.0
    repeat: int = 1
    remedy: str = ""
    facts: ScriptedFacts | None = None
    logprob: float | None = None
    rank: int | None = None
    top: tuple[tuple[str, float], ...] = ()
    entropy: float = 0.0
    probability_ms: float = 0.0
    repack: bool = False
    """Of a signal: only where weights may be repacked."""

    @property
    def piece(self) -> bytes | None:
        """The bytes of the token that this line stands for; ``None`` when it stands for something else."""
        if self.hex is not None:
            return bytes.fromhex(self.hex)
        text = next((text for text in (self.text, self.think, self.control) if text is not None), None)
        return None if text is None else text.encode()


def probability(line: Line, token: int) -> Probability | None:
    """Return the probability facts of a token's line; ``token``: the id of that token.

    A script has no vocabulary, so other tokens get ids made of their bytes.
    """
    if line.logprob is None:
        return None
    top = tuple(
        Alternative(
            token if (piece := text.encode()) == line.piece else _OTHER_IDS + crc32(piece) % 2**30, piece, logprob
        )
        for text, logprob in line.top
    )
    rank = 1 + sum(logprob > line.logprob for _, logprob in line.top) if line.rank is None else line.rank
    cost = nanoseconds(line.probability_ms) or 0
    return Probability(logprob=line.logprob, rank=rank, entropy_nats=line.entropy, top=top, cost_ns=cost)


class Script(msgspec.Struct, frozen=True):
    """A parsed script: how the engine loads, and the lines that requests play."""

    model: ScriptedModel
    load_ms: float
    load_error: str | None
    load_signal: int | None
    lines: tuple[Line, ...]


def read_script(path: Path, *, repack: bool = True) -> Script:
    """Parse a script; ``repack``: whether weights may be repacked. Raises ScriptError, which names the line, and
    OSError."""
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise ScriptError("it is a device or a pipe, not a file")
    return parse_script(path.read_bytes(), repack=repack)


def parse_script(data: bytes, *, repack: bool = True) -> Script:
    """Parse the bytes of a script, as ``read_script``. Raises ScriptError, which names the line."""
    decoder = msgspec.json.Decoder(Line)
    model, load_ms, load_error, load_signal, lines = ScriptedModel(), 0.0, None, None, []
    for number, raw in enumerate(data.splitlines(), start=1):
        if not raw.strip() or raw.lstrip().startswith(b"#"):
            continue
        try:
            line = decoder.decode(raw)
            _check(line)
        except (msgspec.MsgspecError, ValueError) as error:
            raise ScriptError(f"line {number}: {error}") from error
        if line.repack and not repack:
            continue
        model = line.model or model
        load_ms += line.load_ms or 0.0
        load_error = load_error if line.load_error is None else line.load_error
        load_signal = load_signal if line.load_signal is None else line.load_signal
        if all(told is None for told in (line.model, line.load_ms, line.load_error, line.load_signal)):
            lines.append(line)
    return Script(model, load_ms, load_error, load_signal, tuple(lines))


def _check(line: Line) -> None:
    kinds = [kind for kind in _KINDS if getattr(line, kind) is not None]
    if len(kinds) != 1:
        known = ", ".join(_KINDS)
        raise ValueError(f"one of {known} is needed, not {' and '.join(kinds) or 'none of them'}")
    if line.ms < 0 or line.repeat < 0 or (line.load_ms or 0) < 0:
        raise ValueError("times and counts cannot be negative")
    if max(line.ms, line.load_ms or 0) > _LONGEST_MS:
        raise ValueError(f"times end at {_LONGEST_MS:,} ms")
    if line.model is not None and line.model.context < 1:
        raise ValueError("the context holds at least 1 token")
    if line.prefill is not None and not 0 <= line.cached <= line.prefill:
        raise ValueError(f"{line.cached} of {line.prefill} tokens cannot be cached")
    if line.threads is not None and min(line.threads.before, line.threads.after) < 1:
        raise ValueError("there is at least 1 thread")
    if line.hex is not None:
        bytes.fromhex(line.hex)
    _check_facts(line)
    number = line.signal if line.load_signal is None else line.load_signal
    if number is not None:
        signal.Signals(number)
    elif line.repack:
        raise ValueError("`repack` goes only with a signal")


def _check_facts(line: Line) -> None:
    facts = line.facts or ScriptedFacts()
    numbers = [line.rank, line.entropy, line.probability_ms, *msgspec.structs.astuple(facts)]
    if any(number is not None and not 0 <= number <= _LONGEST_MS for number in numbers):
        raise ValueError(f"facts go from 0 to {_LONGEST_MS:,}")
    logprobs = [logprob for logprob in (line.logprob, *(logprob for _, logprob in line.top)) if logprob is not None]
    if not all(-_LONGEST_MS <= logprob <= 0 for logprob in logprobs):
        raise ValueError("the logarithm of a probability is at most 0")
    if line.piece is None and (line.facts is not None or line.logprob is not None):
        raise ValueError("only a token has facts")
    if line.logprob is None and (line.top or line.rank is not None):
        raise ValueError("top and rank need a logprob")
