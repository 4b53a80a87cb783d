import math
from concurrent.futures import ThreadPoolExecutor

import pytest

from decodescope.tui.plotting.curve import draw, level

ODD_DATA = [
    [],
    [5.0],
    [3.0, 3.0, 3.0],
    [math.inf],
    [math.nan, math.nan],
    [3.0, math.inf, math.nan, 5.0],
    [0.0, 0.0],
    [-1.0, 2.0],
    [1e12, 1.0],
]


@pytest.mark.parametrize("values", ODD_DATA)
@pytest.mark.parametrize("size", [(40, 4), (1, 1), (2, 3), (200, 20)])
def test_any_data_gives_a_picture_of_the_size_asked_for(values: list[float], size: tuple[int, int]) -> None:
    width, height = size
    lines = draw(range(len(values)), values, width=width, height=height, x_max=64, y_max=8)
    assert [len(line) for line in lines] == [width] * height
    assert "\x1b" not in "".join(lines)


def test_no_room_gives_nothing() -> None:
    assert draw([0], [1], width=0, height=4, x_max=1, y_max=1) == []
    assert draw([0], [1], width=4, height=0, x_max=1, y_max=1) == []


def test_a_scale_of_zero_is_blank() -> None:
    assert draw([0, 1], [1, 2], width=4, height=2, x_max=1, y_max=0) == ["    ", "    "]


def test_high_values_are_cut_off_at_the_top_and_low_ones_lie_at_the_bottom() -> None:
    lines = draw([0, 10], [100, 100], width=10, height=3, x_max=10, y_max=8)
    assert lines[0].strip()
    assert not lines[1].strip()
    lines = draw([0, 10], [0, 0], width=10, height=3, x_max=10, y_max=8)
    assert lines[2].strip()
    assert not lines[0].strip()


@pytest.mark.parametrize("value", [0.0, 1.0, 2.5, 4.0, 6.9, 8.0])
def test_a_level_is_where_the_curve_would_be(value: float) -> None:
    lines = draw([0, 64], [value, value], width=20, height=5, x_max=64, y_max=8)
    found = level(value, height=5, y_max=8)
    assert found is not None
    row, character = found
    assert lines[row][10] == character


def test_no_level_outside_the_picture() -> None:
    assert level(9.0, height=4, y_max=8) is None
    assert level(math.nan, height=4, y_max=8) is None
    assert level(1.0, height=0, y_max=8) is None
    assert level(0.0, height=4, y_max=0) is None


def test_pictures_drawn_at_the_same_time_do_not_mix() -> None:
    def picture(y: float) -> list[str]:
        return draw([0, 10], [y, y], width=30, height=4, x_max=10, y_max=8)

    alone = {y: picture(y) for y in (0.0, 4.0, 8.0)}
    with ThreadPoolExecutor(4) as pool:
        asked = [0.0, 4.0, 8.0] * 20
        assert list(pool.map(picture, asked)) == [alone[y] for y in asked]
