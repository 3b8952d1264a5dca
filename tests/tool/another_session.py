#!/usr/bin/env python3
"""Gives a trace another session, so that it is not considered a copy.

Usage: another_session.py FROM TO
"""
import struct
import sys

from make_golden import crc32c

FILE_HEADER, BLOCK_HEADER = 16, 24

with open(sys.argv[1], "rb") as trace:
    data = bytearray(trace.read())
session = FILE_HEADER + BLOCK_HEADER
end = session + struct.unpack_from("<I", data, FILE_HEADER + 4)[0]
data[session] ^= 1
struct.pack_into("<I", data, FILE_HEADER + 8, 0)
struct.pack_into("<I", data, FILE_HEADER + 8, crc32c(bytes(data[FILE_HEADER:end])))
with open(sys.argv[2], "wb") as trace:
    trace.write(data)
