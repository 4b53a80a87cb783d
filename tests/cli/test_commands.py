"""Which command a command line means; nothing is loaded."""

from pathlib import Path
from typing import Any

import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner, Result

from decodescope.cli.group import cli, run
from decodescope.cli.options import GenerationOptions

Asked = list[tuple[str, GenerationOptions]]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    """Prompts and options that would have been generated from."""
    calls: Asked = []

    def generate(options: GenerationOptions, prompt: str, *rest: Any) -> int:
        calls.append((prompt, options))
        return 0

    monkeypatch.setattr("decodescope.cli.headless.generate", generate)
    return calls


def invoke(*arguments: str, input: str | None = None) -> Result:
    return CliRunner().invoke(cli, list(arguments), input=input)


@pytest.mark.parametrize(
    ("arguments", "prompt"),
    [
        (["hello"], "hello"),
        (["-m", "demo", "hello"], "hello"),
        (["hello", "-m", "demo"], "hello"),
        (["-p", "hello"], "hello"),
        (["--", "run"], "run"),
        (["--", "--help"], "--help"),
        (["-m", "demo", "run"], "run"),
        (["-p", "doctor"], "doctor"),
        (["run", "hello"], "hello"),
        (["run", "models"], "models"),
        (["run", "--", "-5 + 3"], "-5 + 3"),
        (["scope"], "scope"),
        (["x: list[int] [/INST]"], "x: list[int] [/INST]"),
    ],
)
def test_the_prompt(asked: Asked, arguments: list[str], prompt: str) -> None:
    result = invoke(*arguments)
    assert result.exit_code == 0, result.output
    assert [said for said, _ in asked] == [prompt]


def test_a_pipe_is_the_prompt(asked: Asked) -> None:
    assert invoke(input="from the pipe\n").exit_code == 0
    assert asked[0][0] == "from the pipe"


def test_a_file_is_the_prompt(asked: Asked, tmp_path: Path) -> None:
    file = tmp_path / "p.txt"
    file.write_text("from the file\n")
    assert invoke("-f", str(file), "-n", "3").exit_code == 0
    assert asked[0][0] == "from the file"
    assert asked[0][1].max_tokens == 3


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["two", "words"], "between quotes"),
        (["-m", "demo", "run", "hello"], "A command comes before its options: decodescope run"),
        (["hello", "-p", "again"], "given twice"),
        ([""], "empty"),
        ([], "empty"),
        (["--json", "hello"], "No such option"),
    ],
)
def test_refused(asked: Asked, arguments: list[str], said: str) -> None:
    result = invoke(*arguments)
    assert result.exit_code == 2
    assert said in result.output
    assert asked == []


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (["modles"], "models"),
        (["Models"], "models"),
        (["model", "weights"], "models"),
        (["docter", "--json"], "doctor"),
        (["runn", "hello"], "run"),
        (["rnu", "hi"], "run"),
        (["bnech"], "bench"),
    ],
)
def test_a_misspelt_command_is_no_prompt(asked: Asked, arguments: list[str], command: str) -> None:
    result = invoke(*arguments)
    assert result.exit_code == 2
    assert f"Did you mean `decodescope {command}`?" in result.output
    assert f"decodescope -p {arguments[0]}" in result.output
    assert asked == []


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["--top_k", "1"], "Did you mean --top-k?\n"),
        (["run", "hi", "--temperature", "1"], "Did you mean --temp?\n"),
        (["run", "hi", "--no-rwa"], "Did you mean --no-raw?\n"),
        (["run", "hi", "--zzz"], "There is no option --zzz.\n"),
        (["models", "quantise", "demo"], "Did you mean `decodescope models quantize`?\n"),
        (["hi", "--theme", "drakula"], "Did you mean dracula?\n"),
        (["bench", "-o", "cvs"], "Did you mean csv?\n"),
        (["bench", "-ctk", "q8_O"], "Did you mean q8_0?\n"),
        (["models", "quantize", "demo", "--to", "Q4KM"], "Did you mean Q4_K_M"),
        (["models", "quantize", "dmeo", "--to", "Q8_0"], "Did you mean demo?\n"),
    ],
)
def test_one_question_for_whatever_is_misspelt(
    capsys: pytest.CaptureFixture[str], arguments: list[str], meant: str
) -> None:
    assert run(arguments) in (2, 3)
    assert meant in capsys.readouterr().err


@pytest.mark.parametrize("before", [["run", "-m"], ["-m"], ["models", "quantize"]])
def test_models_are_completed(before: list[str]) -> None:
    completion = ShellComplete(cli, {}, "decodescope", "_DECODESCOPE_COMPLETE")
    assert [(one.value, one.type) for one in completion.get_completions(before, "de")] == [
        ("demo", "plain"),
        ("de", "file"),
    ]


@pytest.mark.parametrize("word", ["hello", "moose", "fun", "doc", "modles?", "which modles", "modles "])
def test_other_words_are_prompts(asked: Asked, word: str) -> None:
    assert invoke(word).exit_code == 0
    assert asked[0][0] == word


def test_a_file_named_like_a_command_is_a_prompt(asked: Asked, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "modles").touch()
    monkeypatch.chdir(tmp_path)
    assert invoke("modles").exit_code == 0
    assert asked[0][0] == "modles"


def test_a_theme_is_checked_without_a_screen(asked: Asked) -> None:
    result = invoke("hello", "--theme", "no-such")
    assert result.exit_code == 2
    assert "textual-dark" in result.output
    assert invoke("hello", "--theme", "nord").exit_code == 0
    assert len(asked) == 1


def test_version() -> None:
    from decodescope import __version__

    assert invoke("--version").output == f"decodescope {__version__}\n"


@pytest.mark.parametrize("arguments", [["-h"], ["--help"], ["run", "-h"], ["models", "--help"], ["doctor", "-h"]])
def test_help(arguments: list[str]) -> None:
    result = invoke(*arguments)
    assert result.exit_code == 0
    assert result.output.startswith("Usage: ")


def test_the_help_of_the_group_has_all_flags_of_the_scope() -> None:
    from decodescope.cli.commands.scope import scope_command

    shown = invoke("--help").output
    for parameter in scope_command.params:
        for flag in parameter.opts:
            if flag.startswith("-"):
                assert flag in shown
    for command in ("run", "models", "doctor"):
        assert f"\n  {command} " in shown
