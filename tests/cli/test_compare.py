"""``decodescope compare`` without a screen."""

import csv
import gc
import io
import json
import math
import signal
import statistics
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from decodescope.cli.group import cli
from decodescope.cli.lanes import lanes, quantizations
from decodescope.comparison.export import as_json
from decodescope.comparison.plan import ComparisonPlan
from decodescope.comparison.ratios import LEAST_RATIO
from decodescope.comparison.retold import RetoldComparison
from decodescope.metrics.bootstrap import geometric_mean
from decodescope.traces.reader import read_trace
from decodescope.traces.tape import SessionTape

from ..conftest import DEADLINE_SECONDS, RunCommand, ScriptWriter
from .conftest import Starter
from .terminals import Terminal

HOUR = 3_600_000


@pytest.fixture
def two(script: ScriptWriter) -> list[str]:
    """``-m`` twice: the second writes half as fast."""
    paths = [
        script({"prefill": 20, "ms": 4}, {"repeat": 30, "text": " x", "ms": ms}, {"stop": "stop"}, name=f"{ms}ms.jsonl")
        for ms in (10, 20)
    ]
    return ["-m", f"script:{paths[0]}", "-m", f"script:{paths[1]}"]


def models(*paths: Path) -> list[str]:
    return [word for path in paths for word in ("-m", f"script:{path}")]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["hi"], "2 to 6 models; 1 is named"),
        (["hi", "-m", "demo"], "2 to 6 models; 1 is named"),
        (["hi", "--quants", "Q8_0"], "2 to 6 models; 1 is named"),
        (["hi", *["-m", "demo"] * 7], "2 to 6 models; 7 are named"),
        (["hi", *["-m", "demo"] * 3, "--quants", "Q8_0,Q4_0,Q2_K"], "3 × 3 are named"),
        (["hi", "-m", "demo", "--quants", "Q8_0,Q9"], "There is no quantization 'Q9'"),
        (["hi", "-m", "demo", "--quants", "Q8_0,IQ1_S"], "IQ1_S cannot be made here"),
        (["-m", "demo", "-m", "demo"], "The prompt is empty"),
        (["hi", "-m", "demo", "-m", "demo", "--json", "--md"], "Only one of --json, --csv and --md"),
        (["hi", "-m", "demo", "-m", "demo", "--text", "/x", "--no-quality"], "--no-quality leaves it out"),
        (["hi", "-m", "demo", "-m", "demo", "--text", "/not there"], "/not there cannot be read"),
        (["hi", "-m", "demo", "-m", "demo", "--rounds", "0"], "--rounds"),
        (["hi", "-m", "demo", "-m", "demo", "--theme", "x"], "there is no theme 'x'"),
    ],
)
def test_refused(arguments: list[str], said: str) -> None:
    result = CliRunner().invoke(cli, ["compare", *arguments])
    assert result.exit_code == 2
    assert said in result.output


def test_a_script_cannot_be_quantized(script: ScriptWriter) -> None:
    path = script({"text": "x"})
    result = CliRunner().invoke(cli, ["compare", "hi", "-m", f"script:{path}", "--quants", "Q8_0,Q4_0"])
    assert result.exit_code == 2
    assert "is a script" in result.output


def test_run_takes_one_model() -> None:
    result = CliRunner().invoke(cli, ["run", "hi", "-m", "demo", "-m", "demo"])
    assert result.exit_code == 2
    assert "decodescope compare" in result.output


def test_quantizations_under_their_names() -> None:
    assert quantizations("q8_0, Q4_K_m,q4_k,bf16") == ("Q8_0", "Q4_K_M", "Q4_K_M", "BF16")


def test_lanes_of_types() -> None:
    plans = lanes(["demo"], ["Q8_0", "Q4_1", "Q2_K"])
    assert [(plan.label, plan.make) for plan in plans] == [("Q8_0", "Q8_0"), ("Q4_1", None), ("Q2_K", "Q2_K")]


