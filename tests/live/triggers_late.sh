#!/usr/bin/env bash
# A thread that loses its CPU at any instruction of the record path: a call or block meets a
# condition if and only if it is longer than the limit according to its records, and its duration is
# in the reason in the dump.
# variants: clang
. "$(dirname "$0")/../common.bash"

# Prints ns per tick in the trace of the whole run. In a dump, the rate of the clock is known less
# exactly.
rate() {
    "$PROBITY" csv --columns tick,wall_s,wall_ns conditions_late.*.probity | awk -F, '
        NR == 1 { tick = $1; s = $2; ns = $3 }
        END { printf "%.12g\n", (($2 - s) * 1e9 + $3 - ns) / ($1 - tick) }'
}

# Prints the durations in the reasons of all dumps, in ns.
list_reasons() {
    [ -e late-1.probity ] || return 0
    "$PROBITY" info --json late-*.probity |
        jq ".[].dump.reasons[] | (.end_ticks - .start_ticks) * $ns" | sort -g
}

# Prints the durations of all calls, or of all blocks from probe 1 to 2. $1 kind
durations() {
    if [ "$1" != block ]; then
        "$PROBITY" why --function "$1" --slowest 1000 --json conditions_late.*.probity \
            2> why.errors | jq -r '.cases[].ns'
        return
    fi
    "$PROBITY" csv --columns tick,probe conditions_late.*.probity | awk -F, -v ns="$ns" '
        $2 == 2 && from == 1 { printf "%.0f\n", ($1 - tick) * ns } { from = $2; tick = $1 }'
}

# $1 kind, $2 condition, $3 by how many ns a reason may be shorter than the call, $4 program, $5
# options
are_equal() {
    local kind=$1 condition=$2 shorter=$3 program=$4 options=${5:-} status=0
    rm -f late-*.probity conditions_late.*.probity
    # shellcheck disable=SC2086 # options, or none
    "$PROBITY" record $options --ring 300s,16M --when "$condition" --before 1ms \
        --at-most 1000/1s -o 'late-%i.probity' -- "$program" "$kind" > out 2> errors || status=$?
    [ "$status" != 77 ] || { echo "skipped: no single steps here"; exit 77; }
    expect "$kind: status" 0 "$status"
    expect "$kind: stderr" "" "$(cat errors)"
    [ "$(sed -n 's/^lost //p' out)" -gt 20 ] || fail "$kind: $(cat out)"
    ns=$(rate)
    list_reasons > reasons
    durations "$kind" | awk '$1 > 500000' | sort -n > longer
    [ -s longer ] || fail "$kind: no call was longer than the limit"
    paste longer reasons | awk -v shorter="$shorter" '
        $1 == "" || $2 == "" || $2 > $1 + 2 || $2 < $1 - shorter - 2 { print; bad = 1 }
        END { exit bad }' > wrong ||
        fail "$kind: $(wc -l < reasons) reasons, $(wc -l < longer) longer; $(head -n 5 wrong)"
}

for kind in plain values text result; do
    are_equal "$kind" "function $kind > 500us" 0 "$PROGRAMS/conditions_late"
done
are_equal block 'block 1->2 > 500us' 0 "$PROGRAMS/conditions_late"

# The beginning of a call without a macro is rounded up to a multiple of 4,096 ticks.
"$CC" -O2 -g -D_GNU_SOURCE -finstrument-functions -I"$SOURCE/include" -I"$SOURCE/tests" \
    -o conditions_late "$SOURCE/tests/programs/conditions_late.c" -L"$BUILD/lib" \
    -Wl,-rpath,"$BUILD/lib" -Wl,--no-as-needed -lprobity-functions -lprobity
are_equal call 'function call > 500us' 4200 ./conditions_late "--functions --function=call"
finish
