"""The scope with a log of what it was told: ``python -m benchmarks.watched REPORT MODEL PROMPT MAX_TOKENS [low]``.

Runs on a terminal like the scope itself. When the generation has finished it writes the report, JSON: the engine's time
of each token, and marks of this process's clock, CPU time and memory at chosen tokens. ``low``: with little bandwidth.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

import psutil

from decodescope.backends.contract import Backend
from decodescope.backends.events import Event, Failed, Finished, Token
from decodescope.backends.launch import launch, resolve
from decodescope.backends.requests import EngineSettings, Request, Sampling
from decodescope.tui.app import run_app
from decodescope.tui.options import ScopeOptions

from . import THREADS

MARK_EVERY = 100


class Logged:
    """A backend whose events are noted on their way to the screen."""

    def __init__(self, backend: Backend, report: Path) -> None:
        self._backend = backend
        self._report = report
        self._times: list[int] = []
        self._marks: list[dict[str, Any]] = []
        self._process = psutil.Process()

    def fileno(self) -> int:
        """See ``Backend``."""
        return self._backend.fileno()

    def receive(self, timeout: float | None = 0.0) -> list[Event]:
        """See ``Backend``."""
        events = self._backend.receive(timeout)
        before = len(self._times)
        self._times += [event.t for event in events if isinstance(event, Token)]
        done = any(isinstance(event, Finished | Failed) for event in events)
        if len(self._times) // MARK_EVERY > before // MARK_EVERY or done:
            cpu = self._process.cpu_times()
            mark = {
                "tokens": len(self._times),
                "t": time.perf_counter_ns(),
                "cpu_s": cpu.user + cpu.system,
                "rss": self._process.memory_info().rss,
            }
            self._marks.append(mark)
        if done:
            part = self._report.with_suffix(".part")
            part.write_text(json.dumps({"times": self._times, "marks": self._marks}))
            part.rename(self._report)
        return events

    @property
    def closed(self) -> bool:
        """See ``Backend``."""
        return self._backend.closed

    def generate(self, request: Request) -> None:
        """See ``Backend``."""
        self._backend.generate(request)

    def cancel(self) -> None:
        """See ``Backend``."""
        self._backend.cancel()

    def probabilities(self, on: bool) -> None:
        """See ``Backend``."""
        self._backend.probabilities(on)

    def close(self) -> None:
        """See ``Backend``."""
        self._backend.close()


def main() -> None:
    """Open the scope and leave when it is closed."""
    report, model, prompt, max_tokens, *tempo = sys.argv[1:]
    options = ScopeOptions(
        model=resolve(model),
        settings=EngineSettings(threads=THREADS),
        sampling=Sampling(temp=0, ignore_eos=True),
        max_tokens=int(max_tokens),
        raw=True,
        prompt=prompt,
        low_bandwidth=tempo == ["low"],
    )
    sys.exit(run_app(options, lambda model, settings: Logged(launch(model, settings), Path(report))))


if __name__ == "__main__":
    main()
