"""Keys that every app has."""

import pytest

from decodescope.tui.keys import APP_KEYS
from decodescope.tui.terminal_app import TerminalApp

from .scope_app import scope


async def test_a_browser_has_no_shell_to_go_back_to(monkeypatch: pytest.MonkeyPatch) -> None:
    app = TerminalApp(None)
    async with app.run_test() as pilot:
        monkeypatch.setenv("TEXTUAL_DRIVER", "textual.drivers.web_driver:WebDriver")
        app.action_suspend_process()
        await pilot.pause()
        (said,) = app._notifications
        assert "browser" in said.message


async def test_they_stand_in_the_menu() -> None:
    async with scope() as running:
        commands = [command.help for command in running.app.get_system_commands(running.app.screen)]
        assert all(commands.count(key.help) == 1 for key in APP_KEYS)
