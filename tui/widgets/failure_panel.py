"""Why something could not be done, in full."""

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from ...backends.events import Failed
from ...backends.text import visible


def failure_content(failed: Failed, hint: str) -> Content:
    """Return what happened, the native reason and the remedy; characters of unknown origin are made visible."""
    parts = [Content.styled(visible(failed.what, keep_lines=True), "bold")]
    if failed.reason:
        parts.append(Content(visible(failed.reason, keep_lines=True)))
    if failed.remedy:
        parts.append(Content(f"→ {visible(failed.remedy, keep_lines=True)}"))
    if hint:
        parts.append(Content.styled(hint, "dim"))
    return Content("\n").join(parts)


class FailurePanel(VerticalScroll):
    """Shown while there is a failure; scrolls when it is long."""

    DEFAULT_CSS = """
    FailurePanel {
        height: auto;
        max-height: 50%;
        padding: 0 1;
        border-left: thick $error;
        background: $surface;
        display: none;
        & > Static { height: auto; }
    }
    """

    def compose(self) -> ComposeResult:
        """Hold one text."""
        yield Static(markup=False)

    def show(self, failed: Failed | None, hint: str = "") -> None:
        """Show a failure with what can be done here; None hides it."""
        self.display = failed is not None
        if failed is not None:
            self.query_one(Static).update(failure_content(failed, hint))
            self.scroll_home(animate=False)
