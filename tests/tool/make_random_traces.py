#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# Writes random traces and the expected CSV of each: `make_random_traces.py SEED COUNT DIRECTORY`.
# All are complete, and use all that the format permits: threads with overlapping blocks, late
# blocks, CPU clocks that seem to go backwards, blocks without CPU times, events of every kind
# between hits. The CSV comes from make_golden.py, which does not decode.
import os
import struct
import sys

from make_golden import (PAYLOAD_BYTES, RATE, TICK, Cpu, Event, Hit, Random, Trace, anchor, declare, num, probe,
                         site)


def random_event(random, tick):
    kind = [17, 18, 22, *PAYLOAD_BYTES][random.below(3 + len(PAYLOAD_BYTES))]
    number, flags = random.below(6), random.below(8 if kind == 18 else 16)
    if kind == 17:
        ids = b"".join(struct.pack("<Q", random.below(99)) for bit in (2, 4, 8) if flags & bit)
        return Event(tick, 17, struct.pack("<II", number, flags) + ids)
    if kind in (18, 22):
        ids = b"".join(num(random.below(99)) for bit in (2, 4, 8) if flags & bit)
        code = (site if flags & 1 else probe)(number)
        first = number << (6 if kind == 18 else 10) | random.below(4) << 4 | flags
        return Event(tick, kind, num(first) + ids, code)
    return Event(tick, kind, bytes(PAYLOAD_BYTES[kind]))


def random_items(random, tick):
    items = []
    for _ in range(1 + random.below(30)):
        tick += random.below(3) * random.below(4000)
        what = random.below(10)
        if what < 3:
            items.append(Cpu(tick, random.below(9000) - 4500))
        if what < 4:
            items.append(random_event(random, tick))
        else:
            items.append(Hit(tick, (site if what == 9 else probe)(random.below(5))))
    return items, tick


def random_trace(random):
    trace = Trace(pid=1 + random.below(99999), wall=random.below(8) > 0)
    threads = 1 + random.below(3)
    trace.put_data(threads, [declare(TICK, n, "site %d" % n) for n in range(4)])
    # After the declarations: a reader that merges threads may return others of the same tick first.
    now = [TICK + 1 + random.below(1000) for _ in range(threads)]
    cpu = [random.below(10**7) for _ in range(threads)]
    for number in range(1 + random.below(8)):
        thread = random.below(threads)
        first = now[thread]
        items, last = random_items(random, first)
        trace.put_data(thread, items, first=first, cpu=cpu[thread], late=random.below(5) == 0,
                       rate=RATE + random.below(1000), cpu_known=random.below(6) > 0)
        # The next block may begin before this one ends, as when a signal handler probes inside a
        # probe.
        now[thread] = last - random.below(2) * random.below(last - first + 1)
        cpu[thread] += (now[thread] - first) * 2 // 5 + random.below(3000) - 1500
        cpu[thread] = max(cpu[thread], 0)
        if random.below(4) == 0:
            trace.sync(anchor(TICK + 10**6 * (number + 1), random.below(1000)))
    return trace.end()


def main():
    random = Random(int(sys.argv[1]))
    for number in range(int(sys.argv[2])):
        trace = random_trace(random)
        name = os.path.join(sys.argv[3], "random-%d" % number)
        with open(name + ".probity", "wb") as file:
            file.write(trace.data())
        with open(name + ".csv", "wb") as file:
            file.write(trace.lines())


if __name__ == "__main__":
    main()
