#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# Writes the golden traces of tests/golden: `make_golden.py DIRECTORY`. Independent of both the
# reader and examples/second_decoder.c: it was written from doc/trace-format.md, shares no code with
# either, and does not decode. A trace is described as hits on exact clocks, from which both its
# bytes and its expected CSV are derived. The output is the same in every run.
#
#   good/NAME.probity, NAME.csv      must be read without an error
#   good/NAME.ids                    if it tests ids: role, correlation, object and place of each hit
#   bad/NAME.probity, NAME.expect    each reader's exit status and a text that it must print
#   bad/NAME.csv                     if the format specifies which hits survive the damage
#
# `probity csv` reads only the parts that it needs: if only a count or a last tick is wrong, it
# reports nothing.
import os
import struct
import sys
from fractions import Fraction
from math import floor

INFO, DATA, SYNC, END = 1, 2, 3, 4
MAGIC = b"\x89PROBITY\r\n\x1a\n"
HEADER_BYTES = 24
U32 = 2**32 - 1
TICK = 10**12  # the first anchor
# The size of payload that the format requires for events that declare nothing, by kind.
PAYLOAD_BYTES = {1: 6, 4: 8, 7: 8, 8: 8, 9: 4, 10: 4, 11: 16, 12: 0, 13: 0, 14: 3, 15: 1, 16: 4,
                 19: 8, 23: 28, 60: 5}
ROLES = {2: b"lock-hold", 4: b"queue-put", 5: b"queue-get", 8: b"condition-wait", 9: b"woken",
         13: b"allocate", 17: b"thread-end"}
MONOTONIC = 400 * 10**9
REALTIME = 1700000000 * 10**9
RATE = 2**32 * 2 // 5  # 0.4 ns per tick


def crc32c(data):
    crc = U32
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ U32


def num(value, length=None):
    """Encodes a number in the shortest form, or in `length` bytes."""
    if length is None:
        length = next((n for n in range(1, 9) if value < 1 << 7 * n), 9)
    if length == 9:
        return b"\0" + struct.pack("<Q", value)
    return (value << length | 1 << (length - 1)).to_bytes(length, "little")


def string(text):
    data = text if isinstance(text, bytes) else text.encode()
    return struct.pack("<H", len(data)) + data


def probe(number):
    return 16 + 2 * number


def site(number):
    return 17 + 2 * number


class Hit:
    def __init__(self, tick, code, length=None, spelled=False):
        self.tick, self.code = tick, code
        self.length = length  # size of its numbers, in bytes
        self.spelled = spelled  # write the code even if it is predicted


class Cpu:
    """From now on the thread has been off the CPU for `ticks` more (negative: less)."""

    def __init__(self, tick, ticks):
        self.tick, self.ticks = tick, ticks


class Event:
    def __init__(self, tick, kind, payload, packed=None):
        self.tick, self.kind, self.payload = tick, kind, payload
        self.packed = packed  # code of a packed hit with ids


class Raw:
    """Raw bytes for the stream; counted as one record."""

    def __init__(self, data):
        self.data = data


def declare(tick, number, name, extra=b""):
    payload = struct.pack("<II", number, 7) + string(name) + string("main.c") + string("main")
    return Event(tick, 3, payload + extra)


def anchor(tick, realtime_shift=0, rate=Fraction(2, 5)):
    ns = floor((tick - TICK) * rate)
    return (tick, MONOTONIC + ns, REALTIME + ns + realtime_shift)


def anchor_bytes(at):
    return struct.pack("<QQQQII", at[0], at[1] + 5, at[1], at[2], 40, 0)


class Stream:
    def __init__(self, first):
        self.tick, self.previous, self.off = first, 0, 0
        self.table = [0] * 256
        self.data = bytearray()
        self.words = self.records = 0
        self.hits = []  # (tick, code, ticks off the CPU); code None: a point in time without a hit

    def slot(self):
        return (self.previous % 2**32 * 2654435761 % 2**32) >> 24

    def put(self, item):
        if isinstance(item, Raw):
            self.data += item.data
            self.words += 1
            self.records += 1
            return
        delta = item.tick - self.tick
        self.tick = item.tick
        if isinstance(item, Cpu):
            self.off += item.ticks
            zigzag = (item.ticks << 1 ^ item.ticks >> 63) % 2**64
            self.data += num(delta << 1 | 1) + num(1) + num(zigzag)
            self.words += 3
        elif isinstance(item, Event):
            self.data += num(delta << 1 | 1) + num(2) + num(item.kind) + num(len(item.payload))
            self.data += item.payload
            self.words += 3 + (len(item.payload) + 7) // 8
            self.records += 1
            if item.kind in (18, 22) and item.packed is not None:
                self.hits.append((item.tick, item.packed, self.off))
            if item.kind == 17 and len(item.payload) >= 8:
                number, flags = struct.unpack_from("<II", item.payload)
                self.hits.append((item.tick, (site if flags & 1 else probe)(number), self.off))
            if 7 <= item.kind <= 13:  # a point in time: not a hit, but relevant for CPU times
                self.hits.append((item.tick, None, self.off))
        else:
            self.put_hit(item, delta)

    def put_hit(self, hit, delta):
        foreseen = self.table[self.slot()] == hit.code and not hit.spelled
        self.data += num(delta << 1 | (not foreseen), hit.length)
        if not foreseen:
            self.data += num(hit.code, hit.length)
        self.table[self.slot()] = self.previous = hit.code
        self.hits.append((hit.tick, hit.code, self.off))
        self.words += 1 if hit.code < 2**24 - 4096 else 2
        self.records += 1


