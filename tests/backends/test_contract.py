"""What every engine promises, over the scripted and the real one."""

import os
import select
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import psutil
import pytest

from decodescope.backends.events import (
    Event,
    Failed,
    Finished,
    PrefillProgress,
    PromptReady,
    RequestTaken,
    ThreadsChanged,
    Token,
)
from decodescope.backends.requests import Request, Sampling
from decodescope.backends.wire import encode

from .engines import Engine, Kept, Open, chat, prompt_of, text_of

FACTS = {"involuntary": 1, "voluntary": 0, "minor_faults": 2, "major_faults": 0, "cpu_ms": 2.5, "wait_ms": 0.5}
LIKELY = {"logprob": -0.25, "top": [[".", -0.25], [";", -1.5], [":", -3], ["x", -4], ["y", -5]], "entropy": 0.75}
COUNTING = [
    {"text": piece, "ms": 1, "facts": {**FACTS, "longest_wait_ms": 0.25}, **LIKELY}
    for piece in ["1", ",", " ", "2", ",", " ", "3", ",", " ", "4", ",", " ", "5", ",", " ", "6", ",", " ", "7"]
]
QUESTION = "Count from 1 to 10, separated by commas."

OpenAny = Callable[..., Engine]


@pytest.fixture(params=["scripted", pytest.param("llama", marks=pytest.mark.slow)])
def open_any(request: pytest.FixtureRequest, open_script: Open, open_llama: Open, kept_llama: Kept) -> OpenAny:
    """Open an engine that answers QUESTION with a count from 1; loaded."""

    def open_engine(**settings: Any) -> Engine:
        if request.param == "llama":
            if not settings:
                return kept_llama()
            engine = open_llama(**settings)
        else:
            lines = [{"load_ms": 5}, *COUNTING, {"repeat": 100_000, "text": "x", "ms": 1, **LIKELY}, {"stop": "stop"}]
            engine = open_script(*lines, **settings)
        engine.load()
        return engine

    return open_engine


def test_a_generation_tells_its_story_in_order(open_any: OpenAny) -> None:
    events = open_any().ask(QUESTION, max_tokens=7)
    kinds = [type(event) for event in events]
    assert kinds[:2] == [RequestTaken, PromptReady]
    assert kinds[-1] is Finished
    middle = kinds[2:-1]
    assert middle == [PrefillProgress] * middle.count(PrefillProgress) + [Token] * 7
    times = [event.t for event in events]
    assert times == sorted(times)
    assert [event.index for event in events if isinstance(event, Token)] == [1, 2, 3, 4, 5, 6, 7]


def test_prefill_progress_rises_to_the_whole_prompt(open_any: OpenAny) -> None:
    events = open_any().ask(QUESTION, max_tokens=1)
    progress = [event for event in events if isinstance(event, PrefillProgress)]
    processed = [event.processed for event in progress]
    assert processed == sorted(set(processed))
    assert processed[-1] == progress[-1].total == len(prompt_of(events).tokens)


@pytest.mark.parametrize("limit", [0, 1, 5])
def test_the_token_limit_ends_with_length(open_any: OpenAny, limit: int) -> None:
    events = open_any().ask(QUESTION, max_tokens=limit)
    assert sum(isinstance(event, Token) for event in events) == limit
    assert isinstance(events[-1], Finished)
    assert events[-1].reason == "length"


def test_a_stop_string_over_several_tokens_ends_the_text_before_it(open_any: OpenAny) -> None:
    events = open_any().ask(QUESTION, max_tokens=60, stop=("4, 5", "never"))
    assert text_of(events) == "1, 2, 3, "
    assert isinstance(events[-1], Finished)
    assert events[-1].reason == "stop"
    held = [event.held for event in events if isinstance(event, Token)]
    assert held[-4:] == [1, 2, 3, 4]
    assert set(held[:-4]) == {0}


def test_a_cancel_in_decode_keeps_what_was_written_and_the_engine_goes_on(open_any: OpenAny) -> None:
    engine = open_any()
    engine.host.generate(chat(QUESTION, max_tokens=-1, sampling=Sampling(temp=0, ignore_eos=True)))
    begun = engine.until(Token)
    engine.host.cancel()
    events = begun + ([] if isinstance(begun[-1], Finished) else engine.until(Finished))
    assert isinstance(events[-1], Finished)
    assert events[-1].reason == "cancelled"
    assert any(isinstance(event, Token) for event in events)
    again = engine.ask(QUESTION, max_tokens=3)
    assert text_of(again).startswith("1, ")


