#!/usr/bin/env bash
# Times and names that commands accept: each form of a time selects the right hits; older names of
# options still work; for a mistyped word, a similar one is suggested; '-' is standard input.
. "$(dirname "$0")/../common.bash"

PROBITY_OUT=trace "$BUILD/bench/gen" trace 1 1
"$PROBITY" csv --columns=wall trace > all
total=$(wc -l < all)
start=$("$PROBITY" info --json trace | sed -n 's/.*"started_ns": \([0-9]*\).*/\1/p')
first=$(head -n 1 all | tr -d .) last=$(tail -n 1 all | tr -d .)

# Prints the hits at or after the moment $1, in ns of the real-time clock
hits_since() {
    awk -v moment="$1" '{ sub("[.]", ""); count += $1 "" >= moment "" } END { print count + 0 }' all
}

# $1 form of a time, $2 the moment that it denotes
expect_since() {
    expect "--since $1" "$(hits_since "$2")" "$("$PROBITY" csv --since "$1" trace | wc -l)"
}

# Prints the digits of a moment with a point before the nanoseconds
point() {
    echo "${1%?????????}.${1: -9}"
}

middle=$(((first + last) / 2))
[ "$(hits_since "$middle")" -gt 0 ] && [ "$(hits_since "$middle")" -lt "$total" ] ||
    fail "the middle is no middle"
expect_since "$((middle - start))ns" "$middle"
expect_since "$(point "$(printf '%010d' $((middle - start)))")" "$middle"
expect_since "-$((last - middle + 1))ns" "$middle"
expect_since "@$(point "$middle")" "$middle"
expect_since -1000s "$start"
expect_since 50% $((start + (last + 1 - start) / 2))
expect_since 0% "$start"
expect_since 100% $((last + 1))
seconds=${middle%?????????} fraction=${middle: -9}
expect_since "$(date -u -d "@$seconds" +%FT%T).${fraction}Z" "$middle"
expect_since "$(date -u -d "@$seconds" '+%F %T').$fraction UTC" "$middle"
expect_since "$(TZ=Asia/Kolkata date -d "@$seconds" +%FT%T).$fraction+05:30" "$middle"
expect_since "$(date -d "@$seconds" +%FT%T).$fraction" "$middle"
for zone in UTC-3 UTC+8; do
    export TZ=$zone
    expect_since "$(date -d "@$seconds" +%FT%T).$fraction" "$middle"
    unset TZ
done
expect_since "$(date -d "@$((seconds - 86400))" +%F)" "$start"
for wrong in '' 1x -x 101% 50%% 2026-02-30 2026-13-01 2026-01-01T25:00 2026-01-01T1 \
    2026-01-01T01:00+1 2026-01-01T01:00:00. 1969-12-31 @ 20260101; do
    status=0
    "$PROBITY" csv --since="$wrong" trace > out 2> reported || status=$?
    [ "$wrong" = 20260101 ] || expect "--since '$wrong'" 2 "$status"
done

# Prints the time of the first event in an export that counts from the earliest time. $1 trace
first_exported() {
    "$PROBITY" export --format chrome --until "$((first - start + 1000))ns" -o - "$1" \
        2> reported | jq '[.traceEvents[].ts | numbers] | min'
}

# Headers of blocks with times long before or after a recording affect neither its shares nor the
# origin of an export.
for claim in before after; do
    PYTHONPATH=$SOURCE/tests/tool python3 - trace $claim > lying << 'END'
import struct, sys
from data_blocks import FIRST_TICK, LAST_TICK, data_blocks
trace = bytearray(open(sys.argv[1], "rb").read())
blocks = [at for at, _ in data_blocks(trace)]
(last,) = struct.unpack_from("<Q", trace, blocks[-1] + LAST_TICK)
for lying in blocks[len(blocks) // 2], blocks[-2]:
    if sys.argv[2] == "before":
        struct.pack_into("<Q", trace, lying + FIRST_TICK, 1)
    else:
        struct.pack_into("<Q", trace, lying + LAST_TICK, last * 2)
sys.stdout.buffer.write(trace)
END
    "$PROBITY" csv --columns=wall lying > all 2> reported || true
    [ "$(wc -l < all)" -lt "$total" ] || fail "$claim: two blocks are damaged, no hit is missing"
    status=0
    "$PROBITY" csv --since 50% lying 2> reported > some || status=$?
    expect "50% of a damaged trace, $claim: status" 3 "$status"
    expect "50% of a damaged trace, $claim" \
        "$(hits_since $((start + (last + 1 - start) / 2)))" "$(wc -l < some)"
    expect "the first event, $claim" "$(first_exported trace)" "$(first_exported lying || true)"
done
"$PROBITY" csv --columns=wall trace > all

# Older names
for names in 'csv --from --to' 'report --from --to' 'timeline --from --to'; do
    read -r command from to <<< "$names"
    "$PROBITY" "$command" --since 25% --until 75% trace > new
    "$PROBITY" "$command" "$from" 25% "$to" 75% trace > old
    cmp new old || fail "$command: $from and $to mean something else"
done
"$PROBITY" blocks --start-probe 2 --end-probe 5 trace > new
"$PROBITY" blocks --from 2 --to 5 trace > old
cmp new old && grep -q '2 -> 5' new || fail "blocks: --from and --to mean something else"

# $1 expected suggestion, or nothing, then arguments
suggests() {
    local suggested=$1 status=0
    shift
    "$PROBITY" "$@" > out 2> reported || status=$?
    expect "$*: status" 2 "$status"
    if [ -n "$suggested" ]; then
        grep -q "did you mean '$suggested'?" reported || fail "$*: $(cat reported)"
    else
        ! grep -q 'did you mean' reported || fail "$*: $(cat reported)"
    fi
}
suggests report reprot trace
suggests report help reort
suggests '' zebra trace
suggests --since report --sicne 1 trace
suggests --until report --untl=1 trace
suggests --start-probe blocks --start-prob3 1 trace
suggests '' report --zebra trace

# Standard input, as a pipe and as a file
"$PROBITY" csv trace > named
"$PROBITY" csv - < trace | cmp - named || fail "a file as standard input"
cat trace | "$PROBITY" csv - | cmp - named || fail "a pipe as standard input"
status=0
TMPDIR=$WORK/nowhere "$PROBITY" csv - < <(cat trace) > out 2> reported || status=$?
expect "no room for a copy" 1 "$status"
grep -q 'cannot copy standard input' reported || fail "$(cat reported)"

# Messages state what the trace has instead of what was requested
"$PROBITY" report trace 2> reported > out
grep -q 'see `probity blocks`' reported || fail "report of hits: $(cat reported)"
"$BUILD/bench/gen_scopes" scopes 1 1
"$PROBITY" blocks scopes 2> reported > out
grep -q 'see `probity report`' reported || fail "blocks of scopes: $(cat reported)"
"$PROBITY" report scopes 2> reported > out
! grep -q 'see `probity' reported || fail "report of scopes: $(cat reported)"
finish
