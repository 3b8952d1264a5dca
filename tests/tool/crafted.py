#!/usr/bin/env python3
"""Writes traces and spools that no program of this project would write, from doc/trace-format.md
and doc/spool.md alone.

    crafted.py trace FILE [OPTION]...    one hit of one named site
    crafted.py spool FILE [OPTION]...    segment 0 of a dead program's spool, with no chunks in use
    crafted.py index FILE --for INDEX    the index, with marks by which all records are skipped

Options: --session HEX. For a trace: --name TEXT (of the site; backslash escapes as in Python),
--csv TEXT, --spool TEXT (the paths in INFO), --killed (no END, this boot). For a spool: --for TRACE
(the file that it claims is its trace), --committed BYTES, --segments NUMBER, --trace-path PATH
(where it claims its trace is), --program TEXT.
"""
import argparse
import os
import struct
import time

RATE = 1 << 32
START = 10000


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def num(value):
    for extra in range(8):
        if value < 1 << 7 * (extra + 1):
            return (value << extra + 1 | 1 << extra).to_bytes(extra + 1, "little")
    return b"\0" + value.to_bytes(8, "little")


def text(value):
    return struct.pack("<H", len(value)) + value


def block(kind, serial, payload):
    head = struct.pack("<4sIIHHQ", b"PBLK", len(payload), 0, kind, 0, serial)
    return head[:8] + struct.pack("<I", crc32c(head + payload)) + head[12:] + payload


def anchor(tick, now):
    return struct.pack("<QQQQII", tick, tick, tick, now + tick, 100, 0)


def boot():
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        return bytes.fromhex(file.read().replace("-", "").strip())


def info(options, now):
    strings = [(1, b"crafted"), (6, os.fsencode(options.spool)), (9, os.fsencode(options.csv))]
    strings = [(tag, value) for tag, value in strings if value]
    payload = bytes.fromhex(options.session) + boot()
    payload += struct.pack("<IIQIIQ", 999999, 1, 1, 3, 2, RATE) + anchor(1000, now)
    payload += struct.pack("<IIQII", 0, 512, 1500, 200, len(strings))
    for tag, value in strings:
        payload += struct.pack("<H", tag) + text(value)
    return payload


def data(name):
    site = struct.pack("<II", 0, 1) + text(name) + text(b"crafted.c") + text(b"main")
    stream = num(1) + num(2) + num(3) + num(len(site)) + site
    stream += num(1000 << 1 | 1) + num(16 + 1)
    return struct.pack("<IIQIIIIQQQQII", 1, 1, 1, 0, 2, 2, 2, START, START + 1000, 0, RATE, 0,
                       0) + stream


def sync(now, reason):
    return anchor(10**9, now) + struct.pack("<QQQQQQQQII", START + 1001, 2, 0, 0, 0, 0, 0, 0, 1,
                                            reason)


def trace(options):
    now = time.time_ns()
    name = options.name.encode().decode("unicode_escape").encode("latin-1")
    blocks = [(1, info(options, now)), (2, data(name))]
    blocks.append((3, sync(now, 0)) if options.killed else (4, sync(now, 2)))
    made = b"\x89PROBITY\r\n\x1a\n" + struct.pack("<HH", 1, 2)
    return made + b"".join(block(kind, i, payload) for i, (kind, payload) in enumerate(blocks))


def spool(options):
    words, chunks = 512, 1
    window = 16 * words
    first = -(-(4096 + 64 * chunks) // window) * window
    made = bytearray(first + chunks * window)
    struct.pack_into("<8sII", made, 0, b"PBSPOOL1", 1, 0)
    made[16:32], made[32:48] = bytes.fromhex(options.session), boot()
    struct.pack_into("<IIQIIIIQ", made, 48, 999999, words, 1, chunks, 1, options.segments, 1,
                     options.committed)
    struct.pack_into("<Q", made, 144, RATE)
    if options.of:
        status = os.stat(options.of)
        struct.pack_into("<QQ", made, 536, status.st_dev, status.st_ino)
    path = os.fsencode(options.trace_path)
    struct.pack_into("<II64s3384s", made, 640, len(path), 0, os.fsencode(options.program), path)
    return bytes(made)


def index(options):
    """Each mark says that the records before the END block are earlier than any time range."""
    mark, total = 35, 36
    with open(options.of, "rb") as file:
        good = file.read()
    blocks, at = [], 16
    while at < len(good):
        size, _, kind = struct.unpack_from("<IIH", good, at + 4)
        blocks.append((kind, good[at + 24:at + 24 + size]))
        at += 24 + size
    (sum_payload,) = [payload for kind, payload in blocks if kind == total]
    end, count = struct.unpack_from("<QQ", sum_payload, 24)
    blocks = [(kind, struct.pack("<QQQ", end, count - 1, 1) if kind == mark else payload)
              for kind, payload in blocks]
    return good[:16] + b"".join(block(kind, i, payload) for i, (kind, payload) in enumerate(blocks))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["trace", "spool", "index"])
    parser.add_argument("file")
    parser.add_argument("--session", default="5e" * 16)
    parser.add_argument("--name", default="site")
    parser.add_argument("--csv", default="")
    parser.add_argument("--spool", default="anywhere")
    parser.add_argument("--killed", action="store_true")
    parser.add_argument("--for", dest="of")
    parser.add_argument("--committed", type=int, default=0)
    parser.add_argument("--segments", type=int, default=1)
    parser.add_argument("--trace-path", default="")
    parser.add_argument("--program", default="")
    options = parser.parse_args()
    made = {"trace": trace, "spool": spool, "index": index}[options.what](options)
    with open(os.open(options.file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(made)


if __name__ == "__main__":
    main()
