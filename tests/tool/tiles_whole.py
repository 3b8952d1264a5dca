"""Compares the tiles of each level with a page of the same trace in which nothing is merged: of each lane of
threads (calls, blocks, states) and tracks (requests, locks, queues), the number of spans and the sums of their
times. A page clips states that began before its first record, and tiles do not.

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

directory, whole_page = sys.argv[1:]
STRETCHES, MARKS, CALLS, BLOCKS, ROWS, STATES = range(6)
KINDS = ["off", "marks", "calls", "blocks", "rows", "states"]
QUEUE, BEFORE = 3, 8
RUNNING, RUNNABLE = 1, 2


def numbers(data):
    value = shift = 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value = shift = 0


def signed(value):
    return value >> 1 ^ -(value & 1)


def spans_of(source, kind, size, track, at):
    """Start, length, count, busy and off-CPU time of each span."""
    columns = [[next(source) for _ in range(size)] for _ in range(8)]
    steps, lengths, counts, names, busy, off, flags, _ = columns
    starts = []
    for step in steps:
        at += step
        starts.append(at)
    if kind in (BLOCKS, ROWS, STATES):
        lengths = [starts[i + 1] - starts[i] - signed(gap) if i + 1 < size else gap for i, gap in enumerate(lengths)]
        busy = [length - signed(rest) for length, rest in zip(lengths, busy)]
    elif kind != STRETCHES:
        busy = [some if count > 1 or flag & BEFORE else length
                for some, count, flag, length in zip(busy, counts, flags, lengths)]
    if kind == ROWS:
        at, ids = 0, []
        for step in off:
            at += signed(step)
            ids.append(at)
        if track == QUEUE:
            busy = [some if count > 1 else length * many
                    for some, count, length, many in zip(busy, counts, lengths, ids)]
        off = [0] * size
    if kind == STATES:
        busy = [some if count > 1 else length * (name == RUNNING)
                for some, count, length, name in zip(busy, counts, lengths, names)]
        off = [some if count > 1 else length * (name == RUNNABLE)
               for some, count, length, name in zip(off, counts, lengths, names)]
    return list(zip(starts, lengths, counts, busy, off))


def lanes(rows, tracks, data, first):
    source = numbers(data)
    for place, listed in rows:
        track = tracks[place]
        for kind, depth, size in listed:
            kind = ROWS if track != 0 and kind == CALLS else kind
            yield (place, kind, depth), spans_of(source, kind, size, track, first)


def read_page(path):
    page = open(path, encoding="utf8").read()
    parts = [zlib.decompress(base64.b64decode(re.search(f'id="probity-{part}">([^<]*)<', page)[1]))
             for part in ("data", "spans")]
    return json.loads(parts[0]), parts[1]


def lanes_of_page(data, spans):
    timeline = data["timeline"]
    return lanes([(place, row["lanes"]) for place, row in enumerate(timeline["threads"])], tracks, spans,
                 timeline["since_start_ns"])


def add(sums, some, wanted):
    for key, spans in some:
        for span in spans:
            early = max(0, min(first, span[0] + span[1]) - span[0])
            if wanted(span):
                sums[key] = [one + other for one, other in zip(sums[key], (*span[2:], early))]


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
add(own, lanes_of_page(data, spans), lambda span: span[2] == 1 and span[1] >= unit)
add(wanted, lanes_of_page(whole, whole_spans), lambda span: True)


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
