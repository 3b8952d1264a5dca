#!/usr/bin/env bash
# CPU times of hits against readings of the thread's own CPU clock on both sides of each, with sleep
# and work in between, by the bound that the trace states.
# variants: clang
# campaign: tsan
. "$(dirname "$0")/common.bash"

# Hits told against what the program says of them. $1 what
held_against() {
    "$PROBITY" csv --columns tid,cpu_s,cpu_ns trace > told
    bound=$("$PROBITY" info --json trace | jq '.[0].times.cpu_bound_ns')
    expect "$1: hits" "$(wc -l < expected)" "$(wc -l < told)"
    # A reading holds for a moment within its own call: so much more is granted.
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
        }' expected told > off
    [ ! -s off ] || fail "$1: $(wc -l < off) off: $(head -n 3 off)"
}

seed=${SEED:-$RANDOM}
for program in cpu_times cpu_times.shared cpu_times cpu_times.shared; do
    fresh
    PROBITY_OUT=$WORK/trace "$PROGRAMS/$program" "$seed" 400 > expected || fail "status $?"
    held_against "$program, seed $seed"
    least=$((bound < ${least:-$bound} ? bound : ${least:-$bound}))
done
# A thread that lost its processor where no reading was worth its price makes it large, at times.
[ "$least" -lt 1000000 ] || fail "the bound is $least ns at least"

# A probe that reads the CPU clock loses its processor behind each of its instructions.
# Where that cannot be had the test counts as skipped: not with a fault found above.
# shellcheck disable=SC2154 # failures: of common.bash
if [ "$failures" = 0 ] && [ "$(uname -m)" = x86_64 ] && [ "$VARIANT" != tsan ]; then
    # shellcheck source=tests/run/stepper.bash
    . "$SOURCE/tests/run/stepper.bash"
    for scenario in gap gap_change; do
        STEPPER_KEEPS=trace stepper sleep $scenario 3
        held_against "asleep in $scenario"
        rm -f trace
    done
fi
finish
