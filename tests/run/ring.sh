#!/usr/bin/env bash
# A ring that has turned many times: what is left is whole, and bears the names that were declared
# in chunks forgotten long ago; after a stop, and of a program that was killed.
# variants: clang asan tsan
. "$(dirname "$0")/common.bash"
export PROBITY_MODE=ring PROBITY_CHUNK_RECORDS=512 PROBITY_SPOOL_RECORDS=8192

# $1 what. The trace holds few of the calls; each line of its log that should, bears a name.
names_are_there() {
    "$PROBITY" check trace > check.out 2>&1 || fail "$1: $(cat check.out)"
    "$PROBITY" log --color=never trace > log 2> errors || fail "$1: $(cat errors)"
    [ "$(grep -c 'int innermost' log)" -gt 100 ] || fail "$1: too few calls: $(wc -l < log) lines"
    [ "$(wc -l < log)" -lt 20000 ] || fail "$1: nothing was forgotten"
    ! grep -qE 'site-|is lost' log || fail "$1: names are lost: $(grep -m 1 -E 'site-|is lost' log)"
    grep -q 'text = "of ' log || fail "$1: no values"
}

for program in own_log own_log.shared; do
    fresh
    PROBITY_OUT=$WORK/trace "$PROGRAMS/$program" run 20000 > out || fail "$program: status $?"
    names_are_there "$program"

    fresh
    status=0
    PROBITY_OUT=$WORK/trace timeout -s KILL 1 "$PROGRAMS/$program" run 1000000000 > out ||
        status=$?
    expect "$program killed: status" 137 "$status"
    names_are_there "$program killed"
    "$PROBITY" recover trace > out 2>&1 || fail "$program: $(cat out)"
    names_are_there "$program recovered"
done
finish
