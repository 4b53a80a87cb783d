"""Whether the screen goes to a page in a browser: then there is no terminal, and stdin and stdout are the server's."""

import os

_DRIVER = "textual.drivers.web_driver:WebDriver"


def in_browser() -> bool:
    """Whether textual-serve has started this process."""
    return os.environ.get("TEXTUAL_DRIVER") == _DRIVER
