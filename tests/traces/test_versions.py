"""Files of every format version stay readable; the kept ones are never written anew."""

from pathlib import Path

from decodescope.backends.events import ModelReady, Token
from decodescope.backends.text import written_by
from decodescope.backends.token_facts import Scheduling
from decodescope.comparison.export import as_json
from decodescope.comparison.retold import RetoldComparison
from decodescope.traces.generations import generations
from decodescope.traces.header import FORMAT
from decodescope.traces.lanes import OfLanes
from decodescope.traces.reader import read_trace

DATA = Path(__file__).parent / "data"


def test_there_is_a_file_of_every_version() -> None:
    expected = {f"version-{one}{what}.jsonl" for one in range(1, FORMAT + 1) for what in ("", "-kinds")}
    assert {path.name for path in DATA.iterdir()} == expected


def test_a_kept_file_of_version_1() -> None:
    trace = read_trace(DATA / "version-1.jsonl")
    assert trace.notes == ()
    assert trace.header is not None
    assert (trace.header.format, trace.header.decodescope) == (1, "0.1.0")
    assert trace.header.settings["temp"] == 0
    (model,) = (event for event in trace.events if isinstance(event, ModelReady))
    assert (model.architecture, model.quantization) == ("llama", "Q4_1")
    (generation,) = generations(trace.events)
    run = generation.run()
    assert (run.token_count, run.prompt_tokens, run.finish_reason) == (8, 32, "length")
    tokens = [event for event in trace.events if isinstance(event, Token)]
    assert all(token.scheduling is not None for token in tokens)
    assert run.ttft_ns == tokens[0].t - generation.taken.t
    assert b"".join(token.piece for token in tokens).decode() == "I'm sorry for any misinterpretation."


def test_every_kind_of_event_of_version_1() -> None:
    trace = read_trace(DATA / "version-1-kinds.jsonl")
    assert trace.notes == ()
    kinds = {type(event).__struct_config__.tag for event in trace.events}
    assert kinds == {
        "load_progress", "model_ready", "request_taken", "prompt_ready", "prefill_progress", "token", "finished", "log",
        "failed",
    }  # fmt: skip
    last = next(event for event in trace.events if isinstance(event, Token) and event.index == 5)
    assert last.scheduling == Scheduling(wait_ns=3, minor_faults=1)
    assert last.probability is not None
    assert (last.probability.logprob, last.probability.top[0].piece) == (-0.5, b" top")


def test_a_kept_comparison_of_version_2() -> None:
    """The figures are those that ``compare --json`` printed when it was made."""
    trace = read_trace(DATA / "version-2.jsonl")
    assert trace.notes == ()
    assert trace.header is not None
    assert (trace.header.format, trace.header.settings["seed"]) == (2, 7)
    report = as_json(RetoldComparison(trace).results)
    assert report["verdict"].startswith("One round: Q4_0 wrote 3.97× as fast as Q4_1")
    reference, other = report["lanes"]
    assert (reference["label"], reference["requantized_from"]) == ("Q4_1", None)
    assert (other["label"], other["requantized_from"]) == ("Q4_0", "Q4_1")
    assert (reference["predicted_per_second"]["median"], other["predicted_per_second"]["median"]) == (21.388, 84.942)
    assert reference["perplexity"] == {"value": 98.277676, "uncertainty": 84.928146}
    assert other["mean_kld"] == {"value": 0.815457, "uncertainty": 0.181046}
    assert (other["diverged_at"], other["compared_n"]) == (2, 6)
    assert other["fallbacks"] == "1 tensor as Q8_0 instead of Q6_K"
    assert written_by(trace.of_lane(0).events).text == "The river that has been forever"
    assert written_by(trace.of_lane(1).events).text == "The River of Shadows is"


def test_every_kind_of_line_of_version_2() -> None:
    lines = [
        line
        for name in ("version-2.jsonl", "version-2-kinds.jsonl")
        for line in read_trace(DATA / name).records
        if isinstance(line, OfLanes)
    ]
    kinds = {type(line).__struct_config__.tag for line in lines}
    assert kinds == {"comparison", "lane", "scoring", "stage", "answer"}
    hidden = read_trace(DATA / "version-2-kinds.jsonl")
    assert hidden.notes == ()
    again = RetoldComparison(hidden)
    assert [lane.phase.name for lane in again.lanes] == ["DONE", "DONE", "FAILED", "FAILED"]
    assert [one.tokens for row in again.results.rows for one in row.all_rounds] == [3, 4, 1]
    assert (again.results.rows[1].diverged_at, again.results.rows[1].compared_tokens) == (4, 3)
    assert again.plan.together
