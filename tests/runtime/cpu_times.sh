#!/usr/bin/env bash
# Checks the CPU times of hits, with sleep and work in between, against the thread's own CPU clock
# read before and after each; the tolerance is the bound given by the trace.
# variants: clang
# campaign: tsan
. "$(dirname "$0")/../common.bash"

# Compares the recorded hits with what the program printed. $1 description
held_against() {
    "$PROBITY" csv --columns tid,cpu_s,cpu_ns trace > reported
    bound=$("$PROBITY" info --json trace | jq '.[0].times.cpu_bound_ns')
    expect "$1: hits" "$(wc -l < expected)" "$(wc -l < reported)"
    # The clock is read at some point within the call that returns it.
    awk -v bound="$bound" '
        NR == FNR { before[$1, ++count[$1]] = $2; behind[$1, count[$1]] = $3; next }
        {
            split($0, field, ",")
            i = ++seen[field[1]]
            cpu = field[2] * 1000000000 + field[3]
            low = before[field[1], i] - bound - 2000
            high = behind[field[1], i] + bound + 2000
            if (cpu < low || cpu > high)
                print "hit " i " of " field[1] ": " cpu ", not " low " to " high
        }' expected reported > off
    [ ! -s off ] || fail "$1: $(wc -l < off) off: $(head -n 3 off)"
}

seed=${SEED:-$RANDOM}
for program in cpu_times cpu_times.shared cpu_times cpu_times.shared; do
    fresh
    PROBITY_OUT=$WORK/trace "$PROGRAMS/$program" "$seed" 400 > expected || fail "status $?"
    held_against "$program, seed $seed"
    least=$((bound < ${least:-$bound} ? bound : ${least:-$bound}))
done
# The bound may be large if a thread was preempted when the budget allowed no reading.
[ "$least" -lt 1000000 ] || fail "the bound is at least $least ns"

# A probe that reads the CPU clock is preempted after its instructions: after a different one in
# each run, then after all of them in one run, so that no reading is exact. Where single-stepping is
# not supported, the test counts as skipped unless it has already failed.
# shellcheck disable=SC2154 # failures: of common.bash
if [ "$failures" = 0 ] && [ "$(uname -m)" = x86_64 ] && [ "$VARIANT" != tsan ]; then
    # shellcheck source=tests/tool/stepper.bash
    . "$SOURCE/tests/tool/stepper.bash"
    for scenario in gap gap_change; do
        status=0
        STEPPER_KEEPS=trace stepper sleep $scenario 3 || status=$?
        [ "$status" != 77 ] || break
        held_against "asleep in $scenario"
        rm -f trace
        STEPPER_KEEPS=trace stepper slow $scenario
        held_against "slowly through $scenario"
        rm -f trace
    done
fi
finish
