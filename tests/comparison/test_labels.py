"""What lanes are called."""

import pytest

from decodescope.comparison.labels import labels


@pytest.mark.parametrize(
    ("models", "expected"),
    [
        ([("demo", "Q8_0"), ("demo", "Q4_0")], ["Q8_0", "Q4_0"]),
        ([("demo", "Q4_1"), ("demo", "Q4_1")], ["demo #1", "demo #2"]),
        ([("demo", "Q4_1"), ("qwen", "Q4_1")], ["demo", "qwen"]),
        ([("demo", "Q4_1"), ("qwen", "Q8_0")], ["demo", "qwen"]),
        ([("demo", "Q4_1"), ("demo", "Q8_0"), ("qwen", "Q8_0")], ["demo Q4_1", "demo Q8_0", "qwen Q8_0"]),
        ([("demo", "Q4_1"), ("demo", "Q4_1"), ("demo", "Q8_0")], ["demo Q4_1 #1", "demo Q4_1 #2", "demo Q8_0"]),
        ([("demo", "Q4_1"), ("demo", "Q4_1"), ("qwen", "Q4_1")], ["demo #1", "demo #2", "qwen"]),
        ([("a.jsonl", ""), ("a.jsonl", "")], ["a.jsonl #1", "a.jsonl #2"]),
        ([("a", ""), ("b", "")], ["a", "b"]),
        ([("a #1", ""), ("a", ""), ("a", "")], ["a #1 #1", "a #2", "a #3"]),
    ],
)
def test_labels(models: list[tuple[str, str]], expected: list[str]) -> None:
    assert labels(models) == expected
    assert len(set(labels(models))) == len(models)