class Block:
    """The bytes of a block, and what a reader learns from it."""

    def __init__(self, data, anchors=(), hits=(), names=()):
        self.data, self.anchors, self.hits, self.names = data, anchors, hits, names


class Trace:
    def __init__(self, pid=4711, minor=0, **info):
        self.pid, self.minor, self.blocks = pid, minor, []
        self.serial = self.records = 0
        self.ids = None
        self.words = {}  # for each chunk: the first word of the next block
        self.wall = info.get("wall", True)
        self.put_info(**info)

    def put(self, kind, payload, **learned):
        head = [b"PBLK", len(payload), 0, kind, 0, self.serial]
        head[2] = crc32c(struct.pack("<4sIIHHQ", *head) + payload)
        self.serial += 1
        self.blocks.append(Block(struct.pack("<4sIIHHQ", *head) + payload, **learned))

    def put_info(self, cpu=True, wall=True, clock=1, strings=(), strings_claimed=None, tail=b""):
        at = anchor(TICK)
        texts = [(1, "golden"), (3, "example"), (7, "0.1.0"), *strings]
        payload = bytes(range(16)) + bytes(range(16, 32))
        payload += struct.pack("<IIQ", self.pid, 1, 123456)
        payload += struct.pack("<IIQ", clock, cpu | wall << 1, RATE) + anchor_bytes(at)
        count = len(texts) if strings_claimed is None else strings_claimed
        payload += struct.pack("<IIQII", 0, 4096, 3750, 350, count)
        payload += b"".join(struct.pack("<H", tag) + string(text) for tag, text in texts) + tail
        self.put(INFO, payload, anchors=[at])

    def put_data(self, thread, items, first=None, cpu=0, rate=RATE, cpu_known=True, late=False,
                 chunk=None, first_word=None, holes=0, records=None, last=None, tail=b""):
        first = items[0].tick if first is None else first
        chunk = thread + 1 if chunk is None else chunk
        stream = Stream(first)
        for item in items:
            stream.put(item)
        events = any(isinstance(item, Event) for item in items)
        begin = self.words.get(chunk, 0) if first_word is None else first_word
        end = begin + stream.words + holes
        self.words[chunk] = max(end, self.words.get(chunk, 0))
        last = stream.tick if last is None else last
        tid = self.pid + thread
        payload = struct.pack("<IIQII", thread, tid, chunk, begin, end)
        payload += struct.pack("<II", stream.records if records is None else records,
                               cpu_known | events << 1 | late << 2)
        payload += struct.pack("<QQQQII", first, last, cpu, rate, holes, 0)
        hits = [(tick, thread, tid, code,
                 cpu + ((tick - first - off) * rate >> 32) if cpu_known else None)
                for tick, code, off in stream.hits]
        names = [(struct.unpack("<I", item.payload[:4])[0],
                  item.payload[10:][:struct.unpack("<H", item.payload[8:10])[0]])
                 for item in items if isinstance(item, Event) and item.kind == 3]
        self.records += stream.records
        self.put(DATA, payload + bytes(stream.data) + tail, hits=hits, names=names)

    def put_totals(self, kind, at, watermark, reason, records=None, tail=b"", stalls=(0, 0)):
        payload = anchor_bytes(at)
        payload += struct.pack("<QQQQQ", watermark, self.records if records is None else records,
                               0, 0, 0)
        payload += struct.pack("<QQQII", *stalls, 2500, 9, reason) + tail
        self.put(kind, payload, anchors=[at])

    def sync(self, at, watermark=0, **more):
        self.put_totals(SYNC, at, watermark, 0, **more)

    def end(self, at=None, watermark=0, **more):
        self.put_totals(END, at or anchor(TICK + 10**9), watermark, 2, **more)
        return self

    def data(self):
        header = MAGIC + struct.pack("<HH", 1, self.minor)
        return header + b"".join(block.data for block in self.blocks)

    def offset(self, number):
        """The offset of a block in the file."""
        return 16 + sum(len(block.data) for block in self.blocks[:number])

    def lines(self, lost=()):
        """The CSV of all blocks except the lost ones."""
        kept = [block for number, block in enumerate(self.blocks) if number not in lost]
        anchors = []
        for at in (at for block in kept for at in block.anchors):
            if not anchors or at[0] > anchors[-1][0]:
                anchors.append(at)
        names = dict(pair for block in kept for pair in block.names)
        hits = [hit for block in kept for hit in block.hits]
        hits.sort(key=lambda hit: hit[:2])  # stable: then by block and position
        shown = {}
        out = b""
        for tick, thread, tid, code, cpu in hits:
            if cpu is not None:
                cpu = shown[thread] = max(cpu, shown.get(thread, 0))
            if code is None:
                continue
            out += b"%d,%d,%s%s%s\n" % (self.pid, tid, label(code, names), seconds(cpu),
                                        seconds(wall_ns(anchors, tick) if self.wall else None))
        return out


def escaped(byte):
    """A row is a single line: control characters and the backslash are escaped as in C."""
    if 7 <= byte <= 13:
        return b"\\" + b"abtnvfr"[byte - 7:byte - 6]
    if byte < 32 or byte == 127:
        return b"\\%03o" % byte
    return b"\\\\" if byte == 92 else bytes([byte])


