#!/usr/bin/env bash
# `probity waits`: 1,000 waits with known causes: each must be named, and no wrong one; output
# formats; what is missing after records were dropped or the trace was truncated.
# variants: gcc clang asan tsan
. "$(dirname "$0")/../common.bash"

# shellcheck source=tests/tool/waits.bash
. "$SOURCE/tests/tool/waits.bash"

PROBITY_OUT=$WORK/planted "$PROGRAMS/planted" "${WAITS:-1000}" > planted.truth ||
    fail "planted: status $?"
same_causes planted 0 planted planted.truth "$((${WAITS:-1000} * 999 / 1000))"
expect "rows" "${WAITS:-1000}" "$(jq '.rows | length' output)"
expect "lost" "0 0 0" \
    "$(jq -r '"\(.waits_lost) \(.releases_without_hold) \(.holds_forgotten)"' output)"
# The hold time is at most the wait, and close to it.
expect "held longer than waited" 0 \
    "$(jq '[.rows[] | select(.held_ns > .total_ns)] | length' output)"
# shellcheck disable=SC2016
expect "kinds" "condition lock" \
    "$(jq -r '[.rows[].kind] | unique | join(" ")' output)"

# Totals do not depend on whether rows are by object, thread or function.
for by in object function thread; do
    tool "by $by" 0 waits --json --by "$by" planted
    jq '[.rows[] | .waits, .total_ns] | [.[range(0; length; 2)], .[range(1; length; 2)]] | add' \
        output > "sum.$by"
    tool "by $by, CSV" 0 waits --csv --by "$by" planted
    expect "by $by: rows of CSV" "$(("$("$PROBITY" waits --json --by "$by" planted |
        jq '.rows | length')" + 1))" "$(wc -l < output)"
done
cmp -s sum.object sum.function || fail "by function: another total: $(cat sum.function)"
cmp -s sum.object sum.thread || fail "by thread: another total"
tool "by function" 0 waits --json --by function planted
expect "by function" want "$(jq -r '.rows[].function' output)"
tool "by lock" 0 waits --by lock --limit 3 planted
expect "top" 3 "$(grep -cE '^ +1 .*(lock|condition) ' output)"
grep -q 'more rows are not shown' output || fail "top: not said to be incomplete"
tool "by file" 0 waits --by file planted
grep -qx 'no waits' output || fail "by file: $(head -n 3 output)"
tool "both forms" 2 waits --json --csv planted
tool "unknown key" 2 waits --by color planted

# A ring keeps only the newest records.
PROBITY_MODE=ring PROBITY_CHUNK_RECORDS=512 PROBITY_SPOOL_RECORDS=8192 PROBITY_OUT=$WORK/ring \
    "$PROGRAMS/planted" 300 > ring.truth 2> /dev/null || fail "ring: status $?"
same_causes ring 0 ring ring.truth 0

# Destroys blocks of the file, so that records are missing without notice: whatever remains, no
# wrong cause may be named. $1 description, $2 number of bytes between damaged places
destroyed() {
    local at size
    PROBITY_CHUNK_RECORDS=64 PROBITY_OUT=$WORK/destroyed "$PROGRAMS/planted" 300 \
        > destroyed.truth || fail "$1: status $?"
    size=$(stat -c %s destroyed)
    for ((at = 4000; at < size; at += $2)); do
        printf 'damage' | dd of=destroyed bs=1 seek=$at conv=notrunc 2> /dev/null
    done
    same_causes "$1" 3 destroyed destroyed.truth 0
    [ "$right" -lt 300 ] || fail "$1: nothing was destroyed"
    rm destroyed
}
destroyed "some blocks destroyed" 4001
destroyed "many blocks destroyed" 1009

# Truncated anywhere, and read while its program runs.
awk '{ print $2, $3, $4, $5 }' planted.truth > truth
size=$(stat -c %s planted)
for part in 20 45 70 95; do
    head -c $((size * part / 100)) planted > part
    status=0
    "$PROBITY" waits --json part > output 2> errors || status=$?
    case $status in 0 | 3) ;; *) fail "cut at $part %: status $status: $(cat errors)" ;; esac
    jq -r "$causes" output 2> /dev/null | awk 'FILENAME == "truth" { cause[$1] = $3; next }
        $3 != "null" && $3 != cause[$1] { print }' truth - > wrong
    [ ! -s wrong ] || fail "cut at $part %: $(head -n 3 wrong)"
done
finish
