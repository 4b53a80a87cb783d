"""``run`` as a process: data on stdout, everything else on stderr, and the exit status."""

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from decodescope.backends.events import Event, Finished, Token

from ..conftest import DEADLINE_SECONDS, RunCommand, ScriptWriter
from .conftest import Starter

HELLO = (
    {"prefill": 512, "cached": 96},
    {"text": "Hel"},
    {"hex": "f09f"},
    {"hex": "a699"},
    {"text": "lo"},
    {"control": "<|im_end|>"},
)


def test_plain(decodescope: RunCommand, script: ScriptWriter) -> None:
    done = decodescope("run", "hi", "-m", f"script:{script(*HELLO)}", "-s", "7")
    assert done.stdout.decode() == "Hel🦙lo\n"
    assert done.returncode == 0
    summary = done.stderr.decode()
    assert summary.count("\n") == 1
    for fact in ("5 tokens", "TTFT", "TPOT", "write", "read", "512 tokens, 96 cached", "ended its turn", "seed 7"):
        assert fact in summary


def test_plain_reaches_a_pipe_verbatim(decodescope: RunCommand, script: ScriptWriter) -> None:
    nasty = "a\x1b[2J\x1b]0;t\x07b\u009b2J [/INST] x: list[int]\n"
    done = decodescope("run", "hi", "-m", f"script:{script({'text': nasty})}")
    assert done.stdout.decode() == nasty


def test_an_incomplete_character_at_the_end(decodescope: RunCommand, script: ScriptWriter) -> None:
    done = decodescope("run", "hi", "-m", f"script:{script({'text': 'a'}, {'hex': 'f0'})}")
    assert done.stdout.decode() == "a\ufffd\n"
    assert "2 tokens" in done.stderr.decode()


def test_stop_strings_over_tokens(decodescope: RunCommand, script: ScriptWriter) -> None:
    path = script({"text": "one E"}, {"text": "N"}, {"text": "D two"})
    done = decodescope("run", "hi", "-m", f"script:{path}", "--stop", "END")
    assert done.stdout.decode() == "one \n"


def test_json(decodescope: RunCommand, script: ScriptWriter) -> None:
    path = script({"model": {"name": "probe", "context": 1024}}, {"load_ms": 1}, *HELLO)
    done = decodescope("run", "hi", "--json", "-m", f"script:{path}", "-n", "4", "-s", "7", "--temp", "0.5")
    assert done.returncode == 0
    assert done.stderr == b""
    summary = json.loads(done.stdout)
    assert summary["text"] == "Hel🦙lo"
    assert (summary["prompt_n"], summary["cache_n"], summary["predicted_n"]) == (416, 96, 4)
    assert summary["finish_reason"] == "length"
    assert summary["error"] is None
    assert summary["load_ms"] > 0
    assert summary["ttft_ms"] is not None
    assert set(summary["itl_ms"]) == {"p50", "p95", "p99", "max"}
    assert summary["model"]["name"] == "probe"
    assert summary["settings"]["seed"] == 7
    assert summary["settings"]["temp"] == 0.5
    assert summary["settings"]["n_predict"] == 4


SLOW = {"involuntary": 37, "wait_ms": 400, "longest_wait_ms": 400}


def test_disturbed_tokens_are_told_of(decodescope: RunCommand, script: ScriptWriter) -> None:
    calm = {"repeat": 20, "text": "a", "ms": 20, "facts": {"wait_ms": 0}}
    path = script(calm, {"text": "b", "ms": 420, "facts": SLOW}, calm)
    line = decodescope("run", "hi", "-m", f"script:{path}").stderr.decode()
    assert " tokens disturbed, " in line
    assert "% of the time lost: not to be quoted · the model ended its turn" in line
    found = json.loads(decodescope("run", "hi", "--json", "-m", f"script:{path}").stdout)["disturbance"]
    assert found["tokens"] == 40
    assert found["causes"]["preempted"] == 1
    assert not found["quotable"]


def test_fewer_threads_are_named(decodescope: RunCommand, script: ScriptWriter) -> None:
    change = {"from": 2, "to": 1, "why": "core_taken"}
    path = script({"text": "a"}, {"threads": change}, {"repeat": 3, "text": "b"})
    told = decodescope("run", "hi", "-m", f"script:{path}").stderr.decode()
    assert "1 of 2 threads for 3 tokens" in told
    (found,) = json.loads(decodescope("run", "hi", "--json", "-m", f"script:{path}").stdout)["thread_changes"]
    assert {**change, "token": 2, "ms": found["ms"]} == found
    assert found["ms"] >= 0


