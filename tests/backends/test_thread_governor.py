"""How many threads are taken while other programs use the cores; times are made up."""

import time

import pytest

from decodescope.backends.thread_governor import SystemCores, ThreadChange, ThreadGovernor
from decodescope.backends.token_facts import Scheduling

MS = 1_000_000


class GivenCores:
    """Says what the test says."""

    def __init__(self) -> None:
        self.free: float | None = None
        self.watched: list[float] = []
        self.watching = False

    def watch(self, seconds: float) -> None:
        self.watched.append(seconds)
        self.watching = True
        self.free = None

    def rest(self) -> None:
        self.watching = False
        self.free = None


class Machine:
    """A governor with a clock of its own; each step advances it."""

    def __init__(self, threads: int) -> None:
        self.cores = GivenCores()
        self.now = 0
        self.governor = ThreadGovernor(threads, self.cores, lambda: self.now)

    def step(self, ms: float, wait_ms: float | None = 0, *, waiting: int = 1, prefill: bool = False) -> str | None:
        """One step in which ``waiting`` threads waited; why the threads changed after it."""
        self.now += round(ms * MS)
        longest = None if wait_ms is None else round(wait_ms * MS)
        facts = Scheduling(wait_ns=None if longest is None else longest * waiting, longest_wait_ns=longest)
        tokens = 512 if prefill else 1
        change = self.governor.after_step(tokens, round(ms * MS), facts, prefill=prefill)
        return None if change is None else change.why

    def steps(self, count: int, ms: float, wait_ms: float | None = 0, waiting: int = 1) -> list[str]:
        """The reasons of the changes in so many steps."""
        return [why for _ in range(count) if (why := self.step(ms, wait_ms, waiting=waiting)) is not None]


def crowded(threads: int = 2) -> Machine:
    """A machine on which a thread was given up."""
    machine = Machine(threads)
    machine.steps(20, 5)
    assert machine.steps(4, 70, 60) == ["core_taken"]
    return machine


def test_a_quiet_machine_keeps_its_threads() -> None:
    machine = Machine(2)
    assert machine.steps(200, 5, 0.1) == []
    assert machine.governor.threads == 2
    assert machine.cores.watched == []


def test_a_few_crowded_steps_give_up_a_thread() -> None:
    machine = crowded()
    assert machine.governor.threads == 1
    assert machine.cores.watched == [1.0]


def test_one_slow_step_among_others_changes_nothing() -> None:
    machine = Machine(2)
    for _ in range(50):
        assert machine.steps(3, 70, 60) == []
        assert machine.step(5) is None
    assert machine.governor.threads == 2


def test_a_single_step_of_half_a_second_is_enough() -> None:
    machine = Machine(2)
    assert machine.step(4000, 3900) == "core_taken"


def test_a_slow_step_without_waits_is_not_the_cores_fault() -> None:
    machine = Machine(2)
    assert machine.steps(50, 700, 10) == []


def test_a_wait_counts_by_what_a_thread_brings() -> None:
    """Of 8 threads one brings an eighth: a wait of a sixteenth is the least, and a tenth where there are more."""
    assert Machine(8).steps(10, 100, 9) == []
    assert Machine(8).steps(4, 100, 11) == ["core_taken"]
    assert Machine(64).steps(10, 100, 9) == []


def test_as_many_threads_are_given_up_as_cores_were_missing() -> None:
    machine = Machine(16)
    assert machine.steps(4, 20, 10, waiting=8) == ["core_taken"]
    assert machine.governor.threads == 12


def test_what_brings_nothing_is_taken_back_and_not_tried_again_at_once() -> None:
    machine = crowded()
    assert machine.steps(5, 100) == ["no_gain"]
    assert machine.governor.threads == 2
    assert not machine.cores.watching
    assert machine.steps(28, 70, 60) == []  # 1.96 s
    assert machine.step(70, 60) == "core_taken"
    assert machine.steps(5, 100) == ["no_gain"]
    assert machine.steps(57, 70, 60) == []  # 3.99 s
    assert machine.step(70, 60) == "core_taken"


def test_what_helps_stays() -> None:
    machine = crowded()
    assert machine.steps(500, 10) == []
    assert machine.governor.threads == 1


def test_idle_cores_bring_the_threads_back() -> None:
    machine = crowded()
    machine.steps(20, 10)
    machine.cores.free = 1.85
    assert machine.steps(5, 10) == []
    machine.cores.free = 1.95
    assert machine.step(10) == "core_idle"
    assert machine.governor.threads == 2
    assert not machine.cores.watching


def test_no_more_threads_than_on_a_quiet_machine() -> None:
    machine = crowded()
    machine.steps(20, 10)
    machine.cores.free = 8.0
    assert machine.step(10) == "core_idle"
    assert machine.governor.threads == 2


def test_threads_taken_too_early_are_waited_for_longer() -> None:
    machine = crowded()
    for idle in (2.0, 4.0, 8.0, 16.0, 16.0):
        machine.steps(20, 10)
        machine.cores.free = 2.0
        assert machine.step(10) == "core_idle"
        assert machine.steps(4, 70, 60) == ["core_taken"]
        assert machine.cores.watched[-1] == idle
    machine.steps(20, 10)
    machine.cores.free = 2.0
    assert machine.step(10) == "core_idle"
    machine.steps(6_001, 5)
    assert machine.steps(4, 70, 60) == ["core_taken"]
    assert machine.cores.watched[-1] == 1.0


def test_prefill_and_decode_are_not_compared() -> None:
    machine = Machine(2)
    assert machine.step(1500, 1200, prefill=True) == "core_taken"
    assert machine.steps(20, 10) == []  # far more for a token than in prefill


def test_exact_work_takes_all_threads() -> None:
    machine = crowded()
    assert machine.governor.whole() == ThreadChange(1, 2, "exact")
    assert machine.governor.whole() is None


@pytest.mark.parametrize("threads", [1, 2])
def test_where_nobody_tells_who_waits_nothing_changes(threads: int) -> None:
    machine = Machine(threads)
    assert machine.steps(50, 700, None) == []


def test_one_thread_is_the_least() -> None:
    assert Machine(1).steps(50, 700, 690) == []


def test_cores_in_use_by_this_process_count_as_free() -> None:
    cores = SystemCores()
    cores.watch(0.3)
    try:
        assert cores.free is None
        end = time.monotonic() + 60
        while cores.free is None and time.monotonic() < end:
            sum(range(10_000))
        free = cores.free
    finally:
        cores.rest()
    assert free is not None
    assert free > 0.05  # what this loop has used at least, however busy the machine is
