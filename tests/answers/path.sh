#!/usr/bin/env bash
# `probity path`: parts sum exactly to each request, call and span; the path moves to the thread
# that held the lock or woke the waiter; damaged and truncated traces.
# variants: gcc clang asan tsan
. "$(dirname "$0")/../common.bash"

# $1 description, $2 status, $3 command; then its arguments. Writes "output" and "errors".
tool() {
    local what=$1 expected=$2 status=0
    shift 2
    "$PROBITY" "$@" > output 2> errors || status=$?
    expect "$what: status ($(cat errors))" "$expected" "$status"
}

# Checks the spans in "output": parts follow each other without a gap and sum to the span. $1
# description, $2 number of spans, or ""
whole() {
    [ -z "$2" ] || expect "$1: spans" "$2" "$(jq '.spans | length' output)"
    jq -c '.spans[] | select((.parts | map(.ns) | add) != .ns or .parts[0].offset_ns != 0 or
        ([.parts, .parts[1:]] | transpose | map(select(.[1] != null) |
            .[0].offset_ns + .[0].ns == .[1].offset_ns) | all | not))' output > wrong
    [ ! -s wrong ] || fail "$1: parts do not sum to the span: $(head -c 300 wrong)"
}

PROBITY_OUT=$WORK/typed "$PROGRAMS/typed" 1000 > /dev/null || fail "typed: status $?"
tool "all requests" 0 path --slowest 1000 --json typed
whole "all requests" 1000
expect "sorted" true "$(jq '[.spans[].ns] | . == (sort | reverse)' output)"
expect "ids" 1000 "$(jq '[.spans[].id] | unique | length' output)"
expect "threads" true "$(jq '[.spans[].parts[].tid] | unique | length > 1' output)"
tool "one request" 0 path --request 17 --json typed
expect "one request" 17 "$(jq '.spans[].id' output)"
whole "one request" 1
tool "no such request" 1 path --request 5000 typed
tool "no number" 2 path --request some typed
tool "between probes" 0 path --from items:put --to 7 --slowest 2000 --json typed
whole "between probes" 1000
tool "one end" 2 path --from items:put typed
tool "two ways" 2 path --request 1 --function f typed
tool "CSV" 0 path --slowest 10 --csv typed
expect "CSV: spans" "$(seq -s ' ' 10)" \
    "$(tail -n +2 output | cut -d, -f1 | sort -nu | paste -sd ' ')"

# Each wait has a known cause, which accounts for most of its time: the path must lead there.
PROBITY_OUT=$WORK/planted "$PROGRAMS/planted" 200 > truth || fail "planted: status $?"
tool "calls" 0 path --function want --slowest 1000 --json planted
whole "calls" 200
jq -r '.spans[].parts[] | select(.depth == 1 and .waits[0].waiter_tid != .tid) |
    "\(.waits[0].object) \(.waits[0].waiter_tid) \(.tid) \(.function) \(.ns)"' output |
    awk 'FILENAME == "truth" { cause[$2] = $3 " " $4; next }
        cause[$1] != $2 " " $3 { print $1, "goes to", $3 }
        { there[$1] = 1 }
        END { for (i in there) n++; if (n < 200) print n, "of 200 go over" }' truth - > wrong
[ ! -s wrong ] || fail "planted: $(head -n 3 wrong)"
tool "text" 0 path --function want planted
grep -q ', while [0-9]* .* waits for ' output || fail "text: $(head -n 5 output)"

# Damaged and truncated traces: no crash, and sums are still right.
size=$(stat -c %s typed)
for ((at = 3000; at < size; at += size / 6)); do
    cp typed damaged
    printf damage | dd of=damaged bs=1 seek=$at conv=notrunc 2> /dev/null
    "$PROBITY" path --slowest 1000 --json damaged > output 2> errors || true
    [ ! -s output ] || whole "damaged at $at" ""
    head -c "$at" typed > damaged
    "$PROBITY" path --slowest 1000 --json damaged > output 2> errors || true
    [ ! -s output ] || whole "cut at $at" ""
done
finish
