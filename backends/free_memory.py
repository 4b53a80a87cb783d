"""How much memory this machine or container has left."""

import psutil


def free_memory() -> int:
    """Return the bytes that new processes can take."""
    available = int(psutil.virtual_memory().available)
    try:
        with open("/sys/fs/cgroup/memory.max") as limit, open("/sys/fs/cgroup/memory.current") as current:
            return min(available, int(limit.read()) - int(current.read()))
    except (OSError, ValueError):  # no cgroup, or no limit ("max")
        return available
