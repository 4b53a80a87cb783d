"""The comparison on the demo model: quantizations, memory, scores."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import numpy as np
import psutil
import pytest

from decodescope.backends.events import Event, ModelReady, QuantizeProgress, RequestTaken, Scored
from decodescope.backends.launch import ScriptFile
from decodescope.comparison.lane import LanePhase
from decodescope.comparison.plan import ComparisonPlan
from decodescope.comparison.runner import Comparison, Stage
from decodescope.models.facts import ModelFile, read_model

from ..conftest import ScriptWriter
from .driving import drive, finish, plan

GIB = 2**30
TEXT = "The sky is blue because the air scatters short waves far more than long ones. " * 6
"""103 tokens: with micro-batches of 64, two stretches."""


@pytest.fixture(scope="module")
def model(demo_model: Path) -> ModelFile:
    return read_model(demo_model)


@pytest.fixture(autouse=True, scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Quantizations are made once for all tests of this file."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def temporary(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, cache: Path) -> Iterator[Path]:
    """The folder of temporary files, empty again after each test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", None)
    yield folder
    assert list(folder.glob("*scores*")) == []


@contextmanager
def comparing(asked: ComparisonPlan, available: Callable[[], int] = lambda: 8 * GIB) -> Iterator[Comparison]:
    comparison = Comparison(asked, available=available)
    try:
        yield comparison
    finally:
        comparison.close()


def test_two_quantizations(model: ModelFile) -> None:
    asked = plan(model, model, make=("Q8_0", "Q4_0"), rounds=2, quality=True, tokens=12)
    with comparing(asked) as comparison:
        events = finish(comparison)
        assert comparison.stage is Stage.DONE
        assert not comparison.in_turn
        assert any(isinstance(event, QuantizeProgress) for _, event in events)
        reference, other = comparison.lanes
        for lane in comparison.lanes:
            assert lane.phase is LanePhase.DONE
            assert lane.made is not None
            assert lane.made.source_quantization == "Q4_1"
            assert lane.model is not None
            assert lane.model.quantization == lane.plan.make
            assert lane.model.context == 1280
            assert [one.run.cached_tokens for one in lane.rounds] == [0, 0]
            assert lane.scores is not None
        assert reference.scores is not None
        assert other.scores is not None
        prompt = reference.rounds[0].run.prompt
        assert prompt is not None
        answer = tuple(reference.rounds[0].run.token_ids)
        assert reference.scores.tokens == prompt.tokens + answer
        assert reference.scores.prompt_tokens == len(prompt.tokens)
        assert reference.scores.count == other.scores.count == len(prompt.tokens) + len(answer) - 1
        assert len(reference.scores.kld) == 0
        assert other.scores.mean_kld is not None
        assert 1e-4 < other.scores.mean_kld.value < 1
        rows = comparison.results.rows
        assert [row.requantized_from for row in rows] == ["Q4_1", "Q4_1"]
        assert rows[1].mean_kld == other.scores.mean_kld


def test_a_model_compared_with_itself(model: ModelFile) -> None:
    with comparing(plan(model, model, quality=True, tokens=12)) as comparison:
        finish(comparison)
        other = comparison.lanes[1].scores
        assert other is not None
        assert other.mean_kld is not None
        assert other.same_top is not None
        assert abs(other.mean_kld.value) < 1e-6
        assert other.same_top.value == 1
        assert comparison.results.rows[1].diverged_at is None


def test_loaded_in_turn_for_want_of_memory(model: ModelFile, temporary: Path) -> None:
    asked = plan(model, model, make=("Q8_0", "Q4_0"), rounds=2, quality=True, tokens=12, context=1280)
    free = 400 * 2**20
    most = 0
    before = set(psutil.Process().children())

    def count(events: list[tuple[int, Event]]) -> bool:
        nonlocal most
        most = max(most, len(set(psutil.Process().children()) - before))
        return False

    with comparing(asked, lambda: free) as comparison:
        comparison.start()
        events = drive(comparison, count)
        assert comparison.in_turn
        assert comparison.stage is Stage.DONE
        assert most == 1
        # Round 1: 0 then 1; round 2: 1, which is still loaded, then 0, which scores first; then 1.
        assert [number for number, event in events if isinstance(event, ModelReady)] == [0, 1, 0, 1]
        assert [number for number, event in events if isinstance(event, RequestTaken)] == [0, 1, 1, 0]
        in_turn = comparison.lanes[1].scores
    with comparing(asked) as comparison:
        finish(comparison)
        loaded = comparison.lanes[1].scores
    assert in_turn is not None
    assert loaded is not None
    assert in_turn.tokens == loaded.tokens
    np.testing.assert_allclose(in_turn.kld, loaded.kld, atol=1e-6)


