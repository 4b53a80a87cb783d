"""Why less of a conversation came out of the cache than it held."""

import pytest
from msgspec.structs import replace

from decodescope.backends.events import Event, Finished, PromptReady, RequestTaken, Token
from decodescope.backends.requests import Message, Sampling
from decodescope.metrics.reuse import Loss, lost_reuse
from decodescope.metrics.run import Run

from ..small_model import SMALL

FIRST = (Message("user", "a"),)
SECOND = (*FIRST, Message("assistant", "b"), Message("user", "c"))
PROMPT = tuple(range(1, 31))
ANSWER = (101, 102, 103, 104)
"""The last of them is drawn and never computed, so 33 tokens are held."""


def run_of(
    messages: tuple[Message, ...],
    prompt: tuple[int, ...],
    cached: int,
    *answer: int,
    sampling: Sampling | None = None,
    thinking: int = 0,
) -> Run:
    run = Run(RequestTaken(t=0, request=1, messages=messages, sampling=sampling or Sampling(), seed=1))
    events: list[Event] = [PromptReady(t=1, tokens=prompt, cached=cached)]
    events += [
        Token(t=index + 2, index=index, id=id, piece=b"x", decode_ns=1, sample_ns=1, thinking=index <= thinking)
        for index, id in enumerate(answer, start=1)
    ]
    for event in [*events, Finished(t=99, reason="stop")]:
        run.apply(event)
    return run


@pytest.mark.parametrize(
    ("prompt", "cached", "thinking", "expected"),
    [
        # All of the 33 tokens are used.
        ((*PROMPT, *ANSWER, 7), 33, 0, None),
        # From the 21st on the prompt is another: 33 - 20 are computed again.
        ((*PROMPT[:20], 99, *PROMPT[20:], *ANSWER, 7), 20, 0, (13, 21, Loss.TEMPLATE)),
        ((*PROMPT, 7, 8, 9, 10, 11), 30, 2, (3, 31, Loss.REASONING)),
        ((*PROMPT, 55, 103, 104, 7, 8), 30, 0, (3, 31, Loss.TOKENS)),
        # Nothing is different, and only a part was used.
        ((*PROMPT, *ANSWER, 7), 0, 0, (33, 34, Loss.MEMORY)),
        # At least the last token of a prompt is computed in any case.
        (PROMPT[:25], 24, 0, None),
    ],
)
def test_what_is_lost_and_why(
    prompt: tuple[int, ...], cached: int, thinking: int, expected: tuple[int, int, Loss] | None
) -> None:
    before = run_of(FIRST, PROMPT, 0, *ANSWER, thinking=thinking)
    lost = lost_reuse(before, run_of(SECOND, prompt, cached), SMALL)
    assert (None if lost is None else (lost.tokens, lost.token, lost.loss)) == expected
    if lost is not None:
        assert f"{lost.tokens}" in lost.sentence
        assert len(lost.brief) < 60


def test_a_determined_answer_keeps_whole_micro_batches_only() -> None:
    greedy = Sampling(temp=0)
    before = run_of(FIRST, PROMPT, 0, *ANSWER, sampling=greedy)
    after = run_of(SECOND, (*PROMPT, *ANSWER, 7), 0, sampling=greedy)
    lost = lost_reuse(before, after, SMALL)
    assert lost is not None
    assert lost.loss is Loss.DETERMINED


def test_another_conversation_has_lost_nothing() -> None:
    before = run_of(FIRST, PROMPT, 0, *ANSWER)
    for messages in (FIRST, (Message("user", "z"), *SECOND[1:]), ()):
        assert lost_reuse(before, run_of(messages, PROMPT[:5], 0), SMALL) is None


def test_without_the_ids_nothing_is_said() -> None:
    before = run_of(FIRST, PROMPT, 0, *ANSWER)
    assert before.prompt is not None
    before.prompt = replace(before.prompt, tokens=(-1,) * 30)
    assert lost_reuse(before, run_of(SECOND, (-1,) * 40, 0), SMALL) is None
