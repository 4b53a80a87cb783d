"""A shell with job control, as small as can be, for what only a shell does with a program on a terminal."""

import os
import signal
import sys
import termios

signal.signal(signal.SIGTTOU, signal.SIG_IGN)
own, modes = os.getpgrp(), termios.tcgetattr(0)
job = os.fork()
if job == 0:
    os.setpgid(0, 0)
    os.tcsetpgrp(0, os.getpgrp())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    os.execv(sys.argv[1], sys.argv[1:])
while True:
    status = os.waitpid(job, os.WUNTRACED)[1]
    os.tcsetpgrp(0, own)
    if not os.WIFSTOPPED(status):
        break
    print("<stopped>", flush=True)
    if termios.tcgetattr(0)[3] & termios.ICANON == 0:
        termios.tcsetattr(0, termios.TCSANOW, modes)  # as shells do when a job has been stopped
    word = input()
    print(f"<{word}>", flush=True)
    if word == "other":
        other = os.fork()
        if other == 0:
            signal.pause()
        os.setpgid(other, other)
        os.tcsetpgrp(0, other)
        continue
    if word == "fg":
        os.tcsetpgrp(0, job)
    os.killpg(job, signal.SIGCONT)
print("<ended>", flush=True)
input()
sys.exit(os.waitstatus_to_exitcode(status) % 256)
