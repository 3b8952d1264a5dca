#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# Rewrites a trace as if its host were another one, whose clock is ahead and drifts: `shift_clock.py
# TRACE NAME AHEAD_NS DRIFT_PPM`. Changes the boot id, the name of the host if both are of the same
# length, the clocks of all anchors, and the checksums.
import struct
import sys

from make_golden import crc32c

INFO, SYNC, END = 1, 3, 4
HEADER_BYTES = 24


def main():
    path, name, ahead, drift = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    with open(path, "rb") as file:
        data = bytearray(file.read())
    at, begin = 16, None
    while at < len(data):
        bytes_of, kind = struct.unpack_from("<I", data, at + 4)[0], \
            struct.unpack_from("<H", data, at + 12)[0]
        payload = at + HEADER_BYTES
        anchor = payload + 64 if kind == INFO else payload if kind in (SYNC, END) else None
        if kind == INFO:
            data[payload + 16:payload + 32] = (name * 16)[:16].encode()
        if anchor is not None:
            clocks = list(struct.unpack_from("<QQQ", data, anchor + 8))
            begin = clocks if begin is None else begin
            gained = [(clock - first) * drift // 10**6 for clock, first in zip(clocks, begin)]
            clocks = [clock + gain for clock, gain in zip(clocks, gained)]
            struct.pack_into("<QQQ", data, anchor + 8, clocks[0], clocks[1], clocks[2] + ahead)
            struct.pack_into("<I", data, at + 8, 0)
            end = payload + bytes_of
            struct.pack_into("<I", data, at + 8, crc32c(bytes(data[at:end])))
        at = payload + bytes_of
    with open(path, "wb") as file:
        file.write(data)


if __name__ == "__main__":
    main()
