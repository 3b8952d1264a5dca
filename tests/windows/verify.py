#!/usr/bin/env python3
# Compares the hits in a trace with the counts of the threads of kill_target.c: there must be as
# many, or one more, since a thread may have been killed between a hit and its count. Usage:
# verify.py PROBITY TRACE COUNTS.
import csv
import io
import struct
import subprocess
import sys

THREADS, FIRST, APART = 8, 100, 64


def main():
    tool, trace, counts = sys.argv[1:]
    check = subprocess.run([tool, "check", trace], capture_output=True, text=True)
    if check.returncode != 0:
        return f"{trace}: {check.stdout}{check.stderr}"
    listed = subprocess.run([tool, "list", "--csv", trace], capture_output=True, text=True)
    hits = {}
    for row in csv.DictReader(io.StringIO(listed.stdout)):
        hits[int(row["number"])] = int(row["hits"])
    with open(counts, "rb") as file:
        bytes_ = file.read()
    total = 0
    for thread in range(THREADS):
        counted = struct.unpack_from("<Q", bytes_, thread * APART)[0]
        recorded = hits.pop(FIRST + thread, 0)
        total += recorded
        if recorded not in (counted, counted + 1):
            return f"{trace}: thread {thread} counted {counted}, recorded {recorded}"
    if hits:
        return f"{trace}: records that no thread made: {hits}"
    print(total)
    return None


sys.exit(main())