def test_one_token_has_no_tpot(decodescope: RunCommand, script: ScriptWriter) -> None:
    summary = json.loads(decodescope("run", "hi", "--json", "-m", f"script:{script({'text': 'a'})}").stdout)
    assert summary["tpot_ms"] is None
    assert summary["itl_ms"] is None
    assert summary["predicted_per_second"] is None
    assert summary["predicted_n"] == 1


def test_jsonl_is_the_event_contract(decodescope: RunCommand, script: ScriptWriter) -> None:
    done = decodescope("run", "hi", "--jsonl", "-m", f"script:{script(*HELLO)}")
    events: list[Event] = [msgspec.json.decode(line, type=Event) for line in done.stdout.splitlines()]
    kinds = [type(event).__name__ for event in events]
    assert kinds[0] == "LoadProgress"
    assert kinds.index("ModelReady") < kinds.index("RequestTaken") < kinds.index("PromptReady") < kinds.index("Token")
    tokens = [event for event in events if isinstance(event, Token)]
    assert [token.index for token in tokens] == [1, 2, 3, 4, 5]
    assert b"".join(token.piece for token in tokens[:4]).decode() == "Hel🦙lo"
    assert isinstance(events[-1], Finished)
    times = [event.t for event in events]
    assert times == sorted(times)


def test_a_failed_generation_keeps_its_text(decodescope: RunCommand, script: ScriptWriter) -> None:
    path = script({"text": "so far"}, {"error": "ggml: out of memory", "remedy": "Use a smaller -c."})
    done = decodescope("run", "hi", "-m", f"script:{path}")
    assert done.returncode == 1
    assert done.stdout == b"so far\n"
    said = done.stderr.decode()
    assert "  ggml: out of memory\nUse a smaller -c.\n" in said
    assert "\nfailed after 1 token · " in said


def test_a_run_that_failed_before_its_first_token_has_no_figures(decodescope: RunCommand, script: ScriptWriter) -> None:
    done = decodescope("run", "hi", "-m", f"script:{script({'prefill': 9}, {'error': 'out of memory'})}")
    assert done.returncode == 1
    assert b"token" not in done.stderr


def test_a_failed_generation_as_json(decodescope: RunCommand, script: ScriptWriter) -> None:
    path = script({"text": "so far"}, {"error": "out of memory", "remedy": "smaller -c"})
    done = decodescope("run", "hi", "--json", "-m", f"script:{path}")
    assert done.returncode == 1
    summary = json.loads(done.stdout)
    assert summary["text"] == "so far"
    assert summary["finish_reason"] == "failed"
    assert summary["error"] == {"what": "The generation failed.", "reason": "out of memory", "remedy": "smaller -c"}


def test_an_engine_that_is_killed(decodescope: RunCommand, script: ScriptWriter) -> None:
    path = script({"text": "so far"}, {"signal": 9})
    done = decodescope("run", "hi", "-m", f"script:{path}")
    assert done.returncode == 1
    assert done.stdout == b"so far\n"
    assert b"SIGKILL" in done.stderr


@pytest.mark.parametrize("form", ["--plain", "--json", "--jsonl"])
def test_a_model_that_cannot_be_loaded(decodescope: RunCommand, script: ScriptWriter, form: str) -> None:
    done = decodescope("run", "hi", form, "-m", f"script:{script({'load_error': 'no such tensor'})}")
    assert done.returncode == 3
    assert b"no such tensor" in done.stderr
    lines = done.stdout.decode()
    if form == "--plain":
        assert lines == ""
    elif form == "--json":
        summary = json.loads(lines)
        assert summary["finish_reason"] == "failed"
        assert summary["error"]["reason"] == "no such tensor"
        assert summary["predicted_n"] == 0
        assert summary["ttft_ms"] is None
    else:
        assert json.loads(lines.splitlines()[-1])["event"] == "failed"


@pytest.mark.parametrize("form", ["--plain", "--json", "--jsonl"])
def test_a_model_that_is_not_there(decodescope: RunCommand, form: str) -> None:
    done = decodescope("run", "hi", form, "-m", "/no/such/model.gguf")
    assert done.returncode == 3
    assert b"/no/such/model.gguf" in done.stderr
    if form == "--json":
        assert json.loads(done.stdout)["finish_reason"] == "failed"


def test_the_log_goes_to_stderr(decodescope: RunCommand, script: ScriptWriter) -> None:
    done = decodescope("run", "hi", "-m", f"script:{script({'log': 'a [/b] c'}, {'text': 'x'})}")
    assert done.stdout == b"x\n"
    assert b"warning: a [/b] c\n" in done.stderr


def test_the_prompt_through_a_pipe(decodescope: RunCommand, script: ScriptWriter) -> None:
    done = decodescope("run", "--jsonl", "-m", f"script:{script({'text': 'x'})}", input=b"a\xffb")
    taken = next(event for event in map(json.loads, done.stdout.splitlines()) if event["event"] == "request_taken")
    assert taken["messages"] == [{"role": "user", "content": "a\ufffdb"}]
    assert b"not all UTF-8" in done.stderr


