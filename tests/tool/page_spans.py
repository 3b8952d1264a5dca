"""Decodes the spans of a page, a tile or a window of `probity view` (src/page/view_timeline.c)."""
import base64
import collections
import json
import re
import zlib

STRETCHES, MARKS, CALLS, BLOCKS, ROWS, STATES = range(6)
QUEUE, BEFORE = 3, 8
RUNNING, RUNNABLE = 1, 2

Span = collections.namedtuple("Span", "start length count name busy off flags last")


class Numbers:
    def __init__(self, data):
        self.data, self.at = data, 0

    def column(self, size):
        """The lowest 7 bits of each number, then the next 7 bits of the longer ones."""
        values, going, shift = [0] * size, list(range(size)), 0
        while going:
            more = []
            for i in going:
                byte = self.data[self.at]
                self.at += 1
                values[i] |= (byte & 127) << shift
                if byte > 127:
                    more.append(i)
            going, shift = more, shift + 7
        return values

    def signed(self, size):
        return [value >> 1 ^ -(value & 1) for value in self.column(size)]


def read_lane(numbers, kind, size, track, first):
    gaps, lengths = numbers.signed(size), numbers.column(size)
    starts, end = [], first
    for gap, length in zip(gaps, lengths):
        starts.append(end + gap)
        end = starts[-1] + length
    counts, names, rests = numbers.column(size), numbers.column(size), numbers.signed(size)
    busy = [length - rest for length, rest in zip(lengths, rests)]
    off = numbers.signed(size) if track else numbers.column(size)
    flags, lasts = numbers.column(size), numbers.column(size)
    for i in range(size):
        if track:
            off[i] += off[i - 1] if i > 0 else 0
        if track == QUEUE and counts[i] == 1:
            busy[i] = lengths[i] * off[i]
        if kind == STATES and counts[i] == 1:
            busy[i] = lengths[i] * (names[i] == RUNNING)
            off[i] = lengths[i] * (names[i] == RUNNABLE)
    return [Span(*span) for span in zip(starts, lengths, counts, names, busy, off, flags, lasts)]


def lanes(rows, tracks, data, first):
    """(place, kind, depth) and spans. rows: (place, lanes as in the object); tracks: by place."""
    numbers = Numbers(data)
    for place, listed in rows:
        for kind, depth, size in listed:
            kind = ROWS if tracks[place] and kind == CALLS else kind
            yield (place, kind, depth), read_lane(numbers, kind, size, tracks[place], first)
    if numbers.at != len(data):
        print(f"{len(data) - numbers.at} bytes after the spans")


def lanes_of(timeline, data):
    """The same, for a timeline's own threads and tracks."""
    threads = timeline["threads"]
    return lanes([(place, thread["lanes"]) for place, thread in enumerate(threads)],
                 [thread.get("track", 0) for thread in threads], data, timeline["since_start_ns"])


def read_page(path):
    """The data, and the bytes of the spans."""
    page = open(path, encoding="utf8").read()
    data, spans = (zlib.decompress(base64.b64decode(re.search(f'id="probity-{part}">([^<]*)<', page)[1]))
                   for part in ("data", "spans"))
    return json.loads(data), spans
