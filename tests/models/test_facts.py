from pathlib import Path

import pytest

from decodescope.models.errors import ModelError
from decodescope.models.facts import read_model
from decodescope.models.kv_cache import CACHE_TYPES

from .gguf_files import F16, F32, Q4_0, Q4_K, Tensor, Value, gguf, tiny_llama, write, write_shards

WEIGHTS: list[Tensor] = [("token_embd.weight", (64, 8), Q4_0), ("output_norm.weight", (64,), F32)]


def refused(path: Path) -> ModelError:
    with pytest.raises(ModelError) as caught:
        read_model(path)
    return caught.value


def test_the_demo_model(demo_file: Path) -> None:
    model = read_model(demo_file)
    assert model.path == demo_file
    assert model.shards == (demo_file,)
    assert model.name == "SmolLM2-135M-Instruct"
    assert model.title == "Smollm2 135M 8k Lc100K Mix1 Ep2"
    assert (model.architecture, model.quantization) == ("llama", "Q4_1")
    assert (model.layers, model.trained_context) == (30, 8192)
    assert (model.experts, model.experts_used, model.sliding_window) == (None, None, None)
    assert model.has_template
    assert (model.width, model.heads, model.vocabulary, model.tokenizer) == (576, 9, 49_152, "gpt2 (smollm)")
    # 49,152 x 576 embeddings; per layer 2 x 576 x 576 (q, o), 2 x 576 x 192 (k, v), 3 x 576 x 1,536 and 2 x 576 norms;
    # 576 for the last norm: 28,311,552 + 30 x (663,552 + 221,184 + 2,654,208 + 1,152) + 576
    assert model.parameters == 134_515_008
    # Q8_0 embeddings: 28,311,552 / 32 x 34. Q4_1 matrices: 30 x 3,538,944 / 32 x 20. F32 norms: (30 x 1,152 + 576) x 4.
    assert model.bytes == 30_081_024 + 66_355_200 + 140_544
    # 30 layers x 3 kv heads x 64 wide x (2 + 2) bytes
    assert model.kv_bytes_per_token() == 23_040
    assert model.kv_bytes_per_token("f32", "f16") == 30 * 192 * (4 + 2)
    # 192 values are 6 blocks of 32: 34 bytes each in q8_0, 18 in q4_0
    assert model.kv_bytes_per_token("q8_0", "q4_0") == 30 * 6 * (34 + 18)


def test_facts_of_a_small_file(tmp_path: Path) -> None:
    metadata = tiny_llama(
        general__file_type=15,
        llama__expert_count=8,
        llama__expert_used_count=2,
        llama__attention__sliding_window=128,
        tokenizer__chat_template="{{ messages }}",
    )
    model = read_model(write(tmp_path / "Tiny-1B-Instruct-Q4_K_M.gguf", gguf(metadata, WEIGHTS)))
    assert (model.name, model.title, model.quantization) == ("Tiny-1B-Instruct", "Tiny", "Q4_K_M")
    # 64 x 8 values in Q4_0: 16 blocks of 18 bytes; 64 floats
    assert (model.bytes, model.parameters) == (288 + 256, 512 + 64)
    assert (model.experts, model.experts_used, model.sliding_window) == (8, 2, 128)
    assert model.has_template


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("Qwen3-0.6B-Q8_0.gguf", "Qwen3-0.6B"),
        ("llama-2-7b.Q4_K_M.gguf", "llama-2-7b"),
        ("gemma-3-1b-it-UD-IQ2_XXS.gguf", "gemma-3-1b-it"),
        ("phi-4-bf16.gguf", "phi-4"),
        ("MODEL.GGUF", "Tiny"),
        ("ggml-model-Q4_0.gguf", "Tiny"),
        ("sha256-" + "0" * 64, "Tiny"),
        ("plain", "plain"),
    ],
)
def test_names(tmp_path: Path, file: str, name: str) -> None:
    assert read_model(write(tmp_path / file)).name == name


def test_a_given_name_wins(tmp_path: Path) -> None:
    assert read_model(write(tmp_path / "x.gguf"), "llama3:8b").name == "llama3:8b"


