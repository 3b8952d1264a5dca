"""Runs a recording command on copies of programs whose unloaded parts are changed.

hostile_objects.py SEED SECONDS PROGRAM... -- COMMAND...

Symbol tables, strings, debugging information, section headers and the ELF header's fields about
sections are changed or cut off; segments are unchanged, and therefore each copy must run like the
original. Fails if the command's status is not the program's, or it takes too long.
"""
import os
import random
import struct
import subprocess
import sys
import time

EDGES = [0, 1, 2, 127, 128, 255, 0xffff, 0x7fffffff, 0xffffffff, 1 << 32, (1 << 63) - 1, 1 << 63,
         (1 << 64) - 1, (1 << 64) - 16]
LOADED = 2  # SHF_ALLOC
LIMIT_SECONDS = 300


def sections_of(program):
    """Sections that are not loaded, as (offset, size), and the end of what is loaded."""
    offset, = struct.unpack_from("<Q", program, 40)
    size, count = struct.unpack_from("<HH", program, 58)
    found, end = [], 0
    for i in range(count):
        _, kind, flags, _, start, length = struct.unpack_from("<IIQQQQ", program, offset + i * size)
        if flags & LOADED:
            end = max(end, start + (length if kind != 8 else 0))
        elif length > 0 and kind not in (0, 8):
            found.append((start, length))
    return found, (offset, size * count), end


def change(program, random_source):
    changed = bytearray(program)
    found, headers, end = sections_of(program)
    for _ in range(random_source.choice((1, 1, 2, 4, 16))):
        what = random_source.random()
        start, length = headers if what < 0.15 else random_source.choice(found)
        at = start + random_source.randrange(length)
        if what > 0.97:
            return changed[:random_source.randrange(end, len(changed))]
        if what > 0.94:
            struct.pack_into("<H", changed, random_source.choice((58, 60, 62)),
                             random_source.choice(EDGES) & 0xffff)
        elif what > 0.92:
            struct.pack_into("<Q", changed, 40, random_source.choice(EDGES))
        elif what > 0.6:
            changed[at] = random_source.choice((0, 1, 0x7f, 0x80, 0xff, changed[at] ^ 1 << 3))
        elif what > 0.4:
            changed[at] = random_source.randrange(256)
        elif what > 0.3:
            other, more = random_source.choice(found)
            size = min(random_source.randrange(1, 64), start + length - at, more)
            changed[at:at + size] = changed[other:other + size]
        else:
            size = random_source.choice((1, 2, 4, 8))
            if at + size <= start + length:
                changed[at:at + size] = struct.pack("<Q", random_source.choice(EDGES))[:size]
    return changed


def main():
    split = sys.argv.index("--")
    seed, seconds = int(sys.argv[1]), float(sys.argv[2])
    programs = [open(name, "rb").read() for name in sys.argv[3:split]]
    command = sys.argv[split + 1:] + ["-f", "--", "./changed"]
    end, count, failures = time.monotonic() + seconds, 0, 0
    expected = [subprocess.run(["./" + name], stdout=subprocess.DEVNULL, check=False).returncode
                for name in sys.argv[3:split]]
    while count < 20 or time.monotonic() < end:
        random_source = random.Random(seed * 1000003 + count)
        which = random_source.randrange(len(programs))
        with open("changed.new", "wb") as file:
            file.write(change(programs[which], random_source))
        os.chmod("changed.new", 0o755)
        os.replace("changed.new", "changed")
        try:
            done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                  timeout=LIMIT_SECONDS, check=False)
            status, said = done.returncode, done.stderr.decode(errors="replace")
        except subprocess.TimeoutExpired:
            status, said = "none: it hangs", ""
        if status != expected[which] or "Sanitizer" in said or "runtime error" in said:
            failures += 1
            os.rename("changed", f"failed.{count}")
            print(f"copy {count} of seed {seed}: status {status}: {said[-2000:]}")
        if "damaged, or takes too long" in said:
            print(f"copy {count} of seed {seed}: {said[-300:].strip()}")
        count += 1
    print(f"{count} changed copies, {failures} failed")
    return failures > 0


sys.exit(main())
