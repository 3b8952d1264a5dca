#!/usr/bin/env bash
# A ring that has wrapped many times: the remaining records are intact, and have the names that were
# declared in chunks overwritten long ago; both after a stop and for a killed program.
# variants: clang asan tsan
. "$(dirname "$0")/../common.bash"
export PROBITY_MODE=ring PROBITY_CHUNK_RECORDS=512 PROBITY_SPOOL_RECORDS=8192

# Checks that the trace has some of the calls, and that each log line that should have a name has
# one. $1 description
names_are_there() {
    "$PROBITY" check trace > check.out 2>&1 || fail "$1: $(cat check.out)"
    "$PROBITY" log --color=never trace > log 2> errors || fail "$1: $(cat errors)"
    [ "$(grep -c 'int innermost' log)" -gt 100 ] || fail "$1: too few calls: $(wc -l < log) lines"
    [ "$(wc -l < log)" -lt 20000 ] || fail "$1: nothing was overwritten"
    ! grep -qE 'site-|was lost' log ||
        fail "$1: names are missing: $(grep -m 1 -E 'site-|was lost' log)"
    grep -q 'text = "of ' log || fail "$1: no values"
}

# Returns whether the running program has made 20,000 rounds, after which the ring has wrapped many
# times.
has_turned() {
    local round
    round=$("$PROBITY" log --color=never trace 2> /dev/null |
        sed -n 's/.*round \([0-9][0-9]*\)$/\1/p' | tail -n 1)
    [ "${round:-0}" -gt 20000 ]
}

for program in $(forms_of own_log); do
    fresh
    PROBITY_OUT=$WORK/trace "$PROGRAMS/$program" run 20000 > out || fail "$program: status $?"
    names_are_there "$program"

    fresh
    PROBITY_OUT=$WORK/trace "$PROGRAMS/$program" run 1000000000 > out 2> errors &
    running=$!
    wait_until "$running" has_turned || fail "$program: $(cat errors)"
    signal_job KILL "$running" || fail "$program: has ended early"
    wait "$running" 2> /dev/null || true
    names_are_there "$program killed"
    "$PROBITY" recover trace > out 2>&1 || fail "$program: $(cat out)"
    names_are_there "$program recovered"
done

# More open chunks than a quarter of the ring: threads must not wait forever.
fresh
PROBITY_CHUNK_RECORDS=64 PROBITY_SPOOL_RECORDS=2048 PROBITY_OUT=$WORK/trace \
    "$PROGRAMS/planted" 100 > out || fail "many open chunks: status $?"
"$PROBITY" check trace > check.out 2>&1 || fail "many open chunks: $(cat check.out)"
finish
