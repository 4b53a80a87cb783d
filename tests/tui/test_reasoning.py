"""Reasoning and other channels on the screen of the scope."""

import pytest
from msgspec.structs import replace

from decodescope.backends.events import Event
from decodescope.backends.token_facts import Part
from decodescope.tui.app import ScopeApp
from decodescope.tui.session import Phase
from decodescope.tui.widgets.counters import Counters
from decodescope.tui.widgets.newest_token import NewestToken

from .fakes import MS, finished, progress, prompt, taken, token
from .scope_app import Scope, asked, scope

CALL = "commentary to functions.x"


async def played(running: Scope, *events: Event) -> None:
    await asked(running)
    running.engine.play(taken(), prompt(MS, 9), progress(2 * MS, 9, 9), *events)
    await running.until(lambda: not running.session.busy)


async def test_what_another_channel_is_told_stands_under_its_name() -> None:
    async with scope() as running:
        await played(
            running,
            token(10 * MS, 1, b"hm", thinking=True),
            replace(token(20 * MS, 2, b"{[x]}"), parts=(Part(2, "channel", 5, CALL),)),
            token(30 * MS, 3, b"so", thinking=True),
            token(40 * MS, 4, b"Yes"),
            finished(50 * MS),
        )
        rows = [row.rstrip() for row in running.shown()[1:] if row.strip()]
        first = rows.index("┊ hm")
        assert rows[first : first + 5] == ["┊ hm", f"  {CALL}", "┊ {[x]}", "┊ so", "  Yes"]
        assert running.session.answer_text == "Yes"
        await running.press("f9")
        folded = [row for row in running.shown() if row.startswith("▸")]
        assert len(folded) == 2
        assert all("1 token" in row for row in folded)
        assert any("{[x]}" in row for row in running.shown())


async def test_reasoning_that_is_not_closed_is_said_under_it(monkeypatch: pytest.MonkeyPatch) -> None:
    copied: list[tuple[str, str]] = []
    monkeypatch.setattr(ScopeApp, "copy_to_clipboard", lambda self, *copies: copied.append(copies))
    async with scope() as running:
        end = replace(finished(50 * MS, "length"), unclosed=True)
        await played(running, token(10 * MS, 1, b"hm", thinking=True), end)
        assert running.session.phase is Phase.DONE
        assert any("the reasoning was not closed; there is no answer" in row for row in running.shown())
        assert "TTFA –" in " ".join(running.line(Counters).split())
        await running.press("ctrl+y")
        assert copied == [("hm", "the reasoning (there is no answer)")]


async def test_words_of_a_header_are_neither_text_nor_the_end() -> None:
    async with scope() as running:
        await asked(running)
        running.engine.play(taken(), prompt(MS, 9), progress(2 * MS, 9, 9), token(9 * MS, 1, b"final", control=True))
        await running.until(lambda: running.session.phase is Phase.DECODE)
        await running.until(lambda: "final" in running.line(NewestToken))
        running.engine.play(token(10 * MS, 2, b"Yes"), token(11 * MS, 3, b"<|end|>", control=True), finished(12 * MS))
        await running.until(lambda: running.session.phase is Phase.DONE)
        assert running.session.answer_text == "Yes"
        assert "end of turn" in running.line(NewestToken)
