"""``decodescope bench``."""

import json
import os
import signal
import subprocess
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner

from decodescope.backends.events import Failed
from decodescope.cli.bench_plan import WORDS, Grid, named
from decodescope.cli.bench_remedy import remedy_of
from decodescope.cli.group import cli

from ..conftest import DEADLINE_SECONDS, RunCommand, ScriptWriter
from .conftest import Starter
from .terminals import Terminal

HOUR = 3_600_000
NO_TIME = "in samples_ns a repetition of pp64 took no time, or less"
TURN = ({"prefill": 64, "ms": 20}, {"repeat": 12, "text": " x", "ms": 5}, {"stop": "stop"})


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-p", "0", "-n", "0"], "nothing to measure"),
        (["-p", "0", "-n", "0", "-pg", "0,0"], "nothing to measure: -p, -n and -pg are 0."),
        (["-p", "x"], "no whole number"),
        (["-p", "8-4"], "ends before it begins"),
        (["-pg", "8"], "no pair"),
        (["-t", "0"], "not between 1"),
        (["-t", "1000"], "The number of threads (-t) cannot be 1000"),
        (["-ctk", "q9"], "'q9' is not one of f32"),
        (["-ctv", "q8_0", "-fa", "0"], "needs flash attention"),
        (["--sample", "2"], "'2' is not one of 0, 1"),
        (["-r", "0"], "-r"),
        (["-o", "sql"], "sql"),
        (["-m", "a,,b"], "has no name"),
        (["--against", "/not there"], "/not there cannot be read"),
        (["--against", "/dev/zero"], "/dev/zero is a device, not a file."),
        (["--against", "."], ". cannot be read: Is a directory."),
        (["--tolerance", "nan"], "nan is not a finite number."),
        (["--tolerance", "inf"], "inf is not in the range"),
        (["--tolerance", "-1"], "-1.0 is not in the range"),
    ],
)
def test_refused(arguments: list[str], said: str) -> None:
    result = CliRunner().invoke(cli, ["bench", *arguments])
    assert result.exit_code == 2
    assert said in result.output


def a_grid(**values: object) -> Grid:
    one: dict[str, object] = {
        "models": (),
        "prompt": (512,),
        "generate": (128,),
        "both": (),
        "depth": (0,),
        "sample": (False,),
        "threads": (None,),
        "batch": (2048,),
        "micro_batch": (512,),
        "cache_type_k": ("f16",),
        "cache_type_v": ("f16",),
        "flash_attention": ("auto",),
        "gpu_layers": (-1,),
        "repack": (True,),
    }
    return Grid(**{**one, **values})  # type: ignore[arg-type]


def test_lists_multiply(script: ScriptWriter) -> None:
    reference = f"script:{script(*TURN)}"
    grid = a_grid(
        models=(reference, reference), prompt=(0, 8), both=((8, 4),), depth=(0, 100), threads=(1, 2), batch=(64, 2048)
    )
    plan = grid.plan(repetitions=3, warm_up=True, pause_ms=0)
    assert [(one.settings.threads, one.settings.batch, one.settings.micro_batch) for one in plan.groups] == [
        (1, 64, 64),
        (2, 64, 64),
        (1, 2048, 512),
        (2, 2048, 512),
    ] * 2
    assert [trial.name for trial in plan.groups[0].trials] == [
        "pp8",
        "tg128",
        "pp8+tg4",
        "pp8 @ d100",
        "tg128 @ d100",
        "pp8+tg4 @ d100",
    ]
    # 100 + 128, and one that may be drawn; a micro-batch, and what a warm-up computes beyond it
    contexts = {(group.settings.micro_batch, group.settings.context) for group in plan.groups}
    assert contexts == {(64, 229), (512, 515)}
    assert plan.rows == 48


def test_the_words_of_llama_bench() -> None:
    assert named("on,0,1,auto", WORDS["flash"]) == ("on", "off", "on", "auto")
    assert named("0,1", WORDS["switch"]) == (False, True)


