"""What the screen costs: to the generation, to the machine and to the terminal."""

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import PROMPT, THREADS
from .engine_speed import TOKENS
from .figures import Figure, paired_ratio
from .terminal import Terminal

TOKEN_MS = 1000 / 150
PAIRS = 7
STEADY_TOKENS = 2400
STARTS = 11
FLOOD_TOKENS = 100_000
_ESCAPES = re.compile(rb"\x1b\[[0-9;?]*[a-zA-Z]")
_BARE_APP = (
    "from textual.app import App\n"
    "from textual.widgets import Static\n"
    "class Bare(App):\n"
    "    def compose(self):\n"
    "        yield Static('decodescope')\n"
    "    def key_ctrl_q(self):\n"
    "        self.exit()\n"
    "Bare().run()\n"
)


@dataclass(frozen=True)
class Watched:
    """What a run of the scope has left: the engine's token times, marks, and the terminal's chunks."""

    times: list[int]
    marks: list[dict[str, Any]]
    chunks: list[tuple[int, bytes]]

    def between(self, first: int, last: int) -> tuple[dict[str, Any], dict[str, Any]]:
        """The marks at the first token counts of at least ``first`` and ``last``."""
        start = next(mark for mark in self.marks if mark["tokens"] >= first)
        return start, next(mark for mark in self.marks if mark["tokens"] >= last)

    def cpu_share(self, first: int, last: int) -> float:
        """CPU of the screen's process, in cores, while these tokens came."""
        start, end = self.between(first, last)
        return float((end["cpu_s"] - start["cpu_s"]) / (end["t"] - start["t"]) * 1e9)

    def bytes_per_second(self, first: int, last: int) -> float:
        """Bytes to the terminal while these tokens came."""
        start, end = self.between(first, last)
        count = sum(len(data) for t, data in self.chunks if start["t"] <= t < end["t"])
        return float(count / (end["t"] - start["t"]) * 1e9)


def watch(model: str, max_tokens: int, *tempo: str) -> Watched:
    """Run the scope on a 120×40 terminal to the end of one generation; ``tempo``: as for ``watched``."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        arguments = ["-m", "benchmarks.watched", str(report), model, PROMPT, str(max_tokens), *tempo]
        terminal = Terminal(arguments)
        while not report.exists():
            if not terminal.read(0.05):
                output = b"".join(data for _, data in terminal.chunks)
                raise RuntimeError(f"the scope ended early: {output[-2000:].decode(errors='replace')}")
        settled = time.monotonic() + 0.5
        while time.monotonic() < settled:
            terminal.read(0.1)
        terminal.close()
        told = json.loads(report.read_text())
    return Watched(told["times"], told["marks"], terminal.chunks)


def headless(max_tokens: int) -> list[int]:
    """Token times of the same run without a screen."""
    command = [sys.executable, "-m", "decodescope", "run", PROMPT, "-m", "demo", "--raw", "--jsonl", "--temp", "0"]
    command += ["--ignore-eos", "-n", str(max_tokens), "-t", str(THREADS)]
    output = subprocess.run(command, check=True, capture_output=True).stdout
    events = [json.loads(line) for line in output.splitlines()]
    return [event["t"] for event in events if event["event"] == "token"]


def cost_to_the_generation() -> list[Figure]:
    """Decode with the screen against headless, on the demo model."""
    tokens = 2 * TOKENS

    def seconds(times: list[int]) -> float:
        return (times[-1] - times[0]) / 1e9

    ratio, plain, watched = paired_ratio(
        lambda: seconds(headless(tokens)), lambda: seconds(watch("demo", tokens).times), PAIRS
    )
    detail = f"{(tokens - 1) / watched:.1f} and {(tokens - 1) / plain:.1f} tok/s"
    return [Figure("decode, with the screen at 120×40 / headless", f"{ratio:.3f}", "≥ 0.97", ratio >= 0.97, detail)]


def _script(folder: str, *phases: tuple[int, float]) -> str:
    """A script of (tokens, ms each), each token a word of its own."""
    path = Path(folder, "script.jsonl")
    number = 0
    with path.open("w") as file:
        file.write(json.dumps({"model": {"name": "scripted", "context": 2 * FLOOD_TOKENS}}) + "\n")
        for count, ms in phases:
            for _ in range(count):
                number += 1
                file.write(json.dumps({"text": f" w{number:05d}" + "\n" * (number % 150 == 0), "ms": ms}) + "\n")
    return f"script:{path}"


def cost_to_the_machine() -> list[Figure]:
    """CPU, bytes and delay at 150 tokens/s."""
    with tempfile.TemporaryDirectory() as folder:
        run = watch(_script(folder, (STEADY_TOKENS, TOKEN_MS)), -1)
    first, last = 300, STEADY_TOKENS - 100
    cpu = run.cpu_share(first, last)
    rate = run.bytes_per_second(first, last) / 1000
    delays = _delays(run)
    p95 = statistics.quantiles(delays, n=20)[-1]
    return [
        Figure("screen process, CPU at 150 tok/s, 120×40", f"{cpu:.1%}", "≤ 4 % of a core", cpu <= 0.04),
        Figure("bytes to the terminal at 150 tok/s, 120×40", f"{rate:.1f} KB/s", "≤ 20 KB/s", rate <= 20),
        Figure(
            "token born to its bytes on the pty, p95",
            f"{p95:.0f} ms",
            "≤ 120 ms",
            p95 <= 120,
            f"median {statistics.median(delays):.0f} ms, {len(delays)} of {len(run.times)} tokens found",
        ),
    ]


def cost_to_a_slow_line() -> list[Figure]:
    """CPU and bytes at 150 tokens/s with --low-bandwidth."""
    with tempfile.TemporaryDirectory() as folder:
        run = watch(_script(folder, (STEADY_TOKENS, TOKEN_MS)), -1, "low")
    first, last = 300, STEADY_TOKENS - 100
    cpu = run.cpu_share(first, last)
    rate = run.bytes_per_second(first, last) / 1000
    start, end = run.between(first, last)
    words = sum(len(f" w{number:05d}") for number in range(start["tokens"], end["tokens"]))
    text = words / (end["t"] - start["t"]) * 1e6
    return [
        Figure(
            "bytes to the terminal with --low-bandwidth at 150 tok/s, 120×40",
            f"{rate:.1f} KB/s",
            "≤ 5 KB/s",
            rate <= 5,
            f"the text alone {text:.1f} KB/s",
        ),
        Figure("screen process, CPU with --low-bandwidth at 150 tok/s", f"{cpu:.1%}", "shown", None),
    ]


def _delays(run: Watched) -> list[float]:
    """ms from each token's time in the engine to the first time its text is on the terminal."""
    seen: dict[int, int] = {}
    for t, data in run.chunks:
        for word in re.findall(rb"w(\d{5})", _ESCAPES.sub(b"", data)):
            seen.setdefault(int(word), t)
    return [(seen[number] - born) / 1e6 for number, born in enumerate(run.times, start=1) if number in seen]


