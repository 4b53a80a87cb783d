"""What llama.cpp's log says about the answers, in words."""

import pytest

from decodescope.backends.llama.complaints import Complaints
from decodescope.backends.model_warnings import NO_PRE_TOKENIZER

UNMARKED = (
    "load: control-looking token: {:6} '{}' was not control-type; this is probably a bug in the model. "
    "its type will be overridden\n"
)


def sentences(*log: str) -> list[str]:
    complaints = Complaints()
    for text in log:
        complaints.observe(text)
    return complaints.sentences


def test_chatter_is_no_complaint() -> None:
    assert not sentences(
        "load_tensors: offloaded 0/31 layers to GPU\n",
        "llama_context: n_ctx_seq (512) < n_ctx_train (8192) -- the full capacity of the model will not be utilized\n",
        "load: printing all EOG tokens:\n",
        "",
    )


def test_the_same_words_as_of_the_header() -> None:
    log = "load: missing pre-tokenizer type, using: 'default'\n"
    assert sentences(log, "load: GENERATION QUALITY WILL BE DEGRADED!        \n", log) == [NO_PRE_TOKENIZER]


@pytest.mark.parametrize(
    ("log", "named"),
    [
        ("load: special_eos_id is not in special_eog_ids - the tokenizer config may be incorrect\n", "EOS"),
        ("load: special_eot_id is not in special_eog_ids - the tokenizer config may be incorrect\n", "EOT"),
        (
            "load: bad special token: 'tokenizer.ggml.eos_token_id' = 99999, using default id 2\n",
            "tokenizer.ggml.eos_token_id",
        ),
        (
            "load: default special token 'tokenizer.ggml.bos_token_id' = 11 out of vocab range, disabling\n",
            "tokenizer.ggml.bos_token_id",
        ),
        ("load: EOG token id 70000 is out of range (vocab size 49152), skipping\n", "70000"),
        ("load_arch_hparams: Phi SWA is currently disabled - results might be suboptimal\n", "sliding window"),
    ],
)
def test_what_concerns_the_answers_is_told_in_a_sentence(log: str, named: str) -> None:
    (sentence,) = sentences(log)
    assert named in sentence
    assert sentence.endswith(".")


def test_tokens_that_are_not_marked_make_one_sentence() -> None:
    (sentence,) = sentences(*(UNMARKED.format(id, f"<|c{id}|>") for id in (5, 6, 7, 8, 5)))
    assert "4 control tokens" in sentence
    assert "<|c7|>" in sentence
    assert "<|c8|>" not in sentence
    (single,) = sentences(UNMARKED.format(9, "</s>"))
    assert "</s>" in single
