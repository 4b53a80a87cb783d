"""Cells that nobody takes for something else, and what was meant by them."""

import pytest

from decodescope.traces.csv_text import as_cell, as_csv

from ..spreadsheets import stays_a_number, stays_text


@pytest.mark.parametrize(
    "text",
    [
        "3e31", "1e5", "1E5", "00012", "1", " 1", "1 ", "12345678901234567890", "1.50", "1,000", "1-2", "1/2",
        "01.02.2024", "2024-01-01", "2024-01-01T10:00:00", "10:30", "5 PM", "3p", "May 5", "5 Mai", "MARCH1", "Dec-24",
        "50%", "$5", "€5", "5 €", "(5)", "1 1/2", "TRUE", "false", "Wahr", "#N/A", "#REF!", "null", "None", "nan", "NA",
        "Infinity", "=1+1", " =1", "+1", "-1+1", "@SUM(1)", "-", "'x", "''", "\t=1", "\r=2", "٣", "½", "²", "１２",
        "＝1", "1d5", ".5", "5.",
    ],
)  # fmt: skip
def test_what_would_become_something_else_is_kept(text: str) -> None:
    cell = as_cell(text)
    assert cell == f"'{text}"
    assert stays_text(cell)


@pytest.mark.parametrize(
    "text",
    [
        "hello", " the", "Q4_1", "q8_0", "f16", "bf16", "SmolLM2-135M-Instruct", "0c1e570", "CUDA0", "7B", "2nd", "␊",
        "#", "x86_64", "hex:3e31", "a processor, 2 cores", "2024-01-01T10:00:00Z", "May", "/models/a.gguf", "<|x|>",
    ],
)  # fmt: skip
def test_what_is_a_text_to_everyone_stays_as_it_is(text: str) -> None:
    assert as_cell(text) == text
    assert stays_text(text)


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        (0.36787944117144233, "0.367879441171442"),  # 15 digits of e⁻¹
        (6.914, "6.914"), (430.0, "430.0"), (1e-300, "1e-300"), (0.1 + 0.2, "0.3"), (-5, "-5"), (0, "0"),
        (999_999_999_999_999, "999999999999999"), (True, "1"), (False, "0"),
    ],
)  # fmt: skip
def test_numbers_have_no_digit_that_is_lost(value: float, cell: str) -> None:
    assert as_cell(value) == cell
    assert stays_a_number(cell)


def test_more_digits_than_are_kept_are_a_text() -> None:
    assert as_cell(10**15) == "'1000000000000000"
    assert stays_text(as_cell(-(10**15)))


def test_a_table() -> None:
    assert as_csv(("a", "b"), [(None, 'say "no"'), (1, "a,b\nc")]) == 'a,b\n,"say ""no"""\n1,"a,b\nc"\n'


def test_what_is_no_cell() -> None:
    with pytest.raises(TypeError):
        as_cell([1])
