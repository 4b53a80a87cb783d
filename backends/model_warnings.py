"""What a model's header tells of the quality of its answers, in sentences that say what to do."""

from ..models.facts import ModelFile
from ..models.recipes import bits_per_weight
from .model_sampling import model_sampling

NO_PRE_TOKENIZER = (
    "The file does not say how text is split before it is tokenized (tokenizer.ggml.pre): llama.cpp guesses, and the"
    " answers get worse. Get a newer conversion of the model."
)


def model_warnings(model: ModelFile) -> tuple[str, ...]:
    """Return the warnings, the gravest first; texts of unknown origin are in them."""
    warnings = [NO_PRE_TOKENIZER] if model.lacks_pre_tokenizer else []
    if model.dominant_type:
        warnings.append(
            f"The file is labelled {model.quantization}, but most of its weights are {model.dominant_type}"
            f" ({bits_per_weight(model):.1f} bits per weight): take it for {model.dominant_type}."
        )
    return (*warnings, *model_sampling(model.sampling).warnings)
