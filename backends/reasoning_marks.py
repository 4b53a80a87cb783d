"""How chat templates mark reasoning: pairs of tags around it, and headers that name the channel of a message."""

import re
from collections.abc import Callable
from typing import NamedTuple


class Tags(NamedTuple):
    """A pair around something."""

    opening: str
    closing: str
    known_by: str = ""
    """Text that shows that a template uses the tags although it contains neither."""


TAGS = (
    Tags("<think>", "</think>"),
    Tags("<thinking>", "</thinking>"),
    Tags("<reasoning>", "</reasoning>"),
    Tags("<thought>", "</thought>"),
    Tags("<seed:think>", "</seed:think>"),
    Tags("<mm:think>", "</mm:think>"),
    Tags("<think:opensource>", "</think:opensource>", "<think{}>"),
    Tags("<longcat_think>", "</longcat_think>"),
    Tags("[THINK]", "[/THINK]"),
    Tags("◁think▷", "◁/think▷"),
    Tags("<|START_THINKING|>", "<|END_THINKING|>"),
    Tags("<|inner_prefix|>", "<|inner_suffix|>"),
    Tags("Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]"),
    Tags("Here is my thought process:", "Here is my response:"),
)
"""Pairs around the reasoning."""

WRAPPERS = (
    Tags("<response>", "</response>"),
    Tags("<answer>", "</answer>"),
    Tags("<|START_TEXT|>", "<|END_TEXT|>"),
    Tags("<|START_RESPONSE|>", "<|END_RESPONSE|>"),
)
"""Pairs around the answer, directly after the reasoning."""


class Headers(NamedTuple):
    """Messages that begin with a header. The name of the answer is ""."""

    known_by: tuple[str, ...]
    begins: tuple[str, ...]
    bodies: tuple[str, ...]
    """What ends a header; the message's text follows."""
    ends: tuple[str, ...]
    """What ends a message."""
    name: Callable[[str], str]
    """Returns the channel that a header names; it is given the header with all its markers."""


_TO_THE_READER = ("", "assistant", "user", "all")


def _harmony_name(header: str) -> str:
    role, *channels = header.split("<|channel|>")
    last = channels[-1] if channels else ""
    recipient = re.search(r"to=([^\s<]+)", last) or re.search(r"to=([^\s<]+)", role)
    channel = re.match(r"\s*([^\s<]*)", last)
    name = channel[1] if channel else ""
    to = recipient[1] if recipient else ""
    if to == "self":
        return to
    return name if to in _TO_THE_READER else f"{name} to {to}".strip()


def _match_name(pattern: str) -> Callable[[str], str]:
    def name(header: str) -> str:
        found = re.search(pattern, header)
        return found[1] if found else ""

    return name


_HEADERS = (
    Headers(
        ("<|channel|>", "to=self<|message|>"),
        ("<|start|>", "<|channel|>"),
        ("<|message|>",),
        ("<|end|>", "<|return|>", "<|call|>", "<|eom|>", "<|eot|>"),
        _harmony_name,
    ),
    Headers(
        ("<|begin|>assistant<|think|>",),
        ("<|begin|>",),
        ("<|think|>", "<|content|>", "<|tool_calls|>"),
        ("<|end|>", "<|calls|>"),
        _match_name(r"<\|([a-z_]+)\|>$"),
    ),
    Headers(
        ("<|sep|>",),
        ("<|open|>", "<|close|>"),
        ("<|sep|>",),
        ("<|end_of_msg|>",),
        _match_name(r"<\|open\|>([^\s<]+)"),
    ),
    Headers(
        ("<|channel>",),
        ("<|channel>",),
        ("\n",),
        ("<channel|>", "<|turn>", "<turn|>"),
        _match_name(r"<\|channel>([^\n]*)"),
    ),
)

REASONING_NAMES = frozenset({"analysis", "thought", "think", "self"})
ANSWER_NAMES = frozenset({"", "final", "content", "response", "message", "user"})

_MENTIONS = re.compile(
    r"enable_thinking|reasoning_content|reasoning_effort|thinking_(?:budget|mode|effort)"
    r"|\.(?:thinking|reasoning)\b|['\"](?:thinking|reasoning)['\"]|\b(?:if|elif|not) thinking\b|think(?:ing)?\|?[>\]]"
)
"""What a template contains if it passes reasoning on, or asks for it."""

UNKNOWN_REASONING = (
    "The model's chat template marks reasoning in a way that decodescope does not know: "
    "reasoning is shown as part of the answer, and there is no time to first answer."
)
"""The warning about such a model."""


def known_tags(known: tuple[Tags, ...], template_source: str) -> list[Tags]:
    """Return the pairs among ``known`` that a template contains."""
    return [tags for tags in known if any(one and one in template_source for one in tags)]


def known_headers(template_source: str) -> list[Headers]:
    """Return the kinds of headers that a template contains."""
    return [one for one in _HEADERS if any(marker in template_source for marker in one.known_by)]


def unknown_reasoning(template_source: str) -> bool:
    """Whether a template mentions reasoning, but marks it in none of the known ways."""
    known = known_tags(TAGS, template_source) or known_headers(template_source)
    return not known and _MENTIONS.search(template_source) is not None
