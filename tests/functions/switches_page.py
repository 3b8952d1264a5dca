"""Checks the page of a trace whose sites were switched twice: its blocks are those of `probity blocks`,
and nothing is drawn across a switch.

    switches_page.py PAGE BLOCKS.json

The page compares the trace with itself.
"""
import json
import os
import sys

sys.path.insert(0, f"{os.path.dirname(__file__)}/../tool")
import page_spans  # noqa: E402

OPEN = 2
failures = 0


def expect(what, expected, found):
    global failures
    if expected != found:
        print(f"{what}: expected {expected}, found {found}")
        failures += 1


def calls(blocks):
    return sorted((block["from"], block["to"], block["calls"]) for block in blocks["blocks"])


def switches(blocks):
    """Between an open block, which has no length, and the next one."""
    return [(span.start, after.start) for span, after in zip(blocks, blocks[1:]) if span.flags & OPEN]


data, page_bytes = page_spans.read_page(sys.argv[1])
with open(sys.argv[2], encoding="utf8") as file:
    expected = calls(json.load(file))
for name in "blocks", "base_blocks":
    expect(name, expected, calls(data[name]))
for name in "requests", "base_requests":
    expect(name, [2], [sum(count for _, count in request["histogram"]) for request in data[name]])
lanes = dict(page_spans.lanes_of(data["timeline"], page_bytes))
blocks = next(spans for (_, kind, _), spans in lanes.items() if kind == page_spans.BLOCKS)
expect("blocks drawn", sum(count for _, _, count in expected), sum(not span.flags & OPEN for span in blocks))
cuts = switches(blocks)
expect("switches", True, len(cuts) >= 2)
rows = [span for (_, kind, _), spans in lanes.items() if kind == page_spans.ROWS for span in spans]
expect("tracks are drawn", True, len(rows) > 0)
for start, end in cuts:
    for span in rows:
        expect(f"{span} is before or after {start} to {end}", False,
               span.start <= start and span.start + span.length >= end)
sys.exit(failures > 0)
