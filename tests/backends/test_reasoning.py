"""What of an answer is its reasoning, however the text is cut."""

import random
from collections.abc import Sequence

import pytest

from decodescope.backends.events import Finished, RequestTaken, Token
from decodescope.backends.reasoning import ReasoningSplitter
from decodescope.backends.reasoning_marks import unknown_reasoning
from decodescope.backends.requests import Sampling
from decodescope.backends.text import Written, written_by
from decodescope.metrics.run import Run

QWEN = "{%- if '</think>' in content %}…{%- endif %}<|im_start|>assistant\n<think>\n"
DISTILL = "{% if '</think>' in content %}{% set content = content.split('</think>')[-1] %}{% endif %}<|Assistant|>"
GRANITE = "<think></think><response></response>"
HARMONY = "<|start|>{{ role }}<|channel|>analysis<|message|>…<|end|>"
HARMONY_PROMPT = "<|start|>user<|message|>hi<|end|><|start|>assistant"
MUSE = "<|start|>assistant to=self<|message|>{{ message['reasoning_content'] }}<|eom|>"
SOLAR = '{{- "<|begin|>assistant<|think|>" + message.reasoning + "<|end|>" }}'
KIMI = "{{- '<|open|>' + tag -}}{{- '<|sep|>' -}}"
GEMMA = "<|turn>model\n<|channel>thought\n<channel|>"
COHERE = "<|START_THINKING|><|END_THINKING|><|START_TEXT|><|END_TEXT|>"
APRIEL = "Here are my reasoning steps:\n[BEGIN FINAL RESPONSE]"
HUNYUAN = "{% set HYTK = ':opensource' %}{% set think_begin_token = '<think{}>'.format(HYTK) %}"
PLAIN = "<|im_start|>{{ role }}\n{{ content }}<|im_end|>"
PROMPT = "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n"
CONTROLS = frozenset(
    b"<|start|> <|channel|> <|message|> <|end|> <|return|> <|call|> <|constrain|> <|eos|> <|channel> <channel|>".split()
)

Answer = list[Token | Finished]


def answer(template: str, prompt: str, pieces: Sequence[bytes], controls: frozenset[bytes] = frozenset()) -> Answer:
    """The events of an answer of these pieces, token ``n`` at ``n`` ns."""
    splitter = ReasoningSplitter(template, prompt)
    events: Answer = []
    for index, piece in enumerate(pieces, start=1):
        split = splitter.feed(index, piece, control=piece in controls)
        events.append(
            Token(
                t=index,
                index=index,
                id=index,
                piece=piece,
                decode_ns=0,
                sample_ns=0,
                control=split.control,
                thinking=split.reasoning,
                parts=split.parts,
            )
        )
    events.append(Finished(t=len(pieces), reason="stop", parts=splitter.finish(), unclosed=splitter.unclosed))
    return events


def run_of(events: Answer) -> Run:
    run = Run(RequestTaken(t=0, request=1, sampling=Sampling(), seed=1))
    for event in events:
        run.apply(event)
    return run


def first_answer(events: Answer) -> int | None:
    """The number of the first token of the answer."""
    return run_of(events).ttfa_ns


def told(template: str, prompt: str, text: str) -> Written:
    return written_by(answer(template, prompt, [text.encode()]))


def kinds(events: Answer) -> list[tuple[str, str]]:
    """What each byte is, as the events tell."""
    bytes_: list[tuple[str, str]] = []
    for event in events:
        for part in event.parts or ():
            bytes_ += [(part.kind, part.name)] * part.size
        if isinstance(event, Token) and event.control:
            bytes_ += [("control", "")] * len(event.piece)
        elif isinstance(event, Token) and event.parts is None:
            bytes_ += [("reasoning" if event.thinking else "answer", "")] * len(event.piece)
    return bytes_


