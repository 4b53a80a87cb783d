"""What a bug report needs: collected as plain JSON values, section by section."""

import importlib.metadata
import json
import locale
import os
import platform
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil

from .. import __version__
from ..backends.bandwidth import Bandwidth, BandwidthError, cached_bandwidths, measure_bandwidth
from ..backends.build_check import check_build
from ..backends.process import describe_exit
from ..backends.processor import features
from ..backends.text import visible
from ..backends.threads import thread_choice
from ..metrics import numbers
from ..metrics.numbers import size
from ..models import user_folders
from ..models.candidates import Source
from ..models.demo import DEMO_REMEDY, find_demo
from ..models.discovery import Survey, survey
from ..models.errors import shown
from .config_file import VARIABLE, ConfigError, read_config

_PACKAGES = ("llama-cpp-python", "textual", "plotext", "numpy", "msgspec", "jinja2", "click", "rich")
_STORES: dict[Source, str] = {
    "folder": "DECODESCOPE_MODELS",
    "huggingface": "Hugging Face",
    "ollama": "Ollama",
    "lmstudio": "LM Studio",
    "llama.cpp": "llama.cpp",
    "quantized": "quantized here",
}
_NATIVE_SECONDS = 60
_TERMINAL_VARIABLES = ("TERM", "COLORTERM", "TERM_PROGRAM", "NO_COLOR", "FORCE_COLOR", "TEXTUAL_COLOR_SYSTEM")
_LOCALE_VARIABLES = ("LC_ALL", "LC_CTYPE", "LANG", "PYTHONIOENCODING", "PYTHONUTF8")

Section = dict[str, Any]


def diagnose(*, measure: bool = False) -> dict[str, Section]:
    """Return the sections in order. Nothing is raised for what is broken: it is described where its value would be.

    ``measure``: measure the memory bandwidth first.
    """
    return {
        "versions": _versions(),
        "llama.cpp": _native(),
        "processor": _processor(),
        "memory": _memory(measure),
        "terminal": _terminal(),
        "settings": _settings(),
        "folders": _folders(),
        "demo model": _demo(),
    }


def works(sections: dict[str, Section]) -> bool:
    """Whether this build of llama.cpp can be used, as far as is known."""
    return "problem" not in sections["llama.cpp"]


def _versions() -> Section:
    section: Section = {
        "decodescope": __version__,
        "python": f"{platform.python_version()} ({platform.python_implementation()}, {sys.executable})",
        "system": platform.platform(),
    }
    for package in _PACKAGES:
        try:
            section[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            section[package] = "not installed"
    return section


def _native() -> Section:
    command = [sys.executable, "-P", "-m", "decodescope.cli.native_report"]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_NATIVE_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return {"problem": f"llama.cpp did not start within {_NATIVE_SECONDS} s."}
    except OSError as error:
        return {"problem": f"No process can be started: {error.strerror or error}."}
    if done.returncode != 0:
        what, remedy = describe_exit(done.returncode)
        last = "\n".join(done.stderr.decode("utf-8", "replace").strip().splitlines()[-12:])
        if done.returncode > 0:
            what, remedy = "llama.cpp cannot be loaded.", "Reinstall llama-cpp-python on this machine."
        return {"problem": what, "reason": last, "remedy": remedy}
    report = json.loads(done.stdout)
    devices = [
        f"{device['name']}: {device['description']}"
        + (f", {size(device['free_bytes'])} of {size(device['total_bytes'])} free" if device["total_bytes"] else "")
        for device in report["devices"]
    ]
    return {"system info": report["system_info"], "devices": devices, **_decode()}


def _decode() -> Section:
    found = check_build()
    if found.verdict == "broken":
        reason = {"reason": found.reason} if found.reason else {}
        return {"problem": found.what, **reason, "remedy": found.remedy}
    said = (found.what, found.reason, found.remedy) if found.verdict == "unknown" else (found.what,)
    return {"decode": " ".join(part for part in said if part)}


def _processor() -> Section:
    choice = thread_choice()
    return {
        "machine": platform.machine(),
        "features": " ".join(features()) or "not known on this system",
        "threads": choice.threads,
        "why": choice.why,
    }


def _memory(measure: bool) -> Section:
    memory = psutil.virtual_memory()
    swap = psutil.swap_memory()
    section: Section = {
        "total": size(memory.total),
        "available": size(memory.available),
        "swap": size(swap.total),
    }
    measured = cached_bandwidths()
    if measure:
        try:
            newest = measure_bandwidth(thread_choice().threads)
            measured = [newest, *(one for one in measured if one.threads != newest.threads)]
        except BandwidthError as error:
            section["problem"] = str(error)
    now = time.time()
    lines = [_bandwidth_line(one, now) for one in measured]
    return {**section, "read bandwidth": lines or "not measured yet: decodescope doctor --measure"}


def _bandwidth_line(measured: Bandwidth, now: float) -> str:
    threads = "1 thread" if measured.threads == 1 else f"{measured.threads} threads"
    date = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(measured.measured_at))
    rate = numbers.bandwidth(measured.bytes_per_second)
    return f"{rate} with {threads}, measured {date} ({_age(now - measured.measured_at)})"


