"""What the command line loads: nothing heavy before it is needed, and no screen without a screen."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ..conftest import DEADLINE_SECONDS, ScriptWriter

_PROBE = """
import json, sys
from decodescope.cli.main import main
sys.stdout = open(sys.argv.pop(1), "w")
try:
    main()
except SystemExit as ended:
    sys.stderr.write(json.dumps([ended.code, sorted({name.split(".")[0] for name in sys.modules})]))
"""


def loaded_by(*arguments: str) -> set[str]:
    """Return the top-level modules that a successful command has loaded."""
    done = subprocess.run(
        [sys.executable, "-c", _PROBE, "/dev/null", *arguments],
        input=b"",
        capture_output=True,
        timeout=DEADLINE_SECONDS,
        check=True,
    )
    status, modules = json.loads(done.stderr.splitlines()[-1])
    assert status in (0, None), done.stderr
    return set(modules)


@pytest.mark.parametrize("form", ["--json", "--jsonl"])
def test_run_loads_no_textual(script: ScriptWriter, form: str) -> None:
    modules = loaded_by("run", "hi", form, "-m", f"script:{script({'text': 'x'})}")
    assert "numpy" in modules
    assert not modules & {"textual", "rich", "plotext", "llama_cpp"}


def test_plain_text_loads_no_textual(script: ScriptWriter) -> None:
    modules = loaded_by("hi", "-m", f"script:{script({'text': 'x'})}")
    assert not modules & {"textual", "rich", "plotext", "llama_cpp"}


def test_bench_loads_no_textual(script: ScriptWriter) -> None:
    path = script({"repeat": 2, "text": "x"})
    modules = loaded_by("bench", "-m", f"script:{path}", "-p", "0", "-n", "2", "-r", "1")
    assert "numpy" in modules
    assert not modules & {"textual", "rich", "plotext", "llama_cpp"}


@pytest.mark.parametrize("command", ["models", "doctor", "config"])
def test_the_other_commands_load_no_textual(command: str) -> None:
    assert not loaded_by(command) & {"textual", "rich", "plotext", "llama_cpp"}


@pytest.mark.parametrize("form", ["csv", "json", "perfetto", "html", "md"])
def test_export_loads_no_textual(script: ScriptWriter, tmp_path: Path, form: str) -> None:
    path = str(tmp_path / "a.jsonl")
    loaded_by("run", "hi", "-m", f"script:{script({'text': 'x'})}", "--record", path)
    assert not loaded_by("export", path, "--to", form) & {"textual", "rich", "plotext", "llama_cpp"}


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["run", "--help"], ["--version"], ["doctor", "--help"], ["export", "--help"], ["bench", "--help"]],
)
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    assert not loaded_by(*arguments) & {"textual", "rich", "plotext", "llama_cpp", "numpy", "psutil", "jinja2"}


def test_the_file_of_settings_costs_nothing_until_it_is_there(script: ScriptWriter, tmp_path: Path) -> None:
    arguments = ("run", "hi", "-m", f"script:{script({'text': 'x'})}")
    assert "tomllib" not in loaded_by(*arguments)
    file = tmp_path / "settings.toml"
    file.write_text("seed = 1\n")
    assert "tomllib" in loaded_by(*arguments, "--config", str(file))


def test_the_first_frame_waits_for_nothing_that_comes_after_it() -> None:
    wanted = ["decodescope.cli.commands.scope", "decodescope.backends.launch", "decodescope.traces.tape"]
    program = f"import json, sys, decodescope.tui.app, {', '.join(wanted)}; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=DEADLINE_SECONDS, check=True)
    modules = set(json.loads(done.stdout))
    assert "textual.app" in modules
    assert not modules & {"numpy", "plotext", "llama_cpp", "jinja2", "psutil", "backports.zstd", "compression.zstd"}
    assert not modules & {f"decodescope.{name}" for name in ("backends.host", "backends.process", "models.quantized")}
    assert not modules & {f"decodescope.traces.{name}" for name in ("compression", "header", "no_text", "writer")}
