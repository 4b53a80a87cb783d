"""The settings of a scope as texts to be typed, and back."""

import re

import msgspec

from ..backends.checks import check_settings, check_system
from ..backends.launch import sampling_of
from ..backends.limits import LIMITS, parse, parse_threads
from ..backends.requests import EngineSettings, Sampling
from ..backends.text import visible
from .options import ScopeOptions

NUMBERS = {
    "temp": "temperature",
    "top_k": "top-k",
    "top_p": "top-p",
    "min_p": "min-p",
    "repeat_penalty": "repeat penalty",
    "repeat_last_n": "repeat last n",
    "seed": "seed",
    "max_tokens": "max tokens",
    "context": "context",
    "threads": "threads",
}
"""Labels of what is a number, by the names of the fields in ``requests``."""

_SAMPLED = ("temp", "top_k", "top_p", "min_p", "repeat_penalty", "repeat_last_n", "seed")
_DEFAULTS = ScopeOptions()
_ESCAPED = {"\\": "\\\\", "\n": "\\n", "\t": "\\t"}
_ESCAPE = re.compile(r"\\(?:([\\nt])|u([0-9a-fA-F]{4}))")


class FormError(Exception):
    """A text that cannot be taken."""

    def __init__(self, name: str, words: str) -> None:
        super().__init__(words)
        self.name = name
        """Of the field."""
        self.words = words


class Form(msgspec.Struct, frozen=True, kw_only=True):
    """What stands in the fields."""

    numbers: dict[str, str]
    ignore_eos: bool
    system: str
    stop: str
    """One a line, with ``\\n``, ``\\t``, ``\\\\`` and ``\\uXXXX`` for what cannot be typed."""


def filled(options: ScopeOptions) -> Form:
    """Return the form that shows ``options``."""
    return Form(
        numbers={name: _shown(options, name) for name in NUMBERS},
        ignore_eos=options.sampling.ignore_eos,
        system=visible(options.system or "", keep_lines=True),
        stop="\n".join(escaped(stop) for stop in options.stop),
    )


def default(name: str, options: ScopeOptions) -> str:
    """Return the value that an empty field stands for: the model's own default, else llama.cpp's."""
    own = sampling_of(options.model).values.get(name)
    return (_shown(_DEFAULTS, name) or "auto") if own is None else str(own)


def from_model(options: ScopeOptions) -> str:
    """Say which values in force are the model's own defaults; empty if none is."""
    names = [NUMBERS[name] for name in options.sampling.from_model if name in NUMBERS]
    return f"The model's own defaults: {', '.join(names)}." if names else ""


def about(name: str, options: ScopeOptions) -> str:
    """Return what a setting does and which values it can have."""
    if name == "threads":
        return "Threads for writing and reading. Empty: the cores that this process may use."
    if name == "system":
        return "System prompt: what the model is told before the conversation."
    if name == "stop":
        return "Stop strings, one a line: the answer ends before the first of them. \\n is a new line, \\t a tab."
    if name == "ignore_eos":
        return "Go on when the model would stop."
    whose = ", the model's own default" if name in sampling_of(options.model).values else ""
    return f"{LIMITS[name].about} Empty: {default(name, options)}{whose}."


def taken(form: Form, options: ScopeOptions) -> ScopeOptions:
    """Return ``options`` with what stands in ``form``. Raises FormError for the first field that cannot be taken."""
    values = {name: _number(name, form.numbers[name].strip(), options) for name in NUMBERS if name != "threads"}
    chosen = _chosen(form, options)
    sampling = sampling_of(options.model).applied(
        msgspec.structs.replace(
            options.sampling, ignore_eos=form.ignore_eos, **{name: values[name] for name in _SAMPLED}
        ),
        chosen,
    )
    threads = _threads(form.numbers["threads"].strip())
    settings = msgspec.structs.replace(options.settings, context=values["context"], threads=threads)
    for problem in check_settings(settings):
        raise FormError("threads" if "(-t)" in problem else "context", problem)
    # What cannot be shown as it is stays as it was, unless it was changed.
    system = options.system if form.system == filled(options).system else form.system if form.system.strip() else None
    for problem in check_system(system, raw=options.raw):
        raise FormError("system", problem)
    return msgspec.structs.replace(
        options,
        settings=settings,
        sampling=sampling,
        chosen=chosen,
        max_tokens=int(values["max_tokens"]),
        system=system,
        stop=tuple(unescaped(line) for line in form.stop.split("\n") if line),
    )


def escaped(stop: str) -> str:
    """Return a stop string on one line, with nothing in it that cannot be typed."""
    return "".join(
        _ESCAPED.get(character) or (character if visible(character) == character else f"\\u{ord(character):04x}")
        for character in stop
    )


def unescaped(line: str) -> str:
    """Return what ``escaped`` stands for; other backslashes are backslashes."""

    def character(match: re.Match[str]) -> str:
        short, code = match.groups()
        return chr(int(code, 16)) if code else {"n": "\n", "t": "\t"}.get(short, short)

    return _ESCAPE.sub(character, line)


def _source(options: ScopeOptions, name: str) -> Sampling | EngineSettings | ScopeOptions:
    if name in _SAMPLED:
        return options.sampling
    return options if name == "max_tokens" else options.settings


def _shown(options: ScopeOptions, name: str) -> str:
    value = getattr(_source(options, name), name)
    return "" if value is None else str(value)


def _chosen(form: Form, options: ScopeOptions) -> frozenset[str]:
    """Return the fields of the sampling that are set once ``form`` is taken: what is empty is left to the model."""
    texts = {name: form.numbers[name].strip() for name in _SAMPLED}
    changed = {name for name, text in texts.items() if text and text != _shown(options, name)}
    if form.ignore_eos != options.sampling.ignore_eos:
        changed.add("ignore_eos")
    return (options.chosen | changed) - {name for name, text in texts.items() if not text}


def _number(name: str, text: str, options: ScopeOptions) -> int | float:
    try:
        return parse(name, text or default(name, options))
    except ValueError as error:
        raise _not_taken(name, error) from error


def _threads(text: str) -> int | None:
    try:
        return parse_threads(text) if text else None
    except ValueError as error:
        raise _not_taken("threads", error) from error


def _not_taken(name: str, error: ValueError) -> FormError:
    return FormError(name, f"{NUMBERS[name].capitalize()}: {error}")