def label(code, names):
    number = (code - 16) // 2
    if code % 2 == 0:
        return b"%d" % number
    if number not in names:
        return b"site-%d" % number
    name = b"".join(escaped(byte) for byte in names[number])
    if any(special in name for special in b',"'):
        return b'"' + name.replace(b'"', b'""') + b'"'
    return name


def seconds(ns):
    return b",," if ns is None else b",%d,%d" % divmod(ns, 10**9)


def wall_ns(anchors, tick):
    if len(anchors) == 1:
        return floor(anchors[0][2] + Fraction((tick - anchors[0][0]) * RATE, 2**32))
    place = max([n for n, at in enumerate(anchors) if at[0] <= tick], default=0)
    pair = min(place, len(anchors) - 2)
    ticks, monotonic, realtime = (b - a for a, b in zip(anchors[pair], anchors[pair + 1]))
    rise = monotonic if realtime < 0 or abs(realtime - monotonic) > 10**7 else realtime
    return floor(anchors[place][2] + Fraction((tick - anchors[place][0]) * rise, ticks))


class Random:
    """Reproducible pseudo-random numbers."""

    def __init__(self, seed):
        self.state = seed

    def below(self, limit):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % limit


# ---- Good ----

def one_hit(**info):
    trace = Trace(**info)
    trace.put_data(0, [Hit(TICK + 1000, probe(7))])
    return trace


def good_numbers():
    trace = Trace()
    items, tick = [], TICK
    for bits in range(0, 56):  # lengths 1 to 9, on both sides of each limit
        for delta in (2**bits - 1, 2**bits):
            tick += delta
            items.append(Hit(tick, probe(bits)))
    trace.put_data(0, items)
    at = anchor(tick + 1)
    trace.sync(at, watermark=tick)
    overlong = [Hit(tick + n, probe(n), length=n) for n in range(1, 10)]
    overlong += [Hit(tick + 10 + n, probe(1), length=n) for n in range(1, 10)]
    trace.put_data(0, overlong)
    return trace.end(anchor(tick + 1000), watermark=tick + 20)


def good_predicted():
    trace = Trace()
    codes = [probe(n) for n in (1, 2, 3, 1, 2, 3, 1, 2, 4, 1, 2, 3, 5, 5, 5, 5, 0, 0, 0)]
    items = [Hit(TICK + 10 * n, code) for n, code in enumerate(codes * 3)]
    items += [Hit(TICK + 5000 + n, code, spelled=True) for n, code in enumerate(codes)]
    trace.put_data(0, items)
    trace.put_data(0, [Hit(TICK + 6000 + n, probe(5)) for n in range(4)])  # the table is reset
    many = [Hit(TICK + 7000 + n, probe(n * 37 % 400)) for n in range(800)]  # slots are shared
    trace.put_data(0, many)
    return trace.end()


def good_wide_ids():
    numbers = [0, 1, 2**7, 8386559, 8386560, 2**24, 2**31 - 1, 2**31, 2**31 + 8, U32 - 1, U32]
    trace = Trace()
    codes = [code(n) for n in numbers for code in (probe, site)] * 3
    trace.put_data(0, [Hit(TICK + 3 * n, code) for n, code in enumerate(codes)])
    return trace.end()


def good_sites():
    names = ["plain", "a,b", 'say "so"', '"', ",", "", "zwei Wörter", "line\nbreak", "cr\rhere",
             " blank ", "0", "x" * 255, "tab\there", "'single'", "site-1"]
    trace = Trace()
    items = [declare(TICK + n, n, name) for n, name in enumerate(names)]
    items += [Hit(TICK + 100 + n, site(n)) for n in range(len(names) + 2)]  # two are undeclared
    items += [declare(TICK + 200, 1, "a,b"), Hit(TICK + 201, site(1))]  # as after a new recording
    items += [declare(TICK + 203, U32, "last"), Hit(TICK + 204, site(3))]
    trace.put_data(0, items)
    trace.put_data(1, [Hit(TICK + 300, site(2)), Hit(TICK + 301, site(U32))])  # another's sites
    return trace.end()


def good_names():
    trace = Trace()
    for thread in range(3):
        items = [Event(TICK + thread, 1, b"worker %d" % thread), Hit(TICK + 10, probe(1)),
                 Event(TICK + 11, 2, struct.pack("<I", 1) + b"parse, then read"),
                 Hit(TICK + 12, probe(1)), Event(TICK + 13, 1, "später".encode()),
                 Event(TICK + 13, 1, b""), Hit(TICK + 14, probe(1)),
                 Event(TICK + 15, 2, struct.pack("<I", 1) + b"renamed"), Hit(TICK + 16, probe(1))]
        trace.put_data(thread, items)
    return trace.end()


def good_stalls():
    trace = Trace()
    items = []
    for n in range(5):
        begin = TICK + 100 * n
        items += [Event(begin, 4, struct.pack("<Q", 10**n)), Hit(begin + 50, probe(n))]
    trace.put_data(0, items)
    return trace.end(stalls=(5, 11111))


