"""``--record`` as a process."""

import json
import signal
from pathlib import Path

import pytest

from decodescope.backends.events import Failed, Finished, RequestTaken, Token
from decodescope.backends.wire import encode
from decodescope.traces.reader import read_trace

from ..conftest import RunCommand, ScriptWriter
from .conftest import Starter

ANSWER = ({"prefill": 512, "cached": 96}, {"text": "Hel"}, {"hex": "f09f"}, {"hex": "a699"}, {"text": "lo"})
FORMS = ("a.jsonl", "a.jsonl.gz", "a.jsonl.zst")


@pytest.mark.parametrize("name", FORMS)
def test_what_is_recorded_is_what_is_printed(
    decodescope: RunCommand, script: ScriptWriter, tmp_path: Path, name: str
) -> None:
    model = f"script:{script(*ANSWER)}"
    done = decodescope("run", "hi", "--jsonl", "-m", model, "--temp", "0.5", "--record", name, cwd=tmp_path)
    assert done.returncode == 0
    assert done.stderr == b""
    trace = read_trace(tmp_path / name)
    assert b"".join(encode(event) for event in trace.events) == done.stdout
    assert trace.notes == ()
    assert trace.header is not None
    assert trace.header.settings["temp"] == 0.5
    assert trace.header.settings["model"] == model


LIKELY = ({"text": " the", "logprob": -0.5, "top": [[" the", -0.5], [" a", -1.9]], "entropy": 1.1}, {"text": " end"})


@pytest.mark.parametrize("command", [("run",), ()])
def test_probabilities_are_recorded_where_they_are_asked_for(
    decodescope: RunCommand, script: ScriptWriter, tmp_path: Path, command: tuple[str, ...]
) -> None:
    model = f"script:{script(*LIKELY)}"
    for name, flags in (("without.jsonl", ()), ("with.jsonl", ("--probabilities",))):
        assert decodescope(*command, "hi", "-m", model, "--record", name, *flags, cwd=tmp_path).returncode == 0
    first = [
        next(one.probability for one in read_trace(tmp_path / name).events if isinstance(one, Token))
        for name in ("without.jsonl", "with.jsonl")
    ]
    assert first[0] is None
    assert first[1] is not None
    assert (first[1].logprob, first[1].entropy_nats, len(first[1].top)) == (-0.5, 1.1, 2)


def test_probabilities_that_nothing_shows_are_refused(decodescope: RunCommand, script: ScriptWriter) -> None:
    model = f"script:{script(*LIKELY)}"
    done = decodescope("run", "hi", "-m", model, "--probabilities")
    assert done.returncode == 2
    assert b"--record FILE" in done.stderr
    assert b'"logprob":-0.5' in decodescope("run", "hi", "-m", model, "--probabilities", "--jsonl").stdout


def test_a_comparison_records_probabilities_too(decodescope: RunCommand, script: ScriptWriter, tmp_path: Path) -> None:
    models = [f"-mscript:{script(*LIKELY, name=name)}" for name in ("a.jsonl", "b.jsonl")]
    flags = ("--rounds", "1", "--no-quality", "--md", "--probabilities", "--record", "both.jsonl")
    assert decodescope("compare", "hi", *models, *flags, cwd=tmp_path).returncode == 0
    assert (tmp_path / "both.jsonl").read_bytes().count(b'"logprob":-0.5') == 2


def test_the_scope_without_a_screen_records_too(decodescope: RunCommand, script: ScriptWriter, tmp_path: Path) -> None:
    done = decodescope("hi", "-m", f"script:{script(*ANSWER)}", "--record", "a.jsonl", cwd=tmp_path)
    assert done.returncode == 0
    assert isinstance(read_trace(tmp_path / "a.jsonl").events[-1], Finished)


@pytest.mark.parametrize("name", FORMS)
def test_killed_in_the_middle(start: Starter, script: ScriptWriter, tmp_path: Path, name: str) -> None:
    """Whatever was printed before is in the file."""
    path = tmp_path / name
    model = f"script:{script({'repeat': 100_000, 'text': ' tok', 'ms': 1})}"
    running = start("run", "hi", "--jsonl", "-m", model, "--record", str(path))
    assert running.stdout is not None
    lines = [running.stdout.readline() for _ in range(300)]
    running.send_signal(signal.SIGKILL)
    lines += running.stdout.readlines()
    printed = [line for line in lines if line.endswith(b"\n")]
    running.wait()
    trace = read_trace(path)
    assert b"".join(encode(event) for event in trace.events).startswith(b"".join(printed))
    assert sum(isinstance(event, Token) for event in trace.events) > 200
    assert any("in the middle of an answer" in note for note in trace.notes)


