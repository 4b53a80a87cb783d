from pathlib import Path

import pytest

from decodescope.tui.answer_file import save_answer


def test_named_after_the_prompt_and_never_overwriting(tmp_path: Path) -> None:
    first = save_answer("one", "Why is the sky blue?", tmp_path)
    second = save_answer("two\n", "Why is the sky blue?", tmp_path)
    assert (first.name, second.name) == ("why-is-the-sky-blue.md", "why-is-the-sky-blue-2.md")
    assert (first.read_text(), second.read_text()) == ("one\n", "two\n")


@pytest.mark.parametrize(
    "prompt", ["../../etc/passwd", "/tmp/x", "a\x1b[2J\x00b", "..", "", "[/q8]", "x" * 5000, "天空"]
)
def test_no_prompt_leads_outside(tmp_path: Path, prompt: str) -> None:
    path = save_answer("text", prompt, tmp_path)
    assert path.parent == tmp_path
    assert path.stem.replace("-", "").isalnum()
    assert len(path.name) < 60


def test_text_is_kept_as_it_is(tmp_path: Path) -> None:
    assert save_answer("a\r\nb\x1b[2J\n", "q", tmp_path).read_bytes() == b"a\r\nb\x1b[2J\n"


def test_an_unwritable_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        save_answer("text", "q", tmp_path / "missing")


def test_a_long_name_ends_with_a_whole_word(tmp_path: Path) -> None:
    name = save_answer("text", "Please explain the difference between prefill and decode", tmp_path).name
    assert name == "please-explain-the-difference-between.md"
