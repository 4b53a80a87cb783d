"""What ``run``, ``replay`` and ``export`` make of reasoning."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from ..backends.tiny_models import chain
from ..conftest import RunCommand, ScriptWriter

TAGS = {"model": {"template": "<think></think>"}}
SPLIT: list[dict[str, Any]] = [TAGS, *({"text": piece} for piece in ("<thi", "nk>\nwhy</th", "ink>42", " more"))]
UNCLOSED: list[dict[str, Any]] = [{"prefill": 5}, {"think": "why"}, {"think": " not"}, {"stop": "length"}]
LOOKS_LIKE_A_TAG: list[dict[str, Any]] = [TAGS, {"text": "<"}, {"text": "table>", "ms": 5}]
HARMONY = "<|start|>{{ role }}<|channel|>analysis<|message|><|end|><|start|>assistant"
CALL = "<|channel|>commentary to=functions.x<|message|>{}<|end|><|start|>assistant<|channel|>final<|message|>Yes"


def summary(decodescope: RunCommand, path: Path) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(decodescope("run", "hi", "--json", "-m", f"script:{path}").stdout)
    return result


def test_the_answer_goes_to_stdout_and_the_reasoning_to_stderr(decodescope: RunCommand, script: ScriptWriter) -> None:
    done = decodescope("run", "hi", "-m", f"script:{script(*SPLIT)}")
    assert done.stdout == b"42 more\n"
    assert done.stderr.decode().startswith("[reasoning]\nwhy\n[end of reasoning]\n4 tokens · ")


def test_reasoning_and_answer_apart_as_json(decodescope: RunCommand, script: ScriptWriter) -> None:
    told = summary(decodescope, script(*SPLIT))
    assert (told["answer"], told["reasoning"], told["reasoning_closed"]) == ("42 more", "why", True)
    assert told["text"] == "<think>\nwhy</think>42 more"
    assert told["ttft_ms"] < told["ttfa_ms"]


def test_all_in_one_piece(decodescope: RunCommand, script: ScriptWriter) -> None:
    told = summary(decodescope, script(TAGS, {"text": "<think>hm</think>Yes"}))
    assert (told["answer"], told["reasoning"], told["reasoning_closed"]) == ("Yes", "hm", True)
    assert told["ttfa_ms"] == told["ttft_ms"]


def test_lines_that_name_their_reasoning(decodescope: RunCommand, script: ScriptWriter) -> None:
    told = summary(decodescope, script({"think": "hm"}, {"text": "Yes"}, {"think": "so"}, {"text": "No"}))
    assert (told["answer"], told["reasoning"], told["text"]) == ("YesNo", "hm\n\nso", "hm\n\nYes\n\nso\n\nNo")


def test_reasoning_that_is_not_closed_is_said(decodescope: RunCommand, script: ScriptWriter) -> None:
    path = script(*UNCLOSED)
    told = summary(decodescope, path)
    assert (told["answer"], told["reasoning"], told["reasoning_closed"]) == (None, "why not", False)
    assert told["ttft_ms"] is not None
    assert told["ttfa_ms"] is None
    done = decodescope("run", "hi", "-m", f"script:{path}")
    assert done.stdout == b""
    assert "the reasoning was not closed; there is no answer" in done.stderr.decode()


def test_another_channel_is_named_and_is_no_answer(decodescope: RunCommand, script: ScriptWriter) -> None:
    path = script({"model": {"template": HARMONY}}, {"text": CALL})
    told = summary(decodescope, path)
    assert (told["answer"], told["reasoning"]) == ("Yes", None)
    assert told["channels"] == [{"name": "commentary to functions.x", "text": "{}"}]
    done = decodescope("run", "hi", "-m", f"script:{path}")
    assert done.stdout == b"Yes\n"
    assert "[commentary to functions.x]\n{}\n" in done.stderr.decode()


def test_a_way_of_marking_reasoning_that_is_not_known(decodescope: RunCommand, script: ScriptWriter) -> None:
    path = script({"model": {"template": "{% if enable_thinking %}<ponder>"}}, {"text": "<ponder>hm</ponder>Yes"})
    told = summary(decodescope, path)
    assert (told["answer"], told["ttfa_ms"]) == (None, None)
    assert told["ttft_ms"] is not None
    done = decodescope("run", "hi", "-m", f"script:{path}")
    assert done.stdout == b"<ponder>hm</ponder>Yes\n"
    assert done.stderr.startswith(b"warning: ")


def test_a_model_that_reasons(decodescope: RunCommand, tmp_path: Path) -> None:
    template = "{% for m in messages %}{{m.role}}:{{m.content}}{% endfor %}<think>{# </think> #}"
    model = chain(tmp_path / "chain.gguf", template, ["hm</th", "ink>42", " more"])
    options = ("-m", str(model), "-t", "1", "--temp", "0")
    told = json.loads(decodescope("run", "hi", "--json", *options).stdout)
    assert (told["answer"], told["reasoning"], told["predicted_n"]) == ("42 more", "hm", 4)
    events = [json.loads(line) for line in decodescope("run", "hi", "--jsonl", *options).stdout.splitlines()]
    tokens = [event for event in events if event["event"] == "token"]
    assert [token.get("thinking", False) for token in tokens] == [True, False, False, False]
    assert tokens[1]["parts"] == [[1, "control", 4, ""], [2, "control", 4, ""], [2, "answer", 2, ""]]


@pytest.mark.parametrize("flags", [(), ("--no-text",)])
def test_a_recording_gives_the_same_figures(
    decodescope: RunCommand, script: ScriptWriter, tmp_path: Path, flags: tuple[str, ...]
) -> None:
    for number, lines in enumerate([SPLIT, UNCLOSED, LOOKS_LIKE_A_TAG]):
        kept = str(tmp_path / f"{number}.jsonl")
        done = decodescope("run", "hi", "--json", "--record", kept, *flags, "-m", f"script:{script(*lines)}")
        played = json.loads(decodescope("replay", kept, "--json").stdout)
        told = json.loads(done.stdout)
        for name in ("ttft_ms", "ttfa_ms", "tpot_ms", "predicted_n", "reasoning_closed", "finish_reason"):
            assert played[name] == told[name], name
        if not flags:
            for name in ("text", "answer", "reasoning", "channels"):
                assert played[name] == told[name], name
            assert json.loads(decodescope("export", kept, "--to", "json").stdout)["answer"] == told["answer"]


def test_a_recording_without_text_does_not_name_channels(
    decodescope: RunCommand, script: ScriptWriter, tmp_path: Path
) -> None:
    kept = tmp_path / "kept.jsonl"
    path = script({"text": "Yes"})
    path.write_text(json.dumps({"model": {"template": HARMONY}}) + "\n" + json.dumps({"text": CALL}) + "\n")
    decodescope("run", "hi", "--record", str(kept), "--no-text", "-m", f"script:{path}")
    events = [json.loads(line) for line in kept.read_text().splitlines()]
    (token,) = (event for event in events if event.get("event") == "token")
    assert token["parts"] == [[1, "control", 0, ""], [1, "channel", 0, ""], [1, "control", 0, ""], [1, "answer", 0, ""]]


def test_a_row_for_each_token(decodescope: RunCommand, script: ScriptWriter, tmp_path: Path) -> None:
    kept = str(tmp_path / "kept.jsonl")
    decodescope("run", "hi", "--record", kept, "-m", f"script:{script(*LOOKS_LIKE_A_TAG)}")
    rows = list(csv.DictReader(io.StringIO(decodescope("export", kept, "--to", "csv").stdout.decode())))
    assert [row["thinking"] for row in rows] == ["0", "0"]  # the first looked like a tag
