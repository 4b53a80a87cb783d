"""What the flags mean, and which are refused; nothing is loaded."""

from typing import Any

import click
import pytest
from click.testing import CliRunner

from decodescope.backends.checks import check_settings
from decodescope.backends.requests import EngineSettings, Message, Sampling
from decodescope.cli.group import cli
from decodescope.cli.options import GenerationOptions, collect, generation_options, valid_text


def parse(*arguments: str) -> GenerationOptions:
    collected: list[GenerationOptions] = []

    @click.command()
    @generation_options
    def probe(prompt_option: str | None, prompt_file: str | None, **values: Any) -> None:
        collected.append(collect(values))

    probe.main(list(arguments), standalone_mode=False)
    return collected[0]


def refusal(*arguments: str) -> str:
    """Return what is said about arguments that must be refused with exit status 2."""
    result = CliRunner().invoke(cli, ["run", "hi", *arguments])
    assert result.exit_code == 2, result.output
    return " ".join(result.output.split())


def test_defaults_are_those_of_the_contract() -> None:
    options = parse()
    assert options.settings == EngineSettings()
    assert options.sampling == Sampling()
    assert options.max_tokens == -1
    assert options.stop == ()
    assert options.system is None
    assert not options.raw


def test_every_short_flag_of_several_letters() -> None:
    options = parse(
        *["-ngl", "99", "-sys", "be brief", "-ub", "256", "-b", "1024", "-tb", "3", "-t", "2", "-fa", "on"],
        *["-ctk", "q8_0", "-ctv", "q4_0", "-c", "4096"],
    )
    assert options.settings == EngineSettings(
        context=4096,
        batch=1024,
        micro_batch=256,
        threads=2,
        threads_batch=3,
        gpu_layers=99,
        flash_attention="on",
        cache_type_k="q8_0",
        cache_type_v="q4_0",
    )
    assert options.system == "be brief"


def test_every_long_flag() -> None:
    options = parse(
        *["--model", "demo", "--predict", "5", "--seed", "7", "--temp", "0", "--top-k", "1", "--top-p", "0.5"],
        *["--min-p", "0.1", "--repeat-penalty", "1.1", "--repeat-last-n", "-1", "--ignore-eos", "--stop", "a"],
        *["--stop", "b\n", "--gpu-layers", "0", "--raw"],
    )
    assert options.model == "demo"
    assert options.max_tokens == 5
    assert options.stop == ("a", "b\n")
    assert options.raw
    assert options.sampling == Sampling(
        temp=0.0, top_k=1, top_p=0.5, min_p=0.1, repeat_penalty=1.1, repeat_last_n=-1, seed=7, ignore_eos=True
    )
    assert options.settings.gpu_layers == 0


@pytest.mark.parametrize("flag", ["-n", "--predict", "--n-predict"])
def test_negative_values_after_a_short_flag(flag: str) -> None:
    assert parse(flag, "-1", "-s", "-1").max_tokens == -1


@pytest.mark.parametrize("value", ["-1", "all", "auto"])
def test_all_gpu_layers(value: str) -> None:
    assert parse("-ngl", value).settings.gpu_layers == -1


def test_llama_cpps_own_choice_of_threads() -> None:
    assert parse("-t", "-1").settings.threads is None


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-ctv", "q4_0", "-fa", "off"], "needs flash attention"),
        (["-b", "128", "-ub", "512"], "does not fit into a batch of 128"),
        (["-b", "128"], "does not fit into a batch of 128"),
        (["-t", "0"], "0 is no number of threads"),
        (["-tb", "-3"], "-3 is no number of threads"),
        (["-ngl", "-2"], "-2"),
        (["-c", "-1"], "-1"),
        (["-n", "-2"], "-2"),
        (["-fa", "yes"], "'yes' is not one of 'on', 'off', 'auto'"),
        (["-ctk", "q3"], "'q3' is not one of"),
        (["--temp", "-0.1"], "-0.1"),
        (["--temp", "nan"], "not a finite number"),
        (["--temp", "inf"], "not a finite number"),
        (["--top-p", "1.5"], "1.5"),
        (["--top-p", "nan"], "not a finite number"),
        (["--min-p", "-1"], "-1"),
        (["--top-k", "-1"], "-1"),
        (["--repeat-penalty", "0"], "0"),
        (["-s", "4294967296"], "4294967296"),
        (["--stop", ""], "empty stop string"),
        (["--raw", "-sys", "x"], "needs the chat template"),
        (["--json", "--jsonl"], "Only one of"),
        (["--plain", "--json"], "Only one of"),
        (["-p", "again"], "given twice"),
        (["-ngl"], "requires an argument"),
        (["--no-such-flag"], "No such option"),
        (["-fa", "onn"], "Did you mean on?"),
        (["-ctk", "q8"], "Did you mean q8_0"),
    ],
)
def test_refused_in_words(arguments: list[str], said: str) -> None:
    assert said in refusal(*arguments)


@pytest.mark.parametrize(
    ("settings", "flag"),
    [
        (EngineSettings(context=-1), "-c"),
        (EngineSettings(batch=0, micro_batch=0), "-b"),
        (EngineSettings(threads=0), "-t"),
        (EngineSettings(threads_batch=0), "-tb"),
        (EngineSettings(gpu_layers=-2), "-ngl"),
    ],
)
def test_settings_out_of_range_name_their_flag(settings: EngineSettings, flag: str) -> None:
    assert any(f"({flag})" in problem for problem in check_settings(settings))


@pytest.mark.parametrize("kind", ["f16", "f32", "bf16"])
def test_float_caches_need_no_flash_attention(kind: Any) -> None:
    assert check_settings(EngineSettings(cache_type_v=kind, flash_attention="off")) == []


def test_requests() -> None:
    assert parse("-n", "3").request("hi").messages == (Message("user", "hi"),)
    assert parse("-sys", "brief").request("hi").messages == (Message("system", "brief"), Message("user", "hi"))
    raw = parse("--raw", "--stop", "x").request("once")
    assert (raw.prompt, raw.messages, raw.stop) == ("once", (), ("x",))


def test_arguments_that_were_not_utf8() -> None:
    assert valid_text("a\udcffb") == "a\ufffdb"
    assert parse("-sys", "\udce6x").system == "\ufffdx"