@pytest.mark.parametrize(
    ("file_type", "quantization"),
    [(None, "Q4_K"), (2, "Q4_0"), (1024 + 18, "Q6_K"), (999, "Q4_K"), ("text", "Q4_K")],
)
def test_quantization_is_the_recipe_or_the_type_of_most_weights(
    tmp_path: Path, file_type: Value | None, quantization: str
) -> None:
    metadata = tiny_llama() if file_type is None else tiny_llama(general__file_type=file_type)
    tensors: list[Tensor] = [("a", (256, 4), Q4_K), ("b", (256, 3), F16), ("c", (512,), F32)]
    assert read_model(write(tmp_path / "m.gguf", gguf(metadata, tensors))).quantization == quantization


def kv_bytes(tmp_path: Path, metadata: dict[str, Value]) -> int:
    return read_model(write(tmp_path / "m.gguf", gguf(metadata))).kv_bytes_per_token()


def test_kv_bytes_with_heads_per_layer(tmp_path: Path) -> None:
    # (2 + 1) kv heads over both layers, 64 / 4 = 16 wide, keys and values of 2 bytes
    assert kv_bytes(tmp_path, tiny_llama(llama__attention__head_count_kv=[2, 1])) == 3 * 16 * 4


def test_kv_bytes_with_lengths_of_their_own(tmp_path: Path) -> None:
    lengths = tiny_llama(llama__attention__key_length=128, llama__attention__value_length=32)
    # 2 layers x 2 kv heads x (128 + 32) x 2 bytes
    assert kv_bytes(tmp_path, lengths) == 2 * 2 * 160 * 2


def test_kv_bytes_without_grouped_heads(tmp_path: Path) -> None:
    # 2 layers x 4 heads x 16 wide x 4 bytes
    assert kv_bytes(tmp_path, tiny_llama(llama__attention__head_count_kv=None)) == 2 * 4 * 16 * 4


def test_kv_bytes_of_compressed_attention_are_keys_only(tmp_path: Path) -> None:
    mla = tiny_llama(
        llama__attention__head_count_kv=1,
        llama__attention__key_length=576,
        llama__attention__value_length=512,
        llama__attention__key_length_mla=192,
        llama__attention__value_length_mla=128,
    )
    assert kv_bytes(tmp_path, mla) == 2 * 576 * 2


def test_kv_bytes_of_sliding_layers_with_lengths_of_their_own(tmp_path: Path) -> None:
    sliding = tiny_llama(
        llama__attention__key_length=64,
        llama__attention__value_length=64,
        llama__attention__key_length_swa=32,
        llama__attention__value_length_swa=32,
        llama__attention__sliding_window_pattern=[True, False],
    )
    # 2 kv heads x (32 + 64) wide x 4 bytes
    assert kv_bytes(tmp_path, sliding) == 2 * 96 * 4


def renamed(architecture: str, **changes: Value | None) -> dict[str, Value]:
    return {
        key.replace("llama.", f"{architecture}."): architecture if key == "general.architecture" else value
        for key, value in tiny_llama(**changes).items()
    }


def test_kv_bytes_of_recurrent_models_are_none(tmp_path: Path) -> None:
    assert kv_bytes(tmp_path, renamed("mamba")) == 0


@pytest.mark.parametrize(
    ("changes", "attending"),
    [
        ({}, 2),  # every fourth of 8
        ({"llama__full_attention_interval": 2}, 4),
        ({"llama__attention__recurrent_layers": [True] * 7 + [False]}, 1),
    ],
)
def test_kv_bytes_of_hybrid_models(tmp_path: Path, changes: dict[str, Value], attending: int) -> None:
    metadata = renamed("qwen3next", llama__block_count=8, **changes)
    assert kv_bytes(tmp_path, metadata) == attending * 2 * 16 * 4


def test_layers_that_only_predict_ahead_do_not_count(tmp_path: Path) -> None:
    metadata = tiny_llama(llama__block_count=5, llama__nextn_predict_layers=1)
    model = read_model(write(tmp_path / "m.gguf", gguf(metadata)))
    assert model.layers == 4
    assert model.kv_bytes_per_token() == 4 * 2 * 16 * 4


def test_layers_that_share_their_predecessors_cache_have_none(tmp_path: Path) -> None:
    metadata = tiny_llama(llama__block_count=5, llama__attention__shared_kv_layers=2)
    assert kv_bytes(tmp_path, metadata) == 3 * 2 * 16 * 4


