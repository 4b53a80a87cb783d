"""docs/output.md names the fields that there are."""

import re
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from decodescope.backends.events import (
    Event,
    Failed,
    Finished,
    ModelReady,
    RequestTaken,
    ThreadsChanged,
    ThreadsReason,
    Token,
)
from decodescope.backends.requests import EngineSettings, Sampling
from decodescope.backends.token_facts import Probability, Scheduling
from decodescope.cli.options import GenerationOptions
from decodescope.cli.outputs import JsonOutput, Outcome
from decodescope.comparison.export import as_json
from decodescope.comparison.results import results
from decodescope.metrics.disturbance import Cause, Disturbance
from decodescope.metrics.run import Run
from decodescope.metrics.summary import described, summarize

from ..comparison.lanes import a_lane

PAGE = (Path(__file__).parents[2] / "docs" / "output.md").read_text(encoding="utf-8")
KINDS: dict[str, type[msgspec.Struct]] = {kind.__struct_config__.tag: kind for kind in get_args(Event)}


def named(title: str) -> dict[str, str]:
    """Return the fields in the table below a heading, with what is said of each."""
    section = re.search(rf"^##+ {re.escape(title)}\n(.*?)(?=^##|\Z)", PAGE, flags=re.MULTILINE | re.DOTALL)
    assert section is not None, f"there is no section {title}"
    return dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", section[1], flags=re.MULTILINE))


@pytest.fixture
def summary() -> dict[str, Any]:
    """The summary of a failed run of two tokens, so that every part is there."""
    ready: dict[str, Any] = dict.fromkeys(ModelReady.__struct_fields__, 1)
    taken = RequestTaken(t=0, request=1, sampling=Sampling(), seed=7)
    run = Run(taken)
    for index in (1, 2):
        run.apply(Token(t=index, index=index, id=1, piece=b"x", decode_ns=1, sample_ns=1))
    failed = Failed(t=3, stage="generate", what="It failed.")
    options = GenerationOptions((), EngineSettings(), Sampling(), -1, (), None, False)
    outcome = Outcome(options, model=ModelReady(**{**ready, "devices": ("CPU",)}), run=run, failed=failed)

    class Kept:
        text = ""

        def write(self, text: str) -> None:
            self.text += text

        def flush(self) -> None:
            pass

    kept = Kept()
    JsonOutput(kept).end(outcome)  # type: ignore[arg-type]
    decoded: dict[str, Any] = msgspec.json.decode(kept.text)
    return decoded


def test_the_fields_of_the_summary(summary: dict[str, Any]) -> None:
    assert list(named("`--json`: one object")) == list(summary)


@pytest.mark.parametrize("part", ["itl_ms", "model", "settings", "error"])
def test_the_fields_of_a_part_of_the_summary(summary: dict[str, Any], part: str) -> None:
    assert list(named(f"`{part}`")) == list(summary[part])


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_the_fields_of_an_event(kind: type[msgspec.Struct]) -> None:
    said = named(f"`{kind.__struct_config__.tag}`")
    assert list(said) == [name for name in kind.__struct_encode_fields__ if name != "t"]
    fields = {field.encode_name: field for field in msgspec.structs.fields(kind)}
    assert {name for name, text in said.items() if "default:" in text} == {
        name for name, field in fields.items() if not field.required
    }


@pytest.mark.parametrize("facts", [Scheduling, Probability])
def test_the_facts_of_a_token(facts: type[msgspec.Struct]) -> None:
    assert list(named(f"`{facts.__name__.lower()}`")) == list(facts.__struct_fields__)


def test_the_parts_of_a_change_of_threads() -> None:
    run = Run(RequestTaken(t=0, request=1, sampling=Sampling(), seed=1))
    run.apply(ThreadsChanged(t=1, before=2, after=1, why="core_taken"))
    (change,) = summarize(run, None, {})["thread_changes"]
    said = named("`thread_changes`")
    assert list(said) == list(change)
    assert set(re.findall(r"`(\w+)`", said["why"])) == set(get_args(ThreadsReason))


def test_the_parts_of_a_disturbance() -> None:
    found = Disturbance(
        tokens=2, disturbed=1, lost_ns=1, suspended_ns=0, share=0.5, quotable=False, causes={Cause.REST: 1}
    )
    said = named("`disturbance`")
    assert list(said) == list(described(found))
    causes = {cause.name.lower() for cause in Cause} - {"none"}
    assert set(re.findall(r"`(\w+)`", said["causes"])) == causes


def test_the_nested_fields_of_a_request() -> None:
    said = re.findall(r"`(\w+)`", named("`request_taken`")["sampling"])
    assert sorted(said) == sorted(Sampling.__struct_fields__)


def test_every_reason_to_finish_is_named(summary: dict[str, Any]) -> None:
    reasons = get_args(Finished.__annotations__["reason"])
    assert reasons
    for text in (named("`--json`: one object")["finish_reason"], named("`finished`")["reason"]):
        assert set(reasons) <= set(re.findall(r"`(\w+)`", text))


def test_the_fields_of_a_comparison() -> None:
    found = as_json(results([a_lane(0, "a", 10, 10), a_lane(1, "b", 9, 9)], together=False))
    lane = found["lanes"][1]
    assert list(named("Comparisons")) == list(found)
    assert list(named("`lanes`")) == list(lane)
    assert list(named("`predicted_ratio`")) == list(lane["predicted_ratio"])
    assert list(named("`all_rounds`")) == list(lane["all_rounds"][0])
