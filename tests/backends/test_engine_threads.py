"""An engine that gives up threads, and takes them again."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from decodescope.backends.events import Event, Finished, ThreadsChanged, Token
from decodescope.backends.requests import Sampling
from decodescope.backends.threads import thread_choice

from .engines import Engine, Open, chat
from .tiny_models import tiny_llama

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="needs Linux, where threads can be kept on one core"),
    pytest.mark.skipif(thread_choice().threads < 2, reason="needs two cores"),
    pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="this kernel does not count waits"),
]
WARM = Sampling(temp=0.8, ignore_eos=True)


def keep_on_one_core(engine: Engine) -> None:
    """All threads of the engine's process, those that are made later too."""
    core = min(os.sched_getaffinity(0))
    for thread in os.listdir(f"/proc/{engine.host.pid}/task"):
        os.sched_setaffinity(int(thread), {core})


@pytest.fixture
def tiny(tmp_path: Path, demo_path: Path) -> Path:
    """A model of few layers, whose threads wait for each other less often."""
    return tiny_llama(tmp_path / "tiny.gguf", demo_path)


def changes(events: Sequence[Event]) -> list[ThreadsChanged]:
    return [event for event in events if isinstance(event, ThreadsChanged)]


def test_threads_that_share_a_core_are_given_up_and_an_exact_request_has_them_all(open_llama: Open, tiny: Path) -> None:
    engine = open_llama(tiny, threads=None, context=512, adapt_threads=True)
    ready = engine.load()
    assert ready.threads >= 2
    keep_on_one_core(engine)
    events = engine.run(chat("Tell me a story.", max_tokens=40, sampling=WARM))
    assert isinstance(events[-1], Finished)
    given_up = changes(events)
    assert given_up[0].why == "core_taken"
    assert given_up[0].before == ready.threads
    assert given_up[0].after < ready.threads
    assert sum(isinstance(event, Token) for event in events) == 40
    if given_up[-1].after == ready.threads:
        pytest.skip("fewer threads brought nothing on this machine")
    (exact,) = changes(engine.run(chat("Hi", max_tokens=2)))
    assert (exact.before, exact.after, exact.why) == (given_up[-1].after, ready.threads, "exact")


@pytest.mark.parametrize("settings", [{"threads": 2, "adapt_threads": True}, {"threads": None}])
def test_threads_that_were_set_stay(open_llama: Open, tiny: Path, settings: dict[str, object]) -> None:
    engine = open_llama(tiny, context=512, **settings)
    engine.load()
    keep_on_one_core(engine)
    assert changes(engine.run(chat("Tell me a story.", max_tokens=12, sampling=WARM))) == []