def good_cpu():
    trace = Trace()
    items = [Hit(TICK, probe(1)), Cpu(TICK + 500, 300), Hit(TICK + 500, probe(2)),
             Cpu(TICK + 900, -250), Hit(TICK + 900, probe(3)), Cpu(TICK + 1000, 5000),
             Hit(TICK + 1000, probe(4)), Hit(TICK + 3000, probe(5)), Hit(TICK + 9000, probe(6)),
             Cpu(TICK + 9000, -2**40), Cpu(TICK + 9001, 2**40), Hit(TICK + 9002, probe(7)),
             Cpu(TICK + 9003, -1), Cpu(TICK + 9003, 0), Hit(TICK + 9003, probe(8))]
    trace.put_data(0, items, cpu=123456789)
    trace.put_data(0, [Hit(TICK + 20000, probe(1)), Hit(TICK + 30000, probe(2))], cpu=123456000)
    # Below zero, and at another rate; the first tick precedes the first record.
    items = [Cpu(TICK + 15, 10**6), Hit(TICK + 20, probe(1)), Hit(TICK + 3 * 10**6, probe(2))]
    trace.put_data(1, items, first=TICK + 10, rate=2**33 + 12345)
    trace.put_data(2, [Hit(TICK + 30, probe(1))], cpu=2**62)
    return trace.end()


def good_no_cpu():
    trace = Trace(cpu=False)
    trace.put_data(0, [Hit(TICK + n, probe(n)) for n in range(3)], cpu_known=False)
    # The block's own flag applies, whatever INFO states; earlier output stays valid.
    trace.put_data(0, [Hit(TICK + 100 + n, probe(n)) for n in range(3)], cpu=5000)
    trace.put_data(0, [Hit(TICK + 200 + n, probe(n)) for n in range(3)], cpu_known=False)
    trace.put_data(0, [Hit(TICK + 300 + n, probe(n)) for n in range(3)], cpu=4000)
    return trace.end()


def good_moments():
    """A CPU time is never less than that of an earlier record, whether a hit or not."""
    trace = Trace()
    items = [Hit(TICK, probe(1))]
    for number, kind in enumerate([17, 18, 22, *PAYLOAD_BYTES]):
        tick = TICK + 1000 * (number + 1)
        payload = bytes(PAYLOAD_BYTES.get(kind, 0))
        payload = struct.pack("<II", 5, 0) if kind == 17 else payload
        payload = num(6 << (6 if kind == 18 else 10)) if kind in (18, 22) else payload
        packed = probe(6) if kind in (18, 22) else None
        # The event's CPU time is 600 ticks more than that of the hit after it.
        items += [Cpu(tick, -600), Event(tick, kind, payload, packed), Cpu(tick + 10, 600),
                  Hit(tick + 10, probe(2)), Hit(tick + 800, probe(3))]
    items += [Cpu(TICK + 20000, -600), Event(TICK + 20000, 17, b"no hit"),
              Event(TICK + 20000, 18, b""), Cpu(TICK + 20001, 600), Hit(TICK + 20001, probe(4))]
    trace.put_data(0, items, cpu=5 * 10**6)
    # A block without CPU times is ignored.
    trace.put_data(1, [Event(TICK + 9, 9, bytes(4))], cpu=10**9, cpu_known=False)
    trace.put_data(1, [Hit(TICK + 10, probe(1))], cpu=1000)
    return trace.end()


def good_no_wall():
    return one_hit(wall=False).end()


def good_neither():
    trace = Trace(wall=False, cpu=False)
    trace.put_data(0, [Hit(TICK + n, probe(n)) for n in range(3)], cpu_known=False)
    return trace.end()


def good_threads():
    """Interleaved, with equal ticks: ordered by thread number, then block, then stream."""
    trace = Trace()
    for part in range(3):
        for thread in (4, 2, 0, 3):
            begin = TICK + part * 1000
            items = [Hit(begin + (thread + 1) * n, probe(10 * thread + part)) for n in range(20)]
            trace.put_data(thread, items, cpu=part * 10**6)
        trace.sync(anchor(TICK + part * 1000 + 900), watermark=TICK + (part + 1) * 1000)
    trace.put_data(9, [Hit(TICK + 4000, probe(n)) for n in (3, 1, 2)])
    trace.put_data(9, [Hit(TICK + 4000, probe(n)) for n in (9, 8)])
    trace.put_data(1, [Hit(TICK + 4000, probe(n)) for n in (5, 5)])
    return trace.end(watermark=TICK + 4000)


def good_overlap():
    """A signal handler probed inside a probe: two blocks of a thread overlap."""
    trace = Trace()
    trace.put_data(0, [Hit(TICK + n, probe(1)) for n in range(0, 100, 10)])
    trace.put_data(0, [Hit(TICK + n, probe(2)) for n in range(55, 200, 15)], cpu=10)
    trace.put_data(0, [Hit(TICK + n, probe(3)) for n in range(100, 260, 20)], chunk=8)
    return trace.end()


def good_late():
    trace = Trace()
    items = [Hit(TICK + n, probe(1)) for n in range(0, 100, 10)]
    trace.put_data(0, items[:5])
    trace.put_data(0, items[5:], first_word=6)
    trace.sync(anchor(TICK + 200), watermark=TICK + 150)
    trace.put_data(0, [Hit(TICK + 45, probe(2))], late=True, first_word=5)
    trace.put_data(0, [Hit(TICK + n, probe(3)) for n in range(160, 200, 10)])
    trace.sync(anchor(TICK + 300), watermark=TICK + 250)
    trace.put_data(1, [Hit(TICK + 165, probe(4)), Hit(TICK + 400, probe(5))], late=True)
    return trace.end(watermark=TICK + 400)


def good_holes():
    trace = Trace()
    trace.put_data(0, [Hit(TICK + n, probe(1)) for n in range(5)], holes=3)
    return trace.end()