def test_markdown(decodescope: RunCommand, script: ScriptWriter) -> None:
    done = decodescope("bench", "-m", f"script:{script(*TURN)}", "-p", "64", "-n", "10", "-d", "0,32", "-r", "2")
    assert done.returncode == 0, done.stderr
    heading, _, *rows = done.stdout.decode().splitlines()
    assert heading.startswith("| model ")
    assert [row.split("|")[6].strip() for row in rows[:4]] == ["pp64", "tg10", "pp64 @ d32", "tg10 @ d32"]
    assert all(" ± " in row for row in rows[:4])
    assert rows[5].startswith("build: ")
    said = done.stderr.decode().splitlines()
    assert [line.split("  ")[0] for line in said] == ["1 of 4", "2 of 4", "3 of 4", "4 of 4"]
    assert b"\x1b" not in done.stdout + done.stderr


def test_json(decodescope: RunCommand, script: ScriptWriter) -> None:
    done = decodescope(
        "bench", "-m", f"script:{script(*TURN)}", "-p", "64", "-n", "10", "-r", "3", "-o", "json", "--no-warmup"
    )
    assert done.returncode == 0, done.stderr
    read, write = json.loads(done.stdout)
    assert (read["n_prompt"], read["n_gen"], write["n_prompt"], write["n_gen"]) == (64, 0, 0, 10)
    assert len(read["samples_ns"]) == len(write["repetitions"]) == 3
    assert read["ttft_ms"] >= 20
    # 10 tokens every 5 ms at the earliest.
    assert write["avg_ts"] <= 200
    assert write["itl_ms"]["max"] >= 5


def test_the_demo_model(decodescope: RunCommand) -> None:
    done = decodescope(
        "bench", "-m", "demo", "-p", "4", "-n", "2", "-pg", "4,2", "-d", "0,8", "-r", "2", "-t", "1", "--sample", "0,1",
        "-o", "jsonl",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(row["n_depth"], row["sample"], row["n_prompt"], row["n_gen"]) for row in rows] == [
        (depth, sample, prompt, generate)
        for depth in (0, 8)
        for sample in (False, True)
        for prompt, generate in ((4, 0), (0, 2), (4, 2))
    ]
    assert {row["n_threads"] for row in rows} == {1}
    assert all(row["avg_ts"] > 0 and len(row["samples_ns"]) == 2 for row in rows)
    assert rows[0]["model_type"].startswith("llama ")
    assert rows[0]["model_size"] > 0


def test_a_model_that_cannot_be_used_fails_its_rows_only(decodescope: RunCommand, script: ScriptWriter) -> None:
    good, bad = script(*TURN), script({"load_error": "no such tensor"}, name="bad.jsonl")
    done = decodescope(
        "bench", "-m", f"/nowhere,script:{bad},script:{good}", "-p", "64", "-n", "0", "-r", "1", "-o", "jsonl"
    )
    assert done.returncode == 3
    (row,) = done.stdout.splitlines()
    assert json.loads(row)["model_filename"].endswith("played.jsonl")
    said = done.stderr.decode()
    assert "no such tensor" in said
    assert said.count("Not measured to the end: pp64.") == 2


def test_a_test_that_fails_fails_alone(decodescope: RunCommand, script: ScriptWriter) -> None:
    path = script({"error": "out of memory"}, *TURN)
    done = decodescope("bench", "-m", f"script:{path}", "-p", "64", "-n", "4", "-r", "1", "--no-warmup", "-o", "jsonl")
    assert done.returncode == 1
    (row,) = done.stdout.splitlines()
    assert json.loads(row)["n_gen"] == 4
    assert "out of memory" in done.stderr.decode()


def test_an_engine_that_dies(decodescope: RunCommand, script: ScriptWriter) -> None:
    path = script({"prefill": 64, "ms": 1}, {"stop": "stop"}, {"signal": int(signal.SIGKILL)})
    done = decodescope("bench", "-m", f"script:{path}", "-p", "64", "-n", "0", "-r", "2", "--no-warmup", "-o", "jsonl")
    assert done.returncode == 1
    (row,) = done.stdout.splitlines()
    assert len(json.loads(row)["samples_ns"]) == 1
    said = done.stderr.decode()
    assert "SIGKILL" in said
    assert "try a smaller model or a smaller -p, -n, -pg or -d." in said


