"""Which tokens of an answer are reasoning."""

import pytest

from decodescope.backends.thinking import ThinkingTracker

QWEN = "{%- if '</think>' in content %}…{%- endif %}<|im_start|>assistant\n<think>\n"
DISTILL = "{% if '</think>' in content %}{% set content = content.split('</think>')[-1] %}{% endif %}<|Assistant|>"
PLAIN = "<|im_start|>{{ role }}\n{{ content }}<|im_end|>"
PROMPT = "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n"


def classify(template: str, prompt: str, *pieces: str) -> list[bool]:
    tracker = ThinkingTracker(template, prompt)
    return [tracker.feed(piece.encode()) for piece in pieces]


def test_a_block_with_its_tags_is_reasoning_and_what_follows_is_not() -> None:
    pieces = ("<think>", "\n", "hm", "</think>", "\n\n", "Yes", ".")
    assert classify(QWEN, PROMPT, *pieces) == [True, True, True, True, False, False, False]


def test_tags_that_are_spread_over_pieces() -> None:
    pieces = ("<th", "ink", ">hm", "</", "think", ">", "Yes")
    assert classify(QWEN, PROMPT, *pieces) == [True, True, True, True, True, True, False]


def test_an_empty_block_in_one_piece_ends_with_it() -> None:
    assert classify(QWEN, PROMPT, "<think>\n\n</think>", "Yes") == [True, False]


def test_a_block_that_the_template_opened() -> None:
    assert classify(QWEN, PROMPT + "<think>\n", "hm", "</think>", "Yes") == [True, True, False]


def test_a_block_that_the_template_opened_and_closed() -> None:
    assert classify(QWEN, PROMPT + "<think>\n\n</think>\n\n", "Yes", ".") == [False, False]


def test_a_template_that_knows_only_the_closing_tag() -> None:
    assert classify(DISTILL, "<|User|>hi<|Assistant|>", "<think>", "hm", "</think>", "Yes") == [True, True, True, False]


def test_a_block_that_is_never_closed_lasts_to_the_end() -> None:
    assert classify(QWEN, PROMPT, "<think>", *["hm"] * 500) == [True] * 501


def test_an_answer_without_a_block() -> None:
    assert classify(QWEN, PROMPT, "Yes", ", <think>", "x") == [False, False, False]


def test_a_later_block_is_part_of_the_answer() -> None:
    pieces = ("<think>", "</think>", "Write ", "<think>", "so")
    assert classify(QWEN, PROMPT, *pieces) == [True, True, False, False, False]


def test_a_template_without_tags_makes_them_plain_text() -> None:
    assert classify(PLAIN, PROMPT, "<think>", "hm", "</think>") == [False, False, False]


def test_white_space_before_the_block_does_not_hide_it() -> None:
    assert classify(QWEN, PROMPT, "\n", "<think>", "hm", "</think>", "Yes")[1:] == [True, True, True, False]


def test_a_tag_that_only_looks_like_one_at_first() -> None:
    assert classify(QWEN, PROMPT, "<table>", "<think>") == [False, False]


def test_the_closing_tag_of_another_kind_does_not_close() -> None:
    template = QWEN + "<reasoning></reasoning>"
    assert classify(template, PROMPT, "<think>", "</reasoning>", "</think>", "Yes") == [True, True, True, False]


@pytest.mark.parametrize(
    ("opening", "closing"),
    [
        ("<think>", "</think>"),
        ("<thinking>", "</thinking>"),
        ("<reasoning>", "</reasoning>"),
        ("<thought>", "</thought>"),
        ("<seed:think>", "</seed:think>"),
        ("[THINK]", "[/THINK]"),
        ("<|channel|>analysis", "<|end|>"),
    ],
)
def test_every_pair_of_tags_at_any_split(opening: str, closing: str) -> None:
    template = f"{opening}…{closing}"
    block = f"{opening}some thoughts, é{closing}".encode()
    for size in range(1, len(block) + 1):
        tracker = ThinkingTracker(template, PROMPT)
        inside = [tracker.feed(block[start : start + size]) for start in range(0, len(block), size)]
        assert all(inside), size
        assert not tracker.feed(b"Yes"), size


def test_harmony_s_final_channel_is_the_answer() -> None:
    template = "<|channel|>analysis<|message|>…<|end|>"
    assert classify(template, "<|start|>assistant", "<|channel|>", "final", "<|message|>", "Yes")[1:] == [False] * 3


def test_a_closing_tag_after_a_very_long_piece_is_seen() -> None:
    assert classify(QWEN, PROMPT, "<think>", "x" * 10_000 + "</thi", "nk>", "Yes") == [True, True, True, False]


def test_memory_does_not_grow_with_the_block() -> None:
    tracker = ThinkingTracker(QWEN, PROMPT)
    tracker.feed(b"<think>")
    for _ in range(1000):
        tracker.feed(b"x" * 1000)
    assert sum(len(value) for value in vars(tracker).values() if isinstance(value, bytes)) < 100
