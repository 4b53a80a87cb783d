"""What the script of the page draws; every figure is written here, as everywhere else, and only drawn there."""

import math
from typing import Any

from ...backends.events import Finished, PrefillProgress
from ...backends.text import TextStream, visible, well_formed
from ...backends.token_facts import Kind, Probability
from ...metrics import numbers
from ...metrics.disturbance import Cause
from ...metrics.likelihood import UNLIKELY, UNSURE, unlikely, unsure
from ...metrics.pace import THRESHOLDS
from ..no_text import NO_ID
from .subject import Row, Subject

_LIMITS = {
    "time": [f"≥ {limit:g}×" for limit in THRESHOLDS],
    "chance": [f"< {limit * 100:g} %" for limit in UNLIKELY],
    "entropy": [f"≥ {limit:g}" for limit in UNSURE],
}
_UNITS = {"time": "the median", "chance": "", "entropy": "bits"}
"""Said once, behind the last limit."""
_READER = "you"


def page_data(subject: Subject) -> dict[str, Any]:
    """Return one generation as JSON values: columns with an entry for every token; gaps in ns, the rest as text."""
    run, rows = subject.run, subject.rows()
    median = None if run.percentiles is None else run.percentiles.p50
    likelihood = run.likelihood
    return {
        "number": subject.number,
        "turns": _turns(subject),
        "withText": subject.header is None or subject.header.text,
        **_texts(subject, len(rows)),
        "sign": [_sign(row.token.piece) for row in rows],
        "id": [None if row.token.id == NO_ID else row.token.id for row in rows],
        "control": [int(row.token.control) for row in rows],
        "at": [f"{row.at / 1e9:.3f}" for row in rows],
        "gap": [row.gap for row in rows],
        "gapText": [numbers.bare_milliseconds(row.gap) for row in rows],
        "decode": [numbers.bare_milliseconds(None if row.gap is None else row.token.decode_ns) for row in rows],
        "sample": [numbers.bare_milliseconds(row.token.sample_ns) for row in rows],
        "pace": run.paces.tolist(),
        "why": {
            place: run.explain(place) for place, row in enumerate(rows) if place == 0 or row.cause is not Cause.NONE
        },
        "limits": _LIMITS,
        "units": _UNITS,
        "median": median,
        "medianText": numbers.milliseconds(median),
        "prefill": _prefill(subject),
        "likely": likelihood.known,
        **(_chances(subject, rows) if likelihood.known else {}),
    }


def _chances(subject: Subject, rows: list[Row]) -> dict[str, Any]:
    likelihood = subject.run.likelihood
    logprobs, entropies = likelihood.logprobs.tolist(), likelihood.entropies.tolist()
    return {
        "unlikely": unlikely(likelihood.logprobs).tolist(),
        "unsure": unsure(likelihood.entropies).tolist(),
        "chance": [numbers.percent(None if math.isnan(one) else _chance(one)) for one in logprobs],
        "bits": [numbers.bare_entropy(None if math.isnan(one) else one / math.log(2)) for one in entropies],
        "rank": likelihood.ranks.tolist(),
        "top": [_top(row.token.probability) for row in rows],
    }


def _top(facts: Probability | None) -> list[list[str]]:
    if facts is None:
        return []
    return [[_sign(one.piece), numbers.percent(_chance(one.logprob))] for one in facts.top]


def _chance(logprob: float) -> float:
    return math.exp(min(logprob, 0.0))


def _sign(piece: bytes) -> str:
    return visible(piece.decode("utf-8", "backslashreplace"))


def _turns(subject: Subject) -> list[list[str]]:
    taken = subject.generation.taken
    if not taken.messages:
        return [["prompt", _shown(taken.prompt)]] if taken.prompt else []
    return [[_READER if one.role == "user" else _shown(one.role), _shown(one.content)] for one in taken.messages]


def _texts(subject: Subject, count: int) -> dict[str, list[str]]:
    """Return what each token completed of the answer and, with their names, of the reasoning and other channels.

    A half character belongs to the token that completes it.
    """
    texts, asides = [""] * count, [""] * count
    before: tuple[Kind, str] | None = None
    stream = TextStream()
    end = subject.run.end
    parts = [part for row in subject.rows() for part in stream.feed(row.token)]
    parts += stream.finish(end) if isinstance(end, Finished) else stream.flush()
    for part in parts:
        if part.kind == "control":
            continue
        shown = texts if part.kind == "answer" else asides
        kind = part.kind, part.name
        if kind != before:
            shown[part.index - 1] += ("\n\n" if before else "") + (f"{_shown(part.name)}: " if part.name else "")
        before = kind
        shown[part.index - 1] += _shown(part.text)
    return {"text": texts, "aside": asides}


def _shown(text: str) -> str:
    return visible(well_formed(text), keep_lines=True)


def _prefill(subject: Subject) -> list[list[int]]:
    prompt = subject.run.prompt
    if prompt is None:
        return []
    points = [[0, prompt.cached]]
    for event in subject.generation.events:
        if isinstance(event, PrefillProgress):
            points.append([event.t - prompt.t, event.processed])
    return points