@pytest.mark.parametrize(
    ("most", "remedy", "said"),
    [
        (None, "Try other settings (-c, -fa, -ngl).", "Try other settings (-p, -n, -pg or -d, -fa, -ngl)."),
        (None, "Use -ctk q8_0, a-c or --c.", "Use -ctk q8_0, a-c or --c."),
        (8193, "Ask for at most -c 8192.", "Ask for at most 8,192 tokens in one test (-p, -n, -pg or -d), or "),
        (0, "Quantize the cache.", "Take a smaller model, or quantize the cache (-ctk q8_0 -ctv q8_0 -fa on)."),
    ],
)
def test_advice_is_in_flags_that_there_are(most: int | None, remedy: str, said: str) -> None:
    failed = Failed(t=0, stage="load", what="It failed.", remedy=remedy, most_context=most)
    assert remedy_of(failed).startswith(said)


def test_a_test_that_does_not_fit_fails_alone(decodescope: RunCommand) -> None:
    """2,000,000,000 tokens of the demo model's cache are far more than any machine has."""
    done = decodescope(
        "bench", "-m", "demo", "-p", "4", "-n", "2000000000", "-r", "1", "-t", "1", "--no-warmup", "-o", "jsonl"
    )
    assert done.returncode == 1, done.stderr
    (row,) = done.stdout.splitlines()
    assert (json.loads(row)["n_prompt"], json.loads(row)["n_gen"]) == (4, 0)
    said = done.stderr.decode()
    assert "A context of 2,000,000,001 tokens does not fit" in said
    assert "Not measured to the end: tg2000000000." in said
    assert "tokens in one test (-p, -n, -pg or -d)" in said
    assert " -c " not in said


def test_ctrl_c_prints_what_was_measured(start: Starter, script: ScriptWriter) -> None:
    path = script({"prefill": 64, "ms": 1}, {"stop": "stop"}, {"text": "x", "ms": HOUR})
    process = start("bench", "-m", f"script:{path}", "-p", "64", "-n", "4", "-r", "1", "--no-warmup", "-o", "json")
    assert process.stderr is not None
    assert any(b"2 of 2" in line for line in process.stderr)
    process.send_signal(signal.SIGINT)
    out, said = process.communicate(timeout=DEADLINE_SECONDS)
    assert process.returncode == 130
    (row,) = json.loads(out)
    assert row["n_prompt"] == 64
    told = said.decode()
    assert "Cancelled: 1 of 2 tests were measured to the end." in told
    assert "not measured: tg4." in told


def test_ctrl_c_within_a_test_prints_its_complete_repetitions(start: Starter, script: ScriptWriter) -> None:
    read = ({"prefill": 64, "ms": 1}, {"stop": "stop"})
    path = script(*read, *read, {"prefill": 64, "ms": HOUR})
    terminal = Terminal(250)
    try:
        process = start(
            "bench", "-m", f"script:{path}", "-p", "64", "-n", "4", "-r", "5", "--no-warmup", "-o", "json",
            stderr=terminal.slave,
        )  # fmt: skip
        terminal.read_until(lambda output: b"repetition 3 of 5" in output)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=DEADLINE_SECONDS)
        terminal.read_rest()
        said = terminal.screen()
    finally:
        terminal.close()
    assert process.returncode == 130
    (row,) = json.loads(out)
    assert len(row["samples_ns"]) == 2
    assert "Cancelled: 0 of 2 tests were measured to the end." in said
    assert f"script:{path}: pp64 has 2 of 5 repetitions." in said
    assert f"script:{path}: not measured: tg4." in said


