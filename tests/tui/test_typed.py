"""Bytes from a terminal, cut at every place, and what the silences between them decide."""

import time

import pytest
from textual.events import AppFocus, Key, MouseMove, Paste
from textual.message import Message

from decodescope.tui.typed import Typed, TypedText

CASES = (
    (b"hello \xe2\x82\xac", "hello €"),
    (b"a\xe9b", "a\ufffdb"),
    (b"\x1b[A\x1b[B\x1bOP", "<up><down><f1>"),
    (b"x\x1b[200~two \x1b[31mred\x1b[0m\rthree\tfour\x00\x07\xc2\x9b\x1b[201~y\x1b[C",
     "x{two ␛[31mred␛[0m\nthree\tfour␀␇\ufffd}y<right>"),
    (b"\x1b[200~one\r\ntwo\r\n\x1b[201~\r", "{one\ntwo\n}<enter>"),
    (b"\x1b[200~\x1b[200~\x1b\x1b[20\x1b[201~", "{␛[200~␛␛[20}"),
    (b"\x1b[200~one\x1b[201~\x1b[200~\x1b\x1b[201~", "{one}{␛}"),
    (b"\x1b[200~caf\xe9 au\x1b[201~", "{caf\ufffd au}"),
    (b"\x1b[200~\x1b[201~a", "{}a"),
    (b"one\r", "one<enter>"),
    (b"one\r\r", "one<enter><enter>"),
    (b"\x1b[Aone\r\x1bOQ", "<up>one<enter><f2>"),
    (b"one\rtwp\x7fo", "one<enter>twp<backspace>o"),
    (b"one\rtwo", "one\ntwo"),
    (b"one\rtwo\r\x1b[200~three\x1b[201~\r", "one\ntwo\n{three}<enter>"),
    (b"keep this\rcolour\x1b[31mred\x1b[0mend", "keep this\ncolour␛[31mred␛[0mend"),
    (b"one\r\x1b[<35;10;5Mtwo\x1b[I", "one\ntwo<mouse><focus>"),
)  # fmt: skip
"""What comes at once, and what becomes of it: keys, a {paste in brackets}, text, whose lines send nothing."""


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Terminal:
    """Sends bytes; ``told`` is what came of them."""

    def __init__(self) -> None:
        self._clock = Clock()
        self.typed = Typed(clock=self._clock)
        self.messages: list[Message] = []

    def send(self, data: bytes) -> None:
        self.messages += self.typed.feed(data)

    def wait(self, seconds: float) -> None:
        self._clock.now += seconds
        self.messages += self.typed.feed(b"")

    @property
    def told(self) -> str:
        return "".join(map(as_text, self.messages))


def as_text(message: Message) -> str:
    match message:
        case Paste():
            return f"{{{message.text}}}"
        case TypedText():
            return message.text
        case MouseMove():
            return "<mouse>"
        case AppFocus():
            return "<focus>"
        case Key():
            return message.character if message.is_printable and message.character else f"<{message.key}>"
        case _:
            return repr(message)


@pytest.mark.parametrize(("data", "told"), CASES)
def test_wherever_it_is_cut(data: bytes, told: str) -> None:
    for first in range(len(data) + 1):
        for second in range(first, len(data) + 1):
            terminal = Terminal()
            for part in (data[:first], data[first:second], data[second:]):
                if part:
                    terminal.send(part)
            terminal.wait(1)
            terminal.wait(1)
            assert terminal.told == told


def test_keys_that_are_typed_are_not_kept_waiting() -> None:
    terminal = Terminal()
    for key in (b"o", b"n", b"\x1b[A", b"\r"):
        terminal.send(key)
        before = terminal.told
        terminal.wait(0.08)
        assert terminal.told == before
    assert terminal.told == "on<up><enter>"


def test_what_stands_after_an_enter_decides_within_a_burst_only() -> None:
    terminal = Terminal()
    terminal.send(b"one\r")
    assert terminal.told == ""
    terminal.wait(0.03)
    terminal.send(b"two")
    assert terminal.told == "one<enter>two"


def test_keys_one_by_one_without_a_silence_are_a_burst() -> None:
    terminal = Terminal()
    for byte in b"one\rtwo\r":
        terminal.send(bytes([byte]))
        terminal.wait(0.001)
    terminal.wait(0.03)
    assert terminal.told == "one\ntwo\n"


def test_what_was_there_to_be_read_is_no_silence() -> None:
    """A reader that gets no processor for a while sees no gap between two parts of a paste."""
    terminal = Terminal()
    terminal.send(b"one\r")
    terminal._clock.now += 5
    terminal.send(b"two\r")
    terminal.wait(0.03)
    assert terminal.told == "one\ntwo\n"


def test_the_lines_of_a_paste_that_come_in_pieces_are_not_sent() -> None:
    terminal = Terminal()
    terminal.send(b"one\rtwo\rthr")
    terminal.wait(0.1)
    terminal.send(b"ee\r")
    terminal.wait(0.1)
    assert terminal.told == "one\ntwo\nthree\n"
    terminal.send(b"\r")
    assert terminal.told == "one\ntwo\nthree\n<enter>"
    terminal.wait(0.4)
    terminal.send(b"four\r")
    terminal.wait(0.1)
    assert terminal.told.endswith("four<enter>")


def test_a_mouse_that_moves_on_keeps_nothing_waiting() -> None:
    terminal = Terminal()
    terminal.send(b"one\r")
    for _ in range(4):
        terminal._clock.now += 0.01
        terminal.send(b"\x1b[<35;10;5M")
    assert "one<enter>" in terminal.told


def test_much_text_is_one_message_and_its_keys_are_known() -> None:
    terminal = Terminal()
    for _ in range(50):
        terminal.send(b"x" * 4096)
    terminal.send(b"\r")
    terminal.wait(0.03)
    message, enter = terminal.messages
    assert isinstance(message, TypedText)
    assert message.text == "x" * 204_800
    assert isinstance(enter, Key)
    assert enter.key == "enter"
    terminal = Terminal()
    terminal.send(b"a\rb\x1b[C")
    terminal.wait(0.03)
    (message,) = terminal.messages
    assert isinstance(message, TypedText)
    assert [key.key for key in message.keys] == ["a", "enter", "b", "right"]


def test_a_paste_without_an_end_does_not_take_the_keyboard_away() -> None:
    terminal = Terminal()
    terminal.send(b"\x1b[200~lost end\x1b[20")
    terminal.wait(1)
    assert terminal.told == ""
    terminal.wait(2)
    terminal.send(b"\x11")
    assert terminal.told == "{lost end␛[20}<ctrl+q>"


def test_escape_is_a_key_after_a_while() -> None:
    terminal = Terminal()
    terminal.send(b"\x1b")
    terminal.wait(0.03)
    assert terminal.told == ""
    time.sleep(0.11)  # the parser has a clock of its own
    terminal.wait(0.1)
    assert terminal.told == "<escape>"
