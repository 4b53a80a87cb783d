"""A process that sees this one end, in whatever way, and restores the terminal if nobody else has."""

import contextlib
import os
import termios
import time
from collections.abc import Sequence
from typing import Any

_SCRIPT = r"""
trap '' HUP INT QUIT TERM TSTP TTIN TTOU USR1 USR2 ALRM PIPE
restore=$1 groups=$2
while read -r line; do
    modes=$line
    [ -n "$modes" ] && raw=$(stty -g <&1)
done
[ -n "$modes" ] || exit 0
if [ -r "/proc/$$/stat" ]; then
    read -r line <"/proc/$$/stat"
    set -- ${line##*) }
    foreground=$6
else
    foreground=$(($(ps -o tpgid= -p $$)))
fi
for group in $groups; do
    [ "$group" = "$foreground" ] || continue
    printf %s "$restore"
    [ "$raw" = "$(stty -g <&1)" ] && stty $modes <&1
    break
done
"""
"""For a POSIX shell, which takes a fraction of the memory and time of a Python. It reads what ``Witness`` writes, line
by line: the modes to be restored (operands of ``stty``), or nothing while the terminal needs nothing. ``$1``: what to
write to the terminal; ``$2``: process groups, one of which must be in the foreground then; otherwise another
program is using the terminal and has set it to its own needs. Modes that a shell has set meanwhile stay."""

_NO_SESSION = (-1, 0)
"""In place of the foreground group: this process led the session, which has ended with it."""
_INPUT, _LOCAL = 0, 3
_MODES = {
    "echo": (_LOCAL, termios.ECHO),
    "icanon": (_LOCAL, termios.ICANON),
    "iexten": (_LOCAL, termios.IEXTEN),
    "isig": (_LOCAL, termios.ISIG),
    "ixon": (_INPUT, termios.IXON),
    "ixoff": (_INPUT, termios.IXOFF),
    "icrnl": (_INPUT, termios.ICRNL),
    "inlcr": (_INPUT, termios.INLCR),
    "igncr": (_INPUT, termios.IGNCR),
}
"""The modes that the screen changes, by their names in ``stty``: index in the attributes, and bit."""
_ATTEMPTS, _ATTEMPT_SECONDS = 20, 0.005


class Witness:
    """Raises OSError if it cannot be started."""

    def __init__(self, restore: str) -> None:
        """``restore``: what to write to the terminal of this process at the end."""
        reading, self._telling = os.pipe()
        try:
            terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
            try:
                groups = {os.getpgrp(), os.getpgid(os.getppid()), os.getsid(0), *_NO_SESSION}
                self._pid = os.posix_spawn(
                    "/bin/sh",
                    ["sh", "-c", _SCRIPT, "decodescope-witness", restore, " ".join(map(str, groups))],
                    os.environ,
                    file_actions=[
                        (os.POSIX_SPAWN_DUP2, reading, 0),
                        (os.POSIX_SPAWN_DUP2, terminal, 1),
                        (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
                    ],
                    setpgroup=0,  # a signal to this process's group must not end both
                )
            finally:
                os.close(terminal)
        except BaseException:
            os.close(self._telling)
            raise
        finally:
            os.close(reading)

    def restores(self, attributes: Sequence[Any]) -> None:
        """The terminal has to be given back from now on, with these attributes."""
        self._tell(" ".join(name if attributes[place] & bit else f"-{name}" for name, (place, bit) in _MODES.items()))

    def rests(self) -> None:
        """The terminal is restored already."""
        self._tell("")

    def close(self) -> None:
        """End it; the terminal is restored already."""
        self.rests()
        os.close(self._telling)
        for _ in range(_ATTEMPTS):  # if it is stopped, it ends later
            if os.waitpid(self._pid, os.WNOHANG)[0]:
                return
            time.sleep(_ATTEMPT_SECONDS)

    def _tell(self, line: str) -> None:
        with contextlib.suppress(BrokenPipeError):  # somebody has ended it
            os.write(self._telling, f"{line}\n".encode())