def good_realtime_set():
    trace = Trace()
    steps = [(10**6, 0), (2 * 10**6, 3600 * 10**9), (3 * 10**6, 3600 * 10**9),
             (4 * 10**6, -50 * 10**6), (5 * 10**6, -50 * 10**6 + 9 * 10**6)]
    begin = 0
    for ticks, shift in steps:
        for thread in range(2):
            spread = [begin, begin + 333333, begin + 777777, ticks - 1]
            trace.put_data(thread, [Hit(TICK + n, probe(1)) for n in spread])
        trace.sync(anchor(TICK + ticks, shift), watermark=TICK + ticks)
        begin = ticks
    # The last pair was set, too, so the rate of its other clock applies after it.
    trace.put_data(0, [Hit(TICK + n, probe(2)) for n in (begin, begin + 10**6, 3 * begin)])
    return trace.end(anchor(TICK + begin + 5 * 10**5, 10**12), watermark=TICK + 3 * begin)


def good_realtime_slewed():
    """Different rates between anchors, and an anchor that is not later than the previous one."""
    trace = Trace()
    for n, (ticks, shift) in enumerate([(10**6, 7), (10**6, 10**6), (3 * 10**6 + 1, 9 * 10**6),
                                        (7 * 10**6 + 2, 123), (9 * 10**6 + 1, -321)]):
        begin = TICK + 10**6 * n
        trace.put_data(0, [Hit(begin + 142857 * k, probe(n)) for k in range(1, 7)])
        trace.sync(anchor(TICK + ticks, shift))
    return trace.end(anchor(TICK + 10**7))


def good_before_first_anchor():
    trace = Trace()
    trace.put_data(0, [Hit(TICK - n, probe(n)) for n in (10**6, 12345, 1002, 1001, 2, 1, 0)])
    return trace.end(anchor(TICK + 10**6 + 1))


def good_single_anchor():
    trace = Trace()
    ticks = [1, 2, 3, 10**3, 2**31 + 1, 10**12]
    trace.put_data(0, [Hit(TICK + n, probe(1)) for n in ticks])
    return trace.end(anchor(TICK))


def good_unknown():
    """Additions of a later minor version: block types, event kinds, tags, longer payloads."""
    trace = Trace(minor=7, strings=[(999, "later"), (2, b"a\0b")], tail=b"more of INFO")
    trace.put(77, b"a block that nobody knows")
    trace.put(0, b"")
    items = [Event(TICK, 1, b"known"), Event(TICK + 1, 60, b"event of another kind"),
             Event(TICK + 2, 2**40, b""), Hit(TICK + 3, probe(1)),
             declare(TICK + 4, 0, "longer", b"what a later version says of a site"),
             Hit(TICK + 5, site(0)), Event(TICK + 6, 4, struct.pack("<QQ", 5, 6)),
             Event(TICK + 7, 99, bytes(2040)), Hit(TICK + 8, probe(1))]
    trace.put_data(0, items)
    trace.sync(anchor(TICK + 100), tail=b"more of SYNC")
    trace.put(65535, bytes(300))
    trace.put_data(0, [Hit(TICK + 200, probe(2))])
    return trace.end(tail=b"more of END")


def good_with_ids():
    """Hits with ids: each role, missing ids, roles and flags of a later version."""
    trace = Trace(minor=2)

    def hit(tick, number, flags, *ids, tail=b""):
        payload = struct.pack(f"<II{len(ids)}Q", number, flags, *ids)
        return Event(TICK + tick, 17, payload + tail)

    items = [declare(TICK, 0, "jobs:put"), Hit(TICK + 1, probe(1))]
    items += [hit(10 + role, role % 2, role << 8 | 6 | role % 2, 99, 2**64 - 1 - role)
              for role in range(8)]
    items += [hit(20, U32, 2, 7), hit(21, 0, 1 | 4 | 1 << 8, 8), hit(22, 5, 0),
              hit(23, 5, 6, 9), hit(24, 5, 2, tail=b"short"), hit(25, 6, 0xfffffffe, 1, 2),
              hit(26, 7, 2, 3, tail=b"later"), Event(TICK + 27, 17, b"no hit"),
              hit(28, 77, 3, 4), Hit(TICK + 29, probe(1))]
    trace.put_data(0, items)
    return trace.end()


def good_packed_ids():
    """The same in packed form: changed ids and missing ids."""
    trace = Trace(minor=2)

    def packed(tick, number, flags, *changes, cut=False):
        data = b"".join([num(number << 6 | flags)] + [num(change) for change in changes])
        code = None if cut else (site if flags & 1 else probe)(number)
        return Event(TICK + tick, 18, data, code)

    items = [declare(TICK, 0, "jobs:put"), packed(30, 3, 4 << 3 | 6, 200, 2**48),
             packed(31, 0, 1 | 5 << 3 | 6, 1, 0), packed(32, 3, 6, 8, cut=True),
             Event(TICK + 33, 17, struct.pack("<IIQ", 4, 2, 9)), packed(33, U32, 2, 2**64 - 1),
             packed(34, 3, 0), packed(35, U32 + 1, 0, cut=True), Event(TICK + 36, 18, b"")]
    trace.put_data(0, items)
    trace.put_data(0, [packed(50, 3, 6, 2, 2)], chunk=1)
    return trace.end()


