"""How much memory can still be taken."""

import psutil


def available_bytes() -> int:
    """Return the bytes that are free on this machine, or in the container (cgroup) where those are fewer."""
    available = int(psutil.virtual_memory().available)
    try:
        with open("/sys/fs/cgroup/memory.max") as limit, open("/sys/fs/cgroup/memory.current") as current:
            return min(available, int(limit.read()) - int(current.read()))
    except (OSError, ValueError):  # no cgroup, or no limit ("max")
        return available
