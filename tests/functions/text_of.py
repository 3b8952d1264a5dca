#!/usr/bin/env python3
"""Prints a checksum of each file's executable mappings in a process, as they are in memory, and
their protection and extent. Adjacent ones count as one: changed pages are a separate mapping.

    text_of.py PID
    text_of.py -        for each process id on standard input, all in one line
"""
import hashlib
import sys


def mappings_of(pid):
    parts = []
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb") as memory:
        for line in maps:
            fields = line.split(maxsplit=5)
            if len(fields) < 6 or not fields[5].startswith("/") or "x" not in fields[1]:
                continue
            start, end = (int(number, 16) for number in fields[0].split("-"))
            memory.seek(start)
            key = (fields[5].strip(), fields[1])
            if parts and parts[-1][0] == key and parts[-1][2] == start:
                first, text = parts.pop()[1::2]
            else:
                first, text = start, b""
            parts.append((key, first, end, text + memory.read(end - start)))
    return [f"{start:x}-{end:x} {protection} {hashlib.sha256(text).hexdigest()[:16]} {path}"
            for (path, protection), start, end, text in parts]


if sys.argv[1] == "-":
    for pid in sys.stdin:
        print("; ".join(mappings_of(int(pid))), flush=True)
else:
    print("\n".join(mappings_of(sys.argv[1])))
