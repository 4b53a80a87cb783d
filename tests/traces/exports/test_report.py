"""The block for an issue."""

import re
from pathlib import Path

from markdown_it import MarkdownIt
from msgspec.structs import replace

from decodescope.backends.events import RequestTaken
from decodescope.backends.requests import Sampling
from decodescope.traces.exports.report import as_markdown

from .recorded import exported, quiet_then_disturbed


def _html(text: str) -> str:
    return str(MarkdownIt("commonmark", {"html": True}).enable("table").render(text))


def test_figures_machine_settings_and_verdict(tmp_path: Path) -> None:
    text = as_markdown(exported(tmp_path))
    assert "| TTFT | 430 ms | 30.0 ms |" in text
    assert "Generation 1: 1 of 39 tokens disturbed" in text
    assert "not to be quoted" in text
    assert "Too few tokens" in text
    assert "`a processor`" in text
    assert "`--temp 0.8`" in text
    assert "/secret" not in text


def test_a_setting_of_zero_is_told(tmp_path: Path) -> None:
    greedy = Sampling(temp=0.0, top_k=0, min_p=0.0, repeat_last_n=0, seed=0)
    events = [
        replace(event, sampling=greedy) if isinstance(event, RequestTaken) else event
        for event in quiet_then_disturbed()
    ]
    text = as_markdown(exported(tmp_path, events))
    for flag in ("--temp 0.0", "--top-k 0", "--min-p 0.0", "--repeat-last-n 0", "--seed 0"):
        assert f"`{flag}`" in text


def test_a_setting_that_asks_for_nothing_is_not_told(tmp_path: Path) -> None:
    open_ = {"ctx_size": 0, "n_gpu_layers": -1, "flash_attn": "auto", "batch_size": 512}
    export = exported(tmp_path, quiet_then_disturbed())
    assert export.header is not None
    (one,) = export.subjects
    told = replace(one, header=replace(export.header, settings=open_))
    text = as_markdown(replace(export, subjects=(told,)))
    assert "`--batch-size 512`" in text
    assert one.settings["seed"] == one.settings["n_predict"] == -1
    for flag in ("--ctx-size", "--n-gpu-layers", "--flash-attn", "--seed", "--n-predict"):
        assert flag not in text


def test_every_model_is_a_paragraph(tmp_path: Path) -> None:
    html = _html(as_markdown(exported(tmp_path)))
    assert html.count("<p><strong>decodescope</strong>: ") == 2


def test_nothing_from_outside_is_markup(tmp_path: Path) -> None:
    html = _html(as_markdown(exported(tmp_path)))
    assert html.count("<table>") == 1
    assert set(re.findall(r"<(\w+)", html)) <= {
        "p",
        "strong",
        "code",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "ul",
        "li",
    }
    outside_code = re.sub(r"<code>.*?</code>", "", html, flags=re.DOTALL)
    assert "someone" not in outside_code
    assert "someone" in html
    assert not any(ord(character) < 32 for character in html.replace("\n", ""))
    rows = re.findall(r"<tr>(.*?)</tr>", html, flags=re.DOTALL)
    assert {len(re.findall(r"<t[hd]", row)) for row in rows} == {3}