def test_lanes_of_models_and_types(script: ScriptWriter) -> None:
    assert [plan.label for plan in lanes(["demo", "demo"], [])] == ["demo #1", "demo #2"]
    plans = lanes(["demo", "demo"], ["Q8_0", "Q4_0"])
    assert [plan.label for plan in plans] == ["demo Q8_0 #1", "demo Q4_0 #1", "demo Q8_0 #2", "demo Q4_0 #2"]
    path = script({"text": "x"}, name="a script.jsonl")
    assert [plan.label for plan in lanes(["demo", f"script:{path}"], [])] == ["demo", "a script.jsonl"]


def report_of(recording: Path) -> dict[str, Any]:
    """The figures of a comparison, whatever the times were that this machine took."""
    return as_json(RetoldComparison(read_trace(recording)).results)


def test_the_table(decodescope: RunCommand, two: list[str], tmp_path: Path) -> None:
    recording = tmp_path / "lanes.jsonl"
    done = decodescope("compare", "hi", *two, "--rounds", "2", "--record", str(recording))
    assert done.returncode == 0, done.stderr
    heading, first, second = done.stdout.decode().splitlines()
    assert heading.startswith("lane")
    assert "× reference" in heading
    assert first.startswith("10ms.jsonl")
    assert "reference" in first
    assert second.startswith("20ms.jsonl")
    ratio = report_of(recording)["lanes"][1]["predicted_ratio"]["value"]
    assert f" {ratio:.2f}× " in second
    said = done.stderr.decode().splitlines()
    assert sum(line.startswith("round ") for line in said) == 4
    assert len(said) < 12
    assert any(report_of(recording)["verdict"] in line for line in said)
    assert b"\x1b" not in done.stdout + done.stderr


def rates_of(lane: dict[str, Any]) -> list[float]:
    return [one["predicted_per_second"] for one in lane["all_rounds"]]


def test_json(decodescope: RunCommand, two: list[str]) -> None:
    done = decodescope("compare", "hi", *two, "--json", "--rounds", "3")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["verdict"] in done.stderr.decode()
    assert (report["rounds"], report["together"], report["prompt"]) == (3, False, "hi")
    assert report["settings"]["seed"] >= 0
    assert report["settings"]["n_predict"] == 256
    first, second = report["lanes"]
    assert first["predicted_ratio"]["value"] is None
    found = second["predicted_ratio"]
    assert found["value"] == pytest.approx(geometric_mean(*(rates_of(lane) for lane in (second, first))), rel=1e-3)
    assert found["shown"] is not (found["low"] <= 1 <= found["high"])
    faster = first if found["value"] < 1 else second
    to_speak_of = found["shown"] and abs(math.log(found["value"])) > 2 * math.log(LEAST_RATIO)
    assert report["winner"] in ([faster["label"]] if to_speak_of else [faster["label"], None])
    for lane in (first, second):
        medians = [one["itl_p50_ms"] for one in lane["all_rounds"] if one["left_out"] is None]
        assert lane["itl_p50_ms"]["median"] == pytest.approx(statistics.median(medians), abs=0.001)
    assert [one["round"] for one in second["all_rounds"]] == [1, 2, 3]
    assert second["answers"] == [" x" * 30] * 3
    assert second["phase"] == "done"
    assert second["error"] is None


def test_csv(decodescope: RunCommand, two: list[str]) -> None:
    done = decodescope("compare", "hi", *two, "--csv", "--rounds", "2")
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader(io.StringIO(done.stdout.decode())))
    assert [row["label"] for row in rows] == ["10ms.jsonl", "20ms.jsonl"]
    least, most = (float(rows[1][f"predicted_per_second_{name}"]) for name in ("min", "max"))
    assert 0 < least <= float(rows[1]["predicted_per_second_median"]) <= most
    assert float(rows[1]["predicted_ratio_value"]) > 0
    assert rows[0]["predicted_ratio_value"] == ""
    assert rows[0]["mean_kld_value"] == ""
    assert None not in rows[0]


