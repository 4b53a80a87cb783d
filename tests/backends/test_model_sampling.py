"""What a file's own ``general.sampling`` becomes."""

from pathlib import Path

import pytest

from decodescope.backends.model_sampling import model_sampling
from decodescope.backends.model_warnings import model_warnings
from decodescope.backends.requests import Sampling
from decodescope.models.facts import read_model
from decodescope.models.header import Scalar

from ..models.gguf_files import Value, gguf, tiny_llama, write

STORED: dict[str, Scalar] = {
    "temp": 0.10000000149011612,
    "top_k": 20,
    "top_p": 0.5,
    "min_p": 0,
    "penalty_repeat": 1.2999999523162842,
    "penalty_last_n": -1,
}


def test_every_key_has_its_setting_and_its_digits() -> None:
    own = model_sampling(STORED)
    assert own.values == {
        "temp": 0.1,
        "top_k": 20,
        "top_p": 0.5,
        "min_p": 0,
        "repeat_penalty": 1.3,
        "repeat_last_n": -1,
    }
    assert not own.warnings


def test_what_was_chosen_wins_and_the_rest_is_the_models() -> None:
    own = model_sampling(STORED)
    sampling = own.applied(Sampling(temp=0.7, seed=5), {"temp", "seed"})
    assert (sampling.temp, sampling.seed, sampling.top_k, sampling.repeat_penalty) == (0.7, 5, 20, 1.3)
    assert set(sampling.from_model) == {"top_k", "top_p", "min_p", "repeat_penalty", "repeat_last_n"}


def test_another_model_takes_its_predecessors_place() -> None:
    first = model_sampling(STORED).applied(Sampling(), ())
    second = model_sampling({"top_p": 0.9}).applied(first, ())
    assert second == Sampling(top_p=0.9, from_model=("top_p",))
    assert model_sampling({}).applied(second, ()) == Sampling()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("temp", float("nan")),
        ("temp", float("inf")),
        ("temp", -0.5),
        ("temp", "0.5"),
        ("temp", "\x1b[2J" * 100),
        ("temp", True),
        ("top_k", -1),
        ("top_k", 2.5),
        ("top_k", 2**40),
        ("top_p", 1.5),
        ("min_p", -1),
        ("penalty_repeat", 0),
        ("penalty_last_n", -2),
    ],
)
def test_what_cannot_be_taken_is_left_out_and_named(key: str, value: Scalar) -> None:
    own = model_sampling({key: value, "top_p" if key != "top_p" else "temp": 0.5})
    assert len(own.values) == 1
    (warning,) = own.warnings
    assert f"general.sampling.{key} " in warning
    assert len(warning) < 200


def test_a_whole_number_may_be_written_with_a_point() -> None:
    assert model_sampling({"top_k": 20.0, "temp": 1}).values == {"top_k": 20, "temp": 1}


@pytest.mark.parametrize(
    ("stored", "named"),
    [
        ({"xtc_probability": 0.5, "xtc_threshold": 0.1}, ["xtc_probability", "xtc_threshold"]),
        ({"mirostat": 2, "mirostat_tau": 5.0}, ["mirostat", "mirostat_tau"]),
        ({"dry_multiplier": 0.8}, ["dry_multiplier"]),
        ({"sequence": "temperature;top_k;top_p;min_p"}, ["temperature;top_k"]),
    ],
)
def test_samplers_that_are_not_here_are_named(stored: dict[str, Scalar], named: list[str]) -> None:
    own = model_sampling(stored)
    assert not own.values
    (warning,) = own.warnings
    assert all(name in warning for name in named)


@pytest.mark.parametrize(
    "stored",
    [
        {"xtc_probability": 0.0, "xtc_threshold": 0.1},
        {"mirostat": 0, "mirostat_tau": 5.0, "mirostat_eta": 0.1},
        {"sequence": "penalties;dry;top_n_sigma;top-k;typ_p;top_p;min_p;xtc;temperature"},
        {},
    ],
)
def test_samplers_that_are_off_and_the_usual_order_are_no_loss(stored: dict[str, Scalar]) -> None:
    assert not model_sampling(stored).warnings


def test_what_a_header_tells_of_the_answers(tmp_path: Path) -> None:
    changes: dict[str, Value] = {
        "tokenizer__ggml__model": "gpt2",
        "general__file_type": 15,
        "general__sampling__temp": float("nan"),
        "general__sampling__top_k": 3,
    }
    model = read_model(write(tmp_path / "m.gguf", gguf(tiny_llama(**changes))))
    pre_tokenizer, label, sampling = model_warnings(model)
    assert "tokenizer.ggml.pre" in pre_tokenizer
    assert "Q4_K_M" in label
    assert "Q4_0" in label
    assert "temp" in sampling
    sound = read_model(write(tmp_path / "n.gguf", gguf(tiny_llama(tokenizer__ggml__model="llama"))))
    assert model_warnings(sound) == ()
