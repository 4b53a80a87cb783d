"""The records on the engine's pipes: events to the parent, commands to the child, as JSON Lines."""

import msgspec

from .events import Event
from .requests import EngineSettings, MeasureRequest, Request, ScoreRequest


class OpenLlama(msgspec.Struct, frozen=True, tag_field="command", tag="open_llama"):
    """Load a GGUF file with llama.cpp; always the first command."""

    path: bytes
    """File system path; bytes, since a path need not be text."""
    name: str
    quantization: str
    bytes: int
    """Size of the weights."""
    trained_context: int
    kv_bytes_per_token: int
    settings: EngineSettings
    weight_bytes_per_token: int | None = None
    weight_bytes_per_pass: int | None = None
    sliding_window: int | None = None
    attention_growth: float | None = None
    requantized_from: str = ""
    dominant_type: str = ""
    warnings: tuple[str, ...] = ()
    """Warnings about the quality of the answers, from the header; sent as ``log`` while the model is loaded."""


class OpenScript(msgspec.Struct, frozen=True, tag_field="command", tag="open_script"):
    """Play a script; always the first command."""

    path: bytes
    settings: EngineSettings


class OpenQuantizer(msgspec.Struct, frozen=True, tag_field="command", tag="open_quantizer"):
    """Write another quantization of a GGUF file; always the first command, and the only one."""

    path: bytes
    """File system path of the source, of the first part of a split one."""
    name: str
    """What the source is called."""
    quantization: str
    """What is to be made."""
    folder: bytes
    """Where it is to be kept."""


class Generate(msgspec.Struct, frozen=True, tag_field="command", tag="generate"):
    """Serve a request, after those before it."""

    request: Request


class Tokenize(msgspec.Struct, frozen=True, tag_field="command", tag="tokenize"):
    """Cut a text into tokens, after the requests before it."""

    text: str


class Score(msgspec.Struct, frozen=True, tag_field="command", tag="score"):
    """Score a stretch of a text, after the requests before it."""

    request: ScoreRequest


class Measure(msgspec.Struct, frozen=True, tag_field="command", tag="measure"):
    """Compute and time random tokens, after the requests before it."""

    request: MeasureRequest


class Cancel(msgspec.Struct, frozen=True, tag_field="command", tag="cancel"):
    """Cancel all requests sent so far."""


class Probabilities(msgspec.Struct, frozen=True, tag_field="command", tag="probabilities"):
    """Switch probability facts on or off for all requests sent so far."""

    on: bool


Command = OpenLlama | OpenScript | OpenQuantizer | Generate | Tokenize | Score | Measure | Cancel | Probabilities

_encoder = msgspec.json.Encoder()


def encode(record: Event | Command) -> bytes:
    """Return one line, newline included."""
    return _encoder.encode(record) + b"\n"


class _Lines:
    """Cuts a byte stream into lines; what follows the last newline waits for more."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[bytes]:
        *lines, self._rest = (self._rest + data).split(b"\n")
        return lines


class EventReader:
    """Turns bytes of the event pipe into events, whatever the pieces in which they come."""

    def __init__(self) -> None:
        self._lines = _Lines()
        self._decoder = msgspec.json.Decoder(Event)

    def feed(self, data: bytes) -> list[Event]:
        """Return the events that are complete now. Raises ``msgspec.DecodeError`` on a line that is none."""
        return [self._decoder.decode(line) for line in self._lines.feed(data)]


class CommandReader:
    """Turns bytes of the command pipe into commands."""

    def __init__(self) -> None:
        self._lines = _Lines()
        self._decoder = msgspec.json.Decoder(Command)

    def feed(self, data: bytes) -> list[Command]:
        """Return the commands that are complete now. Raises ``msgspec.DecodeError`` on a line that is none."""
        return [self._decoder.decode(line) for line in self._lines.feed(data)]
