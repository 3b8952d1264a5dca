#!/usr/bin/env bash
# Probes in signal handlers: storms, nested handlers, handlers that fill chunks inside a probe, and
# handlers that jump out.
# campaign: tsan
# variants: clang
. "$(dirname "$0")/../common.bash"

# $1 program, $2 how, $3 milliseconds, $4 threads
signals() {
    local status=0
    fresh
    PROBITY_OUT=$WORK/trace timeout 300 "$PROGRAMS/$1" "$2" "$3" "$4" > expected 2> errors ||
        status=$?
    expect "$1 $2: status ($(head -n 30 errors))" 0 "$status"
}

for program in signals signals.shared; do
    for chunk in 512 4096; do
        export PROBITY_CHUNK_RECORDS=$chunk PROBITY_SPOOL_RECORDS=$((chunk * 32))
        signals $program storm 100 2
        same_hits "$program storm" trace
        no_leftovers storm
        PROBITY_CPU_TIME=0 signals $program storm 60 1
        same_hits "$program storm without CPU time" trace
        PROBITY_CLOCK=monotonic signals $program storm 60 1
        same_hits "$program storm with clock_gettime" trace
        # The result does not depend on when the thread gets a CPU.
        signals $program storm 0 1
        same_hits "$program storm without time" trace
    done
    unset PROBITY_CHUNK_RECORDS PROBITY_SPOOL_RECORDS
    signals $program first 100 1
    same_hits "$program first" trace
    # Each handler fills more than a chunk, often inside an interrupted probe.
    signals $program burst 100 1
    same_hits "$program burst" trace
done

# A handler that jumps out leaves a probe that never stores, or one whose hit is not yet counted and
# will be repeated. The program does not block, and no hit is lost.
signals signals jump 300 1
CHECK=-r same_hits "jump" trace
no_leftovers jump
finish
