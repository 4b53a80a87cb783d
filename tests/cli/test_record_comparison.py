"""``compare --record``, and what ``replay`` and ``export`` make of it, as processes."""

import csv
import io
import json
import os
import signal
from pathlib import Path

import pytest
from click.testing import CliRunner

from decodescope.backends.events import Token
from decodescope.cli.group import cli
from decodescope.comparison.retold import RetoldComparison
from decodescope.traces.reader import read_trace

from ..conftest import DEADLINE_SECONDS, RunCommand, ScriptWriter
from ..traces.samples import written
from .conftest import Starter
from .terminals import Terminal, take_terminal
from .test_imports import loaded_by

HOUR = 3_600_000
FORMS = ("a.jsonl", "a.jsonl.gz", "a.jsonl.zst")


@pytest.fixture
def two(script: ScriptWriter) -> list[str]:
    """``-m`` twice, of which the second writes more slowly and less."""
    paths = [
        script(
            {"prefill": 20, "ms": 4},
            {"repeat": count, "text": " my answer", "ms": ms},
            {"stop": "stop"},
            name=f"{ms}ms.jsonl",
        )
        for ms, count in ((2, 12), (4, 9))
    ]
    return ["-m", f"script:{paths[0]}", "-m", f"script:{paths[1]}"]


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("together", [[], ["--together"]])
def test_the_report_is_the_one_of_the_comparison(
    decodescope: RunCommand, two: list[str], tmp_path: Path, name: str, together: list[str]
) -> None:
    made = decodescope("compare", "hi", *two, *together, "--json", "--rounds", "2", "--record", name, cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    again = decodescope("replay", name, "--json", cwd=tmp_path)
    assert (again.returncode, again.stdout) == (0, made.stdout)
    assert made.stderr.endswith(again.stderr)
    assert json.loads(again.stdout)["verdict"] in again.stderr.decode()
    exported = decodescope("export", name, "--to", "json", cwd=tmp_path)
    assert (exported.stdout, exported.stderr) == (made.stdout, b"")


@pytest.mark.parametrize("form", [[], ["--md"]])
def test_the_table_is_the_same(decodescope: RunCommand, two: list[str], tmp_path: Path, form: list[str]) -> None:
    made = decodescope("compare", "hi", *two, *form, "--rounds", "1", "--record", "a.jsonl", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    told = ("export", "a.jsonl", "--to", "md") if form else ("replay", "a.jsonl")
    again = decodescope(*told, cwd=tmp_path)
    assert (again.returncode, again.stdout) == (0, made.stdout)
    assert made.stderr.endswith(again.stderr)


def test_every_line(decodescope: RunCommand, two: list[str], tmp_path: Path) -> None:
    decodescope("compare", "hi", *two, "--rounds", "1", "--record", "a.jsonl", cwd=tmp_path)
    lines = (tmp_path / "a.jsonl").read_bytes().splitlines(keepends=True)
    assert decodescope("replay", "a.jsonl", "--jsonl", cwd=tmp_path).stdout == b"".join(lines[1:])
    header = json.loads(lines[0])
    assert (header["format"], header["text"]) == (2, True)
    assert header["settings"]["seed"] >= 0
    assert "model" not in header["settings"]


def test_quantizations_of_the_demo_model(decodescope: RunCommand, tmp_path: Path) -> None:
    """Digit by digit, with the scores."""
    arguments = ("compare", "Why is the sky blue?", "-m", "demo", "--quants", "Q4_1,Q4_0", "-n", "6", "--rounds", "2")
    made = decodescope(
        *arguments, "--json", "--record", "a.jsonl.zst", cwd=tmp_path, env={"XDG_CACHE_HOME": str(tmp_path)}
    )
    assert made.returncode == 0, made.stderr
    again = decodescope("replay", "a.jsonl.zst", "--json", cwd=tmp_path)
    assert again.stdout == made.stdout
    assert 0 < json.loads(again.stdout)["lanes"][1]["mean_kld"]["value"] < 1


def test_several_models_to_the_scope(decodescope: RunCommand, two: list[str], tmp_path: Path) -> None:
    made = decodescope("hi", *two, "-n", "3", "--record", "a.jsonl", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert decodescope("replay", "a.jsonl", cwd=tmp_path).stdout == made.stdout


def test_what_failed_is_told(decodescope: RunCommand, two: list[str], script: ScriptWriter, tmp_path: Path) -> None:
    broken = script({"text": "x"}, {"error": "out of memory"}, name="broken.jsonl")
    words = ("compare", "hi", *two, "-m", f"script:{broken}", "-m", "none.gguf", "--json", "--rounds", "1")
    made = decodescope(*words, "--record", "a.jsonl", cwd=tmp_path)
    assert made.returncode == 3
    again = decodescope("replay", "a.jsonl", "--json", cwd=tmp_path)
    assert (again.returncode, again.stdout) == (0, made.stdout)
    assert b"out of memory" in again.stderr


@pytest.mark.parametrize("name", FORMS)
def test_killed_in_the_middle(
    start: Starter, terminal: Terminal, script: ScriptWriter, tmp_path: Path, name: str
) -> None:
    """Everything up to the last line is there."""
    path = tmp_path / name
    quick = script({"repeat": 10, "text": " x", "ms": 1}, name="quick.jsonl")
    slow = script({"repeat": 100_000, "text": " tok", "ms": 1}, name="slow.jsonl")
    models = ("-m", f"script:{quick}", "-m", f"script:{slow}")
    running = start("compare", "hi", *models, "-n", "-1", "--record", str(path), stderr=terminal.slave)
    terminal.read_until(lambda output: b"slow.jsonl  write" in output)
    running.send_signal(signal.SIGKILL)
    running.wait(DEADLINE_SECONDS)
    trace = read_trace(path)
    assert any("in the middle of an answer" in note for note in trace.notes)
    again = RetoldComparison(trace)
    assert not again.whole
    assert [one.tokens for one in again.results.rows[0].all_rounds] == [10]
    assert again.results.rows[1].all_rounds[0].tokens > 0
    assert "The recording ends in round 1 of 3" in again.results.notes[0]


def test_cancelled_in_the_second_round(
    start: Starter, terminal: Terminal, decodescope: RunCommand, script: ScriptWriter, tmp_path: Path
) -> None:
    path = tmp_path / "a.jsonl"
    slow = script({"repeat": 400, "text": " tok", "ms": 5}, name="slow.jsonl")
    models = ("-m", f"script:{slow}", "-m", f"script:{slow}")
    process = start("compare", "hi", *models, "--json", "-n", "60", "--record", str(path), stderr=terminal.slave)
    terminal.read_until(lambda output: b"round 2" in output)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=DEADLINE_SECONDS)
    assert process.returncode == 130
    again = decodescope("replay", str(path), "--json")
    assert again.stdout == out
    assert json.loads(out)["stage"] == "cancelled"
    assert json.loads(out)["notes"][0] == "Cancelled in round 2 of 3."


def test_a_file_that_is_there_is_kept(decodescope: RunCommand, two: list[str], tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("mine")
    words = ("compare", "hi", *two, "--rounds", "1", "--record", "a.jsonl")
    refused = decodescope(*words, cwd=tmp_path)
    assert (refused.returncode, refused.stdout) == (2, b"")
    assert b"There is a file a.jsonl already." in refused.stderr
    assert (tmp_path / "a.jsonl").read_text() == "mine"
    assert decodescope(*words, "--overwrite", cwd=tmp_path).returncode == 0
    assert read_trace(tmp_path / "a.jsonl").comparison is not None


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--json", "--no-text"], "--no-text goes with --record FILE."),
        (["--overwrite"], "--overwrite goes with --record FILE."),
        (["--record", ""], "--record needs the name of a file"),
        (["--record", "-"], "--record needs the name of a file"),
        (["--record", "/no/such/folder/a.jsonl"], "Nothing can be recorded in /no/such/folder/a.jsonl."),
    ],
)
def test_refused(two: list[str], arguments: list[str], said: str) -> None:
    for command in (["compare"], []):
        if not command and "--json" in arguments:
            continue
        result = CliRunner().invoke(cli, [*command, "hi", *two, *arguments])
        assert result.exit_code == 2
        assert said in result.output


def test_bench_says_where_its_results_are_kept() -> None:
    result = CliRunner().invoke(cli, ["bench", "--record", "a.jsonl"])
    assert result.exit_code == 2
    assert "-o jsonl > FILE" in result.output
    assert "--against FILE" in result.output
    assert "--record" not in CliRunner().invoke(cli, ["bench", "--help"]).output


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no device that is full")
def test_a_full_disk_is_said_once_and_the_comparison_goes_on(decodescope: RunCommand, two: list[str]) -> None:
    done = decodescope("compare", "hi", *two, "--rounds", "1", "--record", "/dev/full")
    assert done.returncode == 1
    assert done.stderr.count(b"No space left on device") == 1


def test_without_text(decodescope: RunCommand, two: list[str], tmp_path: Path) -> None:
    words = ("compare", "my secret", *two, "-sys", "my system", "--rounds", "2", "--json")
    made = decodescope(*words, "--no-text", "--record", "a.jsonl", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    told = (tmp_path / "a.jsonl").read_text()
    for text in ("secret", "my ", "IG15IGFuc3dlcg", str(tmp_path)):
        assert text not in told
    again = decodescope("replay", "a.jsonl", "--json", cwd=tmp_path)
    assert b"It holds no text." in again.stderr
    before, after = json.loads(made.stdout), json.loads(again.stdout)
    assert after["lanes"][1]["diverged_at"] == 10
    for report in (before, after):
        del report["prompt"], report["settings"]["system_prompt"]
        for lane in report["lanes"]:
            del lane["answers"], lane["model"]["file"]
    assert before == after


@pytest.fixture
def recorded(decodescope: RunCommand, two: list[str], tmp_path: Path) -> Path:
    """Of two rounds."""
    path = tmp_path / "kept.jsonl.gz"
    done = decodescope("compare", "hi", *two, "--rounds", "2", "--record", str(path))
    assert done.returncode == 0, done.stderr
    return path


def test_tokens_of_all_lanes(decodescope: RunCommand, recorded: Path) -> None:
    done = decodescope("export", str(recorded), "--to", "csv")
    assert (done.returncode, done.stderr) == (0, b"")
    rows = list(csv.DictReader(io.StringIO(done.stdout.decode())))
    assert next(iter(rows[0])) == "lane"
    found = [(row["lane"], row["generation"]) for row in rows]
    assert [(one, found.count(one)) for one in dict.fromkeys(found)] == [
        (("2ms.jsonl", "1"), 12),
        (("2ms.jsonl", "2"), 12),
        (("4ms.jsonl", "1"), 9),
        (("4ms.jsonl", "2"), 9),
    ]
    second = decodescope("export", str(recorded), "--to", "csv", "--generation", "2")
    assert len(second.stdout.splitlines()) == 1 + 12 + 9


def test_one_lane(decodescope: RunCommand, recorded: Path) -> None:
    done = decodescope("export", str(recorded), "--to", "csv", "--lane", "2", "--generation", "1")
    rows = list(csv.DictReader(io.StringIO(done.stdout.decode())))
    assert len(rows) == 9
    assert next(iter(rows[0])) == "generation"
    done = decodescope("export", str(recorded), "--to", "json", "--lane", "2")
    assert [one["predicted_n"] for one in json.loads(done.stdout)] == [9, 9]


def test_a_timeline_of_all_lanes(decodescope: RunCommand, recorded: Path) -> None:
    done = decodescope("export", str(recorded), "--to", "perfetto")
    assert done.returncode == 0, done.stderr
    events = json.loads(done.stdout)["traceEvents"]
    names = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
    assert names == {1: "2ms.jsonl", 2: "4ms.jsonl"}
    generations = [
        (event["ts"], event["pid"])
        for event in events
        if event["ph"] == "X" and str(event["name"]).startswith("generation ")
    ]
    # Each round begins with another lane.
    assert [pid for _, pid in sorted(generations)] == [1, 2, 2, 1]


def test_what_shows_one_lane_says_which(decodescope: RunCommand, recorded: Path) -> None:
    done = decodescope("export", str(recorded), "--to", "html")
    assert done.returncode == 0
    assert done.stderr == (b"Of the comparison lane 1 was taken (1 2ms.jsonl, 2 4ms.jsonl); --lane N takes another.\n")
    assert decodescope("export", str(recorded), "--to", "html", "--lane", "2").stderr == b""


def test_lanes_that_there_are_not(decodescope: RunCommand, recorded: Path, tmp_path: Path) -> None:
    done = decodescope("export", str(recorded), "--to", "csv", "--lane", "3")
    assert done.returncode == 2
    assert b"There is no lane 3: 1 2ms.jsonl, 2 4ms.jsonl." in done.stderr
    done = decodescope("export", str(recorded), "--to", "csv", "--generation", "3")
    assert done.returncode == 2
    assert b"No lane of this comparison has an answer 3." in done.stderr
    plain = written(tmp_path / "one.jsonl")
    done = decodescope("export", str(plain), "--to", "csv", "--lane", "1")
    assert done.returncode == 2
    assert b"one.jsonl is no comparison: it has no lanes." in done.stderr


def test_how_it_is_replayed(decodescope: RunCommand, recorded: Path, tmp_path: Path) -> None:
    plain = written(tmp_path / "one.jsonl")
    done = decodescope("replay", str(plain), str(recorded))
    assert done.returncode == 2
    assert b"kept.jsonl.gz is a comparison, which has lanes of its own: it is replayed alone." in done.stderr
    done = decodescope("replay", str(recorded), "--json", "--generation", "1")
    assert done.returncode == 2
    assert b"A comparison is printed as a whole" in done.stderr
    done = decodescope("replay", str(recorded), "--generation", "3")
    assert done.returncode == 2
    assert b"There is no round 3: kept.jsonl.gz has 2 rounds." in done.stderr


@pytest.mark.parametrize("command", [["replay", "--json"], ["replay", "--plain"], ["export", "--to", "csv"]])
def test_without_a_screen_no_textual_and_never_a_model(recorded: Path, command: list[str]) -> None:
    assert not loaded_by(*command, str(recorded)) & {"textual", "rich", "plotext", "llama_cpp"}


def test_recording_loads_no_textual(two: list[str], tmp_path: Path) -> None:
    words = ("compare", "hi", *two, "--rounds", "1", "--json", "--record", str(tmp_path / "a.jsonl"))
    assert not loaded_by(*words) & {"textual", "rich", "plotext", "llama_cpp"}


def test_on_a_terminal(start: Starter, recorded: Path) -> None:
    terminal = Terminal(120, 40)
    try:
        process = start(
            "replay",
            str(recorded),
            "--speed",
            "100",
            stdin=terminal.slave,
            stdout=terminal.slave,
            start_new_session=True,
            preexec_fn=take_terminal,
        )
        terminal.read_until(lambda _: any("replay round 1 of 2" in line for line in terminal.screen()))
        terminal.read_until(lambda _: any("4ms.jsonl" in line for line in terminal.screen()))
        os.write(terminal.master, b"\x11")
        terminal.read_rest()
        assert process.wait(DEADLINE_SECONDS) == 0
    finally:
        terminal.close()


@pytest.mark.parametrize("command", [["compare"], []], ids=["compare", "scope"])
def test_on_the_screen_it_is_recorded(start: Starter, two: list[str], tmp_path: Path, command: list[str]) -> None:
    path = tmp_path / "a.jsonl.zst"
    terminal = Terminal(120, 40)
    try:
        process = start(
            *[*command, "hi", *two, "--record", str(path), "--no-text"],
            stdin=terminal.slave,
            stdout=terminal.slave,
            start_new_session=True,
            preexec_fn=take_terminal,
        )
        terminal.read_until(lambda _: any("1st" in line for line in terminal.screen()))
        os.write(terminal.master, b"\x11")
        terminal.read_rest()
        assert process.wait(DEADLINE_SECONDS) == 0
    finally:
        terminal.close()
    trace = read_trace(path)
    assert trace.notes == ()
    assert trace.header is not None
    assert not trace.header.text
    again = RetoldComparison(trace)
    assert again.whole
    assert [[one.tokens for one in row.all_rounds] for row in again.results.rows] == [[12] * 3, [9] * 3]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no device that is full")
@pytest.mark.parametrize("models", [1, 2], ids=["scope", "compare"])
def test_a_recording_that_broke_off_on_the_screen_makes_the_exit_status_1(
    start: Starter, two: list[str], models: int
) -> None:
    terminal = Terminal(120, 40)
    try:
        process = start(
            *["hi", *two[: 2 * models], "--record", "/dev/full"],
            stdin=terminal.slave,
            stdout=terminal.slave,
            start_new_session=True,
            preexec_fn=take_terminal,
        )
        terminal.read_until(lambda _: any("No space left on device" in line for line in terminal.screen()))
        os.write(terminal.master, b"\x11")
        terminal.read_rest()
        assert process.wait(DEADLINE_SECONDS) == 1
    finally:
        terminal.close()


def test_a_cut_is_said(decodescope: RunCommand, two: list[str], tmp_path: Path) -> None:
    decodescope("compare", "hi", *two, "--rounds", "2", "--record", "a.jsonl", cwd=tmp_path)
    data = (tmp_path / "a.jsonl").read_bytes()
    (tmp_path / "cut.jsonl").write_bytes(data[: data.rindex(b'"event":"token"') + 20])
    done = decodescope("replay", "cut.jsonl", "--json", cwd=tmp_path)
    assert done.returncode == 0
    assert b"cut.jsonl: It was cut off" in done.stderr
    report = json.loads(done.stdout)
    assert report["stage"] == "cancelled"
    assert report["lanes"][1]["rounds"] == 2
    tokens = [event for event in read_trace(tmp_path / "cut.jsonl").events if isinstance(event, Token)]
    assert len(tokens) == 2 * (12 + 9) - 1
