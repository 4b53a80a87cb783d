"""Defaults from the file and the environment: which wins, what is refused, what ``decodescope config`` says."""

import itertools
import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from decodescope.cli.commands.config import config_command
from decodescope.cli.commands.run import run_command
from decodescope.cli.commands.scope import scope_command
from decodescope.cli.config_file import KEYS, OTHER_NAMES, ConfigFile, config_path, read_config
from decodescope.cli.example_config import example
from decodescope.cli.group import cli
from decodescope.cli.options import GenerationOptions
from decodescope.cli.settings import settings_of

from ..conftest import RunCommand, ScriptWriter


@pytest.fixture
def folder(own_environment: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that the platform keeps settings in."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    path = config_path(None)
    path.parent.mkdir(parents=True)
    return path.parent


@pytest.fixture
def file(folder: Path) -> Path:
    """The file in that folder; not there until it is written."""
    return folder / "config.toml"


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(cli, list(arguments))


def shown(*flags: str) -> dict[str, dict[str, Any]]:
    """Return the settings that ``decodescope config`` shows."""
    result = invoke("config", "--json", *flags)
    assert result.exit_code == 0, result.output
    settings: dict[str, dict[str, Any]] = json.loads(result.stdout)["settings"]
    return settings


def refusal(*arguments: str) -> str:
    result = invoke("run", "hi", *arguments)
    assert result.exit_code == 2, result.output
    return " ".join(result.output.split())


@pytest.fixture
def used(monkeypatch: pytest.MonkeyPatch) -> list[GenerationOptions]:
    """The options that a generation would have run with."""
    calls: list[GenerationOptions] = []

    def generate(options: GenerationOptions, *rest: Any) -> int:
        calls.append(options)
        return 0

    monkeypatch.setattr("decodescope.cli.headless.generate", generate)
    return calls


# --- precedence ---

SOURCES = ("flag", "environment", "file")


@pytest.mark.parametrize("given", [c for n in range(4) for c in itertools.combinations(SOURCES, n)], ids=str)
def test_the_nearest_source_wins(file: Path, monkeypatch: pytest.MonkeyPatch, given: tuple[str, ...]) -> None:
    if "file" in given:
        file.write_text("ctx-size = 1111\n")
    if "environment" in given:
        monkeypatch.setenv("LLAMA_ARG_CTX_SIZE", "2222")
    setting = shown(*["-c", "3333"] * ("flag" in given))["ctx-size"]
    winner = next((source for source in SOURCES if source in given), "default")
    assert setting["source"] == winner
    assert setting["value"] == {"file": 1111, "environment": 2222, "flag": 3333, "default": 0}[winner]
    assert setting["variable"] == ("LLAMA_ARG_CTX_SIZE" if winner == "environment" else None)


@pytest.mark.parametrize("arguments", [["run", "hi"], ["hi"]], ids=["run", "the scope without a terminal"])
def test_commands_use_what_is_shown(
    file: Path, monkeypatch: pytest.MonkeyPatch, used: list[GenerationOptions], arguments: list[str]
) -> None:
    file.write_text('model = "demo"\ntop-k = 5\ntemp = 0\nstop = ["a", "b"]\nthreads = 3\nn-gpu-layers = "all"\n')
    monkeypatch.setenv("LLAMA_ARG_TOP_K", "6")
    monkeypatch.setenv("LLAMA_ARG_MIN_P", "0.2")
    result = invoke(*arguments, "--min-p", "0.3")
    assert result.exit_code == 0, result.output
    assert used[0].model == "demo"
    assert used[0].stop == ("a", "b")
    assert (used[0].settings.threads, used[0].settings.gpu_layers) == (3, -1)
    assert (used[0].sampling.temp, used[0].sampling.top_k, used[0].sampling.min_p) == (0.0, 6, 0.3)


def test_the_settings_of_a_real_run(decodescope: RunCommand, script: ScriptWriter, file: Path) -> None:
    model = f"script:{script({'text': 'x'})}"
    file.write_text(f"model = {json.dumps(model)}\nseed = 7\nn-predict = 5\n")
    done = decodescope("run", "hi", "--json", "-s", "8", env={"LLAMA_ARG_TEMPERATURE": "0.5"})
    settings = json.loads(done.stdout)["settings"]
    assert (settings["seed"], settings["temp"], settings["n_predict"]) == (8, 0.5, 5)


def test_another_file_by_variable_and_by_flag(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_text("seed = 1\n")
    for number in (2, 3):
        (tmp_path / f"{number}.toml").write_text(f"seed = {number}\n")
    monkeypatch.setenv("DECODESCOPE_CONFIG", "")
    assert shown()["seed"]["value"] == 1
    monkeypatch.setenv("DECODESCOPE_CONFIG", str(tmp_path / "2.toml"))
    assert shown()["seed"]["value"] == 2
    # Whatever comes first on the command line, the file is read before it is looked into.
    assert shown("-c", "1", "--config", str(tmp_path / "3.toml"))["seed"]["value"] == 3
    assert shown("--config", os.devnull)["seed"]["source"] == "default"


def test_a_flag_mends_a_wrong_value(file: Path, used: list[GenerationOptions]) -> None:
    file.write_text("ctx-size = -5\n")
    assert invoke("run", "hi", "-c", "512").exit_code == 0
    assert used[0].settings.context == 512


def test_what_is_on_the_command_line_displaces_what_it_cannot_go_with(
    file: Path, used: list[GenerationOptions]
) -> None:
    file.write_text('system-prompt = "Be brief."\n')
    invoke("run", "hi", "--raw")
    file.write_text("raw = true\n")
    invoke("run", "hi", "-sys", "Be brief.")
    invoke("run", "hi", "--no-raw")
    assert [(options.raw, options.system) for options in used] == [(True, None), (False, "Be brief."), (False, None)]
    file.write_text('raw = true\nsystem-prompt = "Be brief."\n')
    assert "Not set on the command line: system-prompt (file), raw (file)" in refusal()


# --- the environment ---

WORDS: list[tuple[str, str, dict[str, Any]]] = [
    ("LLAMA_ARG_FLASH_ATTN", "flash-attn", {"1": "on", "true": "on", "enabled": "on", "0": "off", "disabled": "off"}),
    ("LLAMA_ARG_FLASH_ATTN", "flash-attn", {"false": "off", "-1": "auto", "auto": "auto", "on": "on", "off": "off"}),
    ("LLAMA_ARG_THREADS", "threads", {"3": 3, "0": None, "-1": None, "-4": None}),
    ("LLAMA_ARG_N_GPU_LAYERS", "n-gpu-layers", {"auto": -1, "all": -1, "-2": -1, "7": 7}),
    ("LLAMA_ARG_N_PREDICT", "n-predict", {"-1": -1, "-2": -1, "9": 9}),
    ("LLAMA_ARG_TEMPERATURE", "temp", {"-1": 0.0, "0.3": 0.3}),
    ("LLAMA_ARG_TOP_K", "top-k", {"-1": 0, "7": 7}),
    ("LLAMA_ARG_TOP_P", "top-p", {"1.5": 1.0, "0.5": 0.5}),
    ("LLAMA_ARG_MIN_P", "min-p", {"-0.5": 0.0, "0.5": 0.5}),
    ("LLAMA_ARG_REPEAT_PENALTY", "repeat-penalty", {"1.2": 1.2}),
    ("LLAMA_ARG_MODEL", "model", {"/a b.gguf": "/a b.gguf"}),
    ("LLAMA_ARG_CTX_SIZE", "ctx-size", {"4096": 4096}),
    ("LLAMA_ARG_BATCH", "batch-size", {"1024": 1024}),
    ("LLAMA_ARG_UBATCH", "ubatch-size", {"256": 256}),
    ("LLAMA_ARG_CACHE_TYPE_K", "cache-type-k", {"q8_0": "q8_0"}),
    ("LLAMA_ARG_CACHE_TYPE_V", "cache-type-v", {"q8_0": "q8_0"}),
    ("LLAMA_ARG_REPACK", "repack", {"0": False, "off": False, "false": False, "disabled": False, "enabled": True}),
    ("LLAMA_ARG_NO_REPACK", "repack", {"1": False, "0": False}),
]


@pytest.mark.parametrize(
    ("variable", "key", "value", "meant"), [(name, key, *pair) for name, key, pairs in WORDS for pair in pairs.items()]
)
def test_llama_cpps_words(monkeypatch: pytest.MonkeyPatch, variable: str, key: str, value: str, meant: Any) -> None:
    monkeypatch.setenv(variable, value)
    assert shown()[key] == {"value": meant, "source": "environment", "variable": variable, "problem": None}


def test_every_variable_is_tried() -> None:
    assert {one.envvar for one in settings_of(scope_command) if one.envvar} | {"LLAMA_ARG_NO_REPACK"} == {
        name for name, _, _ in WORDS
    }


def test_what_switches_off_wins(monkeypatch: pytest.MonkeyPatch, file: Path) -> None:
    file.write_text("repack = true\n")
    assert shown()["repack"]["source"] == "file"
    monkeypatch.setenv("LLAMA_ARG_REPACK", "1")
    monkeypatch.setenv("LLAMA_ARG_NO_REPACK", "1")
    assert (shown()["repack"]["value"], shown()["repack"]["variable"]) == (False, "LLAMA_ARG_NO_REPACK")
    assert shown("--repack")["repack"]["value"] is True
    assert shown("-nr")["repack"]["source"] == "flag"


def test_an_empty_variable_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable, _, _ in WORDS:
        monkeypatch.setenv(variable, "")
    assert {setting["source"] for setting in shown().values()} == {"default"}


def test_a_wrong_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLAMA_ARG_CTX_SIZE", "lots")
    said = refusal()
    assert "Invalid value for the environment variable LLAMA_ARG_CTX_SIZE" in said
    assert "'lots' is not a whole number" in said
    assert shown()["ctx-size"]["problem"] is not None
    assert "'lots' is not a whole number" in invoke("config").output


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("LLAMA_ARG_TOP_K", "-0.5", "'-0.5' is not a whole number"),
        ("LLAMA_ARG_N_PREDICT", "-1.5", "'-1.5' is not a whole number"),
        ("LLAMA_ARG_THREADS", "0.5", "'0.5' is not a whole number"),
        ("LLAMA_ARG_N_GPU_LAYERS", "-2.5", "'-2.5' is not a whole number"),
        ("LLAMA_ARG_THREADS", "600", "600 is too large: the most is 512"),
        ("LLAMA_ARG_TEMPERATURE", "nan", "nan is not a finite number"),
        ("LLAMA_ARG_MIN_P", "1.5", "1.5 is too large: the most is 1"),
        ("LLAMA_ARG_BATCH", "0", "'0' is not a whole number from 1 to 2147483647"),
        ("LLAMA_ARG_FLASH_ATTN", "maybe", "'maybe' is not one of 'on', 'off', 'auto'"),
    ],
)
def test_a_variable_is_checked_like_the_flag(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, said: str
) -> None:
    monkeypatch.setenv(variable, value)
    assert f"Invalid value for the environment variable {variable}: {said}" in refusal()


