"""What is known about a model before it is loaded, in words."""

from textual.content import Content

from ...backends.fit import Fit, estimate
from ...backends.launch import sampling_of
from ...backends.model_warnings import model_warnings
from ...backends.requests import EngineSettings
from ...backends.text import visible
from ...metrics import numbers
from ...models.candidates import Candidate
from ...models.discovery import Found
from ...models.errors import ModelError, shown
from ...models.facts import ModelFile
from ...models.recipes import quantization_of
from ..widgets.model_list import Line

_UNREAD = "…"


def line_of(key: int, entry: Candidate | Found, *, in_use: bool = False) -> Line:
    """Return the line of a model in the list."""
    if isinstance(entry, Candidate):
        if isinstance(entry.file, ModelError):
            return _refused(key, entry.reference, entry.file)
        return Line(key, (visible(entry.name or entry.file.stem), *[_UNREAD] * 4, entry.source))
    if isinstance(entry.outcome, ModelError):
        return _refused(key, entry.reference, entry.outcome)
    model = entry.outcome
    cells = (
        f"{model.name} (in use)" if in_use else model.name,
        quantization_of(model),
        numbers.size(model.bytes),
        numbers.count(model.trained_context),
        model.architecture,
        entry.source,
    )
    return Line(key, tuple(visible(cell) for cell in cells))


def _refused(key: int, reference: str, error: ModelError) -> Line:
    name = reference.rpartition("/")[2] or reference
    return Line(key, (visible(name), visible(error.what.removeprefix(f"{shown(name)} "))), usable=False)


def searched(entry: Candidate | Found) -> str:
    """Return the text that the search looks into, in lower case."""
    parts = [entry.source, entry.reference]
    if isinstance(entry, Candidate):
        parts += [entry.name or "", "" if isinstance(entry.file, ModelError) else str(entry.file)]
    elif isinstance(entry.outcome, ModelFile):
        model = entry.outcome
        parts += [model.name, model.title, model.architecture, model.quantization, str(model.path)]
    return " ".join(visible(part) for part in parts).lower()


def described(entry: Candidate | Found, settings: EngineSettings, free: int, *, gpu_unknown: bool) -> Content:
    """Return the facts of one model and whether it fits into ``free`` bytes.

    ``gpu_unknown``: there may be a GPU whose memory counts instead.
    """
    outcome = entry.file if isinstance(entry, Candidate) else entry.outcome
    named = [f"-m {entry.reference}"]
    if isinstance(outcome, ModelError):
        parts = [Content.styled(visible(outcome.what), "bold")]
        parts += [Content(visible(text)) for text in (outcome.reason, outcome.remedy) if text]
    elif isinstance(outcome, ModelFile):
        parts = _facts(outcome)
        parts += _fit(outcome, settings, free, gpu_unknown=gpu_unknown)
        if str(outcome.path) != entry.reference:
            named.append(str(outcome.path))
    else:
        parts = [Content("Its header is being read …")]
    return Content("\n").join([*parts, *(Content.styled(visible(text), "dim") for text in named)])


def _facts(model: ModelFile) -> list[Content]:
    name = Content.styled(visible(model.name), "bold")
    title = Content.styled(f"  {visible(model.title)}", "dim") if model.title not in ("", model.name) else Content("")
    tokens = "" if model.vocabulary is None else f", {model.vocabulary:,} tokens"
    facts = [
        model.architecture,
        quantization_of(model),
        f"{numbers.short_count(model.parameters)} parameters",
        f"{model.layers:,} layers",
        f"{numbers.size(model.bytes)}" + (f" in {len(model.shards)} files" if len(model.shards) > 1 else ""),
    ]
    if model.experts is not None:
        facts.append(f"{model.experts_used or '?'} of {model.experts} experts")
    more = [
        f"trained for {model.trained_context:,} tokens",
        "chat template" if model.has_template else "no chat template: raw",
        f"tokenizer {model.tokenizer or 'unnamed'}{tokens}",
    ]
    if model.sliding_window is not None:
        more.append(f"window {model.sliding_window:,}")
    if own := sampling_of(model).values:
        more.append("sampling " + ", ".join(f"{name} {value:g}" for name, value in own.items()))
    return [
        Content.assemble(name, title),
        *(Content(" · ".join(visible(fact) for fact in line)) for line in (facts, more)),
        *(Content.styled(visible(warning), "$text-warning") for warning in model_warnings(model)),
    ]


def _fit(model: ModelFile, settings: EngineSettings, free: int, *, gpu_unknown: bool) -> list[Content]:
    try:
        fit = estimate(model, settings, free)
    except ModelError as error:
        return [Content.styled(visible(f"does not fit: {error}"), "bold $text-error")]
    parts = [Content.styled(fit_text(fit), "bold $text-success" if fit.fits else "bold $text-error")]
    parts.append(Content(fit_parts(fit)))
    if gpu_unknown:
        parts.append(
            Content.styled("This machine's memory; layers on a GPU take its own, which is not known here.", "dim")
        )
    return parts


def fit_text(fit: Fit) -> str:
    """Return in words whether there is room."""
    free = numbers.size(fit.free)
    if fit.problem:
        return f"does not fit: {fit.problem}"
    if fit.fits:
        return f"needs about {numbers.size(fit.needed)} of {free} free: fits"
    return f"does not fit: needs about {numbers.size(fit.needed)}, and {free} are free"


def fit_parts(fit: Fit) -> str:
    """Return what the need is made of."""
    return (
        f"weights {numbers.size(fit.weights)} + KV cache {numbers.size(fit.cache)} for {fit.context:,} tokens"
        f" + computing {numbers.size(fit.compute)}"
    )
