"""How many threads this process may really use."""

import math
import os
from collections.abc import Iterable
from pathlib import Path

import msgspec
import psutil

_CGROUPS = Path("/sys/fs/cgroup")
_TOPOLOGY = Path("/sys/devices/system/cpu")


class ThreadChoice(msgspec.Struct, frozen=True):
    """The default for ``-t`` and where it comes from."""

    threads: int
    why: str


def thread_choice(
    allowed: Iterable[int] | None = None,
    cgroups: Path = _CGROUPS,
    own_cgroup: Path = Path("/proc/self/cgroup"),
    topology: Path = _TOPOLOGY,
) -> ThreadChoice:
    """Choose the number of threads: the physical cores among the CPUs this process may run on, within its CPU quota.

    Hyper-threads share one set of vector units, so a core counts once. ``allowed``: CPU numbers, by default the
    process's affinity.
    """
    cpus = sorted(_affinity() if allowed is None else allowed)
    cores = _physical_cores(cpus, topology)
    quota = _cgroup_quota(cgroups, own_cgroup)
    if quota is not None and quota < cores:
        threads = max(1, math.floor(quota))
        return ThreadChoice(threads, f"CPU quota of {quota:g} cores (cgroup) on {len(cpus)} CPUs")
    total = os.cpu_count() or len(cpus)
    source = f"{len(cpus)} of {total} CPUs allowed" if len(cpus) < total else f"{len(cpus)} CPUs"
    return ThreadChoice(max(1, cores), f"{source}, {cores} physical cores")


def _affinity() -> list[int]:
    process = psutil.Process()
    if hasattr(process, "cpu_affinity"):
        return list(process.cpu_affinity() or [])
    return list(range(os.cpu_count() or 1))


def _physical_cores(cpus: list[int], topology: Path) -> int:
    cores = set()
    for cpu in cpus:
        folder = topology / f"cpu{cpu}" / "topology"
        try:
            package = (folder / "physical_package_id").read_text().strip()
            core = (folder / "core_id").read_text().strip()
        except OSError:
            # Not Linux, or a kernel that does not tell.
            physical = psutil.cpu_count(logical=False) or len(cpus)
            return min(physical, len(cpus))
        cores.add((package, core))
    return len(cores)


def _cgroup_quota(cgroups: Path, own_cgroup: Path) -> float | None:
    """CPU quota in cores, the smallest on the way from this process's cgroup to the root; versions 2 and 1."""
    quotas = [
        quota
        for folder in _cgroup_folders(cgroups, own_cgroup)
        for quota in (_quota_v2(folder / "cpu.max"), _quota_v1(folder))
        if quota is not None
    ]
    return min(quotas, default=None)


def _cgroup_folders(cgroups: Path, own_cgroup: Path) -> list[Path]:
    folders = [cgroups, cgroups / "cpu", cgroups / "cpu,cpuacct"]
    try:
        lines = own_cgroup.read_text().splitlines()
    except OSError:
        return folders
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        root = cgroups / controllers if controllers else cgroups
        parts = [part for part in path.split("/") if part and part != ".."]
        folders += [root.joinpath(*parts[:depth]) for depth in range(1, len(parts) + 1)]
    return folders


def _quota_v2(file: Path) -> float | None:
    try:
        quota, period = file.read_text().split()
    except (OSError, ValueError):
        return None
    return None if quota == "max" else int(quota) / int(period)


def _quota_v1(folder: Path) -> float | None:
    try:
        quota = int((folder / "cpu.cfs_quota_us").read_text())
        period = int((folder / "cpu.cfs_period_us").read_text())
    except (OSError, ValueError):
        return None
    return None if quota <= 0 or period <= 0 else quota / period
