"""Opening the scope from the command line, on a real terminal."""

import os
import subprocess
from pathlib import Path

import pytest

from ..conftest import DEADLINE_SECONDS, ScriptWriter
from ..models.gguf_files import write
from ..models.stores import other_model
from .conftest import Starter
from .terminals import Terminal, take_terminal


def test_a_piped_prompt_opens_the_scope_with_keys_from_the_terminal(
    start: Starter, script: ScriptWriter, terminal: Terminal
) -> None:
    process = start(
        *["-m", f"script:{script({'text': 'seen'}, {'text': ' by all'})}"],
        stdin=subprocess.PIPE,
        stdout=terminal.slave,
        stderr=terminal.slave,
        start_new_session=True,
        preexec_fn=take_terminal,
    )
    assert process.stdin is not None
    process.stdin.write(b"through the pipe\n")
    process.stdin.close()
    terminal.read_until(lambda _: any("seen by all" in line for line in terminal.screen()))
    assert any("through the pipe" in line for line in terminal.screen())
    os.write(terminal.master, b"\x11")  # ctrl+q
    terminal.read_rest()
    assert process.wait(DEADLINE_SECONDS) == 0


def test_an_unknown_theme_names_the_known_ones(start: Starter, terminal: Terminal) -> None:
    process = start("-m", "demo", "--theme", "no-such", stdin=terminal.slave, stdout=terminal.slave)
    _, said = process.communicate(timeout=DEADLINE_SECONDS)
    assert process.returncode == 2
    assert b"no-such" in said
    assert b"textual-dark" in said


def test_a_model_that_is_not_there_is_said_before_the_screen_opens(start: Starter, terminal: Terminal) -> None:
    process = start("-m", "/no/such.gguf", stdin=terminal.slave, stdout=terminal.slave)
    _, said = process.communicate(timeout=DEADLINE_SECONDS)
    assert process.returncode == 3
    assert b"/no/such.gguf" in said
    assert b"\x1b" not in terminal.read_rest()


def test_plain_text_on_a_terminal_that_cannot_be_drawn_on(
    start: Starter, script: ScriptWriter, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "dumb")
    process = start("hi", "-m", f"script:{script({'text': 'plain'})}", stdin=terminal.slave, stdout=terminal.slave)
    _, said = process.communicate(timeout=DEADLINE_SECONDS)
    assert process.returncode == 0
    assert terminal.read_rest() == b"plain\r\n"
    assert b"cannot be drawn on" in said


def test_no_prompt_and_no_screen(start: Starter, terminal: Terminal) -> None:
    process = start("-m", "demo", stdin=terminal.slave)
    out, said = process.communicate(timeout=DEADLINE_SECONDS)
    assert process.returncode == 2
    assert out == b""
    assert b"standard output is not a terminal" in said


def test_of_several_models_one_is_chosen_on_the_screen(
    start: Starter, tmp_path: Path, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(2):
        write(tmp_path / f"one-of-{number}.gguf", other_model(number))
    monkeypatch.setenv("DECODESCOPE_MODELS", str(tmp_path))
    process = start(
        "why",
        stdin=terminal.slave,
        stdout=terminal.slave,
        stderr=terminal.slave,
        start_new_session=True,
        preexec_fn=take_terminal,
    )
    terminal.read_until(lambda _: any("one-of-1" in line for line in terminal.screen()))
    os.write(terminal.master, b"\x1b")  # esc
    terminal.read_rest()
    assert process.wait(DEADLINE_SECONDS) == 0


def test_the_only_model_needs_no_choice(
    start: Starter, tmp_path: Path, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "the-only-one.gguf", other_model(1))
    monkeypatch.setenv("DECODESCOPE_MODELS", str(tmp_path))
    process = start(
        stdin=terminal.slave,
        stdout=terminal.slave,
        stderr=terminal.slave,
        start_new_session=True,
        preexec_fn=take_terminal,
    )
    # It holds no weights that llama.cpp could use: the failure tells that it was taken.
    terminal.read_until(lambda _: any("could not load the-only-one" in line for line in terminal.screen()))
    os.write(terminal.master, b"\x11")  # ctrl+q
    terminal.read_rest()
    assert process.wait(DEADLINE_SECONDS) == 3
