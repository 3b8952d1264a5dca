"""Runs a command on a separate terminal, and checks that it restores the terminal.

Usage: screen.py COLUMNS ROWS STEPS COMMAND...
STEPS, separated by commas: a key; =TEXT waits until a screen has TEXT; int, term, hup send this
signal to the command; stop suspends it, checks the terminal, and continues it. Prints everything
that the command wrote. Exit status: 0 if the terminal was restored and the command ended with 0.
"""
import fcntl
import os
import pty
import signal
import struct
import sys
import termios

ON, OFF = b"\033[?1049h", b"\033[?1049l"


def is_raw(terminal):
    return not termios.tcgetattr(terminal)[3] & termios.ICANON


class Screen:
    def __init__(self, columns, rows, command):
        self.master, self.slave = pty.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.output, self.since = b"", 0
        fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)
        self.pid = os.fork()
        if self.pid == 0:
            os.setpgid(0, 0)
            signal.signal(signal.SIGTTOU, signal.SIG_IGN)
            os.tcsetpgrp(self.slave, os.getpid())
            signal.signal(signal.SIGTTOU, signal.SIG_DFL)
            for descriptor in range(3):
                os.dup2(self.slave, descriptor)
            os.execvp(command[0], command)

    def read_until(self, text):
        while text not in self.output[self.since:]:
            self.output += os.read(self.master, 65536)
        self.since = self.output.index(text, self.since) + len(text)

    def check(self, raw, what):
        if is_raw(self.slave) != raw:
            sys.exit(f"{what}: the terminal is {'not ' if raw else ''}raw")

    def step(self, step):
        if step.startswith("="):
            self.read_until(step[1:].encode())
        elif step == "stop":
            os.kill(self.pid, signal.SIGTSTP)
            os.waitpid(self.pid, os.WUNTRACED)
            self.read_until(OFF)
            self.check(False, "stopped")
            os.kill(self.pid, signal.SIGCONT)
            self.read_until(ON)
            self.check(True, "continued")
        elif step in ("int", "term", "hup"):
            os.kill(self.pid, getattr(signal, "SIG" + step.upper()))
        else:
            os.write(self.master, step.encode())


def lead_session():
    """A group of processes can be suspended only if another one of its session may continue it."""
    child = os.fork()
    if child != 0:
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    os.setsid()


def main():
    lead_session()
    columns, rows, steps = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3].split(",")
    screen = Screen(columns, rows, sys.argv[4:])
    screen.read_until(ON)
    screen.read_until(b"\033[H")
    screen.check(True, "begun")
    for step in steps:
        screen.step(step)
    screen.read_until(OFF)
    status = os.waitpid(screen.pid, 0)[1]
    screen.check(False, "ended")
    sys.stdout.write(screen.output.decode(errors="replace"))
    sys.exit(os.waitstatus_to_exitcode(status))


main()