def test_markdown(decodescope: RunCommand, script: ScriptWriter) -> None:
    path = script({"repeat": 3, "text": "x", "ms": 2}, name="a|b_<c>.jsonl")
    done = decodescope("compare", "hi", *models(path, path), "--md", "--rounds", "1", "-s", "77")
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith(b"\n\nSeed 77, the same for all lanes.\n")
    assert done.stderr.count(b"seed 77") == 2  # of each lane's round
    lines = done.stdout.decode().splitlines()
    heading, rule, first, _ = lines[:4]
    assert heading.startswith("| lane | ")
    assert rule.startswith("| :--- | ")
    assert first.startswith("| a\\|b\\_\\<c\\>.jsonl #1 | ")
    assert heading.count("|") == rule.count("|") == first.replace("\\|", "").count("|")
    assert "\nOne round: " in done.stdout.decode()


def test_the_environment_names_one_model(decodescope: RunCommand, script: ScriptWriter) -> None:
    path = script({"text": "x"}, name="a b.jsonl")
    done = decodescope("run", "hi", env={"LLAMA_ARG_MODEL": f"script:{path}"})
    assert (done.returncode, done.stdout) == (0, b"x\n")


def test_several_models_to_the_scope(decodescope: RunCommand, two: list[str]) -> None:
    done = decodescope("hi", *two, "-n", "2")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(b"lane")
    assert b"round 3" in done.stderr


@pytest.mark.parametrize(
    ("command", "tokens", "rounds"),
    [(["compare", "hi", "--rounds", "5"], 256, 5), (["hi"], 256, 3), (["hi", "-n", "7"], 7, 3)],
)
def test_on_a_terminal_the_screen_is_opened(
    monkeypatch: pytest.MonkeyPatch, two: list[str], command: list[str], tokens: int, rounds: int
) -> None:
    opened: list[tuple[ComparisonPlan, dict[str, Any]]] = []

    def run_compare(plan: ComparisonPlan, tape: SessionTape, settings: dict[str, Any], **options: Any) -> int:
        gc.enable()
        assert (tape.text, settings["seed"]) == (True, plan.request.sampling.seed)
        opened.append((plan, options))
        return 7

    monkeypatch.setattr("decodescope.cli.comparing.obstacle", lambda: None)
    monkeypatch.setattr("decodescope.tui.app.run_compare", run_compare)
    result = CliRunner().invoke(cli, [*command, *two, "--theme", "nord", "--fps", "5"])
    assert result.exit_code == 7
    ((plan, options),) = opened
    assert options == {"theme": "nord", "fps": 5, "low_bandwidth": False}
    assert [lane.label for lane in plan.lanes] == ["10ms.jsonl", "20ms.jsonl"]
    assert (plan.request.max_tokens, plan.rounds, plan.quality) == (tokens, rounds, True)
    assert plan.request.sampling.seed >= 0


@pytest.mark.parametrize(
    ("line", "status", "said"),
    [
        ({"load_error": "no such tensor"}, 3, "no such tensor"),
        ({"error": "out of memory"}, 1, "out of memory"),
        ({"signal": int(signal.SIGKILL)}, 1, "SIGKILL"),
    ],
    ids=["load", "generate", "killed"],
)
def test_a_lane_that_fails(
    decodescope: RunCommand, script: ScriptWriter, two: list[str], line: dict[str, Any], status: int, said: str
) -> None:
    broken = script({"text": "x"}, line, name="broken.jsonl")
    done = decodescope("compare", "hi", *two, *models(broken), "--json", "--rounds", "1")
    assert done.returncode == status
    report = json.loads(done.stdout)
    assert [lane["phase"] for lane in report["lanes"]] == ["done", "done", "failed"]
    assert said in json.dumps(report["lanes"][2]["error"])
    assert report["lanes"][2]["unranked"] == "failed"
    assert said in done.stderr.decode()


def test_a_model_that_is_not_there(decodescope: RunCommand, two: list[str]) -> None:
    done = decodescope("compare", "hi", "-m", "/not/there.gguf", *two, "--json", "--rounds", "1")
    assert done.returncode == 3
    report = json.loads(done.stdout)
    assert [lane["phase"] for lane in report["lanes"]] == ["done", "done", "failed"]
    assert "There is no model" in report["lanes"][2]["error"]["what"]
    assert "failure" not in report["lanes"][2]  # said once
    # The first that can be used is the reference.
    assert report["lanes"][1]["predicted_ratio"]["value"] is not None


