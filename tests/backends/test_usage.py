"""What the system says of a process."""

import json
import mmap
import os
import signal
import subprocess
import sys
import threading
import time
import zlib
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from decodescope.backends import usage as usage_module
from decodescope.backends.usage import ProcessUsage


def test_processor_time_is_counted_between_two_moments() -> None:
    with closing(ProcessUsage()) as usage:
        end = time.process_time_ns() + 60_000_000
        while time.process_time_ns() < end:
            pass
        busy = usage.take().cpu_ns
        idle = usage.take().cpu_ns
    assert busy is not None
    assert idle is not None
    assert busy >= 50_000_000
    assert 0 <= idle < busy


def test_pages_that_are_touched_for_the_first_time_are_minor_faults() -> None:
    pages = 500
    with closing(ProcessUsage()) as usage, mmap.mmap(-1, pages * mmap.PAGESIZE) as memory:
        if hasattr(mmap, "MADV_NOHUGEPAGE"):
            memory.madvise(mmap.MADV_NOHUGEPAGE)
        usage.take()
        for page in range(pages):
            memory[page * mmap.PAGESIZE] = 1
        first = usage.take().minor_faults
    assert first is not None
    assert first >= pages


@pytest.mark.skipif(sys.platform != "linux", reason="other systems count waits and switches together or not at all")
def test_a_thread_that_waits_gives_up_its_core_of_its_own() -> None:
    with closing(ProcessUsage()) as usage:
        for _ in range(20):
            time.sleep(0.001)
        switches = usage.take().voluntary_switches
    assert switches is not None
    assert switches >= 20


@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="this kernel does not count waits")
def test_two_threads_on_one_core_wait_for_it() -> None:
    """Each needs 50 ms of the only core that they may use."""
    process = psutil.Process()
    cores = process.cpu_affinity()
    release = threading.Event()
    data = bytes(4_000_000)

    def work() -> None:
        release.wait()
        end = time.thread_time_ns() + 50_000_000
        while time.thread_time_ns() < end:
            zlib.crc32(data)  # without the interpreter's lock, in which threads take turns by themselves

    other = threading.Thread(target=work)
    process.cpu_affinity(cores[:1])
    try:
        other.start()
        with closing(ProcessUsage()) as usage:
            release.set()
            work()
            other.join()
            facts = usage.take()
    finally:
        process.cpu_affinity(cores)
    assert facts.wait_ns is not None
    assert facts.longest_wait_ns is not None
    assert facts.wait_ns >= facts.longest_wait_ns >= 10_000_000
    assert facts.involuntary_switches is not None
    assert facts.involuntary_switches > 0


@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="this kernel does not count waits")
def test_threads_may_come_and_go() -> None:
    with closing(ProcessUsage()) as usage:
        for count in (3, 1, 5, 0, 2):
            done = threading.Event()
            others = [threading.Thread(target=done.wait) for _ in range(count)]
            for other in others:
                other.start()
            facts = [usage.take()]
            done.set()
            for other in others:
                other.join()
            facts.append(usage.take())
            assert all(fact.wait_ns is not None and fact.wait_ns >= 0 for fact in facts)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not count waits")
def test_very_many_threads_are_not_asked_one_by_one() -> None:
    done = threading.Event()
    others = [threading.Thread(target=done.wait) for _ in range(40)]
    for other in others:
        other.start()
    try:
        with closing(ProcessUsage()) as usage:
            assert usage.take().wait_ns is None
            assert usage.take().longest_wait_ns is None
    finally:
        done.set()
        for other in others:
            other.join()


def test_nothing_is_held_open_afterwards() -> None:
    process = psutil.Process()
    before = process.num_fds()
    usage = ProcessUsage()
    usage.close()
    usage.close()
    assert process.num_fds() == before


STOPPED = """
import json, sys, time
from contextlib import closing
from msgspec import to_builtins
from decodescope.backends.usage import ProcessUsage, count_stops

count_stops()
with closing(ProcessUsage()) as usage:
    for line in sys.stdin:
        if line.strip() == "sleep":
            time.sleep(0.2)
        print(json.dumps(to_builtins(usage.take())), flush=True)
"""


@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="this kernel does not count waits")
def test_time_in_which_the_process_was_stopped_is_known_from_time_in_which_it_slept() -> None:
    with subprocess.Popen([sys.executable, "-c", STOPPED], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def facts(line: bytes) -> dict[str, int]:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(line)
            process.stdin.flush()
            found: dict[str, int] = json.loads(process.stdout.readline())
            return found

        facts(b"begin\n")
        assert "suspended_ns" not in facts(b"sleep\n")
        os.kill(process.pid, signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
        time.sleep(0.2)
        os.kill(process.pid, signal.SIGCONT)
        assert facts(b"stopped\n")["suspended_ns"] >= 150_000_000
        assert "suspended_ns" not in facts(b"sleep\n")
        process.stdin.close()


@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="this kernel does not count waits")
def test_time_around_a_sleep_of_the_machine_is_suspended(monkeypatch: pytest.MonkeyPatch) -> None:
    """As seen from the clock that counts sleep, while ``perf_counter`` stands still in it."""
    asleep = 0
    monkeypatch.setattr(usage_module, "_slept", lambda: asleep)
    with closing(ProcessUsage()) as usage:
        time.sleep(0.1)
        assert usage.take().suspended_ns is None
        asleep = 5_000_000_000
        time.sleep(0.1)
        found = usage.take().suspended_ns
    assert found is not None
    assert found >= 50_000_000
