"""The DATA blocks of a trace (doc/trace-format.md), for tests that damage some of them."""
import struct

FILE_HEADER, BLOCK_HEADER, DATA = 16, 24, 2
FIRST_TICK, LAST_TICK = 32, 40  # places in the payload


def data_blocks(trace):
    """For each block, the place of its payload in the file and the number of its bytes."""
    at = FILE_HEADER
    while at < len(trace):
        (payload_bytes,) = struct.unpack_from("<I", trace, at + 4)
        (kind,) = struct.unpack_from("<H", trace, at + 12)
        if kind == DATA:
            yield at + BLOCK_HEADER, payload_bytes
        at += BLOCK_HEADER + payload_bytes
