"""Files of every format version stay readable; the kept ones are never written anew."""

from pathlib import Path

import pytest

from decodescope.backends.events import ModelReady, Token
from decodescope.backends.token_facts import Scheduling
from decodescope.traces.generations import generations
from decodescope.traces.header import FORMAT
from decodescope.traces.reader import read_trace

DATA = Path(__file__).parent / "data"


def test_there_is_a_file_of_every_version() -> None:
    expected = {f"version-{one}{what}.jsonl" for one in range(1, FORMAT + 1) for what in ("", "-kinds")}
    assert {path.name for path in DATA.iterdir()} == expected


@pytest.mark.parametrize("version", range(1, FORMAT + 1))
def test_a_kept_file(version: int) -> None:
    trace = read_trace(DATA / f"version-{version}.jsonl")
    assert trace.notes == ()
    assert trace.header is not None
    assert (trace.header.format, trace.header.decodescope) == (version, "0.1.0")
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
