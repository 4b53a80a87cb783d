"""What fails is explained, and the scope goes on."""

import pytest

from decodescope.backends.events import Failed
from decodescope.tui.session import Phase
from decodescope.tui.widgets.phase_line import PhaseLine

from .fakes import MS, answer, ready
from .scope_app import answered, asked, scope


async def test_a_failed_generation_is_explained_and_the_session_goes_on() -> None:
    async with scope() as running:
        await asked(running)
        running.engine.play(
            *answer([b"par"]),
            Failed(
                t=300 * MS,
                stage="generate",
                what="The batch failed.",
                reason="out of memory",
                remedy="Use a smaller -c.",
            ),
        )
        await running.until(lambda: running.line(PhaseLine).startswith("failed"))
        shown = "\n".join(running.shown())
        for words in ("The batch failed.", "out of memory", "Use a smaller -c.", "par"):
            assert words in shown
        await running.press(*"next", "enter")
        await running.until(lambda: len(running.engine.requests) == 2)
        assert "out of memory" not in "\n".join(running.shown())


async def test_a_long_reason_can_be_scrolled() -> None:
    async with scope(size=(80, 24)) as running:
        reason = "\n".join(f"line {number}" for number in range(100))
        running.engine.play(Failed(t=1, stage="load", what="The model cannot be loaded.", reason=reason))
        running.engine.end_of_events()
        await running.until(lambda: "The model cannot be loaded." in "\n".join(running.shown()))
        panel = running.screen.query_one("FailurePanel")
        assert panel.max_scroll_y > 50
        assert running.screen.query_one(PhaseLine).region.bottom <= 24


async def test_an_engine_that_died_is_started_again_with_the_conversation_kept() -> None:
    async with scope() as running:
        await answered(running, [b"one"])
        running.engine.play(Failed(t=1, stage="engine", what="The engine was killed."))
        running.engine.end_of_events()
        await running.until(lambda: running.session.phase is Phase.GONE)
        await running.press(*"next", "enter")
        assert running.box.text == "next"
        await running.press("ctrl+r")
        await running.until(lambda: len(running.engines) == 2)
        assert "The engine was killed." not in "\n".join(running.shown())
        running.engine.play(ready())
        await running.until(lambda: running.session.phase is Phase.READY)
        await running.press("enter")
        await running.until(lambda: len(running.engine.requests) == 1)
        assert [message.content for message in running.engine.requests[0].messages] == ["why", "one", "next"]


async def test_an_engine_that_cannot_be_started_is_a_failure_to_load(monkeypatch: pytest.MonkeyPatch) -> None:
    async with scope() as running:
        running.engine.play(Failed(t=1, stage="engine", what="Killed."))
        running.engine.end_of_events()
        await running.until(lambda: running.session.phase is Phase.GONE)

        def no_process(model: object, settings: object) -> None:
            raise OSError(11, "Resource temporarily unavailable")

        monkeypatch.setattr(running.screen._link, "_launch", no_process)
        await running.press("ctrl+r")
        await running.until(lambda: "Resource temporarily unavailable" in "\n".join(running.shown()))


async def broken_reader() -> None:
    async with scope() as running:

        def broken(events: object) -> None:
            raise AttributeError("broken")

        running.session.apply = broken  # type: ignore[method-assign,assignment]
        running.engine.play(ready())
        await running.until(lambda: running.app._exception is not None)


async def test_an_exception_in_the_reader_ends_the_app() -> None:
    with pytest.raises(AttributeError, match="broken"):
        await broken_reader()