# (template, prompt, text, (answer, reasoning, channels), unclosed)
CALL = "commentary to functions.x"
CASES = [
    (QWEN, PROMPT, "<think>\nhm, well\n</think>\n\nYes.", ("Yes.", "hm, well", []), False),
    (QWEN, PROMPT + "<think>\n", "hm</think>Yes </think>", ("Yes </think>", "hm", []), False),
    (QWEN, PROMPT + "<think>\n\n</think>\n\n", "Yes <think> x", ("Yes <think> x", None, []), False),
    (QWEN, PROMPT, "<think>\n\n</think>\n\n    code", ("    code", None, []), False),
    (QWEN, PROMPT, " \n<think>a < b </thi nk></think>c", ("c", "a < b </thi nk>", []), False),
    (QWEN, PROMPT, "<table><think>", ("<table><think>", None, []), False),
    (QWEN, PROMPT, "<thi", ("<thi", None, []), False),
    (QWEN, PROMPT, "\n\nYes", ("\n\nYes", None, []), False),
    (QWEN, PROMPT, "<think>never\n", ("", "never\n", []), True),
    (QWEN, PROMPT, "<think>never\n</thin", ("", "never\n</thin", []), True),
    (QWEN, PROMPT, "<think>", ("", None, []), True),
    (QWEN, PROMPT, "<think>hm</think>\n", ("", "hm", []), False),
    ("{{ content }}", "what is <think>", "a</think>b", ("a</think>b", None, []), False),
    (QWEN, PROMPT, "<think>a</think>1 <think>\n<think>\nb\n</think>\n2", ("1 <think>\n2", "a\n\nb", []), False),
    (QWEN + "<reasoning></reasoning>", PROMPT, "<think>a</reasoning></think>b", ("b", "a</reasoning>", []), False),
    (DISTILL, "<|Assistant|>", "<think>hm</think>Yes", ("Yes", "hm", []), False),
    (DISTILL, "<|Assistant|><think>", "hm</think>Yes", ("Yes", "hm", []), False),
    (PLAIN, PROMPT, "<think>hm</think>", ("<think>hm</think>", None, []), False),
    (PLAIN + "<response></response>", PROMPT, "<response>x", ("<response>x", None, []), False),
    (GRANITE, PROMPT, "<think>a</think>\n<response>b</response>\n", ("b", "a", []), False),
    (GRANITE, PROMPT, "<think>a</think>b <response>", ("b <response>", "a", []), False),
    ("[THINK][/THINK]", "[/INST]", "[THINK]é, hm[/THINK]Yes", ("Yes", "é, hm", []), False),
    ("<seed:think></seed:think>", PROMPT, "<seed:think>a</seed:think>b", ("b", "a", []), False),
    ("'<mm:think>' '</mm:think>'", PROMPT, "</mm:think>b", ("b", None, []), False),
    (HUNYUAN, PROMPT, "<think:opensource>a</think:opensource>b", ("b", "a", []), False),
    ("◁think▷◁/think▷", PROMPT, "◁think▷日本◁/think▷語", ("語", "日本", []), False),
    (APRIEL, "Here are my reasoning steps:\n", "a\n[BEGIN FINAL RESPONSE]\nb", ("b", "a", []), False),
    ("<|inner_prefix|><|inner_suffix|>", "", "<|inner_prefix|>a<|inner_suffix|>b", ("b", "a", []), False),
    (COHERE, "<|START_THINKING|>", "a<|END_THINKING|><|START_TEXT|>b<|END_TEXT|>", ("b", "a", []), False),
    (COHERE, "<|START_THINKING|>", "a<|START_TEXT|>b<|END_TEXT|>", ("b", "a", []), False),
    (COHERE, "<|START_THINKING|><|END_THINKING|>", "<|START_TEXT|>b<|END_TEXT|>", ("b", None, []), False),
    (HARMONY, HARMONY_PROMPT, "<|channel|>final<|message|>Hello<|return|>", ("Hello", None, []), False),
    (HARMONY, HARMONY_PROMPT, f"<|channel|>{CALL.replace(' to ', ' to=')} <|constrain|>json<|message|>{{}}<|call|>",
     ("", None, [(CALL, "{}")]), False),
    (HARMONY, HARMONY_PROMPT, " to=functions.x<|channel|>commentary json<|message|>{}",
     ("", None, [(CALL, "{}")]), False),
    (HARMONY, HARMONY_PROMPT, "<|channel|>analysis<|message|>a\n<|end|><|start|>assistant<|channel|>commentary"
     "<|message|>b<|end|><|start|>assistant<|channel|>analysis<|message|>c<|end|><|start|>assistant<|channel|>final<|message|>d",
     ("d", "a\n\nc", [("commentary", "b")]), False),
    (HARMONY, HARMONY_PROMPT, "<|channel|>commentary to=assistant<|channel|>final<|message|>a", ("a", None, []), False),
    (HARMONY, HARMONY_PROMPT, "<|channel|>analysis<|message|>a", ("", "a", []), True),
    (HARMONY, HARMONY_PROMPT, "<|channel|>analysis", ("", None, []), False),
    (HARMONY, HARMONY_PROMPT, "to those who", ("to those who", None, []), False),
    (HARMONY, HARMONY_PROMPT + "<|channel|>analysis", "a<|end|><|start|>assistant<|channel|>final<|message|>b",
     ("b", "a", []), False),
    (HARMONY, HARMONY_PROMPT + "<|channel|>analysis", "<|message|>a", ("", "a", []), True),
    (MUSE, HARMONY_PROMPT, " to=self<|message|>a<|eom|><|start|>assistant to=user<|message|>b<|eot|>",
     ("b", "a", []), False),
    (MUSE, HARMONY_PROMPT, " to=x<|message|>a<|eot|>", ("", None, [("to x", "a")]), False),
    (SOLAR, "<|begin|>assistant", "<|think|>a<|end|><|begin|>assistant<|content|>b<|end|>", ("b", "a", []), False),
    (SOLAR, "<|begin|>assistant<|think|><|end|><|begin|>assistant", "<|content|>b", ("b", None, []), False),
    (KIMI, '<|open|>message role="assistant"<|sep|><|open|>think<|sep|>',
     "a<|close|>think<|sep|><|open|>response<|sep|>b<|close|>response<|sep|>", ("b", "a", []), False),
    (GEMMA, "<|turn>model\n", "<|channel>thought\na\n<channel|>b<channel|>", ("b", "a", []), False),
    (GEMMA, "<|turn>model\n<|channel>thought\n<channel|>", "b", ("b", None, []), False),
    (GEMMA, "<|turn>model\n<|channel>thought\n", "a<channel|>b", ("b", "a", []), False),
    (GEMMA, "<|channel>thought<turn|>\n<|turn>model\n", "b", ("b", None, []), False),
]  # fmt: skip


