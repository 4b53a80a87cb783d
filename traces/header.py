"""The first line of a recording: who wrote it, with which llama.cpp, on which machine, with which settings.

Nothing in it names a person or a machine: no user, no host, no folder of our own finding.
"""

import importlib.metadata
import os
import platform
import re
import time
from pathlib import Path
from typing import Any

import msgspec
import psutil

from .. import __version__
from ..backends.bandwidth import processor_name
from ..backends.threads import thread_choice
from .versions import ONE_ENGINE, SEVERAL_ENGINES

FORMAT = SEVERAL_ENGINES
"""The newest version; those before it can be read. Written is the oldest one that says it all."""

_LLAMA_PACKAGE = "llama-cpp-python"
_BUILD_FILE = "lib/cmake/llama/llama-config.cmake"
_BUILD_FILE_LIMIT = 1 << 16


class LlamaBuild(msgspec.Struct, frozen=True, kw_only=True):
    """llama.cpp as installed; ``None`` where it does not tell."""

    package: str | None
    """Version of llama-cpp-python."""
    version: str | None = None
    """llama.cpp's own version."""
    commit: str | None = None
    number: int | None = None
    """Of the build."""


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """What figures depend on."""

    system: str
    """Such as ``Linux 6.8.0``."""
    architecture: str
    processor: str
    cores: int | None
    """Physical cores; ``None`` where the system does not tell."""
    cpus: int
    """Logical processors."""
    threads: int
    """Threads that a model gets unless told otherwise: the cores that this process may use."""
    memory_bytes: int
    python: str


class Header(msgspec.Struct, frozen=True, kw_only=True, tag_field="event", tag="trace"):
    """The first line."""

    t: int
    """When the recording was begun, ns on the clock of the events."""
    format: int = ONE_ENGINE
    decodescope: str
    """Version of the program."""
    recorded: str
    """The same moment as a date, UTC, ISO 8601."""
    text: bool
    """Whether prompts and answers are in it."""
    llama_cpp: LlamaBuild
    machine: Machine
    settings: dict[str, Any]
    """The flags under their long names, as in the summary of ``run --json``."""


def new_header(
    settings: dict[str, Any],
    *,
    text: bool,
    format: int = ONE_ENGINE,
    began_ns: int | None = None,
    began: float | None = None,
) -> Header:
    """Return the header of a recording; ``settings`` as they are to stand in it.

    It began at ``began_ns`` on the clock of the events and at ``began``, seconds since the epoch; by default now.
    """
    return Header(
        t=time.perf_counter_ns() if began_ns is None else began_ns,
        format=format,
        decodescope=__version__,
        recorded=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(began)),
        text=text,
        llama_cpp=llama_build(),
        machine=_machine(),
        settings=settings,
    )


def _machine() -> Machine:
    return Machine(
        system=f"{platform.system()} {platform.release()}",
        architecture=platform.machine(),
        processor=processor_name(),
        cores=psutil.cpu_count(logical=False),
        cpus=os.cpu_count() or 1,
        threads=thread_choice().threads,
        memory_bytes=psutil.virtual_memory().total,
        python=platform.python_version(),
    )


def llama_build() -> LlamaBuild:
    """Return what llama.cpp is installed, without loading it."""
    try:
        package = importlib.metadata.distribution(_LLAMA_PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        return LlamaBuild(package=None)
    # The build's own note of what it was made from; llama.cpp itself is never loaded into this process.
    try:
        with Path(str(package.locate_file(_BUILD_FILE))).open(encoding="utf-8", errors="replace") as file:
            text = file.read(_BUILD_FILE_LIMIT)
    except OSError:  # a build of another kind
        return LlamaBuild(package=package.version)
    number = _set(text, "LLAMA_BUILD_NUMBER")
    return LlamaBuild(
        package=package.version,
        version=_set(text, "LLAMA_VERSION"),
        commit=_set(text, "LLAMA_BUILD_COMMIT"),
        number=int(number) if number is not None and number.isdecimal() else None,
    )


def _set(text: str, name: str) -> str | None:
    found = re.search(rf"^set\({name}\s+([\w.+-]+)\)", text, flags=re.MULTILINE)
    return None if found is None else found[1]
