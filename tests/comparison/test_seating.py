"""Context and memory of the lanes, told from headers."""

from pathlib import Path

import msgspec
import pytest

from decodescope.backends.fit import estimate
from decodescope.backends.launch import ScriptFile
from decodescope.comparison.order import rotated
from decodescope.comparison.seating import common_settings, loadable
from decodescope.models.facts import ModelFile, read_model

from .driving import plan

GIB = 2**30


@pytest.fixture(scope="module")
def model(demo_model: Path) -> ModelFile:
    return read_model(demo_model)


def test_the_context_holds_what_is_asked_and_no_more(model: ModelFile) -> None:
    # 19 bytes of prompt, 1,024 for the template, 100 tokens: 1,143, in steps of 256.
    asked = plan(model, model, tokens=100, prompt="Why is the sky blue")
    assert common_settings(asked, [model, model], 8 * GIB).context == 1280


def test_the_context_holds_the_text_to_be_scored(model: ModelFile) -> None:
    # 2,000 bytes and a BOS.
    asked = plan(model, model, tokens=100, text="é" * 1000)
    assert common_settings(asked, [model, model], 8 * GIB).context == 2048
    long = msgspec.structs.replace(model, trained_context=100_000)
    asked = plan(long, long, tokens=100, text="x" * 100_000)
    assert common_settings(asked, [long, long], 8 * GIB).context == 8192


def test_a_context_that_is_asked_for_stays(model: ModelFile) -> None:
    asked = plan(model, model, tokens=100, context=700)
    assert common_settings(asked, [model, model], 8 * GIB) is asked.settings


def test_the_shortest_training_is_the_limit(model: ModelFile) -> None:
    short = msgspec.structs.replace(model, trained_context=512)
    assert common_settings(plan(model, short, tokens=100), [model, short], 8 * GIB).context == 512
    assert common_settings(plan(model, short, tokens=-1), [model, short], 8 * GIB).context == 512


def test_the_hungriest_cache_is_the_limit(model: ModelFile) -> None:
    wide = msgspec.structs.replace(model, key_widths=model.key_widths * 100, trained_context=100_000)
    free = model.bytes + 2 * 1024 * wide.kv_bytes_per_token()
    settings = common_settings(plan(model, wide, tokens=-1), [model, wide], free)
    assert settings.context == 1024  # half of what is left beside the weights


def test_scripts_bring_their_own_context() -> None:
    script = ScriptFile(Path("x"))
    asked = plan(script, script)
    assert common_settings(asked, [script, script], GIB) is asked.settings


def test_lanes_fit_beside_those_before_them(model: ModelFile) -> None:
    settings = common_settings(plan(model, model), [model], 8 * GIB)
    other = msgspec.structs.replace(model, path=Path("other.gguf"))
    needed = estimate(model, settings, 8 * GIB).needed
    assert loadable([model, other], settings, 2 * needed) == [True, True]
    assert loadable([model, other], settings, 2 * needed - 1) == [True, False]
    # One that doesn't fit takes nothing, and a script needs nothing.
    assert loadable([model, ScriptFile(Path("x")), other, other], settings, needed) == [True, True, False, False]


def test_the_weights_of_one_file_are_there_once(model: ModelFile) -> None:
    settings = common_settings(plan(model, model), [model], 8 * GIB)
    fit = estimate(model, settings, 8 * GIB)
    assert loadable([model, model], settings, 2 * fit.needed - fit.weights) == [True, True]


def test_each_round_begins_with_the_next_lane() -> None:
    assert [rotated([0, 1, 2], number) for number in (1, 2, 3, 4)] == [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 1, 2]]
    assert rotated([], 3) == []
