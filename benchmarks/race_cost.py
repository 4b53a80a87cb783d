"""What the race costs: all lanes drawn together."""

import json
import tempfile
import time
from pathlib import Path

from .figures import Figure
from .terminal import Terminal

LANES, TOKENS, RATE = 4, 2400, 150


def race() -> list[Figure]:
    """CPU and bytes of a race of four lanes at 120×40."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        terminal = Terminal(["-m", "benchmarks.raced", str(report), str(LANES), str(TOKENS), str(RATE)])
        deadline = time.monotonic() + 120
        while not report.exists():
            if not terminal.read(0.05) or time.monotonic() > deadline:
                output = b"".join(data for _, data in terminal.chunks)
                raise RuntimeError(f"the race ended early: {output[-2000:].decode(errors='replace')}")
        terminal.close()
        marks = json.loads(report.read_text())
    # The start draws everything once, and at the end nothing moves any more.
    (start, cpu_before), (end, cpu_after) = marks[2], marks[-3]
    share = (cpu_after - cpu_before) / (end - start) * 1e9
    sent = sum(len(data) for t, data in terminal.chunks if start <= t < end) / (end - start) * 1e6
    what = f"{LANES} lanes in the race, {RATE} tok/s each, 120×40"
    detail = f"over {(end - start) / 1e9:.0f} s"
    return [
        Figure(f"{what}: CPU", f"{share:.1%}", "≤ 10 % of a core", share <= 0.10, detail),
        Figure(f"{what}: bytes to the terminal", f"{sent:.1f} KB/s", "≤ 40 KB/s", sent <= 40, detail),
    ]
