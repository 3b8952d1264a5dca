"""Compares the tiles of each level with the call tree and the blocks, by count and time.

    tiles_sums.py DIRECTORY TRACE TREE_JSON BLOCKS_JSON

A merged span has one name, so calls are added up by depth. Prints a line for each failure, the number of calls
and blocks compared, and the units of the levels, the finest first."""
import base64
import json
import os
import re
import struct
import sys
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tool"))
import page_spans  # noqa: E402

directory, trace, tree, blocks = sys.argv[1:]
CALLS, BLOCKS = page_spans.CALLS, page_spans.BLOCKS


def expect(what, wanted, found):
    if wanted != found:
        print(f"{what}: expected {wanted}, found {found}")


def lanes(threads, data, first):
    """Kind, depth and spans of each lane of threads."""
    places = {thread.get("place", index): thread for index, thread in enumerate(threads)}
    for (place, kind, depth), spans in page_spans.lanes([(place, thread["lanes"]) for place, thread in places.items()],
                                                        tracks, data, first):
        if tracks[place] == 0:
            yield kind, depth, spans


data, page_bytes = page_spans.read_page(f"{directory}/index.html")
timeline, tiles = data["timeline"], data["tiles"]
unit = timeline["unit_ns"]
tracks = [thread.get("track", 0) for thread in timeline["threads"]]


def tile(file):
    text = open(f"{directory}/tile-{file}.js", encoding="ascii").read()
    number, packed = re.fullmatch(r'probityTile\((\d+),"([A-Za-z0-9+/=]*)"\);\n', text).groups()
    expect("number of a tile", file, int(number))
    raw = zlib.decompress(base64.b64decode(packed))
    size, = struct.unpack_from("<I", raw)
    contents = json.loads(raw[4:4 + size])
    expect("id of a tile", tiles["id"], contents["id"])
    return contents, raw[4 + size:]


def add(sums, some, wanted):
    """Sums of count and time by kind and depth."""
    for kind, depth, spans in some:
        total = sums.setdefault((kind, depth), [0, 0])
        for span in spans:
            if wanted(kind, span):
                total[0] += span[2]
                total[1] += span[4]


# The spans that the page keeps when tiles are shown.
own = {}
add(own, lanes(timeline["threads"], page_bytes, timeline["since_start_ns"]),
    lambda kind, span: span[2] == 1 and span[1] >= unit)
by_depth = []


def add_nodes(nodes, depth):
    for node in nodes:
        by_depth.extend([0, 0] for _ in range(depth + 1 - len(by_depth)))
        by_depth[depth][0] += node["calls"]
        by_depth[depth][1] += node["total_ns"]
        add_nodes(node["children"], depth + 1)


add_nodes(json.load(open(tree))["tree"], 0)
pairs = json.load(open(blocks))["blocks"]
marks = sum(1 for row in timeline["threads"] if row.get("track", 0) == 0)
wanted_blocks = [sum(pair["calls"] for pair in pairs), sum(pair["wall_ns"] for pair in pairs)]
compared = size = 0
files = set()
for level in tiles["levels"]:
    sums = {key: list(value) for key, value in own.items()}
    for number, count in enumerate(level["spans"]):
        if count == 0:
            continue
        file = level["file"] + number
        files.add(f"tile-{file}.js")
        contents, rest = tile(file)
        some = list(lanes(contents["threads"], rest, contents["from_ns"]))
        expect(f"spans of tile {file}", count, sum(len(spans) for _, _, spans in some))
        begin = tiles["from_ns"] + number * level["tile_ns"]
        expect(f"begin of tile {file}", begin, contents["from_ns"])
        for kind, depth, spans in some:
            expect(f"spans of tile {file} beyond it", [], [span for span in spans if not begin <= span[0] < begin + level["tile_ns"]])
            expect(f"long spans in tile {file}", [], [span for span in spans if span[1] >= unit and span[2] == 1])
        add(sums, some, lambda kind, span: True)
    if tiles["late"] >= 0:
        files.add(f"tile-{tiles['late']}.js")
        contents, rest = tile(tiles["late"])
        add(sums, lanes(contents["threads"], rest, contents["from_ns"]), lambda kind, span: True)
    calls = [value for (kind, _), value in sorted(sums.items()) if kind == CALLS]
    expect(f"calls and time by depth at {level['unit_ns']} ns", by_depth, calls)
    found = sums.get((BLOCKS, 0), [0, 0])
    if sum(wanted_blocks) > 0:
        # The last hit of each thread has a block without an end.
        expect(f"blocks at {level['unit_ns']} ns", [wanted_blocks[0] + marks, wanted_blocks[1]], found)
    compared += sum(count for count, _ in calls) + found[0]
size = sum(os.path.getsize(f"{directory}/{name}") for name in files)
expect("levels", True, len(tiles["levels"]) > 1)
expect("files", files, {name for name in os.listdir(directory) if name.startswith("tile-")})
expect("5 % of the trace's size", True, size <= os.path.getsize(trace) * 5 / 100)
expect("spans that are lost", 0, tiles["lost"])
print(f"compared {compared}")
print("units", json.dumps({"units": [level["unit_ns"] for level in tiles["levels"]]}))