def good_placed_ids():
    """Hits with a place, in both forms; roles above 7; ids of 18 and 22, each with its own; a
    mapping."""
    trace = Trace(minor=4)
    last = {}
    trace.ids = b""

    def learn(role, flags=0, ids=()):
        values = (b"%d" % id for id in ids)
        cells = [next(values, b"") if flags & bit else b"" for bit in (2, 4, 8)]
        trace.ids += b",".join([ROLES.get(role, b""), *cells]) + b"\n"

    def plain(tick, flags, role, *ids):
        learn(role, flags, ids)
        head = struct.pack("<II", 3, flags | role << 8)
        return Event(TICK + tick, 17, head + b"".join(struct.pack("<Q", id) for id in ids))

    def packed(tick, kind, number, flags, role, *changes, cut=False):
        first = number << 6 | role << 3 | flags if kind == 18 else number << 10 | role << 4 | flags
        data = b"".join([num(first)] + [num(change) for change in changes])
        code = None if cut else (site if flags & 1 else probe)(number)
        bits = [] if cut else [bit for bit in (2, 4, 8) if flags & bit]
        for bit, change in zip(bits, changes):
            value = last.get((kind, bit), 0) + (change >> 1 ^ -(change & 1))
            last[kind, bit] = value % 2**64
        if not cut:
            learn(role, flags, [last[kind, bit] for bit in bits])
        return Event(TICK + tick, kind, data, code)

    mapping = struct.pack("<QQQ", 2**46, 2**46 + 4096, 2**46 - 4096)
    items = [declare(TICK, 0, "mutex:hold"), declare(TICK, 4, "memory:allocate"),
             Event(TICK, 23, mapping + string("/bin/x") + string("0123ab") + b"later"),
             plain(1, 8 | 4, 2, 7, 2**46 + 5), plain(2, 8 | 2, 13, 7)]
    items += [packed(3, 22, 0, 13, 2, 14, 2**47), packed(4, 18, 0, 5, 2, 3),
              packed(5, 22, 4, 15, 13, 200, 1, 9), packed(6, 22, 4, 14, 14, 1, 1, cut=True),
              packed(7, 22, U32, 0, 63), packed(8, 22, U32 + 1, 0, 8, cut=True),
              Event(TICK + 9, 22, b""), packed(10, 22, 5, 0, 17), packed(11, 18, 3, 6, 4, 7, 2),
              packed(12, 22, 3, 14, 9, 1, 2, 3), packed(13, 18, 3, 6, 5, 2, 4)]
    trace.put_data(0, items)
    last.clear()
    trace.put_data(0, [packed(50, 22, 3, 14, 8, 2, 2, 2)], chunk=1)
    return trace.end()


def good_listed():
    """SITES: all kinds, repeated texts; a kind, fields and rows of a later version."""
    trace = Trace(minor=2)

    def text(value):
        return b"\1" if value is None else num(len(value) + 1) + value.encode()

    def row(kind, level, flags, line, number, *texts, tail=b""):
        fields = b"".join(num(n) for n in (kind, level, flags, line, number))
        fields += b"".join(text(value) for value in texts) + tail
        return num(len(fields)) + fields

    def block(rows, left_out=0, tail=b""):
        trace.put(6, struct.pack("<IIQ", len(rows), left_out, 0) + b"".join(rows) + tail)

    block([row(3, 2, 1, 10, 0, "work", "a.cc", "int work(int)", "int", ""),
           row(1, 0, 0, 2**32 - 1, 0, "parse", None, "work", "", None),
           row(2, 0, 0, 12, 2**32 - 1, "", None, None, None, None, tail=b"later"),
           row(200, 1, 1, 1, 1, "?", None, None, None, None),
           row(2, 0, 0, 14, 7, "", "b.cc", "main", "", "lib.so")], tail=b"more of SITES")
    trace.put_data(0, [declare(TICK, 0, "parse"), Hit(TICK + 1, probe(7)), Hit(TICK + 2, site(0))])
    block([row(3, 5, 2, 1, 0, "n" * 255, "p.c", "s" * 600, "", "o" * 600)], left_out=9)
    return trace.end()


def good_long_ids():
    trace = one_hit(pid=U32 - 20)
    trace.put_data(20, [Hit(TICK + 5, probe(1))], chunk=2**64 - 1)
    return trace.end()


def good_monotonic_clock():
    trace = Trace(clock=3)
    trace.put_data(0, [Hit(TICK + n * 1000, probe(n)) for n in range(9)])
    return trace.end()


def good_empty():
    return Trace().end()


def good_one():
    return one_hit().end()


def good_mixed():
    """Eight threads, nine drains, everything random."""
    random = Random(1)
    trace = Trace()
    now = [TICK + thread for thread in range(8)]
    off = [0] * 8
    trace.put_data(0, [declare(TICK, n, "site %d" % n) for n in range(4)])
    for part in range(9):
        begin = TICK + part * 10**6
        for thread in range(8):
            items, now[thread] = [], max(now[thread], begin)
            cpu = (now[thread] - TICK - off[thread]) * RATE >> 32
            first = now[thread]
            for _ in range(random.below(30)):
                now[thread] += random.below(1 << random.below(15))
                if random.below(8) == 0:
                    ticks = random.below(2000)
                    off[thread] += ticks
                    now[thread] += ticks
                    items.append(Cpu(now[thread], ticks))
                code = random.below(40) if random.below(30) else random.below(2**33)
                items.append(Hit(now[thread], 16 + code))
            if items:
                trace.put_data(thread, items, first=first, cpu=max(cpu, 0))
        shift = random.below(2000) - 1000
        trace.sync(anchor(begin + 10**6, shift), watermark=begin + 10**6)
    return trace.end(anchor(TICK + 10**8), watermark=TICK + 9 * 10**6)


