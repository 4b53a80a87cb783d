"""Text of unknown origin: shown character for character, never obeyed."""

import pytest
from textual import events

from decodescope.backends.events import Failed, Log
from decodescope.backends.text import visible
from decodescope.tui.session import Phase
from decodescope.tui.widgets.header import Header
from decodescope.tui.widgets.newest_token import NewestToken
from decodescope.tui.widgets.warning_line import WarningLine

from .fakes import MS, answer, finished, ready
from .scope_app import Scope, default_options, scope

MARKUP = [
    "ok [/INST]",
    "a[/p/q.py]",
    "e [/tmp/x] y",
    "m [/q8]",
    "x: list[int]",
    "[@click=app.quit]x[/]",
    "[",
    "[/",
    "\\[",
]
CONTROL = "a\x1b[2J\x1b]0;t\x07b\u009b2J"


def harmless(running: Scope) -> bool:
    """No control character is on the screen."""
    return all(line.isprintable() or visible(line) == line for line in running.shown())


@pytest.mark.parametrize("text", [*MARKUP, CONTROL])
async def test_everywhere(text: str) -> None:
    async with scope(size=(160, 40), options=default_options(name=text.replace("/", "∕"), prompt=text)) as running:
        assert visible(text.replace("/", "∕")) in running.line(Header)
        running.engine.play(ready(name=text, template=text), Log(t=1, level="warning", text=text))
        await running.until(lambda: bool(running.engine.requests))
        assert visible(text) in running.line(Header)
        assert visible(text) in running.line(WarningLine)
        running.engine.play(
            *answer([text.encode()]), Failed(t=200 * MS, stage="generate", what=text, reason=text, remedy=text)
        )
        await running.until(lambda: running.session.phase is Phase.FAILED)
        shown = "\n".join(running.shown())
        assert visible(text) in running.line(NewestToken)
        # The prompt, the answer, the note under it, the phase, and three times in the panel.
        assert shown.count(visible(text)) >= 7
        assert harmless(running)
        running.app.clear_notifications()


async def test_a_bracket_that_comes_in_two_pieces() -> None:
    async with scope(options=default_options(prompt="q")) as running:
        running.engine.play(ready())
        await running.until(lambda: bool(running.engine.requests))
        running.engine.play(*answer([b"[", b"/", b"b", b"]"]), finished(300 * MS))
        await running.until(lambda: running.session.phase is Phase.DONE)
        assert any(line.strip() == "[/b]" for line in running.shown())


async def test_pasted_and_recalled_control_characters() -> None:
    async with scope() as running:
        running.box.post_message(events.Paste(f"{CONTROL}\r\nx"))
        await running.until(lambda: running.box.text == f"{visible(CONTROL)}\nx")
        assert harmless(running)
        running.box.fill(CONTROL)
        await running.pilot.pause()
        assert running.box.text == visible(CONTROL)