def test_cancelled(start: Starter, script: ScriptWriter, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.zst"
    model = f"script:{script({'repeat': 100_000, 'text': ' tok', 'ms': 5})}"
    running = start("run", "hi", "--jsonl", "-m", model, "--record", str(path))
    assert running.stdout is not None
    while b'"event":"token"' not in running.stdout.readline():
        pass
    running.send_signal(signal.SIGINT)
    running.stdout.read()
    assert running.wait() == 130
    trace = read_trace(path)
    end = trace.events[-1]
    assert isinstance(end, Finished)
    assert end.reason == "cancelled"
    assert trace.notes == ()


def test_what_cannot_be_loaded_is_recorded(decodescope: RunCommand, script: ScriptWriter, tmp_path: Path) -> None:
    model = f"script:{script({'load_error': 'no such tensor'})}"
    assert decodescope("run", "hi", "-m", model, "--record", "a.jsonl", cwd=tmp_path).returncode == 3
    end = read_trace(tmp_path / "a.jsonl").events[-1]
    assert isinstance(end, Failed)
    assert end.reason == "no such tensor"
    assert decodescope("run", "hi", "-m", "none.gguf", "--record", "b.jsonl", cwd=tmp_path).returncode == 3
    assert isinstance(read_trace(tmp_path / "b.jsonl").events[-1], Failed)


def test_a_file_that_is_there_is_kept(decodescope: RunCommand, script: ScriptWriter, tmp_path: Path) -> None:
    arguments = ("run", "hi", "-m", f"script:{script(*ANSWER)}", "--record", "a.jsonl")
    (tmp_path / "a.jsonl").write_text("mine")
    refused = decodescope(*arguments, cwd=tmp_path)
    assert refused.returncode == 2
    assert refused.stdout == b""
    assert b"There is a file a.jsonl already." in refused.stderr
    assert (tmp_path / "a.jsonl").read_text() == "mine"
    assert decodescope(*arguments, "--overwrite", cwd=tmp_path).returncode == 0
    assert read_trace(tmp_path / "a.jsonl").notes == ()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no device that is full")
def test_a_full_disk_is_said_once_and_the_generation_goes_on(decodescope: RunCommand, script: ScriptWriter) -> None:
    done = decodescope("run", "hi", "-m", f"script:{script(*ANSWER)}", "--record", "/dev/full")
    assert done.returncode == 1
    assert done.stdout.decode() == "Hel🦙lo\n"
    assert done.stderr.count(b"No space left on device") == 1


def test_nobody_reads_the_recording(start: Starter, script: ScriptWriter, tmp_path: Path) -> None:
    model = f"script:{script({'repeat': 2000, 'text': ' tok'})}"
    running = start("run", "hi", "-m", model, "--record", "/dev/stderr")
    assert running.stdout is not None
    assert running.stderr is not None
    running.stderr.close()
    text = running.stdout.read()
    assert running.wait() == 1
    assert text.count(b"tok") == 2000


def test_without_text(decodescope: RunCommand, script: ScriptWriter, tmp_path: Path) -> None:
    secret = ("run", "my secret question", "-sys", "my secret system", "--stop", "my secret stop")
    model = script({"prefill": 3}, {"text": "my "}, {"text": "secret "}, {"text": "answer"}, {"log": "a/secret/path"})
    done = decodescope(*secret, "-m", f"script:{model}", "--record", "a.jsonl", "--no-text", cwd=tmp_path)
    assert done.returncode == 0
    text = (tmp_path / "a.jsonl").read_text()
    assert "secret" not in text
    assert "c2VjcmV0" not in text
    assert str(tmp_path) not in text
    trace = read_trace(tmp_path / "a.jsonl")
    (taken,) = (event for event in trace.events if isinstance(event, RequestTaken))
    assert [message.content for message in taken.messages] == ["(16 characters left out)", "(18 characters left out)"]
    assert sum(isinstance(event, Token) for event in trace.events) == 3


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--no-text"], "--no-text goes with --record"),
        (["--overwrite"], "--overwrite goes with --record"),
        (["--record", "-"], "--record needs the name of a file"),
        (["--record", ""], "--record needs the name of a file"),
        (["--record", "."], "Is a directory"),
        (["--record", "missing/a.jsonl"], "No such file or directory"),
    ],
)
def test_wrong_usage(
    decodescope: RunCommand, script: ScriptWriter, tmp_path: Path, arguments: list[str], said: str
) -> None:
    done = decodescope("run", "hi", "-m", f"script:{script(*ANSWER)}", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr.decode()
    assert done.stdout == b""


def test_the_summary_can_be_made_from_the_recording(
    decodescope: RunCommand, script: ScriptWriter, tmp_path: Path
) -> None:
    from decodescope.metrics.summary import summarize
    from decodescope.traces.generations import generations

    arguments = ("run", "hi", "--json", "-m", f"script:{script(*ANSWER)}", "--record", "a.jsonl.zst")
    printed = json.loads(decodescope(*arguments, cwd=tmp_path).stdout)
    trace = read_trace(tmp_path / "a.jsonl.zst")
    assert trace.header is not None
    (generation,) = generations(trace.events)
    made = summarize(generation.run(), generation.model, trace.header.settings)
    assert json.loads(json.dumps(made)) == {name: printed[name] for name in made}