def _age(seconds: float) -> str:
    """Return how long ago something was, in whole minutes, hours or days."""
    for length, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        count = int(seconds // length)
        if count >= 1:
            return f"{count:,} {unit}{'' if count == 1 else 's'} ago"
    return "just now" if seconds > -60 else "ahead of this machine's clock"


def _terminal() -> Section:
    terminals = [name for name in ("stdin", "stdout", "stderr") if _is_terminal(name)]
    columns, rows = shutil.get_terminal_size((0, 0))
    return {
        **{name: os.environ.get(name, "not set") for name in _TERMINAL_VARIABLES},
        "terminals": ", ".join(terminals) or "none of stdin, stdout, stderr",
        "size": f"{columns} × {rows}" if columns and rows else "unknown",
        "encoding": getattr(sys.stdout, "encoding", None) or "unknown",
        "locale": locale.setlocale(locale.LC_CTYPE),
        **{name: os.environ[name] for name in _LOCALE_VARIABLES if name in os.environ},
        "over SSH": _yes("SSH_CONNECTION", "SSH_TTY"),
        "in tmux": _yes("TMUX"),
        "in screen": _yes("STY"),
    }


def _is_terminal(name: str) -> bool:
    stream = getattr(sys, name)
    return stream is not None and not stream.closed and bool(stream.isatty())


def _yes(*variables: str) -> str:
    return "yes" if any(os.environ.get(variable) for variable in variables) else "no"


def _settings() -> Section:
    variables = sorted(name for name, value in os.environ.items() if name.startswith("LLAMA_ARG_") and value)
    try:
        file = read_config(os.environ.get(VARIABLE) or None)
    except ConfigError as error:
        return {"problem": str(error), "variables": variables}
    section: Section = {"file": f"{file.path}{'' if file.exists else ' (not there)'}"}
    return {**section, "set there": list(file.arguments), "variables": variables}


def _folders() -> Section:
    # The screen's own choice of folder, which knows nothing of Textual.
    from ..tui.history import NO_HISTORY, default_path

    user, cache, history = user_folders.home(), user_folders.own_folder("cache"), default_path()
    section: Section = {
        "home": [_path(user), *map(visible, user_folders.oddities())],
        "cache": _path(cache),
        "prompt history": "off" if os.environ.get(NO_HISTORY) else _path(history),
    }
    section |= {name: [] for name in _STORES.values()}
    for looked_into in survey():
        section[_STORES[looked_into.source]] += _survey_lines(looked_into)
    return section


def _path(path: Path | None) -> str:
    if path is None:
        return "none: this user has no home folder"
    return f"{shown(path)}{'' if path.exists() else ' (not there)'}"


def _survey_lines(looked_into: Survey) -> list[str]:
    """Return what is in a place, or why there is nothing."""
    place, problem = looked_into.place, looked_into.place.problem()
    if place.is_merely_missing():
        state = "not there"
    elif problem is not None:
        state = problem.reason[:1].lower() + problem.reason[1:].removesuffix(".")
    else:
        state = numbers.counted(looked_into.models, "model") if looked_into.models else "no models"
    lines = [f"{shown(place.folder)} ({place.named_by}): {state}"]
    if problem is None:
        lines += map(str, looked_into.problems)
    return [*lines, *([place.note] if place.note else [])]


def _demo() -> Section:
    path = find_demo()
    return {"remedy": f"Not installed. {DEMO_REMEDY}"} if path is None else {"file": str(path)}
