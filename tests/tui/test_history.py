import json
from pathlib import Path

import pytest

from decodescope.tui import history as module
from decodescope.tui.history import History, default_path


def test_prompts_survive_the_session(tmp_path: Path) -> None:
    path = tmp_path / "state" / "history.jsonl"
    first = History(path)
    first.add("one\nline")
    first.add("two")
    first.add("two")
    assert History(path).entries == ("one\nline", "two")
    assert path.stat().st_mode & 0o777 == 0o600


def test_going_through_them_and_back_to_the_draft() -> None:
    history = History(None)
    history.add("one")
    history.add("two")
    assert history.later() is None
    assert history.earlier("draft") == "two"
    assert history.earlier("two") == "one"
    assert history.earlier("one") is None
    assert history.later() == "two"
    assert history.later() == "draft"
    assert history.later() is None


@pytest.mark.parametrize(
    "content", [b"", b"not json\n", b'{"a": 1}\n[1]\n3\n""\n', b"\xff\xfe\n", b"[" * 100_000 + b"\n"]
)
def test_a_broken_file_is_no_obstacle(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "history.jsonl"
    path.write_bytes(content + b'"good"\n"cut of')
    history = History(path)
    assert history.entries == ("good",)
    history.add("new")
    assert History(path).entries == ("good", "new")


def test_an_unreadable_file_is_told_and_nothing_more(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    path.mkdir()
    history = History(path)
    assert history.problem is not None
    history.add("one")
    assert history.entries == ("one",)


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    history = History(tmp_path / "file" / "history.jsonl")
    history.add("one")
    assert history.problem is not None
    assert history.entries == ("one",)


def test_it_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LIMIT", 3)
    path = tmp_path / "history.jsonl"
    history = History(path)
    for number in range(20):
        history.add(str(number))
    assert history.entries == ("17", "18", "19")
    assert len(path.read_text().splitlines()) <= 6
    assert History(path).entries == ("17", "18", "19")


def test_a_very_long_prompt_stays_in_the_session_only(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    history = History(path)
    history.add("x" * 100_000)
    assert len(history.entries) == 1
    assert not path.exists()


def test_it_can_be_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DECODESCOPE_NO_HISTORY", "1")
    assert default_path() is None
    monkeypatch.delenv("DECODESCOPE_NO_HISTORY")
    path = default_path()
    assert path is not None
    assert path.name == "history.jsonl"


def test_one_json_string_a_line(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    History(path).add("a\x1b[2J\nb")
    assert [json.loads(line) for line in path.read_bytes().splitlines()] == ["a\x1b[2J\nb"]
