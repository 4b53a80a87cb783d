"""``export`` as a process."""

import json
import os
from pathlib import Path

import pytest

from ..conftest import DEADLINE_SECONDS, RunCommand, ScriptWriter
from ..traces.exports.recorded import quiet_then_disturbed, two_answers
from ..traces.samples import written
from .conftest import Starter

FORMS = {
    "csv": b"generation,token,",
    "json": b"[\n  {",
    "perfetto": b'{"displayTimeUnit":',
    "html": b"<!doctype html>",
    "svg": b"<svg ",
    "cast": b'{"version": 2,',
    "md": b"**decodescope**",
}


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    return written(tmp_path / "a.jsonl.zst", two_answers())


@pytest.mark.parametrize("form", FORMS)
def test_every_form(decodescope: RunCommand, recording: Path, tmp_path: Path, form: str) -> None:
    printed = decodescope("export", str(recording), "--to", form)
    assert printed.returncode == 0
    assert printed.stderr == b""
    assert printed.stdout.startswith(FORMS[form])
    assert printed.stdout.endswith(b"\n")
    kept = decodescope("export", "a.jsonl.zst", "--to", form, "-o", "out", cwd=tmp_path)
    assert (kept.returncode, kept.stdout, kept.stderr) == (0, b"", b"Written to out\n")
    if form != "cast":  # frames may be cut in another way
        assert (tmp_path / "out").read_bytes() == printed.stdout


def test_the_json_is_what_run_prints(decodescope: RunCommand, script: ScriptWriter, tmp_path: Path) -> None:
    model = f"script:{script({'prefill': 512, 'cached': 96}, {'text': 'Hel'}, {'hex': 'f09f'}, {'hex': 'a699'})}"
    arguments = ("run", "hi", "--json", "--temp", "0.5", "--stop", "x", "-m", model, "--record", "a.jsonl")
    printed = json.loads(decodescope(*arguments, cwd=tmp_path).stdout)
    exported = json.loads(decodescope("export", "a.jsonl", "--to", "json", cwd=tmp_path).stdout)
    assert exported == {**printed, "generation": 1}


def test_one_generation(decodescope: RunCommand, recording: Path) -> None:
    done = decodescope("export", str(recording), "--to", "json", "--generation", "2")
    assert json.loads(done.stdout)["generation"] == 2
    refused = decodescope("export", str(recording), "--to", "json", "--generation", "3")
    assert refused.returncode == 2
    assert b"There is no generation 3: the recording has 2 generations." in refused.stderr


def test_a_file_that_is_there_is_kept(decodescope: RunCommand, recording: Path, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    arguments = ("export", "a.jsonl.zst", "--to", "md", "-o", "out")
    refused = decodescope(*arguments, cwd=tmp_path)
    assert refused.returncode == 2
    assert b"There is a file out already." in refused.stderr
    assert (tmp_path / "out").read_text() == "mine"
    assert decodescope(*arguments, "--overwrite", cwd=tmp_path).returncode == 0
    assert (tmp_path / "out").read_text().startswith("**decodescope**")


def test_the_recording_itself_is_never_overwritten(decodescope: RunCommand, recording: Path, tmp_path: Path) -> None:
    before = recording.read_bytes()
    done = decodescope("export", "a.jsonl.zst", "--to", "md", "-o", "./a.jsonl.zst", "--overwrite", cwd=tmp_path)
    assert done.returncode == 2
    assert b"is the recording itself" in done.stderr
    assert recording.read_bytes() == before


def test_a_file_that_was_cut(decodescope: RunCommand, tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", quiet_then_disturbed()[:30])
    path.write_bytes(path.read_bytes()[:-20])
    done = decodescope("export", str(path), "--to", "md")
    assert done.returncode == 0
    assert b"It was cut off" in done.stderr
    assert b"| end | unfinished |" in done.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no device that is full")
def test_a_full_disk(decodescope: RunCommand, recording: Path) -> None:
    done = decodescope("export", str(recording), "--to", "csv", "-o", "/dev/full")
    assert done.returncode == 1
    assert b"No space left on device" in done.stderr
    assert Path("/dev/full").exists()


def test_a_hostile_name(decodescope: RunCommand, recording: Path, tmp_path: Path) -> None:
    name = b"\x1b[31m]]><b>\xff.jsonl"
    os.rename(recording, os.path.join(os.fsencode(tmp_path), name))
    for form in ("svg", "cast"):
        done = decodescope("export", name, "--to", form, cwd=tmp_path)
        assert done.returncode == 0
        assert b"\x1b[31m]]" not in done.stdout
        done.stdout.decode()
    refused = decodescope("export", name, "--to", "md", "-o", name, cwd=tmp_path)
    assert refused.returncode == 2
    assert b"\x1b" not in refused.stderr


def test_standard_input(decodescope: RunCommand, recording: Path) -> None:
    whole = recording.read_bytes()
    named = decodescope("export", str(recording), "--to", "csv")
    piped = decodescope("export", "-", "--to", "csv", input=whole)
    assert (piped.returncode, piped.stdout, piped.stderr) == (0, named.stdout, b"")
    replayed = decodescope("replay", "-", "--json", input=whole)
    assert replayed.returncode == 0
    assert json.loads(replayed.stdout)["finish_reason"] == "failed"


@pytest.mark.parametrize("command", [("export", "--to", "csv"), ("replay", "--json")])
def test_a_wait_for_a_pipe_is_said(start: Starter, recording: Path, tmp_path: Path, command: tuple[str, ...]) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    process = start(*command, str(pipe))
    assert process.stderr is not None
    assert process.stderr.readline().decode() == f"Waiting for the recording from {pipe}.\n"
    pipe.write_bytes(recording.read_bytes())
    process.communicate(timeout=DEADLINE_SECONDS)
    assert process.returncode == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["/dev/zero", "--to", "md"], "zero is not a recording."),
        (["a.jsonl.zst"], "Missing option '--to'"),
        (["a.jsonl.zst", "--to", "pdf"], "'pdf' is not one of"),
        (["none.jsonl", "--to", "md"], "none.jsonl cannot be read."),
        (["other", "--to", "md"], "other is not a recording."),
        (["empty.jsonl", "--to", "md"], "There is no answer in this recording."),
        (["a.jsonl.zst", "--to", "md", "--overwrite"], "--overwrite goes with -o FILE."),
        (["a.jsonl.zst", "--to", "md", "-o", ""], "-o needs the name of a file"),
        (["a.jsonl.zst", "--to", "md", "-o", "."], "Is a directory"),
        (["a.jsonl.zst", "--to", "md", "-o", "missing/a.md"], "No such file or directory"),
        (["a.jsonl.zst", "--to", "md", "--size", "80x24"], "--size goes with --to svg"),
        (["a.jsonl.zst", "--to", "html", "--theme", "nord"], "--theme goes with --to svg"),
        (["a.jsonl.zst", "--to", "svg", "--size", "wide"], "'wide' is no size"),
        (["a.jsonl.zst", "--to", "svg", "--size", "9x9"], "a screen has 40 to 400 columns"),
        (["a.jsonl.zst", "--to", "svg", "--theme", "none"], "there is no theme 'none'"),
    ],
)
def test_wrong_usage(decodescope: RunCommand, recording: Path, tmp_path: Path, arguments: list[str], said: str) -> None:
    (tmp_path / "other").write_text("hello\n")
    written(tmp_path / "empty.jsonl", [])
    done = decodescope("export", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr.decode()
    assert done.stdout == b""