def test_a_wrong_flag_beside_a_variable_is_the_flags_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLAMA_ARG_CTX_SIZE", "1")
    assert "Invalid value for '-c' / '--ctx-size': 'lots'" in refusal("-c", "lots")
    assert invoke("config", "-c", "lots").exit_code == 2


# --- files that are wrong ---


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"ctx-size = -5", "Invalid value for 'ctx-size' in {file}, line 1: -5 is too small: the least is 0."),
        (b'\n\nctx-size = "lots"', "Invalid value for 'ctx-size' in {file}, line 3: 'lots' is not a whole number"),
        (b"ctx-size = 4.5", "'4.5' is not a whole number"),
        (b"top-k = true", "Invalid value for 'top-k' in {file}, line 1: true is not a number."),
        (b"fps = true", "Invalid value for 'fps' in {file}, line 1: true is not a number."),
        (b"batch-size = 4294967808", "'4294967808' is not a whole number from 1 to 2147483647"),
        (b"top-k = 4294967297", "4294967297 is too large: the most is 2147483647"),
        (b"threads = 100000", "100000 is too large: the most is 512"),
        (b"n-gpu-layers = -5", "-5 is no number of layers; -1 or all: as many as fit"),
        (b"theme = 5", "Invalid value for 'theme' in {file}, line 1: 5 is not a text in quotes."),
        (b"model = true", "true is not a text in quotes."),
        (b"low-bandwidth = 1", "1 is not true or false."),
        (b'system-prompt = ["' + b"x" * 99 + b'"]', 'line 1: ["' + "x" * 57 + "… is not a text in quotes."),
        (b"temp = nan", "nan is not a finite number"),
        (b"flash-attn = true", "'true' is not one of 'on', 'off', 'auto'"),
        (b"threads = 0", "0 is no number of threads"),
        (b'raw = "perhaps"', 'line 1: "perhaps" is not true or false.'),
        (b'stop = ["a", ""]', "empty stop string"),
        (b"seed = 99999999999999999999999", "is too large: the most is 4294967295"),
        (b"temp = []", "Invalid value for 'temp' in {file}, line 1: [] is not a number."),
        (b"temp = 2024-01-01", '"2024-01-01" is not a number.'),
        (b"stop = [[]]", "'stop' in {file}, line 1: [[]] is not a text in quotes or a list of such."),
        (b"ctx_size = 1", "There is no setting 'ctx_size' in {file}, line 1. Did you mean ctx-size?"),
        (b"temp = 1\ntop-q = 1", "There is no setting 'top-q' in {file}, line 2. Did you mean top-"),
        (b"[defaults]\ntemp = 1", "There is no setting 'defaults' in {file}, line 1."),
        (b'"[b]x\\u001b[2J" = 1', "There is no setting '[b]x"),
        (b"temp = 1\nseed =", "{file} is not TOML: Invalid value (at line 2, column 7)."),
        (b"temp = 1\ntemp = 2", "{file} is not TOML: Cannot overwrite a value (at line 2"),
        (b"predict = 1\nn-predict = 2", "'n-predict' in {file}, line 2 is given twice"),
        (b"seed = 1\nmodel = '\xff'", "{file} is not UTF-8: line 2 holds byte 0xff."),
        (b"seed = " + b"1" * 5000, "{file} is not TOML"),
        (b"seed = " + b"[" * 5000, "{file} is nested too deeply"),
        (b"#" * 1_100_000, "more than 1 MiB"),
    ],
)
def test_refused_with_file_line_and_reason(file: Path, text: bytes, said: str) -> None:
    file.write_bytes(text)
    said = said.format(file=file)
    assert said in refusal()
    shown = invoke("config")
    assert shown.exit_code == 0
    assert said in " ".join(shown.output.split())
    for arguments in (["--help"], ["run", "--help"], ["config", "--path"], ["config", "--example"], ["-n", "1", "-h"]):
        assert invoke(*arguments).exit_code == 0


