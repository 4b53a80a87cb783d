"""A window that is too small says so, and everything is as it was in one that serves."""

import re

import pytest

from .conftest import Open
from .pty_process import PtyProcess

KEYS = {"help": b"\x1bOP", "tokens": b"\x14", "palette": b"\x10"}
LEAST = {"scope": (40, 10), "replay": (40, 10), "picker": (40, 10), "compare": (60, 13)}


def lines(process: PtyProcess) -> list[str]:
    return [line for line in process.screen() if line]


def told(process: PtyProcess) -> list[int]:
    """The numbers in the sentence that alone is seen; none where there is more."""
    whole = " ".join(lines(process))
    found = re.fullmatch(r"\D*(?:(\d+)×(\d+)\D+)?(\d+)×(\d+)\D*", whole)
    return [] if found is None else [int(number) for number in found.groups() if number is not None]


@pytest.mark.parametrize("which", LEAST)
def test_it_says_which_size_serves(open_screen: Open, which: str) -> None:
    process = open_screen(which, job=False)
    process.read_rest()
    before = process.picture()
    columns, rows = LEAST[which]
    for size in [(20, 5), (columns - 1, rows), (columns, rows - 1)]:
        process.resize(*size)
        process.read_until(lambda _: told(process) == [*size, columns, rows])  # noqa: B023 (called at once)
    process.resize(columns, rows)
    process.read_until(lambda _: re.search("help|quit", process.screen()[-1]) is not None and len(lines(process)) > 4)
    process.resize(100, 30)
    # The picker tells how much memory is free just now.
    process.read_until(lambda _: process.picture() == before or (which == "picker" and len(lines(process)) > 9))


def test_it_says_so_in_as_many_words_as_there_is_room_for(open_screen: Open) -> None:
    process = open_screen("scope", job=False)
    for columns, rows in [(12, 3), (11, 1), (5, 1)]:
        process.resize(columns, rows)
        process.read_until(lambda _: told(process) == [40, 10])
    process.resize(1, 1)
    process.read_rest()
    process.type(b"\x11")
    assert process.wait() == 0


@pytest.mark.parametrize("key", KEYS)
def test_what_is_opened_meanwhile_is_there_afterwards(open_screen: Open, key: str) -> None:
    process = open_screen("scope", job=False)
    process.type(b"a prompt")
    process.read_until(lambda _: any("a prompt" in line for line in process.screen()))
    process.resize(20, 5)
    process.read_until(lambda _: told(process) == [20, 5, 40, 10])
    process.type(KEYS[key])
    process.read_rest()
    assert told(process) == [20, 5, 40, 10]
    process.resize(100, 30)
    text = {"help": "Stop the answer.", "tokens": "ITL ms", "palette": "Search for commands"}[key]
    process.read_until(lambda _: any(text in line for line in process.screen()))
    process.type(KEYS[key] if key != "palette" else b"\x1b")
    process.read_until(lambda _: not any(text in line for line in process.screen()))
    assert any("a prompt" in line for line in process.screen())
