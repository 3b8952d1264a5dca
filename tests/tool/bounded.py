#!/usr/bin/env python3
"""Runs a command within bounds of CPU time and memory, and says what it took of both.

    bounded.py CPU_SECONDS MEMORY_MIB COMMAND [ARGUMENT]...

The last line on standard error is "STATUS CPU_MS PEAK_KIB"; the status is that of the shell: 128 and
the signal where one ended it. What the command prints goes nowhere, what it complains of stays.
"""
import os
import resource
import sys


def main():
    seconds, mebibytes = int(sys.argv[1]), int(sys.argv[2])
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        resource.setrlimit(resource.RLIMIT_AS, (mebibytes << 20, mebibytes << 20))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.execvp(sys.argv[3], sys.argv[3:])
    _, status, usage = os.wait4(child, 0)
    code = os.waitstatus_to_exitcode(status)
    print(code if code >= 0 else 128 - code, round(1000 * (usage.ru_utime + usage.ru_stime)),
          usage.ru_maxrss, file=sys.stderr)


if __name__ == "__main__":
    main()
