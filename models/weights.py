"""What generating does with the weights, from the tensor table alone.

Decode computes one token at a time, so each token needs every matrix once. What it does not need whole:

- Lookup tables, of which a token takes one row: ``token_embd`` (unless the file has no ``output``: then the same table
  makes the logits and is read whole), ``per_layer_token_embd``, ``position_embd``, ``token_types``.
- The experts of a mixture (``ffn_*_exps``): a token passes ``expert_used_count`` of ``expert_count``. A micro-batch of
  many tokens passes all of them.
- Layers that only predict ahead (``nextn_predict_layers``), which stand behind the others.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec

from .header import Tensor

_LOOKED_UP = re.compile(r"(token_embd|per_layer_token_embd|position_embd|token_types)\.weight", re.ASCII)
_EXPERTS = re.compile(r"blk\.\d+\.ffn_\w+_(ch)?exps\.\w+", re.ASCII)
_LAYER = re.compile(r"blk\.(\d{1,6})\.", re.ASCII)

_Part = Literal["always", "experts", "row", "output"]


class WeightTraffic(msgspec.Struct, frozen=True):
    """Bytes of weights that are read."""

    per_token: int
    """For one token of decode."""
    per_pass: int
    """For one micro-batch of many tokens, which passes every expert; for a dense model as ``per_token``."""


def weight_traffic(
    tensors: Iterable[Tensor], layers: int, experts: int | None, experts_used: int | None
) -> WeightTraffic | None:
    """Return what the model of these ``tensors`` reads; ``None`` when the size of one is not known.

    ``layers``: how many a token passes. ``experts`` and ``experts_used``: per layer, ``None`` for a dense model.
    """
    always = in_experts = 0
    for tensor, part in _parts(tensors, layers):
        if tensor.bytes is None:
            return None
        if part == "experts":
            in_experts += tensor.bytes
        elif part == "row":
            always += _row_share(tensor, tensor.bytes)
        else:
            always += tensor.bytes
    return WeightTraffic(always + _used(in_experts, experts, experts_used), always + in_experts)


def multiplied_weights(tensors: Iterable[Tensor], layers: int, experts: int | None, experts_used: int | None) -> int:
    """Return how many weights one prompt token is multiplied with.

    Without the output, which only a prompt's last token passes. Arguments as for ``weight_traffic``.
    """
    always = in_experts = 0
    for tensor, part in _parts(tensors, layers):
        if part == "experts":
            in_experts += tensor.values
        elif part == "always" and len(tensor.dimensions) > 1:
            always += tensor.values
    return always + _used(in_experts, experts, experts_used)


def _parts(tensors: Iterable[Tensor], layers: int) -> Iterator[tuple[Tensor, _Part]]:
    """Yield the tensors that a token passes, and how much of each."""
    known = {tensor.name: tensor for tensor in tensors}
    output = "output.weight" if "output.weight" in known else "token_embd.weight"
    for name, tensor in known.items():
        layer = _LAYER.match(name)
        if layer is not None and int(layer[1]) >= layers:
            continue
        if name == output:
            yield tensor, "output"
        elif _LOOKED_UP.fullmatch(name):
            yield tensor, "row"
        else:
            yield tensor, "experts" if _EXPERTS.fullmatch(name) else "always"


def _row_share(tensor: Tensor, size: int) -> int:
    return size * tensor.dimensions[0] // tensor.values if tensor.values else 0


def _used(in_experts: int, experts: int | None, experts_used: int | None) -> int:
    return in_experts * min(experts_used, experts) // experts if experts and experts_used else in_experts
