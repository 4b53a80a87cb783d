"""The block for an issue."""

import re
from pathlib import Path

from markdown_it import MarkdownIt

from decodescope.traces.exports.report import as_markdown

from .recorded import exported


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
