#!/usr/bin/env bash
# `probity path` and `why` of a trace that was damaged after its index was made: with the index they
# find the same calls as without it, and `path` counts the same repairs. (With the index, `why`
# follows no paths, so that it may stop reading, and counting, at another record.)
# variants: gcc asan
. "$(dirname "$0")/../common.bash"

"$BUILD/bench/gen_scopes" spoiled 2 4
"$PROBITY" index spoiled
"$PROBITY" info --json spoiled > info
read -r start first last < <(jq -r '.[0].times | "\(.started_ns) \(.first_ns) \(.last_ns)"' info)

# Damages one in ten of the blocks that begin in the last two thirds of the time. Before that,
# everything is as when the index was made, so that the calls that were open then are known with and
# without it. Prints when the damage begins, in ns since the recording began.
spoil() {
    PYTHONPATH=$SOURCE/tests/tool python3 - "$((first - start))" "$((last - start))" << 'END'
import struct, sys
from data_blocks import FIRST_TICK, data_blocks
since, until = map(int, sys.argv[1:])
trace = bytearray(open("spoiled", "rb").read())
blocks = [(at, payload_bytes, *struct.unpack_from("<QQ", trace, at + FIRST_TICK))
          for at, payload_bytes in data_blocks(trace)]
begin, end = min(first for *_, first, _ in blocks), max(last for *_, last in blocks)
third = begin + (end - begin) // 3
for at, payload_bytes, *_ in [block for block in blocks if block[2] > third][::10]:
    trace[at + payload_bytes // 2] ^= 85
open("spoiled", "wb").write(trace)
print(since + (until - since) // 3 - 1000)
END
}
moment=$(spoil)
# In ns, because a percentage would be of the undamaged part.
for range in "--until $(((last - start) * 9 / 10))ns" \
    "--since ${moment}ns --until $(((last - start) * 9 / 10))ns"; do
    read -ra limits <<< "$range"
    for command in path why; do
        for found in by_index whole; do
            [ $found = by_index ] || mv spoiled.index kept.index
            status=0
            "$PROBITY" $command --json --function 'outer*' "${limits[@]}" spoiled > $found \
                2> errors || status=$?
            expect "$command $range, $found: status ($(cat errors))" 3 "$status"
        done
        mv kept.index spoiled.index
        for key in .repairs .spans .cases; do
            [ "$command$key" != why.repairs ] || continue
            expect "$command $range: $key" "$(jq -c $key < whole)" "$(jq -c $key < by_index)"
        done
        [ "$(jq '.spans + .cases | length' whole)" -gt 0 ] ||
            fail "$command $range: no call was found"
    done
done
finish
