"""Bytes from a terminal, cut at every place."""

import pytest

from decodescope.tui.typed import Typed

CASES = (
    (b"hello \xe2\x82\xac", "hello €"),
    (b"a\xe9b", "a\ufffdb"),
    (b"\x1b[A\x1b\x1b[B", "\x1b[A\x1b\x1b[B"),
    (b"x\x1b[200~two \x1b[31mred\x1b[0m\rthree\tfour\x00\x1b[201~y\x1b[C",
     "x\x1b[200~two ␛[31mred␛[0m\rthree\tfour␀\x1b[201~y\x1b[C"),
    (b"\x1b[200~\x1b[200~\x1b\x1b[20\x1b[201~", "\x1b[200~␛[200~␛␛[20\x1b[201~"),
    (b"\x1b[200~one\x1b[201~\x1b[200~\x1b\x1b[201~", "\x1b[200~one\x1b[201~\x1b[200~␛\x1b[201~"),
    (b"\x1b[200~caf\xe9 au\x1b[201~", "\x1b[200~caf\ufffd au\x1b[201~"),
    (b"\x1b[201~a\x1b[20\x1b[200", "\x1b[201~a\x1b[20\x1b[200"),
)  # fmt: skip


@pytest.mark.parametrize(("data", "text"), CASES)
def test_wherever_it_is_cut(data: bytes, text: str) -> None:
    for first in range(len(data) + 1):
        for second in range(first, len(data) + 1):
            typed = Typed()
            assert "".join(map(typed.feed, (data[:first], data[first:second], data[second:]))) == text


def test_a_key_is_not_held_back() -> None:
    typed = Typed()
    assert [typed.feed(bytes([byte])) for byte in b"\x1b[200"] == ["\x1b", "[", "2", "0", "0"]


def test_a_paste_comes_as_it_is_read() -> None:
    typed = Typed()
    assert typed.feed(b"\x1b[200~one two\x1b[2") == "\x1b[200~one two"
    assert typed.feed(b"B three") == "␛[2B three"
