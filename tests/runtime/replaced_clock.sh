#!/usr/bin/env bash
# A library that replaces libc's clocks and is unloaded before the program ends must neither crash
# the program nor change the times in the trace: a library of the tests, and libfaketime.
. "$(dirname "$0")/../common.bash"

# $1 description, $2 program, $3 way to end; the rest: variables
replaced() {
    local what=$1 program=$2 way=$3 status=0 before
    shift 3
    fresh
    before=$(date +%s)
    env PROBITY_OUT="$WORK/trace" "$@" "$PROGRAMS/$program" "$way" > expected 2> errors ||
        status=$?
    expect "$what: status" 7 "$status"
    [ ! -s errors ] || fail "$what: $(cat errors)"
    same_hits "$what" trace
    "$PROBITY" check trace > checked || fail "$what: $(cat checked)"
    "$PROBITY" csv --columns wall_s trace | awk -v before="$before" -v after="$(date +%s)" '
        $1 < before || $1 > after { bad++ } END { exit bad > 0 || NR == 0 }' ||
        fail "$what: wall times: $("$PROBITY" csv --columns wall trace | head -n 2)"
    no_leftovers "$what"
}

for program in ends ends.shared; do
    for clock in counter monotonic; do
        replaced "$program, clock $clock" $program exit PROBITY_CLOCK=$clock \
            LD_PRELOAD="$PROGRAMS/plugin_clock.so"
    done
done

# i2.0 advances the clock at each reading, so that each reading uses the library's own state.
libraries=$(find /usr/lib /usr/lib64 -name 'libfaketime*.so.1' 2> /dev/null || true)
[ -n "$libraries" ] || echo "left out: libfaketime, which is not installed (Debian: faketime)"
for library in $libraries; do
    for program in ends ends.shared; do
        for way in return exit; do
            for clock in counter monotonic; do
                replaced "${library##*/}, $program $way, clock $clock" $program $way \
                    PROBITY_CLOCK=$clock FAKETIME='-5d i2.0' LD_PRELOAD="$library"
            done
        done
    done
done
finish
