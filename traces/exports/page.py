"""One HTML file with everything in it: nothing is loaded from anywhere, and nothing in it is run but its own script."""

import base64
import hashlib
import html
import importlib.resources
import re
from functools import cache

import msgspec

from ...backends.text import visible, well_formed
from .facts import machine_facts, model_facts, program_facts, settings_facts
from .figures import figures, verdict
from .page_data import page_data
from .subject import Export, Subject

_PLACE = re.compile(r"\{\{(\w+)\}\}")


def as_html(export: Export) -> str:
    """Return the page: figures, text, plots and tokens of every generation."""
    first = export.subjects[0]
    model = first.generation.model
    style, script = _part("page.css"), _part("page.js")
    title = "A recording" if model is None else visible(model.name)
    parts = {
        "title": _escaped(title),
        "facts": _joined([] if model is None else model_facts(model)),
        "machine": _joined(machine_facts(export.header)),
        "program": _joined(program_facts(export.header) or ["decodescope"]),
        "settings": _joined([f"{name} {value}".rstrip() for name, value in settings_facts(first.settings)]),
        "figures": "\n".join(_figures(one, shown=one is first) for one in export.subjects),
        "style": style,
        "script": script,
        "style_hash": _hash(style),
        "script_hash": _hash(script),
        "data": _data(export),
    }
    return well_formed(_PLACE.sub(lambda place: parts[place[1]], _part("page.html")))


def _figures(subject: Subject, *, shown: bool) -> str:
    cells = "".join(
        f'<div data-figure="{figure.name}"><dt>{_escaped(figure.label)}</dt><dd>{_escaped(figure.text)}</dd></div>'
        for figure in figures(subject)
    )
    hidden = "" if shown else " hidden"
    return (
        f'<section class="generation" id="generation-{subject.number}" aria-label="Figures"{hidden}>'
        f'<dl class="figures">{cells}</dl><p class="verdict">{_escaped(verdict(subject.run))}</p></section>'
    )


def _data(export: Export) -> str:
    """Return the tokens as JSON that no HTML parser takes for markup, whatever is in them."""
    text = msgspec.json.encode([page_data(one) for one in export.subjects]).decode()
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _joined(facts: list[str]) -> str:
    return " · ".join(_escaped(fact) for fact in facts)


def _escaped(text: str) -> str:
    return html.escape(well_formed(text))


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _part(name: str) -> str:
    return importlib.resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