@pytest.mark.parametrize(("template", "prompt", "text", "expected", "unclosed"), CASES)
def test_however_the_text_is_cut_the_same_bytes_are_the_same(
    template: str, prompt: str, text: str, expected: tuple[str, str | None, list[tuple[str, str]]], unclosed: bool
) -> None:
    data = text.encode()
    whole = answer(template, prompt, [data])
    assert written_by(whole)[1:] == expected
    assert isinstance(whole[-1], Finished)
    assert whole[-1].unclosed == unclosed
    chance = random.Random(1)
    cuts = [[at] for at in range(1, len(data))] + [list(range(1, len(data)))]
    cuts += [
        sorted(chance.sample(range(1, len(data)), k=min(k, len(data) - 1))) for k in (2, 3, 5, 8) for _ in range(6)
    ]
    for cut in cuts:
        pieces = [data[start:end] for start, end in zip([0, *cut], [*cut, len(data)], strict=True)]
        events = answer(template, prompt, pieces)
        assert kinds(events) == kinds(whole), pieces
        assert written_by(events)[1:] == expected, pieces
        assert events[-1].unclosed == unclosed  # type: ignore[union-attr]
        # The first token that holds a byte of the answer.
        ends = [*cut, len(data)]
        answers = [at for at, (kind, _) in enumerate(kinds(whole)) if kind == "answer"]
        assert first_answer(events) == (
            1 + next(n for n, end in enumerate(ends) if end > answers[0]) if answers else None
        )