@pytest.mark.parametrize("columns", [80, 120])
def test_the_table_fits_into_the_terminal(start: Starter, script: ScriptWriter, columns: int) -> None:
    terminal = Terminal(columns)
    try:
        process = start(
            "bench", "-m", f"script:{script(*TURN)}", "-p", "64", "-n", "10", "-r", "2", "--no-warmup",
            stdout=terminal.slave, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        assert process.wait(DEADLINE_SECONDS) == 0
        lines = terminal.read_rest().decode().splitlines()
    finally:
        terminal.close()
    table = [line for line in lines if line.startswith("|")]
    assert len(table) == 4
    assert all(len(line) <= columns for line in table)
    assert any(line.startswith("No room for: ") for line in lines)


def test_against(decodescope: RunCommand, script: ScriptWriter, tmp_path: Path) -> None:
    """20 ms against 20 ms and against 2 s: the one may be anything up to that, the other is slower on any machine."""
    fast = script({"prefill": 64, "ms": 20}, {"stop": "stop"})
    options = ("-p", "64", "-n", "0", "-r", "3", "--no-warmup")
    done = decodescope("bench", "-m", f"script:{fast}", *options, "-o", "json")
    (row,) = json.loads(done.stdout)
    old = tmp_path / "old.json"

    def against(samples: list[int], *more: str) -> tuple[int, str]:
        old.write_text(json.dumps([{**row, "samples_ns": samples}]))
        done = decodescope("bench", "-m", f"script:{fast}", *options, "--against", str(old), *more)
        return done.returncode, (done.stdout + done.stderr).decode()

    hour = HOUR * 1_000_000
    status, said = against([hour, hour + 1, hour])
    assert (status, "faster" in said) == (0, True)
    status, said = against([1000, 1001, 1000], "-o", "csv")
    assert status == 1
    assert "Slower by more than 5.0 %: pp64." in said
    status, said = against([1000], "-o", "csv")
    assert status == 4
    assert "fewer than two repetitions in the old results" in said
    assert "Nothing could be compared." in said
    status, said = against([0, 0])
    assert (status, said) == (2, f"{old} holds a figure that cannot be, in row 1: {NO_TIME}.\n")


def test_a_busy_machine_makes_no_comparison_unless_it_may(
    decodescope: RunCommand, script: ScriptWriter, tmp_path: Path
) -> None:
    model = f"script:{script({'prefill': 64, 'ms': 20}, {'stop': 'stop'})}"
    options = ("bench", "-m", model, "-p", "64", "-n", "0", "-r", "3", "--no-warmup")
    (row,) = json.loads(decodescope(*options, "-o", "json").stdout)
    old = tmp_path / "old.json"
    busy = [{**one, "quiet": False} for one in row["repetitions"]]
    old.write_text(json.dumps([{**row, "samples_ns": [1000, 1001, 1000], "repetitions": busy}]))
    done = decodescope(*options, "--against", str(old))
    assert done.returncode == 4
    assert b"too disturbed in the old results: 0 of 3 repetitions undisturbed." in done.stdout
    done = decodescope(*options, "--against", str(old), "--noisy")
    assert done.returncode == 1
    assert b"slower, busy then" in done.stdout
    assert decodescope(*options, "--noisy").returncode == 2


@pytest.mark.parametrize("text", ["", "[]"])
def test_empty_results_are_refused_before_anything_is_measured(
    decodescope: RunCommand, script: ScriptWriter, tmp_path: Path, text: str
) -> None:
    old = tmp_path / "old.json"
    old.write_text(text)
    done = decodescope("bench", "-m", f"script:{script(*TURN)}", "--against", str(old))
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode() == f"{old} holds no results: it is empty.\n"


def test_results_from_a_pipe(decodescope: RunCommand, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=[b"[]"])
    writer.start()
    done = decodescope("bench", "--against", str(pipe))
    writer.join()
    assert (done.returncode, done.stderr.decode()) == (2, f"{pipe} holds no results: it is empty.\n")


def test_results_without_end_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("decodescope.cli.benching._MOST_RESULTS_BYTES", 2048)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=[b" " * 2049])
    writer.start()
    result = CliRunner().invoke(cli, ["bench", "--against", str(pipe)])
    writer.join()
    assert result.exit_code == 2
    assert "longer than 2.0 KiB" in result.output


def test_a_wait_for_results_is_said(start: Starter, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    process = start("bench", "--against", str(pipe))
    assert process.stderr is not None
    assert process.stderr.readline().decode() == f"Waiting for the old results from {pipe}.\n"
    pipe.write_bytes(b"[]")
    assert process.wait(DEADLINE_SECONDS) == 2
