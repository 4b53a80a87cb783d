"""The widget of prepared cells."""

import pytest

from decodescope.tui.widgets.cells import Cells


@pytest.mark.parametrize("text", ["a\x1b[2Jb", "a\nb", "a\x9b2J", "a\u202eb"])
def test_no_text_commands_the_terminal(text: str) -> None:
    cells = Cells()
    cells.show_rows([(("name ", "strong"), (text, ""))])
    assert not any(ord(char) < 0x20 or 0x7F <= ord(char) < 0xA0 or char == "\u202e" for char in cells.plain)
    assert cells.plain.startswith("name a")


def test_ordinary_text_stays_as_it_is() -> None:
    cells = Cells()
    cells.show_rows([(("[red] 日本 👩\u200d🔬 é", ""),)])
    assert cells.plain == "[red] 日本 👩\u200d🔬 é"
