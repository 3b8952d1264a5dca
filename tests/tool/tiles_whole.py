"""Compares the tiles of each level with a page of the same trace in which nothing is merged: of each lane of
threads (calls, blocks, states) and tracks (requests, locks, queues), the number of spans and the sums of their
times. A page clips states that began before its first record; tiles do not.

    tiles_whole.py DIRECTORY PAGE

Prints a line for each failure, and the numbers of spans compared by kind of lane."""
import base64
import collections
import json
import os
import re
import struct
import sys
import zlib

from page_spans import ROWS, STATES, lanes, lanes_of, read_page

directory, whole_page = sys.argv[1:]
KINDS = ["off", "marks", "calls", "blocks", "rows", "states"]


def add(sums, some, wanted):
    for key, spans in some:
        for span in spans:
            early = max(0, min(first, span.start + span.length) - span.start)
            off = span.off if key[1] != ROWS else 0
            if wanted(span):
                sums[key] = [one + other for one, other in zip(sums[key], (span.count, span.busy, off, early))]


def zeros():
    """Number, busy time, time off the CPU, and time before the first record."""
    return collections.defaultdict(lambda: [0, 0, 0, 0])


def is_same(wanted, found, early):
    return wanted[0] == found[0] and all(0 <= other - one <= early for one, other in zip(wanted[1:3], found[1:3]))


data, spans = read_page(f"{directory}/index.html")
whole, whole_spans = read_page(whole_page)
first = data["timeline"]["since_start_ns"]
tracks = [row.get("track", 0) for row in data["timeline"]["threads"]]
if tracks != [row.get("track", 0) for row in whole["timeline"]["threads"]]:
    print("the pages have different tracks")
if whole["timeline"]["unit_ns"] != 1:
    print("the other page has merged spans")
unit, tiles = data["timeline"]["unit_ns"], data["tiles"]
own, wanted = zeros(), zeros()
add(own, lanes_of(data["timeline"], spans), lambda span: span.count == 1 and span.length >= unit)
add(wanted, lanes_of(whole["timeline"], whole_spans), lambda span: True)


def add_file(sums, file):
    text = open(f"{directory}/tile-{file}.js", encoding="ascii").read()
    raw = zlib.decompress(base64.b64decode(re.fullmatch(r'probityTile\(\d+,"([^"]*)"\);\n', text)[1]))
    size, = struct.unpack_from("<I", raw)
    contents = json.loads(raw[4:4 + size])
    add(sums, lanes([(row["place"], row["lanes"]) for row in contents["threads"]], tracks, raw[4 + size:],
                    contents["from_ns"]), lambda span: True)


for level in tiles["levels"]:
    sums = zeros()
    for key, value in own.items():
        sums[key] = list(value)
    for number, count in enumerate(level["spans"]):
        if count > 0:
            add_file(sums, level["file"] + number)
    if tiles["late"] >= 0:
        add_file(sums, tiles["late"])
    for key in sorted(set(wanted) | set(sums)):
        if not is_same(wanted[key], sums[key], sums[key][3] if key[1] == STATES else 0):
            print(f"level of {level['unit_ns']} ns, lane {key}: expected {wanted[key]}, found {sums[key]}")
counted = collections.Counter()
for (_, kind, _), value in wanted.items():
    counted[KINDS[kind]] += value[0]
size = sum(os.path.getsize(f"{directory}/{name}") for name in os.listdir(directory) if name.startswith("tile-"))
print("compared", json.dumps({**counted, "levels": len(tiles["levels"]), "bytes": size}))