@pytest.mark.parametrize("command", [["hi"], ["compare", "hi", "-m", "demo", "-m", "demo"]])
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('theme = "no-such"', "'theme' in {file}, line 2: there is no theme 'no-such'. Themes: "),
        ("fps = 1.5", "'fps' in {file}, line 2: '1.5' is not a whole number from 1 to 30."),
        ("fps = 31", "'fps' in {file}, line 2: '31' is not a whole number from 1 to 30."),
    ],
)
def test_settings_of_the_screen_name_their_place(file: Path, command: list[str], text: str, said: str) -> None:
    file.write_text(f"temp = 1\n{text}\n")
    result = invoke(*command)
    assert result.exit_code == 2
    output = " ".join(result.output.split())
    assert said.format(file=file) in output
    assert "Correct it there" in output


def test_control_characters_reach_no_terminal(file: Path, decodescope: RunCommand) -> None:
    file.write_bytes(b'"x\\u001b[2J" = 1')
    done = decodescope("run", "hi")
    assert done.returncode == 2
    assert b"\x1b" not in done.stderr
    assert b"\x1b" not in decodescope("config").stdout


def test_a_file_that_is_named_has_to_be_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DECODESCOPE_CONFIG", str(tmp_path / "none.toml"))
    assert f"There is no file {tmp_path / 'none.toml'}" in refusal()
    assert invoke("config", "--path").output == f"{tmp_path / 'none.toml'}\n"
    monkeypatch.setenv("DECODESCOPE_CONFIG", str(tmp_path))
    assert f"{tmp_path} cannot be read: Is a directory." in refusal()


