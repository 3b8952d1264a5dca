"""Sums the spans of an exported profile, as the lines "CATEGORY NAME COUNT NS".

    read_profile.py speedscope|firefox FILE

Objects become tuples as they are parsed: a server's trace has millions of them, for which jq takes
four times as long and eight times as much memory as the file has bytes."""
import json
import math
import sys

KINDS = {'Block': 'block', 'Stage': 'stage', 'Request': 'request', 'LockWait': 'lock wait',
         'LockHold': 'lock hold'}
sums = {}


def add(kind, name, ns):
    row = sums.setdefault((kind, name), [0, 0])
    row[0] += 1
    row[1] += ns


def as_event(parsed):
    return (parsed['frame'], parsed['at'], parsed['type']) if 'at' in parsed else parsed


# Blocks do not nest: each opened event is followed by its end.
def read_speedscope(file):
    profile = json.load(file, object_hook=as_event)
    frames = [frame['name'] for frame in profile['shared']['frames']]
    for thread in profile['profiles']:
        events = iter(thread['events'])
        for (opened, since, begins), (closed, until, ends) in zip(events, events):
            assert opened == closed and begins == 'O' and ends == 'C' and until >= since
            add('block', frames[opened], until - since)


markers_by_type = {}


# Converts the data of a marker to a tuple with its type, or with None if the span has not ended.
def as_marker(parsed):
    kind = parsed.get('type')
    if not isinstance(kind, str) or kind not in KINDS and kind != 'Hit':
        return parsed
    if parsed.get('end') == 'open':
        kind = None
    return markers_by_type.setdefault(kind, (kind,))


def read_firefox(file):
    profile = json.load(file, object_hook=as_marker)
    names = profile['shared']['stringArray']
    for thread in profile['threads']:
        markers = thread['markers']
        for phase, data, name, begin, end in zip(*(markers[column] for column in (
                'phase', 'data', 'name', 'startTime', 'endTime'))):
            kind = KINDS.get(data[0]) if phase == 1 and isinstance(data, tuple) else None
            if kind is not None:
                add(kind, names[name], math.floor((end - begin) * 1e6 + 0.5))


with open(sys.argv[2], encoding='utf-8') as profile_file:
    {'speedscope': read_speedscope, 'firefox': read_firefox}[sys.argv[1]](profile_file)
for (span_kind, span_name), (count, total_ns) in sums.items():
    print(span_kind, span_name, count, total_ns, sep='\t')