def starting() -> list[Figure]:
    """From the start of the process to its first paint, beside an empty Textual app; both compiled, as if installed."""
    with tempfile.TemporaryDirectory() as folder:
        model = _script(folder, (10, 1.0))
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(Path(folder, "bytecode"))}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        own = _first_paints(["-m", "decodescope", "-m", model], environment)
        bare = _first_paints(["-c", _BARE_APP], environment)
    median = statistics.median(own)
    detail = f"best {min(own):.2f} s; an empty Textual app {statistics.median(bare):.2f} s, best {min(bare):.2f} s"
    return [Figure("start to first paint", f"{median:.2f} s", "≤ 0.3 s", median <= 0.3, detail)]


def _first_paints(arguments: list[str], environment: Mapping[str, str]) -> list[float]:
    """Seconds to first paint of each start but the first, which compiles and fills the file cache."""
    seconds = []
    for _ in range(STARTS):
        terminal = Terminal(arguments, environment=environment)
        while not any(b"decodescope" in data for _, data in terminal.chunks) and terminal.read(0.01):
            pass
        seconds.append((terminal.chunks[-1][0] - terminal.started) / 1e9)
        terminal.close()
    return seconds[1:]


def flood() -> list[Figure]:
    """Memory and frame cost over 100,000 tokens."""
    steady = 1500
    with tempfile.TemporaryDirectory() as folder:
        phases = ((steady, TOKEN_MS), (FLOOD_TOKENS - 2 * steady, 0.25), (steady, TOKEN_MS))
        run = watch(_script(folder, *phases), -1)
    start = next(mark for mark in run.marks if mark["tokens"] >= 300)
    growth = (run.marks[-1]["rss"] - start["rss"]) / 1e6
    early = run.cpu_share(200, steady)
    late = run.cpu_share(FLOOD_TOKENS - steady + 200, FLOOD_TOKENS - 100)
    return [
        Figure("100,000 tokens: memory growth of the screen process", f"{growth:.0f} MB", "≤ 60 MB", growth <= 60),
        Figure(
            "100,000 tokens: frame cost, end / start",
            f"{late / early:.2f}",
            "≤ 1.5",
            late <= 1.5 * early,
            f"{early:.1%} and {late:.1%} of a core at 150 tok/s",
        ),
    ]


def load_average() -> str:
    """How busy the machine is, for the report."""
    return ", ".join(f"{value:.1f}" for value in os.getloadavg())
