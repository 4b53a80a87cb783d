import pytest

from decodescope.models.sizes import size, told_apart


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (1023, "1,023 B"),
        (1024, "1.0 KiB"),
        (96_576_768, "92 MiB"),  # 96,576,768 / 2**20 = 92.1
        (1024**2 - 1, "1.0 MiB"),
        (44 * 2**30 // 10, "4.4 GiB"),
        (3 * 2**40, "3.0 TiB"),
        (5000 * 2**40, "5,000.0 TiB"),
    ],
)
def test_size(count: int, text: str) -> None:
    assert size(count) == text


def test_two_sizes_are_told_apart() -> None:
    assert told_apart(46 * 2**20, 93 * 2**20) == ("46.0 MiB", "93.0 MiB")
    assert told_apart(2**30, 2**30 + 2**20) == ("1,024.0 MiB", "1,025.0 MiB")
    assert told_apart(2**30, 2**30 + 1) == ("1,073,741,824 bytes", "1,073,741,825 bytes")
    assert told_apart(100, 2**30) == ("100 bytes", "1,073,741,824 bytes")
