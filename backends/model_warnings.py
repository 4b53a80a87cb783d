"""Warnings about the quality of a model's answers, taken from its header; each says what to do."""

from ..models.facts import ModelFile
from ..models.recipes import bits_per_weight
from .model_sampling import model_sampling

NO_PRE_TOKENIZER = (
    "The file does not say how text is split before it is tokenized (tokenizer.ggml.pre): llama.cpp guesses,"
    " which makes the answers worse. Get a newer conversion of the model."
)


def model_warnings(model: ModelFile) -> tuple[str, ...]:
    """Return the warnings, the gravest first; they contain text of unknown origin."""
    warnings = [NO_PRE_TOKENIZER] if model.lacks_pre_tokenizer else []
    if model.dominant_type:
        warnings.append(
            f"The file is labelled {model.quantization}, but most of its weights are {model.dominant_type}"
            f" ({bits_per_weight(model):.1f} bits per weight): treat it as {model.dominant_type}."
        )
    return (*warnings, *model_sampling(model.sampling).warnings)
