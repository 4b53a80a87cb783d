"""Chat templates: the Jinja source that a GGUF file carries, rendered in a sandbox.

The environment and its functions are those that templates written for Hugging Face's ``apply_chat_template`` use.
"""

import datetime
import json
from collections.abc import Callable, Sequence
from typing import Any

import jinja2
from jinja2 import nodes
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

from ..engine import EngineError
from ..requests import Message

_FAMILIES = (
    ("<|start_header_id|>", "Llama 3"),
    ("<|start_of_role|>", "Granite"),
    ("<|START_OF_TURN_TOKEN|>", "Command R"),
    ("<｜User｜>", "DeepSeek"),
    ("<start_of_turn>", "Gemma"),
    ("<|channel|>", "Harmony"),
    ("<|im_start|>", "ChatML"),
    ("[INST]", "Mistral"),
    ("<|user|>", "Zephyr"),
)

# What a template's own expressions can raise; the sandbox keeps it from everything else.
_RENDERING_ERRORS = (
    jinja2.TemplateError,
    TypeError,
    ValueError,
    ArithmeticError,
    LookupError,
    AttributeError,
    RecursionError,
    MemoryError,
)


class _TemplateRaised(Exception):
    """The template called ``raise_exception``."""


class _Generation(Extension):
    """``{% generation %}…{% endgeneration %}`` marks training targets; for inference it is its content."""

    tags = {"generation"}  # noqa: RUF012 (jinja2 declares it as an instance attribute)

    def parse(self, parser: Parser) -> list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


class _Missing(jinja2.Undefined):
    """A value that a template uses and nobody has given; added to a text it is empty, as in llama.cpp."""

    def _added(self, other: Any) -> str:
        # A value that the sandbox forbids is undefined too, and remains an error.
        if isinstance(other, str) and self._undefined_exception is jinja2.UndefinedError:
            return other
        return self._fail_with_undefined_error()

    __add__ = __radd__ = _added  # type: ignore[assignment]


def _raise_exception(message: str) -> None:
    raise _TemplateRaised(message)


def _tojson(value: Any, ensure_ascii: bool = False, indent: int | None = None, **options: Any) -> str:
    # Jinja's own filter escapes HTML characters, which a model has not seen in training.
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, **options)


def _environment(now: Callable[[], datetime.datetime]) -> ImmutableSandboxedEnvironment:
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[_Generation, loopcontrols], undefined=_Missing
    )
    environment.filters["tojson"] = _tojson
    environment.globals["raise_exception"] = _raise_exception
    environment.globals["strftime_now"] = lambda form: now().strftime(form)
    return environment


class ChatTemplate:
    """A compiled chat template. Raises EngineError when the source is not valid Jinja."""

    def __init__(
        self,
        source: str,
        bos: str,
        eos: str,
        now: Callable[[], datetime.datetime] = datetime.datetime.now,
    ) -> None:
        self._bos = bos
        self._eos = eos
        self.source = source
        try:
            self._template = _environment(now).from_string(source)
        except (jinja2.TemplateError, SyntaxError, RecursionError) as error:
            raise EngineError(
                "The model's chat template is not valid Jinja.",
                str(error),
                "Use --raw to complete the prompt without a template.",
            ) from error

    @property
    def name(self) -> str:
        """The family that the template belongs to, for people."""
        return next((name for marker, name in _FAMILIES if marker in self.source), "custom")

    def render(self, messages: Sequence[Message]) -> str:
        """Return the prompt that ends where the assistant's answer begins. Raises EngineError with the reason.

        Tools and documents are left undefined, as by llama.cpp: templates iterate over them where they are ``None``.
        """
        try:
            return self._template.render(
                messages=[{"role": message.role, "content": message.content} for message in messages],
                add_generation_prompt=True,
                bos_token=self._bos,
                eos_token=self._eos,
            )
        except _TemplateRaised as error:
            raise EngineError("The model's chat template refuses this conversation.", str(error), _REMEDY) from error
        except _RENDERING_ERRORS as error:
            reason = f"{type(error).__name__}: {error}"
            raise EngineError("The model's chat template failed.", reason, _REMEDY) from error


_REMEDY = "Clear or edit the conversation, leave out the system prompt, or use --raw."