def test_a_cancel_that_comes_before_its_request_is_begun_still_counts(open_any: OpenAny) -> None:
    engine = open_any()
    engine.host.generate(chat(QUESTION, max_tokens=-1, sampling=Sampling(temp=0, ignore_eos=True)))
    engine.host.generate(chat(QUESTION, max_tokens=-1, sampling=Sampling(temp=0, ignore_eos=True)))
    engine.host.cancel()
    engine.host.generate(chat(QUESTION, max_tokens=2))
    ends: list[Event] = []
    while len(ends) < 3:
        ends += [event for event in engine.until(Finished) if isinstance(event, Finished)]
    assert [end.reason for end in ends if isinstance(end, Finished)] == ["cancelled", "cancelled", "length"]


def test_a_cancel_without_a_generation_hits_nothing(open_any: OpenAny) -> None:
    engine = open_any()
    engine.host.cancel()
    assert text_of(engine.ask(QUESTION, max_tokens=3)) == "1, "
    engine.host.cancel()
    assert isinstance(engine.ask(QUESTION, max_tokens=3)[-1], Finished)


def test_a_prompt_that_does_not_fit_is_refused_with_both_numbers(open_any: OpenAny) -> None:
    engine = open_any(context=64)
    events = engine.ask("word " * 2000)
    (failed,) = (event for event in events if isinstance(event, Failed))
    assert failed.stage == "generate"
    assert "64" in failed.what
    assert any(number in failed.what for number in ("2,5", "2,0"))  # 2,501 or 2,0.. tokens
    assert "-c" in failed.remedy
    assert text_of(engine.ask(QUESTION, max_tokens=3)) == "1, "


def test_a_full_context_ends_with_context(open_any: OpenAny) -> None:
    engine = open_any(context=100)
    events = engine.ask(QUESTION, max_tokens=-1, sampling=Sampling(temp=0, ignore_eos=True))
    assert isinstance(events[-1], Finished)
    assert events[-1].reason == "context"
    tokens = sum(isinstance(event, Token) for event in events)
    assert len(prompt_of(events).tokens) + tokens == 100


def tokens_of(events: list[Event]) -> list[Token]:
    return [event for event in events if isinstance(event, Token)]


def test_every_token_says_what_happened_to_the_engine(open_any: OpenAny) -> None:
    tokens = tokens_of(open_any().ask(QUESTION, max_tokens=7))
    assert len(tokens) == 7
    for token in tokens:
        assert token.scheduling is not None
        if sys.platform == "linux":
            # Where the kernel counts waits depends on how it was built.
            counts = msgspec.structs.asdict(token.scheduling)
            known = {name for name, count in counts.items() if count is not None}
            assert known >= {"involuntary_switches", "voluntary_switches", "minor_faults", "major_faults", "cpu_ns"}
            assert all(count >= 0 for count in counts.values() if count is not None)
    assert sum(token.scheduling.cpu_ns or 0 for token in tokens if token.scheduling) > 0


def test_probabilities_are_computed_only_when_asked_for(open_any: OpenAny) -> None:
    engine = open_any()
    without = tokens_of(engine.ask(QUESTION, max_tokens=7))
    assert [token.probability for token in without] == [None] * 7
    asked = tokens_of(engine.ask(QUESTION, max_tokens=7, probabilities=True))
    assert [token.id for token in asked] == [token.id for token in without]
    for token in asked:
        assert token.probability is not None
        assert token.probability.rank == 1  # the likeliest, since temperature is 0
        assert token.probability.logprob == token.probability.top[0].logprob <= 0
        logprobs = [alternative.logprob for alternative in token.probability.top]
        assert logprobs == sorted(logprobs, reverse=True)
        assert len(logprobs) == 5
        assert token.probability.entropy_nats > 0
    again = tokens_of(engine.ask(QUESTION, max_tokens=2))
    assert [token.probability for token in again] == [None] * 2


def test_probabilities_can_be_switched_in_the_middle(open_any: OpenAny) -> None:
    engine = open_any()
    engine.host.generate(chat(QUESTION, max_tokens=-1, sampling=Sampling(temp=0, ignore_eos=True)))
    tokens: list[Token] = []
    states = [False, True, False]
    for state in states:
        engine.host.probabilities(state)
        # Until what was asked for has come: the engine may be some tokens ahead of the command.
        while not tokens or (tokens[-1].probability is not None) != state:
            tokens += tokens_of(engine.until(Token))
    engine.host.cancel()
    engine.until(Finished)
    known = [token.probability is not None for token in tokens]
    assert [state for place, state in enumerate(known) if place == 0 or known[place - 1] != state] == states


