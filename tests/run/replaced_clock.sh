#!/usr/bin/env bash
# A library that replaces libc's clocks and is unloaded before the program ends must neither crash
# the program nor change the times in the trace.
. "$(dirname "$0")/common.bash"

for program in ends ends.shared; do
    for clock in counter monotonic; do
        fresh
        what="$program, clock $clock"
        status=0
        before=$(date +%s)
        PROBITY_CLOCK=$clock PROBITY_OUT=$WORK/trace LD_PRELOAD=$PROGRAMS/plugin_clock.so \
            "$PROGRAMS/$program" exit > expected 2> errors || status=$?
        expect "$what: status" 7 "$status"
        [ ! -s errors ] || fail "$what: $(cat errors)"
        same_hits "$what" trace
        "$PROBITY" check trace > checked || fail "$what: $(cat checked)"
        "$PROBITY" csv --columns wall_s trace | awk -v before="$before" -v after="$(date +%s)" '
            $1 < before || $1 > after { bad++ } END { exit bad > 0 || NR == 0 }' ||
            fail "$what: wall times: $("$PROBITY" csv --columns wall trace | head -n 2)"
        no_leftovers "$what"
    done
done
finish
