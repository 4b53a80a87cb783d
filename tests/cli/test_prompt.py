"""Where the prompt comes from."""

import io
import os
import sys
import threading
from pathlib import Path

import click
import pytest

from decodescope.cli.prompt import read_prompt
from decodescope.cli.streams import Messages


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def messages() -> Messages:
    return Messages()


@pytest.fixture
def at_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", _Terminal())


def pipe(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


@pytest.mark.usefixtures("at_terminal")
def test_nothing_is_read_from_a_terminal(messages: Messages) -> None:
    assert read_prompt(None, None, None, messages) is None
    assert read_prompt("hi", None, None, messages) == "hi"
    assert read_prompt(None, "hi", None, messages) == "hi"


@pytest.mark.parametrize(
    ("data", "prompt"),
    [
        (b"hello\n", "hello"),
        (b"hello\r\n", "hello"),
        (b"hello\n\n", "hello\n"),
        (b"\xef\xbb\xbfhello", "hello"),
        ("日本語 🦙".encode(), "日本語 🦙"),
        (b"a\x00b", "a\x00b"),
    ],
)
def test_from_a_pipe(monkeypatch: pytest.MonkeyPatch, messages: Messages, data: bytes, prompt: str) -> None:
    pipe(monkeypatch, data)
    assert read_prompt(None, None, None, messages) == prompt


def test_a_pipe_follows_the_words(monkeypatch: pytest.MonkeyPatch, messages: Messages) -> None:
    pipe(monkeypatch, b"the text\n")
    assert read_prompt("Sum up:", None, None, messages) == "Sum up:\n\nthe text"


def test_an_empty_pipe_adds_nothing_to_the_words(monkeypatch: pytest.MonkeyPatch, messages: Messages) -> None:
    pipe(monkeypatch, b"")
    assert read_prompt("hi", None, None, messages) == "hi"


def test_a_closed_stdin_is_no_prompt(monkeypatch: pytest.MonkeyPatch, messages: Messages) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert read_prompt("hi", None, None, messages) == "hi"
    assert read_prompt(None, None, None, messages) is None


def test_a_file_leaves_stdin_alone(monkeypatch: pytest.MonkeyPatch, messages: Messages, tmp_path: Path) -> None:
    file = tmp_path / "prompt.txt"
    file.write_bytes(b"from the file\n")
    pipe(monkeypatch, b"from the pipe")
    assert read_prompt(None, None, str(file), messages) == "from the file"
    assert read_prompt("Words", None, str(file), messages) == "Words\n\nfrom the file"
    assert sys.stdin.read() == "from the pipe"


def test_dash_is_stdin(monkeypatch: pytest.MonkeyPatch, messages: Messages) -> None:
    pipe(monkeypatch, b"piped")
    assert read_prompt(None, None, "-", messages) == "piped"


@pytest.mark.usefixtures("at_terminal")
def test_dash_at_a_terminal_is_refused(messages: Messages) -> None:
    with pytest.raises(click.UsageError, match="terminal"):
        read_prompt(None, None, "-", messages)


@pytest.mark.parametrize(
    ("data", "shown", "where"), [(b"a\xffb", "a\ufffdb", "byte 1"), (b"ok\xe6\xad", "ok\ufffd", "byte 2")]
)
def test_broken_utf8_is_replaced_and_said(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    data: bytes,
    shown: str,
    where: str,
) -> None:
    pipe(monkeypatch, data)
    assert read_prompt(None, None, None, Messages()) == shown
    said = capsys.readouterr().err
    assert "not all UTF-8: 1 invalid piece" in said
    assert where in said


def test_a_replacement_character_of_the_text_is_not_counted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pipe(monkeypatch, "\ufffd".encode() + b"\xff")
    read_prompt(None, None, None, Messages())
    assert "1 invalid piece " in capsys.readouterr().err


@pytest.mark.parametrize("words", ["", "  \n"])
@pytest.mark.usefixtures("at_terminal")
def test_an_empty_prompt_is_refused(messages: Messages, words: str) -> None:
    with pytest.raises(click.UsageError, match="empty"):
        read_prompt(words, None, None, messages)


def test_an_empty_pipe_alone_is_refused(monkeypatch: pytest.MonkeyPatch, messages: Messages) -> None:
    pipe(monkeypatch, b"\n")
    with pytest.raises(click.UsageError, match="empty"):
        read_prompt(None, None, None, messages)


def test_a_file_that_cannot_be_read_says_why(messages: Messages, tmp_path: Path) -> None:
    with pytest.raises(click.UsageError, match="No such file"):
        read_prompt(None, None, str(tmp_path / "none"), messages)
    with pytest.raises(click.UsageError, match="directory"):
        read_prompt(None, None, str(tmp_path), messages)


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null", "/dev/tty"])
def test_a_device_is_refused(messages: Messages, device: str) -> None:
    if not os.path.exists(device):
        pytest.skip(f"there is no {device}")
    with pytest.raises(click.UsageError, match="is a device"):
        read_prompt(None, None, device, messages)


def test_a_named_pipe_is_read_to_its_end(messages: Messages, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=[b"from the pipe\n"])
    writer.start()
    assert read_prompt(None, None, str(pipe), messages) == "from the pipe"
    writer.join()


def test_what_has_no_end_is_refused(monkeypatch: pytest.MonkeyPatch, messages: Messages, tmp_path: Path) -> None:
    monkeypatch.setattr("decodescope.cli.prompt._LIMIT", 2048)
    file = tmp_path / "long.txt"
    file.write_bytes(b"x" * 2048)
    assert read_prompt(None, None, str(file), messages) == "x" * 2048
    file.write_bytes(b"x" * 2049)
    with pytest.raises(click.UsageError, match=r"longer than 2\.0 KiB"):
        read_prompt(None, None, str(file), messages)
    pipe(monkeypatch, b"x" * 2049)
    with pytest.raises(click.UsageError, match=r"longer than 2\.0 KiB"):
        read_prompt(None, None, None, messages)


def test_a_wait_for_stdin_is_said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    read, write = os.pipe()
    monkeypatch.setattr("decodescope.cli.inputs._PATIENCE_SECONDS", 0.0)
    with os.fdopen(read, "r") as reader:
        monkeypatch.setattr(sys, "stdin", reader)
        # The patience is over at once; what is written after the message ends the wait.
        monkeypatch.setattr(Messages, "say", _say_then_close(write))
        assert read_prompt(None, None, None, Messages()) == "late"
    assert "Waiting for the prompt" in capsys.readouterr().err


def _say_then_close(write: int) -> object:
    original = Messages.say

    def say(self: Messages, text: str) -> None:
        original(self, text)
        os.write(write, b"late")
        os.close(write)

    return say
