"""A process that sees this one end, however it does, and gives the terminal back if nobody else did."""

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
"""Of POSIX's shell, which takes a fraction of the memory and time of a Python. It reads what ``Witness`` tells, a line
each: the modes to be restored (operands of ``stty``), or nothing while the terminal needs nothing. ``$1``: what to
write to the terminal; ``$2``: the groups of processes of which one is in the foreground then. Where it is another one,
the terminal is in use by a program that has set it to its own needs. Modes that a shell has set meanwhile stay."""

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
"""Those that the screen changes, by what ``stty`` calls them: place in the attributes, and bit."""
_ATTEMPTS, _ATTEMPT_SECONDS = 20, 0.005


class Witness:
    """Raises OSError when there can be none."""

    def __init__(self, restore: str) -> None:
        """``restore``: what is written to the terminal of this process in the end."""
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
                    setpgroup=0,  # what is sent to the group of this process does not end both
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
        """The terminal is as it was."""
        self._tell("")

    def close(self) -> None:
        """End it, the terminal being as it was."""
        self.rests()
        os.close(self._telling)
        for _ in range(_ATTEMPTS):  # were it stopped, it would end later
            if os.waitpid(self._pid, os.WNOHANG)[0]:
                return
            time.sleep(_ATTEMPT_SECONDS)

    def _tell(self, line: str) -> None:
        with contextlib.suppress(BrokenPipeError):  # somebody has ended it
            os.write(self._telling, f"{line}\n".encode())
