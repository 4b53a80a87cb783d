"""What generating does with the weights."""

from pathlib import Path

from decodescope.models.facts import ModelFile, read_model
from decodescope.models.weights import WeightTraffic

from .gguf_files import F32, Q4_0, Q8_0, Tensor, Value, gguf, tiny_llama, write, write_shards

# 64 x 10 values in Q8_0: 20 blocks of 34 bytes, 68 a row; 64 x 64 in Q4_0: 128 blocks of 18 bytes; 64 floats.
EMBEDDING: Tensor = ("token_embd.weight", (64, 10), Q8_0)
OUTPUT: Tensor = ("output.weight", (64, 10), Q4_0)
LAYER: list[Tensor] = [
    ("blk.0.attn_norm.weight", (64,), F32),
    ("blk.0.attn_q.weight", (64, 64), Q4_0),
    ("blk.1.attn_q.weight", (64, 64), Q4_0),
]
LAYER_BYTES = 256 + 2 * 2304


def model(folder: Path, tensors: list[Tensor], metadata: dict[str, Value] | None = None) -> ModelFile:
    return read_model(write(folder / "m.gguf", gguf(metadata, tensors)))


def test_the_demo_model_reads_all_its_weights(demo_file: Path) -> None:
    facts = read_model(demo_file)
    # Its embeddings make the logits too, so nothing is left out.
    assert facts.weight_traffic == WeightTraffic(facts.bytes, facts.bytes)
    # 30 layers x 9 heads x (64 + 64) wide, over 30 x (663,552 + 221,184 + 2,654,208) weights: all but the output
    assert facts.attention_growth == 30 * 9 * 128 / (30 * 3_538_944)


def test_tied_embeddings_are_read_whole(tmp_path: Path) -> None:
    assert model(tmp_path, [EMBEDDING, *LAYER]).weight_traffic == WeightTraffic(680 + LAYER_BYTES, 680 + LAYER_BYTES)


def test_of_embeddings_beside_an_output_one_row_is_read(tmp_path: Path) -> None:
    # The output's 20 blocks of 18 bytes, and one row of 68 bytes.
    expected = 360 + 68 + LAYER_BYTES
    assert model(tmp_path, [EMBEDDING, *LAYER, OUTPUT]).weight_traffic == WeightTraffic(expected, expected)


def test_other_lookup_tables_are_read_by_rows(tmp_path: Path) -> None:
    tables: list[Tensor] = [("position_embd.weight", (64, 512), F32), ("per_layer_token_embd.weight", (128, 10), Q4_0)]
    # Rows of 64 floats, and of 4 blocks of 18 bytes.
    traffic = model(tmp_path, [EMBEDDING, *LAYER, *tables]).weight_traffic
    assert traffic is not None
    assert traffic.per_token == 680 + LAYER_BYTES + 256 + 72


def experts(count: int, shared: bool = False) -> list[Tensor]:
    kinds = ("gate", "up", "down")
    tensors: list[Tensor] = [(f"blk.0.ffn_{kind}_exps.weight", (64, 32, count), Q4_0) for kind in kinds]
    tensors.append(("blk.0.ffn_gate_inp.weight", (64, count), F32))
    if shared:
        tensors.append(("blk.0.ffn_up_shexp.weight", (64, 32), Q4_0))
    return tensors


def test_of_the_experts_a_token_reads_its_share_and_a_micro_batch_all(tmp_path: Path) -> None:
    mixture = tiny_llama(llama__expert_count=8, llama__expert_used_count=2)
    traffic = model(tmp_path, [EMBEDDING, *LAYER, *experts(8, shared=True)], mixture).weight_traffic
    # An expert matrix takes 64 blocks of 18 bytes. The router (64 x 8 floats) and the shared expert are read always.
    always = 680 + LAYER_BYTES + 2048 + 1152
    assert traffic == WeightTraffic(always + 3 * 2 * 1152, always + 3 * 8 * 1152)


def test_experts_without_a_number_in_use_count_whole(tmp_path: Path) -> None:
    traffic = model(tmp_path, [EMBEDDING, *LAYER, *experts(4)], tiny_llama(llama__expert_count=4)).weight_traffic
    assert traffic is not None
    assert traffic.per_token == traffic.per_pass == 680 + LAYER_BYTES + 1024 + 3 * 4 * 1152


def test_layers_that_only_predict_ahead_are_not_read(tmp_path: Path) -> None:
    ahead = tiny_llama(llama__block_count=3, llama__nextn_predict_layers=1)
    tensors: list[Tensor] = [EMBEDDING, *LAYER, ("blk.2.attn_q.weight", (64, 64), Q4_0)]
    traffic = model(tmp_path, tensors, ahead).weight_traffic
    assert traffic is not None
    assert traffic.per_token == 680 + LAYER_BYTES


def test_all_parts_of_a_split_model_count(tmp_path: Path) -> None:
    facts = read_model(write_shards(tmp_path, 3)[0])
    assert facts.weight_traffic == WeightTraffic(2 * 2304, 2 * 2304)


def test_a_tensor_of_an_unknown_type_leaves_it_open(tmp_path: Path) -> None:
    content = bytearray(gguf(None, [("token_embd.weight", (64, 10), Q4_0), ("x.weight", (64,), F32)]))
    described = content.index(b"x.weight") + len(b"x.weight") + 4 + 8
    content[described : described + 4] = (999).to_bytes(4, "little")
    assert read_model(write(tmp_path / "m.gguf", bytes(content))).weight_traffic is None


def test_attention_grows_with_the_heads_that_see_everything(tmp_path: Path) -> None:
    # 2 layers x 4 heads x (16 + 16) wide, against 2 x 64 x 64 weights
    assert model(tmp_path, [EMBEDDING, *LAYER]).attention_growth == 2 * 4 * 32 / (2 * 4096)
    windows = tiny_llama(llama__attention__sliding_window=128, llama__attention__sliding_window_pattern=[True, False])
    assert model(tmp_path, [EMBEDDING, *LAYER], windows).attention_growth == 4 * 32 / (2 * 4096)
