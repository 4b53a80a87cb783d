"""Refuses, by name and before loading, what cannot write text token by token."""

import sys

from .errors import FETCH_ANEW, ModelError, listed, shown
from .ggml_types import REMOVED_TENSOR_TYPES
from .header import Header
from .sizes import told_apart

_ENCODERS = frozenset(
    {
        "bert",
        "eurobert",
        "gemma-embedding",
        "jina-bert-v2",
        "jina-bert-v3",
        "llama-embed",
        "modern-bert",
        "neo-bert",
        "nomic-bert",
        "nomic-bert-moe",
        "t5encoder",
    }
)
_DIFFUSERS = frozenset({"dream", "llada", "llada-moe", "rnd1"})
_DRAFTERS = frozenset({"dflash", "eagle3", "gemma4-assistant"})
_PICTURE_MODELS = frozenset(
    {
        "aura",
        "cosmos",
        "flux",
        "hidream",
        "hyvid",
        "ltxv",
        "lumina2",
        "pixart",
        "qwen_image",
        "sd1",
        "sd3",
        "sdxl",
        "wan",
    }
)

_OTHER_MODEL = "Choose a language model that generates text."


def refuse_unfit_kind(header: Header) -> None:
    """Raise ``ModelError`` when the file is of a kind that cannot generate text, however whole it is."""
    name = shown(header.path.name)
    architecture = header.text("general.architecture")
    kind = (header.text("general.type") or "").lower()
    said = f"Its architecture is '{shown(architecture or '', 80)}'."
    if architecture in ("clip", "mmproj") or kind == "mmproj":
        raise ModelError(
            f"{name} is a projector, the part of a multimodal model that reads images or sound.",
            said if architecture else "Its header says so.",
            "Choose the language model that it belongs to, usually the larger file beside it.",
        )
    if kind == "adapter" or header.text("adapter.type") is not None:
        adapter = shown(header.text("adapter.type") or "an adapter", 80)
        raise ModelError(
            f"{name} is an adapter ({adapter}), not a model.",
            "It changes a base model and holds no model of its own.",
            "Merge it into its base model and choose the result, or choose the base model.",
        )
    if kind == "imatrix" or "imatrix.datasets" in header.metadata:
        raise ModelError(
            f"{name} is an importance matrix, an aid for quantizing.",
            "It holds statistics, not weights.",
            _OTHER_MODEL,
        )
    if architecture == "controlvector":
        raise ModelError(f"{name} is a control vector, not a model.", said, _OTHER_MODEL)
    if architecture is None:
        raise ModelError(
            f"{name} does not say what model it is.",
            "Its header lacks general.architecture.",
            "Get another conversion of the model.",
        )
    if architecture in _DRAFTERS:
        raise ModelError(f"{name} is a draft model that only works attached to another one.", said, _OTHER_MODEL)
    if architecture in _ENCODERS:
        raise ModelError(f"{name} is an embedding model: it reads text and cannot write any.", said, _OTHER_MODEL)
    if architecture in _DIFFUSERS:
        raise ModelError(f"{name} is a diffusion model: it does not write token by token.", said, _OTHER_MODEL)
    if architecture == "t5":
        raise ModelError(
            f"{name} is an encoder-decoder model, which is not supported.",
            said,
            "Choose a decoder-only language model.",
        )
    if architecture in _PICTURE_MODELS or architecture == "wavtokenizer-dec":
        raise ModelError(f"{name} makes pictures or sound, not text.", said, _OTHER_MODEL)
    if header.metadata.get(f"{architecture}.attention.causal") is False:
        raise ModelError(
            f"{name} is an encoder: it reads text and cannot write any.",
            f"Its header says {shown(architecture, 80)}.attention.causal = false.",
            _OTHER_MODEL,
        )


def refuse_incomplete(header: Header) -> None:
    """Raise ``ModelError`` when the file is shorter than its header says, or cannot be read on this machine."""
    name = shown(header.path.name)
    if header.file_bytes < header.required_bytes:
        held, needed = told_apart(header.file_bytes, header.required_bytes)
        raise ModelError(f"{name} is incomplete.", f"The file holds {held}, its header needs {needed}.", FETCH_ANEW)
    if header.byte_order != sys.byteorder:
        raise ModelError(
            f"{name} was written for {header.byte_order}-endian machines.",
            f"This machine is {sys.byteorder}-endian.",
            "Get the ordinary file, or convert it with gguf-convert-endian from the package gguf.",
        )
    removed = {tensor.type for tensor in header.tensors if tensor.type in REMOVED_TENSOR_TYPES}
    if removed:
        formats = listed([REMOVED_TENSOR_TYPES[number] for number in sorted(removed)])
        raise ModelError(
            f"{name} uses a number format that llama.cpp has given up.",
            f"It holds tensors in {formats}.",
            "Get the model in Q4_0, which is repacked for the machine when it is loaded.",
        )


def refuse_without_tensors(first: Header, tensors: int) -> None:
    """Raise ``ModelError`` when the file, or all parts of a split one together, hold no ``tensors``."""
    if tensors == 0:
        vocabulary = any(key.startswith("tokenizer.") for key in first.metadata)
        raise ModelError(
            f"{shown(first.path.name)} holds a vocabulary only."
            if vocabulary
            else f"{shown(first.path.name)} holds no weights.",
            "It has no tensors.",
            "Choose a file with the model's weights.",
        )