def test_a_switch_is_about_what_was_asked_for_before_it(open_any: OpenAny) -> None:
    engine = open_any()
    engine.host.probabilities(True)
    first = tokens_of(engine.ask(QUESTION, max_tokens=2))
    engine.host.generate(chat(QUESTION, max_tokens=2, probabilities=True))
    engine.host.generate(chat(QUESTION, max_tokens=2))
    second = tokens_of(engine.until(Finished))
    while len(second) < 4:
        second += tokens_of(engine.until(Finished))
    known = [token.probability is not None for token in [*first, *second]]
    assert known == [False, False, True, True, False, False]


def test_the_descriptor_is_readable_when_events_wait(open_any: OpenAny) -> None:
    engine = open_any()
    assert select.select([engine.host], [], [], 0)[0] == []
    engine.host.generate(chat(QUESTION, max_tokens=1))
    assert select.select([engine.host], [], [], 60)[0] == [engine.host]


def test_closing_ends_the_process_and_may_be_repeated(open_any: OpenAny) -> None:
    engine = open_any()
    engine.host.generate(chat(QUESTION, max_tokens=-1))
    engine.host.close()
    assert not psutil.pid_exists(engine.host.pid)
    engine.host.close()
    assert engine.host.closed
    assert engine.host.receive(None) == []
    engine.host.generate(chat(QUESTION))
    engine.host.cancel()


def test_a_killed_engine_is_reported_once_in_words(open_any: OpenAny) -> None:
    engine = open_any()
    engine.host.generate(chat(QUESTION, max_tokens=-1))
    engine.until(Token)
    os.kill(engine.host.pid, signal.SIGKILL)
    events = engine.until(Failed)
    (failed,) = (event for event in events if isinstance(event, Failed))
    assert failed.stage == "engine"
    assert "SIGKILL" in failed.what
    assert "memory" in failed.remedy
    assert failed.reason == ""
    assert engine.host.closed
    assert engine.host.receive(0) == []


def test_broken_unicode_is_replaced_before_it_reaches_the_engine(open_any: OpenAny) -> None:
    engine = open_any()
    assert isinstance(engine.ask("a\udcffb", max_tokens=1)[-1], Finished)
    request = Request(prompt="a\ud83e\udd8ab \ud83e", max_tokens=1, stop=("\udc80",))
    taken = next(event for event in engine.run(request) if isinstance(event, RequestTaken))
    assert taken.prompt == "a🦊b \ufffd"


def test_keys_meant_for_the_screen_do_not_reach_the_engine(open_any: OpenAny) -> None:
    engine = open_any()
    assert os.getpgid(engine.host.pid) != os.getpgrp()
    assert os.getsid(engine.host.pid) == os.getsid(0)


def test_the_engine_goes_when_its_parent_is_killed(demo_path: Path, tmp_path: Path) -> None:
    script = tmp_path / "script.jsonl"
    script.write_text('{"model":{"context":200000}}\n{"repeat":100000,"text":"x","ms":10}\n')
    program = textwrap.dedent("""
        import sys, time
        from decodescope.backends.launch import launch, resolve
        from decodescope.backends.events import PrefillProgress, Token
        from decodescope.backends.requests import EngineSettings, Request
        backend = launch(resolve(sys.argv[1]), EngineSettings(threads=1))
        backend.generate(Request(prompt="word " * 6000))
        kind = PrefillProgress if sys.argv[1] == "demo" else Token
        while not backend.closed and not any(isinstance(event, kind) for event in backend.receive(None)):
            pass
        print(backend.pid, flush=True)
        time.sleep(600)
    """)
    for model in ("demo", f"script:{script}"):
        with subprocess.Popen([sys.executable, "-c", program, model], stdout=subprocess.PIPE, text=True) as parent:
            assert parent.stdout is not None
            engine = psutil.Process(int(parent.stdout.readline()))
            parent.kill()
            # 2 s are the promise; waiting longer keeps a busy machine from failing it, and the exit itself is the fact.
            engine.wait(timeout=30)
        assert not engine.is_running()


def test_an_engine_never_waits_for_its_reader(open_script: Open) -> None:
    engine = open_script({"model": {"context": 100_000}}, {"repeat": 30_000, "text": "twenty bytes of text", "ms": 0})
    engine.load()
    engine.host.generate(chat("go", max_tokens=-1))
    process = psutil.Process(engine.host.pid)
    # More than the pipe holds is generated while nobody reads: the engine has come to rest with all of it.
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        before = process.cpu_times().user
        time.sleep(0.5)
        if before > 0.2 and process.cpu_times().user - before < 0.05:
            break
    events = engine.until(Finished)
    tokens = [event for event in events if isinstance(event, Token)]
    assert [token.index for token in tokens] == list(range(1, 30_001))
    finished = events[-1]
    assert isinstance(finished, Finished)
    assert finished.t < time.perf_counter_ns() - 100_000_000


