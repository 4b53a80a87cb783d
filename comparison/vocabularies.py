"""Whether the tokens of the lanes mean the same."""

from collections.abc import Sequence

from ..backends.launch import Source
from ..models.errors import ModelError
from ..models.facts import ModelFile
from ..models.vocabulary import vocabulary_difference
from .lane import Lane


def difference(reference: ModelFile, other: ModelFile) -> str:
    """Return how their vocabularies differ, or why that cannot be told; empty when each token is the same in both."""
    try:
        return vocabulary_difference(reference, other)
    except ModelError as error:
        return str(error)


def compare_vocabularies(lanes: Sequence[Lane], sources: Sequence[Source | None]) -> None:
    """Find out about the lanes that read other prompt tokens than the first one, the reference.

    Headers are read only for them: with the same template and tokenizer the tokens of the prompt are the same.
    """
    reference, source = lanes[0], sources[0]
    for lane, own in zip(lanes, sources, strict=True):
        if lane.own_vocabulary is None and None not in (lane.prompt, reference.prompt):
            if lane.prompt == reference.prompt:
                continue
            if isinstance(source, ModelFile) and isinstance(own, ModelFile):
                lane.own_vocabulary = bool(difference(source, own))
            else:
                lane.own_vocabulary = True  # of a script, which has none
