#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# Writes traces of hosts whose clocks differ, and the true times: `make_hosts.py SEED DIRECTORY
# [KIND]`. Requests go from host a to b, and from b to c, over a network with random, asymmetric
# delays. Clocks are off by seconds and drift by up to 200 ppm. KIND: "messages" (default),
# "requests" (no sends and receives), "one-way" (no replies), "stepped" (the clock of b is set, and
# its anchors show it), "jumped" (they do not show it), "reused" (an id is used for two things),
# "cut" (the program was killed before a second anchor), "named" (b's name has characters that
# terminals interpret). DIRECTORY/truth.json has, for each host, its offset and drift against a, and
# the true times of its hits.
import json
import os
import struct
import sys
from fractions import Fraction

from make_golden import MONOTONIC, RATE, REALTIME, TICK, Event, Random, Trace, declare

NAMES = ["call:send", "call:receive", "reply:send", "reply:receive", "request:begin",
         "request:end", "fetch:send", "fetch:receive", "data:send", "data:receive"]
ROLES = [18, 19, 18, 19, 6, 7, 18, 19, 18, 19]
CALL, CALLED, REPLY, REPLIED, BEGIN, END_OF, FETCH, FETCHED, DATA_SENT, DATA_GOT = range(10)


class Host:
    def __init__(self, name, number, offset_ns, drift_ppm):
        self.name, self.number, self.offset_ns = name, number, offset_ns
        self.rate = 1 + Fraction(drift_ppm, 10**6)
        self.shown = (name * 7)[:7].encode()
        self.hits = []  # true ns, site, id

    def clock(self, ns):
        """How far the host's clock has advanced at a true time."""
        return self.offset_ns + int(ns * self.rate)

    def tick(self, ns):
        return TICK + int(ns * self.rate * Fraction(5, 2))

    def anchor(self, ns, step_ns=0):
        return (self.tick(ns), MONOTONIC + int(ns * self.rate), REALTIME + self.clock(ns) + step_ns)


class HostTrace(Trace):
    """A trace with its own boot id, session and host name."""

    def __init__(self, host, start):
        self.host, self.start = host, start
        super().__init__(pid=1000 * (host.number + 1), minor=4)

    def put(self, kind, payload, **learned):
        if kind == 1:
            number = self.host.number
            at = self.host.anchor(self.start)
            payload = bytearray(payload)
            payload[0:16] = bytes([number + 1] * 16)
            payload[16:32] = bytes([number + 101] * 16)
            payload[64:104] = struct.pack("<QQQQII", at[0], at[1] + 5, at[1], at[2], 40, 0)
            payload = bytes(payload).replace(b"example", self.host.shown)
        super().put(kind, payload, **learned)


def delay(random, least, most):
    """Mostly short, sometimes long."""
    span = most - least
    return least + (random.below(span) * random.below(1000) // 1000 * random.below(1000) // 1000)


def simulate(random, kind, hosts, requests, gap_ns):
    a, b, c = hosts
    now = 10**9
    for number in range(requests):
        now += 1 + random.below(gap_ns)
        request = 1 << 63 | random.below(2**31) << 32 | number
        at = now
        steps = [(a, BEGIN), (a, CALL), (b, CALLED), (b, BEGIN), (b, FETCH), (c, FETCHED),
                 (c, BEGIN), (c, END_OF), (c, DATA_SENT), (b, DATA_GOT), (b, END_OF), (b, REPLY),
                 (a, REPLIED), (a, END_OF)]
        for host, site in steps:
            if site in (CALLED, REPLIED, FETCHED, DATA_GOT):
                at += delay(random, 20000 if site in (CALLED, FETCHED) else 90000, 2000000)
            else:
                at += 1000 + random.below(50000)
            messages = site not in (BEGIN, END_OF)
            if kind == "requests" and messages or kind == "one-way" and \
                    site in (REPLY, REPLIED, DATA_SENT, DATA_GOT):
                continue
            host.hits.append((at, site, request))
    if kind == "reused":
        for number in range(3):
            a.hits.append((2 * 10**9 + number * 10**8, REPLIED, 77))
            b.hits.append((now + number * 10**8, REPLY, 77))
    return now


def write(host, end_ns, directory, kind):
    start = 10**9 // 2
    trace = HostTrace(host, start)
    host.hits.sort()
    first = host.tick(start)
    trace.put_data(0, [declare(first, number, name) for number, name in enumerate(NAMES)])
    sync = start
    step_at = end_ns // 2 if host.name == "b" and kind in ("stepped", "jumped") else None
    jump = 0
    items = []

    def flush():
        if items:
            trace.put_data(0, items, chunk=1 + len(trace.blocks))
            items.clear()

    for at, site, request in host.hits:
        while at - sync > 10**9 and kind != "cut":
            flush()
            sync += 10**9
            is_after = step_at is not None and sync > step_at
            anchor = host.anchor(sync, 3 * 10**9 if is_after and kind == "stepped" else 0)
            if is_after and kind == "jumped":
                jump = 3 * 10**9
                anchor = (anchor[0], anchor[1] + jump, anchor[2] + jump)
            trace.sync(anchor, watermark=anchor[0])
        flags = 3 | ROLES[site] << 8
        items.append(Event(host.tick(at), 17, struct.pack("<IIQ", site, flags, request)))
        if len(items) >= 100:
            flush()
    flush()
    last = host.anchor(end_ns + 10**9, 3 * 10**9 if step_at and kind == "stepped" else 0)
    if jump:
        last = (last[0], last[1] + jump, last[2] + jump)
    if kind != "cut":
        trace.end(last, watermark=last[0])
    with open(os.path.join(directory, host.name + ".probity"), "wb") as file:
        file.write(trace.data())


def main():
    random = Random(int(sys.argv[1]))
    directory, kind = sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else "messages"
    hosts = [Host("a", 0, 0, 0)]  # the others are compared with it
    for number, name in enumerate("bc", 1):
        hosts.append(Host(name, number, random.below(8 * 10**9) - 4 * 10**9,
                          random.below(401) - 200))
    if kind == "named":
        hosts[1].shown = b"\xc2\x9b1m\x9b\n\x1b"
    requests, gap_ns = 300 + random.below(1200), 1 + random.below(30 * 10**6)
    end_ns = simulate(random, kind, hosts, requests, 10**6 + gap_ns)
    for host in hosts:
        write(host, end_ns, directory, kind)
    truth = {host.name: {"offset_ns": host.offset_ns, "drift": float(host.rate - 1),
                         "hits": [[REALTIME + at, NAMES[site], request]
                                  for at, site, request in host.hits]} for host in hosts}
    with open(os.path.join(directory, "truth.json"), "w") as file:
        json.dump(truth, file)


if __name__ == "__main__":
    main()
