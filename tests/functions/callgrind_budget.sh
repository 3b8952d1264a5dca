#!/usr/bin/env bash
# Compares the call counts of `probity report` with valgrind's callgrind, for the same run, of a
# program one of whose functions a budget demotes: most of its calls are only counted.
# variants: gcc
# timeout: 600
. "$(dirname "$0")/../common.bash"
. "$SOURCE/tests/functions/callgrind.bash"
command -v valgrind > /dev/null || { echo "no valgrind here"; exit 77; }
[ "$(uname -m)" = x86_64 ] || { echo "not for this CPU"; exit 77; }
[ -z "${SANITIZE:-}" ] || { echo "callgrind does not run sanitized libraries"; exit 77; }

# $1 what, the rest: flags
check() {
    local what=$1
    shift
    # Callgrind's counts are of files below this directory.
    gcc -g -O1 -fno-inline -fno-optimize-sibling-calls "$@" -c "$PWD/budget.c" &&
        gcc -o budget budget.o "-L$BUILD/lib" "-Wl,-rpath,$BUILD/lib" -lprobity-functions \
            -lprobity || { fail "$what: build"; return; }
    rm -rf trace
    (PROBITY_OUT=$PWD/trace PROBITY_START=first PROBITY_BUDGET=1% \
        under_callgrind "$PWD/callgrind.out" ./budget 1000000) > out 2> errors ||
        fail "$what: $(cat errors)"
    same_counts_by_name "$what" trace callgrind.out 3
    expect "$what: most calls of often are only counted" true "$("$PROBITY" report --json trace |
        jq '.functions[] | select(.name == "often") | .calls_counted * 2 > .calls')"
}

cp "$SOURCE/tests/functions/budget.c" .
check -finstrument-functions -finstrument-functions
check -mfentry -pg -mfentry -minstrument-return=call
finish