def test_an_argument_that_is_not_utf8(decodescope: RunCommand, script: ScriptWriter) -> None:
    done = decodescope("run", b"a\xffb", "--raw", "--jsonl", "-m", f"script:{script({'text': 'x'})}")
    taken = next(event for event in map(json.loads, done.stdout.splitlines()) if event["event"] == "request_taken")
    assert taken["prompt"] == "a\ufffdb"


def test_no_prompt(decodescope: RunCommand) -> None:
    done = decodescope("run")
    assert done.returncode == 2
    assert done.stdout == b""


def test_a_prompt_longer_than_the_context(decodescope: RunCommand, script: ScriptWriter) -> None:
    done = decodescope("run", "hi", "-m", f"script:{script({'prefill': 5000}, {'text': 'x'})}", "-c", "4096")
    assert done.returncode == 1
    assert b"5,000" in done.stderr
    assert b"4,096" in done.stderr


def test_a_reader_that_goes_away_ends_it_quietly(start: Starter, script: ScriptWriter) -> None:
    process = start("run", "hi", "-m", f"script:{script({'repeat': 100_000, 'text': 'tok ', 'ms': 5})}")
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.read(3) == b"tok"
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(DEADLINE_SECONDS) == 141


@pytest.mark.parametrize("form", ["--plain", "--json"])
def test_a_reader_that_goes_away_before_there_is_anything_to_write(
    start: Starter, script: ScriptWriter, form: str
) -> None:
    process = start("run", "hi", form, "-m", f"script:{script({'load_ms': 3_600_000})}")
    assert process.stdout is not None
    process.stdout.close()
    assert process.wait(DEADLINE_SECONDS) == 141


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("form", ["--plain", "--json", "--jsonl"])
def test_a_full_disk_is_said(start: Starter, script: ScriptWriter, form: str) -> None:
    with open("/dev/full", "wb") as full:
        process = start("run", "hi", form, "-m", f"script:{script({'text': 'x'})}", stdout=full.fileno())
        _, said = process.communicate(timeout=DEADLINE_SECONDS)
    assert process.returncode == 1
    assert b"No space left" in said
    assert b"Traceback" not in said


def test_a_stderr_that_nobody_reads(start: Starter, script: ScriptWriter) -> None:
    read, write = os.pipe()
    os.close(read)
    process = start("run", "hi", "-m", f"script:{script({'log': 'x'}, {'text': 'fine'})}", stderr=write)
    os.close(write)
    out, _ = process.communicate(timeout=DEADLINE_SECONDS)
    assert (out, process.returncode) == (b"fine\n", 0)


@pytest.mark.parametrize(("closed", "status"), [("0", 0), ("2", 0), ("1", 1)])
def test_closed_descriptors(script: ScriptWriter, closed: str, status: int) -> None:
    direction = "<" if closed == "0" else ">"
    done = subprocess.run(
        [
            *["/bin/sh", "-c", f'exec "$@" {closed}{direction}&-', "sh"],
            *[sys.executable, "-m", "decodescope", "run", "hi", "-m", f"script:{script({'text': 'fine'})}"],
        ],
        capture_output=True,
        timeout=DEADLINE_SECONDS,
        check=False,
    )
    assert done.returncode == status
    assert done.stdout == (b"" if closed == "1" else b"fine\n")
    assert b"Traceback" not in done.stderr


def test_a_stop_is_told_of_whether_it_came_before_the_first_token_or_after(
    decodescope: RunCommand, script: ScriptWriter, tmp_path: Path
) -> None:
    calm = {"repeat": 20, "text": "a", "ms": 1, "facts": {"wait_ms": 0}}
    first = {"text": "b", "ms": 1, "facts": {"suspended_ms": 2000}}
    stopped = {"text": "b", "ms": 800, "facts": {"suspended_ms": 2400}}
    recording = tmp_path / "stopped.jsonl"
    line = decodescope(
        "run", "hi", "-m", f"script:{script(first, calm, stopped, calm)}", "--record", str(recording)
    ).stderr.decode()
    assert "(suspended for 2.0 s of it)" in line
    assert "% of the time lost, suspended for 2.4 s: not to be quoted" in line
    found = json.loads(decodescope("replay", "--json", str(recording)).stdout)["disturbance"]
    assert found["suspended_ms"] == 2400
    assert found["causes"]["suspended"] == 1
    rows = list(csv.DictReader(io.StringIO(decodescope("export", str(recording), "--to", "csv").stdout.decode())))
    assert [row["suspended_ns"] for row in rows if row["suspended_ns"]] == ["2000000000", "2400000000"]
    assert [row["cause"] for row in rows].count("suspended") == 1
