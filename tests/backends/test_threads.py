"""The default number of threads, on machines made of files."""

import os
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from decodescope.backends.threads import ThreadChoice, thread_choice


class Machine:
    """A tree like those of /sys and /proc."""

    def __init__(self, root: Path) -> None:
        self.cgroups = root / "cgroup"
        self.topology = root / "cpu"
        self.own_cgroup = root / "self-cgroup"
        self.cgroups.mkdir()
        self.topology.mkdir()

    def cpus(self, count: int, core_of: Callable[[int], tuple[int, int]]) -> None:
        """Add CPUs; ``core_of`` gives (package, core) of each."""
        for cpu in range(count):
            folder = self.topology / f"cpu{cpu}" / "topology"
            folder.mkdir(parents=True)
            package, core = core_of(cpu)
            (folder / "physical_package_id").write_text(f"{package}\n")
            (folder / "core_id").write_text(f"{core}\n")

    def v2(self, path: str, quota: str) -> None:
        folder = self.cgroups / path
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "cpu.max").write_text(quota + "\n")

    def v1(self, path: str, quota: int, period: int = 100_000) -> None:
        folder = self.cgroups / path
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "cpu.cfs_quota_us").write_text(f"{quota}\n")
        (folder / "cpu.cfs_period_us").write_text(f"{period}\n")

    def choose(self, allowed: list[int]) -> ThreadChoice:
        return thread_choice(allowed, self.cgroups, self.own_cgroup, self.topology)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.fixture
def sixteen(machine: Machine) -> Machine:
    """Sixteen cores without hyper-threads."""
    machine.cpus(16, lambda cpu: (0, cpu))
    return machine


ALL = list(range(16))


def test_without_a_quota_every_core_works(sixteen: Machine) -> None:
    choice = sixteen.choose(ALL)
    assert choice.threads == 16
    assert "16 physical cores" in choice.why


def test_two_cpus_of_quota_on_sixteen_cores(sixteen: Machine) -> None:
    sixteen.v2(".", "200000 100000")
    sixteen.own_cgroup.write_text("0::/\n")
    choice = sixteen.choose(ALL)
    assert choice.threads == 2
    assert "quota of 2 cores" in choice.why
    assert "16 CPUs" in choice.why


@pytest.mark.parametrize(
    ("quota", "threads"),
    [
        ("50000 100000", 1),  # half a core still needs a thread
        ("100000 100000", 1),
        ("250000 100000", 2),  # a third thread would be stopped half of the time
        ("10000 5000", 2),  # another period
        ("1600000 100000", 16),
        ("6400000 100000", 16),  # more than there is
        ("max 100000", 16),
    ],
)
def test_quotas_of_version_2(sixteen: Machine, quota: str, threads: int) -> None:
    sixteen.v2(".", quota)
    assert sixteen.choose(ALL).threads == threads


def test_a_quota_that_takes_nothing_away_is_not_the_reason(sixteen: Machine) -> None:
    sixteen.v2(".", "1600000 100000")
    assert "quota" not in sixteen.choose(ALL).why


def test_half_a_core_is_named(sixteen: Machine) -> None:
    sixteen.v2(".", "50000 100000")
    assert "quota of 0.5 cores" in sixteen.choose(ALL).why


def test_the_smallest_quota_on_the_way_to_the_root_counts(sixteen: Machine) -> None:
    sixteen.own_cgroup.write_text("0::/user.slice/app.scope\n")
    sixteen.v2("user.slice", "300000 100000")
    sixteen.v2("user.slice/app.scope", "max 100000")
    assert sixteen.choose(ALL).threads == 3
    sixteen.v2("user.slice/app.scope", "100000 100000")
    assert sixteen.choose(ALL).threads == 1


def test_a_neighbour_s_quota_does_not_count(sixteen: Machine) -> None:
    sixteen.own_cgroup.write_text("0::/user.slice/app.scope\n")
    sixteen.v2("user.slice/app.scope", "max 100000")
    sixteen.v2("user.slice/other.scope", "100000 100000")
    sixteen.v2("user.slice/app.scope/child", "100000 100000")
    assert sixteen.choose(ALL).threads == 16


@pytest.mark.parametrize("mount", ["cpu,cpuacct", "cpu"])
def test_quotas_of_version_1(sixteen: Machine, mount: str) -> None:
    sixteen.own_cgroup.write_text(f"5:memory:/docker/abc\n4:{mount}:/docker/abc\n0::/\n")
    sixteen.v1(mount, -1)
    sixteen.v1(f"{mount}/docker/abc", 200_000)
    choice = sixteen.choose(ALL)
    assert choice.threads == 2
    assert "quota" in choice.why


@pytest.mark.parametrize("mount", ["cpu,cpuacct", "cpu"])
def test_version_1_inside_a_container_whose_path_is_the_host_s(sixteen: Machine, mount: str) -> None:
    sixteen.own_cgroup.write_text("4:cpu,cpuacct:/docker/abc\n")
    sixteen.v1(mount, 300_000)
    assert sixteen.choose(ALL).threads == 3


@pytest.mark.parametrize(("quota", "period"), [(-1, 100_000), (0, 100_000), (200_000, 0)])
def test_version_1_without_a_limit(sixteen: Machine, quota: int, period: int) -> None:
    sixteen.v1("cpu", quota, period)
    assert sixteen.choose(ALL).threads == 16


def test_a_path_that_leads_out_of_the_tree_stays_inside(sixteen: Machine, tmp_path: Path) -> None:
    (tmp_path / "cpu.max").write_text("100000 100000\n")
    sixteen.own_cgroup.write_text("0::/../../../\n")
    assert sixteen.choose(ALL).threads == 16


def test_hyper_threads_count_once(machine: Machine) -> None:
    machine.cpus(16, lambda cpu: (0, cpu % 8))
    choice = machine.choose(ALL)
    assert choice.threads == 8
    assert "16 CPUs" in choice.why or "16 of" in choice.why
    assert "8 physical cores" in choice.why


def test_two_processors_have_cores_of_the_same_number(machine: Machine) -> None:
    machine.cpus(16, lambda cpu: (cpu // 8, cpu % 4))  # two packages of four cores, two threads each
    assert machine.choose(ALL).threads == 8


def test_only_allowed_cpus_count(machine: Machine) -> None:
    machine.cpus(16, lambda cpu: (0, cpu % 8))
    assert machine.choose([0, 8]).threads == 1
    assert machine.choose([0, 1, 8]).threads == 2
    assert machine.choose([5]).threads == 1


def test_a_restriction_to_few_cpus_is_named(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 16)
    machine.cpus(16, lambda cpu: (0, cpu))
    assert "3 of 16 CPUs allowed" in machine.choose([1, 2, 3]).why


def test_the_quota_is_compared_with_cores_and_not_with_hyper_threads(machine: Machine) -> None:
    machine.cpus(16, lambda cpu: (0, cpu % 8))
    machine.v2(".", "1200000 100000")  # twelve of sixteen hyper-threads, more than the eight cores
    assert machine.choose(ALL).threads == 8


@pytest.mark.parametrize(("physical", "threads"), [(4, 4), (99, 8), (None, 8)])
def test_without_a_topology_the_system_is_asked(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, physical: int | None, threads: int
) -> None:
    monkeypatch.setattr(psutil, "cpu_count", lambda logical=True: 8 if logical else physical)
    assert machine.choose(list(range(8))).threads == threads


def test_this_machine_has_an_answer_within_its_means() -> None:
    choice = thread_choice()
    assert 1 <= choice.threads <= (os.cpu_count() or 1)
    assert choice.why
