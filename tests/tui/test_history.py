import fcntl
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from decodescope.backends import state_file
from decodescope.tui import history as module
from decodescope.tui.history import History, default_path

from ..conftest import DEADLINE_SECONDS


def test_prompts_survive_the_session(tmp_path: Path) -> None:
    path = tmp_path / "state" / "history.jsonl"
    first = History(path)
    first.add("one\nline")
    first.add("two")
    first.add("two")
    first.close(DEADLINE_SECONDS)
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
    history.close(DEADLINE_SECONDS)
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
    history.close(DEADLINE_SECONDS)
    assert history.problem is not None
    assert history.entries == ("one",)


def test_it_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LIMIT", 3)
    path = tmp_path / "history.jsonl"
    history = History(path)
    for number in range(20):
        history.add(str(number))
    history.close(DEADLINE_SECONDS)
    assert history.entries == ("17", "18", "19")
    assert len(path.read_text().splitlines()) <= 6
    assert History(path).entries == ("17", "18", "19")


def test_a_very_long_prompt_stays_in_the_session_only(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    history = History(path)
    history.add("x" * 100_000)
    history.close(DEADLINE_SECONDS)
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
    history = History(path)
    history.add("a\x1b[2J\nb")
    history.close(DEADLINE_SECONDS)
    assert [json.loads(line) for line in path.read_bytes().splitlines()] == ["a\x1b[2J\nb"]


def prompts_in(path: Path) -> list[str]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_what_others_have_written_meanwhile_stays_when_the_file_is_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_LIMIT", 5)
    path = tmp_path / "history.jsonl"
    path.write_text("".join(f"{json.dumps(str(number))}\n" for number in range(10)))
    first, second = History(path), History(path)
    first.add("of the first")
    first.close(DEADLINE_SECONDS)
    assert prompts_in(path) == ["6", "7", "8", "9", "of the first"]
    second.add("of the second")
    second.close(DEADLINE_SECONDS)
    assert prompts_in(path) == ["6", "7", "8", "9", "of the first", "of the second"]


ADDING = """
import sys, time
from pathlib import Path
from decodescope.tui import history
history._LIMIT, replace = 100, history.replace
def slowly(path, data):
    time.sleep(0.2)
    replace(path, data)
history.replace = slowly
kept = history.History(Path(sys.argv[1]))
print(flush=True)
sys.stdin.readline()
for number in range(25):
    kept.add(f"{sys.argv[2]} {number}")
kept.close(60)
"""


def test_several_instances_at_the_limit_lose_no_line(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    path.write_text("".join(f"{json.dumps(f'old {number}')}\n" for number in range(190)))
    instances = [
        subprocess.Popen(
            [sys.executable, "-c", ADDING, str(path), name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for name in ("a", "b", "c")
    ]
    for instance in instances:
        assert instance.stdout is not None
        instance.stdout.readline()
    for instance in instances:
        assert instance.stdin is not None
        instance.stdin.write("\n")
        instance.stdin.flush()
    for instance in instances:
        instance.communicate(timeout=DEADLINE_SECONDS)
    found = prompts_in(path)
    assert len(found) < 190
    for name in ("a", "b", "c"):
        assert [prompt for prompt in found if prompt.startswith(name)] == [f"{name} {number}" for number in range(25)]


def test_whoever_holds_the_lock_keeps_nobody_waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LIMIT", 2)
    path = tmp_path / "history.jsonl"
    path.write_text('"1"\n"2"\n"3"\n"4"\n')
    history = History(path)
    with path.with_name("history.jsonl.lock").open("w") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        before = time.monotonic()
        history.add("5")
        assert time.monotonic() - before < 1  # the lock is waited for longer, elsewhere
        history.close(DEADLINE_SECONDS)
        assert prompts_in(path) == ["1", "2", "3", "4", "5"]  # nothing is cut without it
    again = History(path)
    again.add("6")
    again.close(DEADLINE_SECONDS)
    assert prompts_in(path) == ["5", "6"]
    assert again.problem is None


def test_a_file_system_without_locks_is_no_obstacle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(descriptor: int, operation: int) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    path = tmp_path / "history.jsonl"
    history = History(path)
    history.add("one")
    history.close(DEADLINE_SECONDS)
    assert prompts_in(path) == ["one"]
    assert history.problem is None


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("old")
    link.symlink_to(real)
    state_file.replace(link, b"new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "real"]
