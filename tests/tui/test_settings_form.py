"""Settings as texts and back."""

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from decodescope.backends.limits import LIMITS
from decodescope.backends.requests import EngineSettings, Sampling
from decodescope.tui.options import ScopeOptions
from decodescope.tui.settings_form import NUMBERS, Form, FormError, about, default, escaped, filled, taken, unescaped

OPTIONS = ScopeOptions(
    settings=EngineSettings(context=4096, threads=3, batch=1024, cache_type_k="q8_0"),
    sampling=Sampling(temp=0.25, top_k=7, repeat_penalty=1.1, seed=42, ignore_eos=True),
    max_tokens=100,
    stop=("\n\n", "a\\n", "END"),
    system="be brief\nand kind",
    prompt="why",
)


def form(options: ScopeOptions = OPTIONS, /, **changes: Any) -> Form:
    filled_form = filled(options)
    numbers = {name: changes.pop(name) for name in list(changes) if name in NUMBERS}
    return msgspec.structs.replace(filled_form, numbers=filled_form.numbers | numbers, **changes)


@pytest.mark.parametrize("options", [OPTIONS, ScopeOptions()])
def test_a_form_that_is_left_as_it_is_changes_nothing(options: ScopeOptions) -> None:
    assert taken(filled(options), options) == options


def test_every_field_arrives_where_it_belongs() -> None:
    numbers = {
        "temp": "1.5",
        "top_k": "20",
        "top_p": "0.9",
        "min_p": "0.1",
        "repeat_penalty": "1.2",
        "repeat_last_n": "-1",
        "seed": "7",
        "max_tokens": " 50 ",
        "context": "2048",
        "threads": "2",
    }
    changed = taken(form(**numbers, ignore_eos=False, system="new", stop="x\\ty\n\nz"), OPTIONS)
    assert changed == replace(
        OPTIONS,
        settings=EngineSettings(context=2048, threads=2, batch=1024, cache_type_k="q8_0"),
        sampling=Sampling(
            temp=1.5, top_k=20, top_p=0.9, min_p=0.1, repeat_penalty=1.2, repeat_last_n=-1, seed=7, ignore_eos=False
        ),
        chosen=frozenset(Sampling.__struct_fields__) - {"from_model"},
        max_tokens=50,
        system="new",
        stop=("x\ty", "z"),
    )


def test_an_empty_field_is_the_default() -> None:
    changed = taken(form(**dict.fromkeys(NUMBERS, ""), system=" ", stop=""), OPTIONS)
    assert changed.sampling == Sampling(ignore_eos=True)
    assert (changed.max_tokens, changed.settings.context, changed.settings.threads) == (-1, 0, None)
    assert changed.system is None
    assert changed.stop == ()


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"temp": "hot"}, "temp", "Temperature: 'hot' is not a number."),
        ({"top_p": "1.5"}, "top_p", "Top-p: 1.5 is too large: the most is 1."),
        ({"seed": "1.5"}, "seed", "Seed: '1.5' is not a whole number."),
        ({"threads": "0"}, "threads", "Threads: 0 is no number of threads; leave it out for the cores"),
        ({"threads": "9999"}, "threads", "Threads: 9999 is too large: the most is 512."),
        ({"context": "-1"}, "context", "Context: -1 is too small: the least is 0."),
        ({"context": str(2**31)}, "context", "Context: 2147483648 is too large: the most is 2147483647."),
    ],
)
def test_what_cannot_be_taken_is_said_as_on_the_command_line(changes: dict[str, str], field: str, words: str) -> None:
    with pytest.raises(FormError) as caught:
        taken(form(**changes), OPTIONS)
    assert caught.value.name == field
    assert caught.value.words.startswith(words)


def test_a_system_prompt_needs_the_template() -> None:
    with pytest.raises(FormError, match="needs the chat template"):
        taken(form(ScopeOptions(raw=True), system="be brief"), ScopeOptions(raw=True))


def test_a_system_prompt_that_cannot_be_shown_stays_unless_it_is_changed() -> None:
    options = ScopeOptions(system="a\x1bb")
    assert filled(options).system == "a␛b"
    assert taken(form(options, temp="0"), options).system == "a\x1bb"
    assert taken(form(options, system="a␛b!"), options).system == "a␛b!"


@pytest.mark.parametrize(
    "stop", ["a\nb", "a\\nb", "\\", "\\\\n", "\t", "\x1b[2J", "\u202e", "\ud800", "[/x]", "ü", "\\u0041"]
)
def test_stop_strings_survive_the_field(stop: str) -> None:
    assert "\n" not in escaped(stop)
    assert escaped(stop).isprintable()
    assert unescaped(escaped(stop)) == stop


def test_a_lone_backslash_is_one() -> None:
    assert unescaped("a\\d\\") == "a\\d\\"


def test_every_field_is_explained() -> None:
    for name in [*NUMBERS, "system", "stop", "ignore_eos"]:
        assert about(name, ScopeOptions()).endswith(".")
    assert set(LIMITS) == set(NUMBERS) - {"threads"}
    assert default("threads", ScopeOptions()) == "auto"
    assert default("temp", ScopeOptions()) == "0.8"