def test_cache_types_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    model = read_model(write(tmp_path / "m.gguf", gguf(tiny_llama(llama__attention__head_count_kv=1))))
    with pytest.raises(ModelError, match="16 values do not divide into blocks of 32"):
        model.kv_bytes_per_token("f16", "q8_0")
    with pytest.raises(ModelError, match="q8_0, iq4_nl, bf16") as caught:
        model.kv_bytes_per_token("q3_K", "f16")
    assert "'q3_K'" in caught.value.what
    assert set(CACHE_TYPES) == {"f32", "f16", "bf16", "q8_0", "q4_0", "q4_1", "iq4_nl", "q5_0", "q5_1"}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"llama__block_count": 2**31}, "layers"),
        ({"llama__block_count": None}, "0 layers"),
        ({"llama__block_count": 2, "llama__nextn_predict_layers": 3}, "-1 layers"),
        ({"llama__attention__head_count_kv": [2]}, "one number for each"),
        ({"llama__attention__head_count_kv": "many"}, "one number for each"),
        ({"llama__attention__head_count_kv": [2] * 2000}, "one number for each"),
        ({"llama__attention__key_length": 2**31, "llama__attention__head_count_kv": 2**31}, "values per token"),
        ({"llama__attention__head_count": 0, "llama__attention__head_count_kv": -5}, None),
        ({"llama__full_attention_interval": 0}, "attend"),
        ({"llama__context_length": None}, "llama.context_length"),
        ({"llama__context_length": "long"}, "llama.context_length"),
    ],
)
def test_headers_that_contradict_themselves(
    tmp_path: Path, changes: dict[str, Value | None], reason: str | None
) -> None:
    path = write(tmp_path / "m.gguf", gguf(tiny_llama(**changes)))
    if reason is None:
        assert read_model(path).kv_bytes_per_token() == 0
    else:
        assert reason in str(refused(path))


@pytest.mark.parametrize(
    ("metadata", "what"),
    [
        ({"general.architecture": "clip", "clip.projector_type": "mlp"}, "projector"),
        (tiny_llama(general__type="mmproj"), "projector"),
        (tiny_llama(general__type="adapter", adapter__type="lora"), "adapter (lora)"),
        (tiny_llama(adapter__type="lora"), "adapter (lora)"),
        ({"general.type": "imatrix", "imatrix.datasets": ["x"]}, "importance matrix"),
        ({"general.architecture": "controlvector"}, "control vector"),
        (tiny_llama(general__architecture=None), "does not say what model"),
        (renamed("bert"), "embedding model"),
        (renamed("nomic-bert"), "embedding model"),
        (renamed("jina-bert-v2"), "embedding model"),
        (renamed("t5encoder"), "embedding model"),
        (renamed("t5"), "encoder-decoder"),
        (renamed("llada"), "diffusion"),
        (renamed("eagle3"), "draft model"),
        (renamed("flux"), "pictures"),
        (tiny_llama(llama__attention__causal=False), "encoder"),
    ],
)
def test_what_cannot_write_text_is_refused_by_name(tmp_path: Path, metadata: dict[str, Value], what: str) -> None:
    error = refused(write(tmp_path / "x.gguf", gguf(metadata)))
    assert what in error.what
    assert error.reason
    assert error.remedy


def test_a_vocabulary_is_refused(tmp_path: Path) -> None:
    vocabulary = tiny_llama(tokenizer__ggml__model="gpt2")
    assert "vocabulary only" in refused(write(tmp_path / "ggml-vocab.gguf", gguf(vocabulary, []))).what
    assert "no weights" in refused(write(tmp_path / "x.gguf", gguf(None, []))).what


def test_a_truncated_model_is_refused_with_both_sizes(tmp_path: Path, demo_file: Path) -> None:
    with demo_file.open("rb") as file:
        path = write(tmp_path / "half.gguf", file.read(46_000_000))
    error = refused(path)
    assert str(error) == (
        "half.gguf is incomplete. The file holds 43.9 MiB, its header needs 93.8 MiB. Copy or download the file anew."
    )


def test_one_missing_byte_is_missed(tmp_path: Path) -> None:
    whole = gguf(None, [("a", (64, 16), Q4_0)])  # 576 bytes, a multiple of 32: no padding at the end
    path = write(tmp_path / "short.gguf", whole[:-1])
    assert f"holds {len(whole) - 1:,} bytes, its header needs {len(whole):,} bytes" in str(refused(path))
    write(path, whole)
    assert read_model(path).bytes == 576