def test_no_line_where_it_is_not_certain(file: Path) -> None:
    file.write_text('system-prompt = """\ntemp = 1\n"""\ntemp = "hot"\n')
    assert f"'temp' in {file}: 'hot'" in refusal()


def test_a_byte_order_mark_and_windows_line_ends(file: Path) -> None:
    file.write_bytes(b"\xef\xbb\xbfseed = 3\r\ntemp = 1\r\n")
    assert (shown()["seed"]["value"], shown()["temp"]["value"]) == (3, 1.0)


# --- what is shown ---


def test_every_setting_and_its_source(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_text('theme = "nord"\nstop = "a"\n')
    monkeypatch.setenv("LLAMA_ARG_TOP_K", "3")
    lines = {line.split()[0]: line.split()[1:] for line in invoke("config", "-c", "512").output.splitlines() if line}
    assert lines["file:"] == [str(file)]
    assert set(KEYS) <= lines.keys()
    assert lines["theme"] == ['"nord"', "file"]
    assert lines["stop"] == ['["a"]', "file"]
    assert lines["top-k"] == ["3", "LLAMA_ARG_TOP_K"]
    assert lines["ctx-size"] == ["512", "flag"]
    assert lines["threads"] == ["not", "set", "default"]


def test_the_path(folder: Path) -> None:
    assert invoke("config", "--path").output == f"{folder / 'config.toml'}\n"
    assert f"file: {folder / 'config.toml'} (not there)" in invoke("config").output
    assert "Only one of" in invoke("config", "--path", "--json").output


def test_text_that_was_not_utf8(decodescope: RunCommand) -> None:
    done = decodescope("config", "--json", b"-m", b"a\xffb")
    assert json.loads(done.stdout)["settings"]["model"]["value"] == "a\ufffdb"


def test_doctor_names_the_file(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from decodescope.cli import diagnosis

    monkeypatch.setattr(diagnosis, "_native", dict)
    assert diagnosis.diagnose()["settings"]["file"] == f"{file} (not there)"
    file.write_text("seed = 1\n")
    monkeypatch.setenv("LLAMA_ARG_TOP_K", "3")
    report = diagnosis.diagnose()["settings"]
    assert report == {"file": str(file), "set there": ["seed"], "variables": ["LLAMA_ARG_TOP_K"]}
    file.write_text("seed =")
    assert str(file) in diagnosis.diagnose()["settings"]["problem"]


# --- names and places ---


def test_keys_are_the_long_flags() -> None:
    flags = {flag[2:] for one in settings_of(scope_command) for flag in one.opts if flag.startswith("--")}
    assert flags == {*KEYS, *OTHER_NAMES}
    assert [one.key for one in settings_of(scope_command)] == list(KEYS)
    assert [one.key for one in settings_of(config_command)] == list(KEYS)
    assert [one.key for one in settings_of(run_command)] == [
        key for key in KEYS if key not in ("theme", "fps", "low-bandwidth")
    ]


@pytest.mark.parametrize(("name", "key"), OTHER_NAMES.items())
def test_second_names_of_flags(file: Path, name: str, key: str) -> None:
    file.write_text(f"{name} = 5\n")
    assert shown()[key]["value"] == 5


def test_the_example(file: Path) -> None:
    text = example(scope_command)
    assert invoke("config", "--example").output == text
    file.write_text(text)
    assert read_config(None).arguments == {}
    lines = text.splitlines()
    file.write_text("\n".join(line if line.startswith("# ") else line.removeprefix("#") for line in lines))
    assert list(read_config(None).arguments) == list(KEYS)
    defaults = {key: setting["value"] for key, setting in shown("--config", os.devnull).items()}
    for key, setting in shown().items():
        assert setting["source"] == "file"
        assert setting["value"] == defaults[key] or defaults[key] in (None, [])


def test_the_example_shows_defaults_whatever_is_set(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_text("top-k = 1\n")
    monkeypatch.setenv("LLAMA_ARG_TEMPERATURE", "0.1")
    assert invoke("config", "--example").output == example(scope_command)
    assert "\n#top-k = 40\n" in example(scope_command)


def test_a_home_in_the_name_of_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    assert config_path("~/a.toml") == Path.home() / "a.toml"


def test_no_file_is_no_settings() -> None:
    assert read_config(None) == ConfigFile(config_path(None))