@pytest.mark.parametrize(
    ("template", "prompt", "pieces", "reasoning", "control", "first"),
    [
        (HARMONY, HARMONY_PROMPT, "<|channel|> analysis <|message|> hm <|end|> <|start|> assistant <|channel|> final "
         "<|message|> Hel lo <|return|>", [3, 4, 5], [1, 2, 3, 5, 6, 7, 8, 9, 10, 13], 11),
        (HARMONY, HARMONY_PROMPT + "<|channel|>analysis", "We need <|end|> <|start|> assistant <|channel|> final "
         "<|message|> Hel lo <|eos|>", [1, 2, 3], [3, 4, 5, 6, 7, 8, 11], 9),
        (HARMONY, HARMONY_PROMPT, '<|channel|> commentary to=functions.x <|message|> {"a":1} <|call|>', [],
         [1, 2, 3, 4, 6], None),
        (GEMMA, "<|turn>model", "<|channel> thought \n hmm so <channel|> Hel lo", [3, 4, 5, 6], [1, 2, 3, 6], 7),
    ],
)  # fmt: skip
def test_control_tokens(
    template: str, prompt: str, pieces: str, reasoning: list[int], control: list[int], first: int | None
) -> None:
    events = answer(template, prompt, [piece.encode() for piece in pieces.split(" ")], CONTROLS)
    tokens = [event for event in events if isinstance(event, Token)]
    assert [token.index for token in tokens if token.thinking] == reasoning
    assert [token.index for token in tokens if token.control] == control
    assert first_answer(events) == first


def test_a_control_token_ends_what_may_have_become_a_tag() -> None:
    events = answer(HARMONY, HARMONY_PROMPT, [b"<|channel|>", b"analysis", b"<|message|>", b"a<", b"<|end|>"], CONTROLS)
    assert written_by(events).reasoning == "a<"
    events = answer(QWEN, PROMPT, [b"\n", b"<thi", b"<|eos|>"], CONTROLS)
    assert written_by(events).answer == "\n<thi"


def test_what_is_ordinary_is_told_in_few_words() -> None:
    events = answer(QWEN, PROMPT + "<think>", [b"a", b" b", b"</think>", b"\n\n", b"c", b" d", b""])
    assert [event.parts is None for event in events] == [True, True, False, False, False, True, True, True]


def test_a_token_that_ends_the_reasoning_and_begins_the_answer() -> None:
    events = answer(QWEN, PROMPT + "<think>", [b"why</th", b"ink>42", b" more"])
    assert written_by(events)[1:] == ("42 more", "why", [])
    run = run_of(events)
    assert (run.ttfa_ns, run.reasoning.tolist(), run.kinds.answer.tolist()) == (2, [1, 0, 0], [0, 1, 1])
    assert run.reasoning_closed


def test_a_token_that_turns_out_to_be_the_answer() -> None:
    events = answer(QWEN, PROMPT, [b"<", b"table>"])
    assert isinstance(events[0], Token)
    assert events[0].thinking  # as far as could be told
    assert (first_answer(events), run_of(events).reasoning_tokens) == (1, 0)


def test_reasoning_that_a_script_names() -> None:
    splitter = ReasoningSplitter("", "")
    assert splitter.told(1, b"hm") == (None, True, False)
    assert splitter.unclosed
    assert splitter.feed(2, b"Yes") == (None, False, False)
    assert not splitter.unclosed


def test_a_very_long_piece() -> None:
    events = answer(QWEN, PROMPT, [b"<think>", b"x" * 100_000 + b"</thi", b"nk>", b"Yes"])
    assert written_by(events).answer == "Yes"


def test_memory_does_not_grow_with_the_text() -> None:
    splitter = ReasoningSplitter(QWEN, PROMPT)
    splitter.feed(1, b"<think>")
    for index in range(2, 1000):
        splitter.feed(index, b"x" * 1000 + b"<")
    assert sum(len(value) for value in vars(splitter).values() if isinstance(value, bytes | list)) < 100


@pytest.mark.parametrize(
    ("template", "unknown"),
    [
        (QWEN, False),
        (HARMONY, False),
        (PLAIN, False),
        ("You are a thinking assistant. Think step by step. {{ content }}", False),
        ("{% if enable_thinking %}<ponder>{% endif %}", True),
        ("<muse>{{ message.reasoning_content }}</muse>", True),
        ("{{ message['thinking'] }}", True),
        ("{{ content }}<|my_think|>", True),
    ],
)
def test_a_template_that_marks_reasoning_in_a_way_of_its_own(template: str, unknown: bool) -> None:
    assert unknown_reasoning(template) == unknown