def test_padding_after_the_last_tensor_may_be_missing(tmp_path: Path) -> None:
    whole = gguf(None, [("a", (5,), F32)])  # 20 bytes, padded to 32
    assert read_model(write(tmp_path / "x.gguf", whole[:-12])).bytes == 20


def test_the_other_byte_order_is_refused(tmp_path: Path) -> None:
    assert "big-endian" in str(refused(write(tmp_path / "x.gguf", gguf(order=">"))))


def test_removed_types_are_refused_and_unknown_ones_left_to_llama_cpp(tmp_path: Path) -> None:
    whole = gguf(None, [("a", (64, 16), Q4_0)])
    kind = whole.index(b"a", whole.index((1).to_bytes(8, "little") + b"a")) + 1 + 4 + 16
    assert whole[kind : kind + 4] == Q4_0.to_bytes(4, "little")
    removed = whole[:kind] + (31).to_bytes(4, "little") + whole[kind + 4 :]
    assert "Q4_0_4_4" in str(refused(write(tmp_path / "removed.gguf", removed)))
    future = whole[:kind] + (1000).to_bytes(4, "little") + whole[kind + 4 :]
    model = read_model(write(tmp_path / "future.gguf", future))
    assert (model.quantization, model.bytes) == ("type 1000", 576)


def test_split_models_open_from_any_shard(tmp_path: Path) -> None:
    paths = write_shards(tmp_path, 3)
    for path in paths:
        model = read_model(path)
        assert model.path == paths[0]
        assert model.shards == tuple(paths)
        assert model.name == "big"
        # two shards with 64 x 64 values in Q4_0 each: 128 blocks of 18 bytes
        assert (model.parameters, model.bytes) == (2 * 4096, 2 * 2304)


def test_missing_shards_are_named(tmp_path: Path) -> None:
    paths = write_shards(tmp_path, 4)
    paths[0].unlink()
    paths[2].unlink()
    error = refused(paths[3])
    assert "one of 4 parts, and 2 of them are missing" in error.what
    assert "big-00001-of-00004.gguf, big-00003-of-00004.gguf" in error.reason


def test_a_renamed_shard_is_refused(tmp_path: Path) -> None:
    paths = write_shards(tmp_path, 2)
    assert "one of 2 parts" in refused(paths[0].rename(tmp_path / "renamed.gguf")).what


def test_shards_in_the_wrong_order_are_refused(tmp_path: Path) -> None:
    paths = write_shards(tmp_path, 3)
    spare = paths[1].rename(tmp_path / "spare")
    paths[2].rename(paths[1])
    spare.rename(paths[2])
    assert "is not part 2 of 3" in refused(paths[0]).what


def test_a_truncated_shard_is_named(tmp_path: Path) -> None:
    paths = write_shards(tmp_path, 3)
    paths[2].write_bytes(paths[2].read_bytes()[:-1000])
    assert "big-00003-of-00003.gguf is incomplete" in refused(paths[0]).what


def test_an_absurd_number_of_shards_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "x-00001-of-99999.gguf", gguf(tiny_llama(split__count=99_999, split__no=0)))
    assert "99,999 parts" in str(refused(path))


def test_a_name_that_only_looks_like_a_shard(tmp_path: Path) -> None:
    path = write(tmp_path / "x-00001-of-00003.gguf")
    assert read_model(path).shards == (path,)


def test_vocabulary_heads_and_tokenizer_of_odd_headers(tmp_path: Path) -> None:
    bare = read_model(write(tmp_path / "bare.gguf"))
    assert (bare.vocabulary, bare.tokenizer, bare.heads, bare.width) == (None, "", 4, 64)
    counted = tiny_llama(llama__vocab_size=77, tokenizer__ggml__model="llama", llama__attention__head_count=[4, 8])
    model = read_model(write(tmp_path / "counted.gguf", gguf(counted, WEIGHTS)))
    assert (model.vocabulary, model.tokenizer, model.heads) == (77, "llama", 8)
    listed = tiny_llama(tokenizer__ggml__tokens=["a", "b"], tokenizer__ggml__pre="x")
    assert read_model(write(tmp_path / "listed.gguf", gguf(listed, WEIGHTS))).vocabulary == 2