# ---- Bad ----

def sound():
    """INFO, DATA, DATA, SYNC, DATA, DATA, SYNC, END: blocks 0 to 7."""
    trace = Trace()
    for part in range(2):
        for thread in range(2):
            begin = TICK + 1000 * part
            items = [Hit(begin + (10 + thread) * n, probe(part)) for n in range(12)]
            trace.put_data(thread, items)
        trace.sync(anchor(TICK + 1000 * part + 500), watermark=TICK + 1000 * part + 500)
    return trace.end(watermark=TICK + 2000)


def seal(block):
    """A block with a recomputed checksum."""
    block[8:12] = bytes(4)
    block[8:12] = struct.pack("<I", crc32c(block))
    return bytes(block)


def patched(trace, number, at, value, sealed=False):
    """The bytes of the trace with some of block `number` replaced."""
    block = bytearray(trace.blocks[number].data)
    block[at:at + len(value)] = value
    data, begin = trace.data(), trace.offset(number)
    return data[:begin] + (seal(block) if sealed else bytes(block)) + data[begin + len(block):]


def flipped(trace, number, at):
    return patched(trace, number, at, bytes([trace.blocks[number].data[at] ^ 0x10]))


def bad_cuts(put):
    trace = sound()
    data = trace.data()
    cut = ("3 ends in the middle of a block", "3 incomplete", 0)
    put("cut_in_header", data[:trace.offset(4) + 11], cut, trace.lines((4, 5, 6, 7)))
    put("cut_in_magic", data[:trace.offset(4) + 2], cut, trace.lines((4, 5, 6, 7)))
    put("cut_in_payload", data[:trace.offset(5) - 1], cut, trace.lines((4, 5, 6, 7)))
    put("cut_in_end", data[:-1], cut, trace.lines((7,)))
    put("end_missing", data[:trace.offset(7)], ("3 no END", "3 incomplete", 0),
        trace.lines((7,)))
    put("cut_in_info", data[:60], ("1 first block", "1 first block", 1))
    put("cut_behind_file_header", data[:16], ("1 first block", "1 first block", 1))
    put("cut_in_file_header", data[:15], ("1 not a Probity trace", "1 not a Probity trace", 1))


def bad_heads(put):
    data = sound().data()
    none = ("1 not a Probity trace", "1 not a Probity trace", 1)
    put("wrong_magic", b"\x89PROBITY\n\x1a\n\n" + data[12:], none)
    put("other_major_version", data[:12] + b"\2\0" + data[14:],
        ("1 another version", "1 another version", 1))
    put("not_a_trace", b"pid,tid,probe\n1,2,3\n" * 20, none)
    put("zeroes", bytes(4096), none)
    put("empty_file", b"", none)
    trace = sound()
    first = ("1 first block", "1 first block", 1)
    put("info_missing", data[:16] + data[trace.offset(1):], first)
    put("info_damaged", flipped(trace, 0, 60), first)
    put("info_too_short", data[:16] + seal(bytearray(
        b"PBLK" + struct.pack("<IIHHQ", 40, 0, INFO, 0, 0) + bytes(40))) + data[trace.offset(1):],
        first)
    put("info_string_too_long",
        patched(trace, 0, HEADER_BYTES + 130, b"\xff\xff", True), first)
    put("info_claims_4294967295_strings", Trace(strings_claimed=U32).end().data(), first)


def bad_blocks(put):
    trace = sound()
    data = trace.data()
    lost = ("3 byte %d" % trace.offset(4), "3 incomplete", 1)
    rest = trace.lines((4,))
    put("bit_in_payload", flipped(trace, 4, 100), lost, rest)
    put("bit_in_checksum", flipped(trace, 4, 9), lost, rest)
    put("bit_in_magic", flipped(trace, 4, 2), lost, rest)
    put("bit_in_type", flipped(trace, 4, 12), lost, rest)
    put("bit_in_serial", flipped(trace, 4, 16), lost, rest)
    put("bit_in_length", flipped(trace, 4, 4), lost, rest)
    put("length_behind_the_file", patched(trace, 4, 4, struct.pack("<I", 2**24)), lost, rest)
    put("length_4294967295", patched(trace, 4, 4, struct.pack("<I", U32)), lost, rest)
    put("sync_damaged", flipped(trace, 3, 50), ("3 byte %d" % trace.offset(3), "3 incomplete", 1),
        trace.lines((3,)))
    put("two_blocks_damaged", flipped(trace, 1, 100)[:trace.offset(4)] +
        flipped(trace, 4, 100)[trace.offset(4):], ("3 byte %d" % trace.offset(1), "3 incomplete", 1),
        trace.lines((1, 4)))
    put("serial_gap", data[:trace.offset(4)] + data[trace.offset(5):],
        ("3 byte %d" % trace.offset(4), "3 incomplete", 1), rest)
    put("block_repeated", data[:trace.offset(4)] + data[trace.offset(2):],
        ("3 byte %d" % trace.offset(4), "3 incomplete", 1), trace.lines())
    put("garbage_between", data[:trace.offset(4)] + b"PBLK garbage" + data[trace.offset(4):],
        ("3 byte %d" % trace.offset(4), "3 incomplete", 1), trace.lines())
    behind = ("3 after", "3 incomplete", 1)
    put("garbage_behind_end", data + b"\x5a" * 100, behind, trace.lines())
    put("byte_behind_end", data + b"\0", behind, trace.lines())
    late = sound()
    late.put_data(0, [Hit(TICK + 5000, probe(9))])
    put("block_behind_end", late.data(), behind, trace.lines())
    late = sound()
    late.put_info()
    late.end()
    put("second_trace_behind_end", late.data(), behind, trace.lines())
    double = Trace()
    double.put_info()
    double.put_data(0, [Hit(TICK + 1, probe(1))])
    put("second_info", double.end().data(), ("3 second INFO", "0", 1), double.lines())