def test_native_output_is_the_reason_of_a_crash(open_script: Open) -> None:
    engine = open_script({"stderr": "ggml_abort: \x1b[2Jno room"}, {"text": "x", "ms": 1}, {"signal": 6})
    engine.load()
    failed = engine.ask("x")[-1]
    assert isinstance(failed, Failed)
    assert "SIGABRT" in failed.what
    assert failed.reason == "ggml_abort: \x1b[2Jno room"


def test_a_failure_that_the_script_asks_for(open_script: Open) -> None:
    engine = open_script(
        {"text": "a", "ms": 1}, {"error": "out of memory", "remedy": "smaller -c"}, {"text": "b", "ms": 1}
    )
    engine.load()
    events = engine.ask("x")
    assert text_of(events) == "a"
    failed = events[-1]
    assert isinstance(failed, Failed)
    assert (failed.stage, failed.reason, failed.remedy) == ("generate", "out of memory", "smaller -c")
    assert text_of(engine.ask("x")) == "b"


def test_a_script_says_what_its_tokens_read(open_script: Open) -> None:
    facts = {"weight_bytes_per_token": 70_000_000, "weight_bytes_per_pass": 90_000_000, "kv_bytes_per_token": 1000}
    ready = open_script({"model": facts}).load()
    assert (ready.weight_bytes_per_token, ready.weight_bytes_per_pass) == (70_000_000, 90_000_000)
    assert open_script({"load_ms": 1}).load().weight_bytes_per_token is None


def test_a_load_that_fails_is_the_last_word(open_script: Open) -> None:
    engine = open_script({"load_error": "tensor 'x' is missing"})
    events = engine.until(Failed)
    assert [event.stage for event in events if isinstance(event, Failed)] == ["load"]
    while not engine.host.closed:
        assert engine.host.receive(1.0) == []


def test_closed_standard_streams_do_not_matter(tmp_path: Path) -> None:
    script = tmp_path / "script.jsonl"
    script.write_text('{"text":"fine","ms":1}\n')
    program = textwrap.dedent("""
        import os, sys
        for descriptor in (0, 1, 2):
            os.close(descriptor)
        sys.stdout = sys.stderr = None
        from decodescope.backends.launch import launch, resolve
        from decodescope.backends.events import Finished
        from decodescope.backends.requests import EngineSettings, Request
        backend = launch(resolve(sys.argv[1]), EngineSettings(threads=1))
        backend.generate(Request(prompt="x", max_tokens=3))
        events = []
        while not any(isinstance(event, Finished) for event in events) and not backend.closed:
            events += backend.receive(60)
        backend.close()
        os._exit(0 if isinstance(events[-1], Finished) else 1)
    """)
    for model in ("demo", f"script:{script}"):
        code = subprocess.run([sys.executable, "-c", program, model], check=False, timeout=120).returncode
        assert code == 0, model


def test_a_stopped_engine_never_holds_its_parent_up(open_script: Open) -> None:
    """A prompt larger than any pipe is sent to an engine that does not read, and arrives once it reads again."""
    engine = open_script({"model": {"context": 2_000_000}}, {"text": "x", "ms": 1})
    engine.load()
    os.kill(engine.host.pid, signal.SIGSTOP)
    engine.host.generate(Request(prompt="a" * 3_000_000))
    engine.host.cancel()
    engine.host.generate(Request(prompt="b" * 3_000_000))
    os.kill(engine.host.pid, signal.SIGCONT)
    ends = [event for event in engine.until(Finished) + engine.until(Finished) if isinstance(event, Finished)]
    assert [end.reason for end in ends] == ["cancelled", "stop"]
    os.kill(engine.host.pid, signal.SIGSTOP)
    engine.host.generate(Request(prompt="c" * 3_000_000))
    engine.host.close()
    assert not psutil.pid_exists(engine.host.pid)


def test_a_script_changes_the_threads(open_script: Open) -> None:
    change = {"from": 2, "to": 1, "why": "core_taken"}
    events = open_script({"text": "a"}, {"threads": change}, {"text": "b"}).run(chat("hi"))
    kinds = [type(event) for event in events if isinstance(event, Token | ThreadsChanged)]
    assert kinds == [Token, ThreadsChanged, Token]
    (changed,) = (event for event in events if isinstance(event, ThreadsChanged))
    assert msgspec.json.decode(encode(changed)) == {"event": "threads", "t": changed.t, **change}
