"""A block of Markdown for an issue or a pull request."""

import re
from collections.abc import Iterator

from ...backends.text import markdown, visible
from ..no_text import settings_without_text
from .facts import machine_facts, model_facts, program_facts, settings_facts
from .figures import figures, verdict
from .subject import Export, Subject

_TICKS = re.compile("`+")


def as_markdown(export: Export) -> str:
    """Return the figures, what they depend on, and whether they are to be quoted; no text of prompt or answer, and no
    folder, is in it."""
    return "\n".join(_lines(export)) + "\n"


def _lines(export: Export) -> Iterator[str]:
    subjects = export.subjects
    yield from _heading(subjects)
    yield ""
    yield f"| figure | {' | '.join(f'generation {one.number}' for one in subjects)} |"
    yield f"| :--- |{' ---: |' * len(subjects)}"
    told = [{figure.name: figure for figure in figures(one)} for one in subjects]
    shown = {name: figure.label for one in told for name, figure in one.items()}
    for name, label in shown.items():
        cells = (one[name].text if name in one else "–" for one in told)
        yield f"| {label} | {' | '.join(markdown(cell) for cell in cells)} |"
    yield ""
    for one in subjects:
        which = f"Generation {one.number}: " if len(subjects) > 1 else ""
        yield f"- {which}{markdown(verdict(one.run))}"
    yield from _list("Machine", machine_facts(export.header))
    yield from _list("Program", program_facts(export.header))
    before: list[str] = []
    for one in subjects:
        flags = [f"{name} {value}".rstrip() for name, value in settings_facts(settings_without_text(one.settings))]
        if flags != before:
            yield from _list(f"Settings, generation {one.number}" if len(subjects) > 1 else "Settings", flags)
        before = flags


def _heading(subjects: tuple[Subject, ...]) -> Iterator[str]:
    models = {one.generation.model: one.number for one in reversed(subjects)}
    for place, (model, first) in enumerate(sorted(models.items(), key=lambda found: found[1])):
        if place:
            yield ""  # a paragraph for each
        if model is None:
            yield "**decodescope**: the recording does not tell the model"
        else:
            since = f", from generation {first} on" if len(models) > 1 else ""
            facts = " · ".join(_code(fact) for fact in model_facts(model))
            yield f"**decodescope**: {_code(visible(model.name))} {facts}{since}"


def _list(title: str, facts: list[str]) -> Iterator[str]:
    if facts:
        yield f"- {title}: {', '.join(_code(fact) for fact in facts)}"


def _code(text: str) -> str:
    """Return a code span, in which nothing is markup: no name of a model mentions a person or closes a list."""
    fence = "`" * (1 + max((len(run) for run in _TICKS.findall(text)), default=0))
    pad = " " if text.startswith("`") or text.endswith("`") or not text.strip() else ""
    return f"{fence}{pad}{text}{pad}{fence}"
