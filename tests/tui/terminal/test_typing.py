"""What comes from a terminal that is no key."""

import sys

from ...conftest import ScriptWriter
from .pty_process import PtyProcess
from .test_restored import OPEN_SCOPE, restored

QUIT = b"\x11"
PASTE = b"\x1b[200~caf\xe9 \x1b[31mred\x1b[0m end\x11\x1b[201~"


def test_bytes_that_are_not_utf_8_and_pasted_control_sequences_are_text(script: ScriptWriter) -> None:
    process = PtyProcess([sys.executable, "-c", OPEN_SCOPE, str(script({"text": "first answer"}))])
    process.read_until(lambda _: any("first answer" in line for line in process.screen()))
    process.type(b"\xe9 ")
    process.read_until(lambda _: any("❯ \ufffd" in line for line in process.screen()))
    process.type(PASTE)
    process.read_until(lambda _: any("caf\ufffd ␛[31mred␛[0m end␑" in line for line in process.screen()))
    process.type(QUIT)
    assert process.wait() == 0
    restored(process)
    process.close()
