"""The format of scripts."""

from pathlib import Path

import pytest

from decodescope.backends.scripted.script import (
    Line,
    ScriptedModel,
    ScriptError,
    parse_script,
    probability,
    read_script,
)
from decodescope.backends.token_facts import Probability, Scheduling


def lines(*texts: str) -> tuple[Line, ...]:
    return parse_script("\n".join(texts).encode()).lines


def test_an_empty_script_is_a_model_that_says_nothing() -> None:
    script = parse_script(b"")
    assert script.lines == ()
    assert script.model == ScriptedModel()
    assert script.load_ms == 0
    assert script.load_error is None


def test_the_pieces_of_tokens() -> None:
    tokens = lines(
        '{"text":"Hel","ms":7}',
        '{"hex":"f09f","ms":7.5}',
        '{"think":"hm"}',
        '{"control":"<|im_end|>"}',
        '{"text":""}',
        r'{"text":"a\u001b[2J\n"}',
    )
    assert [token.piece for token in tokens] == [b"Hel", b"\xf0\x9f", b"hm", b"<|im_end|>", b"", b"a\x1b[2J\n"]
    assert [token.ms for token in tokens] == [7, 7.5, 0, 0, 0, 0]


def test_lines_that_are_no_token_have_no_piece() -> None:
    others = lines(
        '{"stop":"length"}', '{"prefill":5}', '{"log":"x"}', '{"error":"x"}', '{"signal":9}', '{"stderr":""}'
    )
    assert [line.piece for line in others] == [None] * 6


def test_order_is_kept_and_what_concerns_loading_is_apart() -> None:
    script = parse_script(
        b"""
        # a comment
        {"model": {"name": "x", "context": 512}}
        {"load_ms": 200}
        {"prefill": 512, "cached": 96, "ms": 900}

        {"text": "a", "ms": 7}
          # another
        {"stop": "length"}
        {"error": "out of memory", "remedy": "smaller -c"}
        """
    )
    assert script.model == ScriptedModel(name="x", context=512)
    assert script.load_ms == 200
    assert [line.prefill for line in script.lines] == [512, None, None, None]
    assert script.lines[0].cached == 96
    assert script.lines[1].text == "a"
    assert script.lines[2].stop == "length"
    assert (script.lines[3].error, script.lines[3].remedy) == ("out of memory", "smaller -c")


def test_load_times_add_up_and_a_load_error_is_kept() -> None:
    script = parse_script(b'{"load_ms":100}\n{"load_ms":50.5}\n{"load_error":"no such tensor"}')
    assert script.load_ms == 150.5
    assert script.load_error == "no such tensor"


def test_a_line_is_repeated_by_number_and_not_by_copies() -> None:
    (line,) = lines('{"repeat":100000,"text":" tok","ms":6.6}')
    assert line.repeat == 100_000
    assert line.piece == b" tok"
    assert lines('{"text":"a"}')[0].repeat == 1


@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
def test_line_endings_and_a_missing_last_one(ending: bytes) -> None:
    assert len(parse_script(ending.join([b'{"text":"a"}', b'{"text":"b"}'])).lines) == 2


@pytest.mark.parametrize("reason", ["stop", "length", "context", "cancelled"])
def test_every_reason_to_finish_can_be_played(reason: str) -> None:
    assert lines(f'{{"stop":"{reason}"}}')[0].stop == reason


@pytest.mark.parametrize(
    "wrong",
    [
        '{"txt":"a"}',  # an unknown field
        "{}",
        '{"ms":7}',  # no kind
        '{"text":"a","hex":"61"}',  # two kinds
        '{"text":"a","stop":"length"}',
        '{"text":7}',
        '{"text":null}',
        '{"stop":"tired"}',
        '{"hex":"f"}',
        '{"hex":"zz"}',
        '{"text":"a","ms":-1}',
        '{"text":"a","repeat":-1}',
        '{"load_ms":-5}',
        '{"prefill":-1}',
        '{"prefill":5,"cached":6}',
        '{"prefill":5,"cached":-1}',
        '{"model":{"colour":"red"}}',
        '{"text":"a","facts":{"involuntary":-1}}',
        '{"text":"a","facts":{"switches":1}}',
        '{"text":"a","facts":{"wait_ms":1e300}}',
        '{"text":"a","logprob":0.5}',
        '{"text":"a","logprob":-1,"top":[["b",0.5]]}',
        '{"text":"a","logprob":-1e300}',
        '{"text":"a","rank":2}',
        '{"text":"a","top":[["b",-1]]}',
        '{"text":"a","logprob":-1,"entropy":-1}',
        '{"stop":"length","facts":{}}',
        '{"log":"x","logprob":-1}',
        '{"text":"a"',
        "Hello",
        '["text"]',
    ],
)
def test_a_wrong_line_is_named_by_its_number(wrong: str) -> None:
    with pytest.raises(ScriptError, match=r"^line 3: "):
        lines('{"text":"fine"}', "", wrong)


def test_two_kinds_on_a_line_are_both_named() -> None:
    with pytest.raises(ScriptError, match="text and hex"):
        lines('{"text":"a","hex":"61"}')


def test_broken_utf_8_is_a_wrong_line() -> None:
    with pytest.raises(ScriptError, match="line 2: "):
        parse_script(b'{"text":"a"}\n{"text":"a\xff"}')


def test_a_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "é.jsonl"
    path.write_text('{"text":"日本"}\n', encoding="utf-8")
    assert read_script(path).lines[0].piece == "日本".encode()


def test_a_missing_file_is_the_system_s_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_script(tmp_path / "none.jsonl")


def test_the_facts_of_a_token() -> None:
    (line,) = lines(
        '{"text":"a","facts":{"involuntary":37,"minor_faults":0,"read_bytes":4096,"wait_ms":82,"longest_wait_ms":75.5}}'
    )
    assert line.facts is not None
    assert line.facts.scheduling == Scheduling(
        involuntary_switches=37, minor_faults=0, read_bytes=4096, wait_ns=82_000_000, longest_wait_ns=75_500_000
    )
    assert lines('{"text":"a"}')[0].facts is None


def test_the_probability_of_a_token() -> None:
    (line,) = lines(
        '{"text":" a","logprob":-1.5,"top":[[" the",-0.5],[" a",-1.5]],"entropy":1.25,"probability_ms":0.2}'
    )
    facts = probability(line, token=3)
    assert facts is not None
    assert (facts.logprob, facts.rank, facts.entropy_nats, facts.cost_ns) == (-1.5, 2, 1.25, 200_000)
    assert [(other.piece, other.logprob) for other in facts.top] == [(b" the", -0.5), (b" a", -1.5)]
    assert facts.top[1].id == 3
    assert facts.top[0].id != 3
    assert probability(lines('{"text":"a","logprob":-9,"rank":400}')[0], 1) == Probability(
        logprob=-9, rank=400, entropy_nats=0, top=(), cost_ns=0
    )
    assert probability(lines('{"text":"a"}')[0], 1) is None