def test_one_model_alone_is_no_comparison(decodescope: RunCommand, two: list[str]) -> None:
    done = decodescope("compare", "hi", "-m", "/not/there.gguf", *two[:2])
    assert (done.returncode, done.stdout) == (3, b"")
    assert b"There is no model" in done.stderr
    assert b"nothing to compare" in done.stderr


@pytest.mark.parametrize("form", ["--json", "--csv", "--md"])
def test_ctrl_c_keeps_what_was_done(
    start: Starter, terminal: Terminal, script: ScriptWriter, two: list[str], form: str
) -> None:
    slow = script({"text": "x"}, {"text": "y", "ms": HOUR}, name="slow.jsonl")
    process = start("compare", "hi", *two, *models(slow), form, "--rounds", "1", stderr=terminal.slave)
    terminal.read_until(lambda output: b"slow.jsonl  write" in output)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=DEADLINE_SECONDS)
    assert process.returncode == 130
    assert b"10ms.jsonl" in out
    if form == "--json":
        report = json.loads(out)
        assert report["stage"] == "cancelled"
        assert report["lanes"][1]["rounds"] == 1
        assert report["lanes"][2]["all_rounds"][0]["finish_reason"] == "cancelled"


def test_ctrl_c_while_loading(start: Starter, terminal: Terminal, script: ScriptWriter) -> None:
    slow = script({"load_ms": HOUR})
    process = start("compare", "hi", *models(slow, slow), "--json", stderr=terminal.slave)
    terminal.read_until(lambda output: b"load" in output)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=DEADLINE_SECONDS)
    assert process.returncode == 130
    assert json.loads(out)["stage"] == "cancelled"
    assert "Cancelled before anything" in terminal.read_rest().decode()


def test_nobody_reads(start: Starter, script: ScriptWriter) -> None:
    slow = script({"text": "x", "ms": HOUR})
    process = start("compare", "hi", *models(slow, slow))
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stderr.readline()
    process.stdout.close()
    assert process.wait(DEADLINE_SECONDS) == 141


def test_together_says_so(decodescope: RunCommand, two: list[str]) -> None:
    done = decodescope("compare", "hi", *two, "--together", "--md", "--rounds", "1")
    assert done.returncode == 0, done.stderr
    assert b"disturbed each other" in done.stdout


def test_names_are_no_control_sequences(decodescope: RunCommand, script: ScriptWriter) -> None:
    path = script({"text": "x"}, name="a\x1b[2Jb.jsonl")
    for form in ((), ("--md",), ("--csv",), ("--json",)):
        done = decodescope("compare", "hi", *models(path, path), *form, "--rounds", "1")
        assert done.returncode == 0, done.stderr
        assert b"\x1b" not in done.stderr
        if form != ("--csv",):  # data for programs, as it is
            assert b"\x1b" not in done.stdout


def test_types_of_the_demo_model(decodescope: RunCommand, tmp_path: Path) -> None:
    arguments = ("compare", "Why?", "-m", "demo", "--quants", "Q4_1,Q4_0", "-n", "8", "--rounds", "1", "-t", "1")
    env = {"XDG_CACHE_HOME": str(tmp_path)}
    done = decodescope(*arguments, "--json", env=env)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    reference, other = report["lanes"]
    assert (reference["label"], reference["made"], reference["requantized_from"]) == ("Q4_1", None, None)
    assert other["label"] == "Q4_0"
    assert other["made"] == {
        "from": "Q4_1",
        "reused": False,
        "fallbacks": ["1 tensor as Q8_0 instead of Q6_K"],
    }
    assert 0 < other["mean_kld"]["value"] < 1
    assert reference["mean_kld"]["value"] is None
    assert reference["perplexity"]["value"] > 1
    assert reference["scores_note"].startswith("scored on the prompt and the first answer of the reference, ")
    text = tmp_path / "text.txt"
    text.write_text("The sky is blue.")
    again = decodescope(*arguments, "--md", "--together", "--text", str(text), env=env)
    assert again.returncode == 0, again.stderr
    assert b"made before from Q4_1" in again.stderr
    assert b"requantized from Q4_1" in again.stdout
    assert b"| KLD |" in again.stdout
    assert b"scored on the given text, " in again.stdout