def test_a_given_text_in_stretches(model: ModelFile) -> None:
    with comparing(plan(model, model, make=(None, "Q4_0"), quality=True, text=TEXT, micro_batch=64)) as comparison:
        events = finish(comparison)
        reference, other = comparison.lanes
        assert reference.scores is not None
        assert other.scores is not None
        assert reference.scores.count == other.scores.count == 102
        assert reference.scores.prompt_tokens == len(reference.scores.tokens)
        # More than a micro-batch: reference and other take turns.
        assert [number for number, event in events if isinstance(event, Scored)] == [0, 1, 0, 1]


def test_no_room_for_distributions_leaves_the_perplexity(model: ModelFile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("decodescope.comparison.exchange._free", lambda folder: 1000)
    with comparing(plan(model, model, make=(None, "Q4_0"), quality=True, tokens=12)) as comparison:
        finish(comparison)
        assert "it needs" in comparison.lanes[1].scores_note
        for lane in comparison.lanes:
            assert lane.scores is not None
            assert lane.scores.perplexity is not None
            assert lane.scores.mean_kld is None


def test_scoring_cancelled(model: ModelFile) -> None:
    with comparing(plan(model, model, quality=True, text=TEXT, micro_batch=64)) as comparison:
        comparison.start()
        drive(comparison, lambda events: any(number == 1 and isinstance(event, Scored) for number, event in events))
        comparison.cancel()
        drive(comparison)
        assert comparison.stage is Stage.CANCELLED
        scores = comparison.lanes[1].scores
        assert scores is not None
        assert scores.count == 64
        assert comparison.lanes[1].scores_note.startswith("scored 64 of 102 ")
        # One more round scores all of it.
        comparison.add_round()
        drive(comparison)
        assert comparison.lanes[1].phase is LanePhase.DONE
        assert comparison.lanes[1].scores_note == ""
        assert all(lane.scores is not None and lane.scores.count == 102 for lane in comparison.lanes)


def test_an_engine_that_dies_while_scoring(model: ModelFile) -> None:
    before = set(psutil.Process().children())
    with comparing(plan(model, model, model, quality=True, text=TEXT, micro_batch=64)) as comparison:
        comparison.start()
        drive(comparison, lambda events: any(isinstance(event, Scored) for _, event in events))
        engines = sorted(set(psutil.Process().children()) - before, key=lambda one: one.create_time())
        engines[1].kill()
        drive(comparison)
        assert comparison.stage is Stage.DONE
        assert [lane.phase for lane in comparison.lanes] == [LanePhase.DONE, LanePhase.FAILED, LanePhase.DONE]
        third = comparison.lanes[2].scores
        assert third is not None
        assert third.count == 102


@pytest.mark.parametrize("script_first", [False, True])
def test_scripts_are_not_scored(model: ModelFile, script: ScriptWriter, script_first: bool) -> None:
    played = ScriptFile(script({"prefill": 8}, {"text": "x"}))
    sources = (played, model, model) if script_first else (model, played, model)
    with comparing(plan(*sources, quality=True)) as comparison:
        finish(comparison)
        assert comparison.stage is Stage.DONE
        notes = [lane.scores_note for lane in comparison.lanes]
        if script_first:
            assert all("script" in note for note in notes)
            assert all(lane.scores is None for lane in comparison.lanes)
        else:
            assert "script" in notes[1]
            assert comparison.lanes[2].scores is not None


def test_a_reference_that_fails_leaves_nothing_to_score_against(model: ModelFile, script: ScriptWriter) -> None:
    broken = ScriptFile(script({"load_error": "x"}))
    with comparing(plan(broken, model, model, quality=True)) as comparison:
        finish(comparison)
        assert comparison.stage is Stage.DONE
        assert [lane.scores_note for lane in comparison.lanes[1:]] == ["not scored: the reference failed"] * 2


def test_another_vocabulary(model: ModelFile, tmp_path: Path) -> None:
    link = tmp_path / "other.gguf"
    link.symlink_to(model.path)
    other = msgspec.structs.replace(model, path=link, vocabulary=7)
    with comparing(plan(model, other, quality=True)) as comparison:
        finish(comparison)
        assert comparison.lanes[1].scores is None
        assert comparison.lanes[1].scores_note == "not scored: their vocabularies differ: 49,152 tokens and 7 tokens"
        assert comparison.lanes[0].scores is not None


def test_cancelled_while_a_quantization_is_made(model: ModelFile, cache: Path) -> None:
    with comparing(plan(model, model, make=("Q6_K", "Q5_K_M"))) as comparison:
        comparison.start()
        drive(comparison, lambda events: any(isinstance(event, QuantizeProgress) for _, event in events))
        comparison.cancel()
        assert comparison.stage is Stage.CANCELLED
        assert comparison.filenos() == frozenset()
        assert not any("Q6_K" in name for _, _, names in os.walk(cache) for name in names)
