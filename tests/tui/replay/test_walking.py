"""The arrow keys move the replay, or, while a token is looked at, walk from token to token: in the table as in the
text."""

import pytest

from decodescope.tui.token_table import TokenTable

from .replay_app import Replayed, opened, replay, whole

PIECES = [b" w%02d" % number for number in range(1, 61)]
SIZES = pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])


def keys(running: Replayed) -> str:
    return running.shown().splitlines()[-1]


@SIZES
async def test_beside_the_table_they_step(size: tuple[int, int]) -> None:
    async with replay(opened(whole(PIECES)), paused=True, size=size) as running:
        await running.went("end", "t", "left", "left")
        assert running.tokens == 58
        await running.sees("#58 of 60")
        assert "←→ step" in keys(running)
        await running.went("home")
        assert running.tokens == 0
        await running.went("right")
        assert running.tokens == 1


@SIZES
async def test_with_the_inspector_they_walk_in_the_table(size: tuple[int, int]) -> None:
    async with replay(opened(whole(PIECES)), paused=True, size=size) as running:
        await running.went("end", "i", "t", "left", "left", "left")
        assert running.tokens == 60
        table = running.screen.query_one(TokenTable)
        assert running.screen._face.reading is not None
        assert running.screen._face.reading._looked_at == 57
        assert table.cursor_index == 57
        assert "←→ walk" in keys(running)
        await running.press("right")
        assert table.cursor_index == 58
        await running.press("home")
        assert table.cursor_index == 1
        await running.press("end", "left")
        assert table.cursor_index == 59
        await running.press("f1")
        await running.sees("Look at the next token")


@SIZES
async def test_the_table_opens_at_the_token_that_is_looked_at(size: tuple[int, int]) -> None:
    async with replay(opened(whole(PIECES)), paused=True, size=size) as running:
        await running.went("end", "left", "left", "left", "i")
        await running.press("t")
        table = running.screen.query_one(TokenTable)
        top = table.scroll_offset.y
        assert top <= 56 < top + table.view_rows
        await running.press("t", "left")
        await running.press("t")
        assert table.cursor_index == 56
        top = table.scroll_offset.y
        assert top <= 55 < top + table.view_rows