def bad_fields(put):
    """Blocks with a valid checksum and invalid content."""
    trace = sound()
    wrong = ("3 byte %d" % trace.offset(4), "3 incomplete", 1)
    base = HEADER_BYTES
    put("claims_4294967295_records", patched(trace, 4, base + 24, struct.pack("<I", U32), True),
        wrong)
    put("claims_0_records", patched(trace, 4, base + 24, bytes(4), True), wrong)
    put("claims_one_record_more", patched(trace, 4, base + 24, struct.pack("<I", 13), True), wrong)
    put("last_tick_wrong", patched(trace, 4, base + 40, struct.pack("<Q", TICK + 1111), True),
        ("3 last tick", "0", 1), trace.lines())
    put("data_too_short", trace.data()[:trace.offset(4)] + seal(bytearray(
        b"PBLK" + struct.pack("<IIHHQ", 71, 0, DATA, 0, 4) + bytes(71))) +
        trace.data()[trace.offset(5):], wrong, trace.lines((4,)))
    put("sync_too_short", trace.data()[:trace.offset(3)] + seal(bytearray(
        b"PBLK" + struct.pack("<IIHHQ", 111, 0, SYNC, 0, 3) + bytes(111))) +
        trace.data()[trace.offset(4):], ("3 byte %d" % trace.offset(3), "3 incomplete", 1),
        trace.lines((3,)))
    short = sound()
    short.blocks.pop()
    short.serial -= 1
    short.end(records=short.records + 5, watermark=TICK + 2000)
    put("end_counts_more", short.data(), ("3 records", "3 incomplete", 1), short.lines())
    short.blocks.pop()
    short.serial -= 1
    short.end(records=short.records - 5, watermark=TICK + 2000)
    put("end_counts_fewer", short.data(), ("3 records", "0", 1), short.lines())


def bad_streams(put):
    """Streams that break the rules, in the second of three DATA blocks."""
    tick = TICK + 1000

    def stream(name, raw, **more):
        trace = one_hit()
        trace.put_data(0, [Hit(tick, probe(1)), Raw(raw)], last=tick, **more)
        trace.put_data(1, [Hit(TICK + 2000, probe(2))])
        put(name, trace.end().data(), ("3 byte %d" % trace.offset(2), "3 incomplete", 1))

    stream("table_miss", num(0))
    for code in (0, 3, 15):
        stream("code_%d" % code, num(1) + num(code))
    stream("code_too_large", num(1) + num(16 + 2**33))
    stream("code_largest", num(1) + num(2**64 - 1))
    stream("number_cut", b"\x80")
    stream("number_cut_of_9", b"\0\1\2")
    stream("code_missing", num(1))
    stream("event_too_long_for_payload", num(1) + num(2) + num(1) + num(100) + b"short")
    stream("event_of_2041", num(1) + num(2) + num(9) + num(2041) + bytes(2041))
    stream("event_of_4294967295", num(1) + num(2) + num(1) + num(U32) + b"short")
    stream("event_of_18446744073709551615", num(1) + num(2) + num(1) + num(2**64 - 1) + b"short")
    stream("tick_beyond_64_bits", num(2**64 - 1) + num(probe(1)) + num(2**64 - 1) + num(probe(1)))
    stream("cpu_without_change", num(1) + num(1))
    stream("nothing_but_cpu", num(1) + num(1) + num(5))
    site_event = struct.pack("<IIH", 0, 7, 200) + b"name"
    trace = one_hit()
    trace.put_data(0, [Event(tick, 3, site_event), Hit(tick, site(0))])
    put("site_string_too_long", trace.end().data(), ("3 byte %d" % trace.offset(2), "0", 1))


def main():
    root = sys.argv[1]
    for directory in ("good", "bad"):
        os.makedirs(os.path.join(root, directory), exist_ok=True)

    def write(directory, name, data):
        with open(os.path.join(root, directory, name), "wb") as file:
            file.write(data)

    def put(name, data, expected, lines=None):
        check, csv, decoder = expected
        write("bad", name + ".probity", data)
        write("bad", name + ".expect",
              ("check %s\ncsv %s\ndecoder %d\n" % (check, csv, decoder)).encode())
        if lines is not None:
            write("bad", name + ".csv", lines)

    for name, make in sorted(globals().items()):
        if name.startswith("good_"):
            trace = make()
            write("good", name[5:] + ".probity", trace.data())
            write("good", name[5:] + ".csv", trace.lines())
            if trace.ids is not None:
                write("good", name[5:] + ".ids", trace.ids)
    for make in (bad_cuts, bad_heads, bad_blocks, bad_fields, bad_streams):
        make(put)


if __name__ == "__main__":
    main()
