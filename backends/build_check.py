"""Checks whether this build of llama.cpp works on this processor: the demo model has to continue counting.

``python -m decodescope.backends.build_check`` says so in words and by its exit status: 0 it works, 3 it does not work,
4 it could not be checked.
"""

import signal
import sys
import time
from typing import Literal

import msgspec

from ..models.demo import demo_path
from ..models.errors import ModelError
from ..models.facts import read_model
from .events import Failed, Finished, Token
from .host import EngineHost
from .launch import opening_of
from .process import start_at_first_priority
from .processor import features
from .requests import EngineSettings, Request, Sampling

DEADLINE_SECONDS = 60.0
_LAST = 40
_TOKENS = 6
_CONTEXT = 512
# Kernels for batches, such as those of AMX, compute whole blocks of rows: the prompt has three tokens for each number.
_PROMPT = "".join(f"{number}, " for number in range(1, _LAST + 1)).rstrip()
_ANSWER = f" {_LAST + 1},"
_BUILD_AGAIN = (
    "Build it again on this machine: pip install --force-reinstall --no-deps --no-cache-dir --no-binary"
    " llama-cpp-python llama-cpp-python"
)
_FLAG = "; with a gcc older than 13, put CXXFLAGS=-fno-dse before that command, which its code for AMX needs"

_FROM_OUTSIDE = frozenset({signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP})
"""Signals that say nothing about the build, such as the kernel's when memory runs out."""

Verdict = Literal["works", "broken", "unknown"]


class BuildCheck(msgspec.Struct, frozen=True):
    """The result of the check."""

    verdict: Verdict
    what: str
    """One sentence."""
    reason: str = ""
    remedy: str = ""


def check_build(deadline: float = DEADLINE_SECONDS) -> BuildCheck:
    """Let the demo model read a prompt and write a few tokens, in a separate process; takes at most ``deadline`` s.

    Raises nothing.
    """
    try:
        # With all kernels and devices of the build, and without the second start that an engine gets when it crashes.
        # On one thread: several wait for each other without sleeping, which takes long on a busy machine.
        opening = opening_of(read_model(demo_path()), EngineSettings(context=_CONTEXT, threads=1))
        engine = start_at_first_priority(lambda: EngineHost(opening, retry=False))
    except ModelError as error:
        return BuildCheck("unknown", error.what, error.reason, error.remedy)
    except OSError as error:
        return BuildCheck("unknown", "The engine's process could not be started.", error.strerror or str(error))
    try:
        return _check(engine, deadline)
    finally:
        engine.close()


def _check(engine: EngineHost, deadline: float) -> BuildCheck:
    began = time.monotonic()
    engine.generate(Request(prompt=_PROMPT, max_tokens=_TOKENS, sampling=Sampling(temp=0)))
    text = b""
    while (left := began + deadline - time.monotonic()) > 0:
        for event in engine.receive(left):
            if isinstance(event, Token):
                text += event.piece
            elif isinstance(event, Failed):
                return _failed(event, engine.exit_status)
            elif isinstance(event, Finished):
                return _answered(text.decode("utf-8", "replace"), time.monotonic() - began)
    return BuildCheck("unknown", f"The demo model did not answer within {deadline:g} s.", remedy="Try again later.")


def _answered(text: str, seconds: float) -> BuildCheck:
    if text.startswith(_ANSWER):
        return BuildCheck("works", f"The demo model gave the right answer within {seconds:.1f} s.")
    return BuildCheck(
        "broken",
        "llama.cpp computes nonsense on this processor.",
        f"After {_LAST}, the demo model continued with {text!r} instead of {_ANSWER!r}.",
        _remedy(),
    )


def _failed(failed: Failed, exit_status: int | None) -> BuildCheck:
    """``exit_status``: of the engine; ``None`` while it is still running."""
    if exit_status is None or exit_status == 0 or -exit_status in _FROM_OUTSIDE:
        return BuildCheck("unknown", failed.what, failed.reason, failed.remedy)
    # A process that crashes does not see it coming: its last lines would only mislead.
    reason = failed.reason if exit_status > 0 or exit_status == -signal.SIGABRT else ""
    return BuildCheck("broken", f"llama.cpp does not work on this processor. {failed.what}", reason, _remedy())


def _remedy() -> str:
    return _BUILD_AGAIN + (_FLAG if "amx_tile" in features() else "") + "."


def main() -> int:
    """Check, and say on stderr what is wrong, but not what to do: the caller knows that. Return the exit status."""
    found = check_build()
    if found.verdict == "works":
        return 0
    sys.stderr.write("\n".join(part for part in (found.what, found.reason) if part) + "\n")
    return 3 if found.verdict == "broken" else 4


if __name__ == "__main__":
    sys.exit(main())
