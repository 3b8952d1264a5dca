#!/usr/bin/env bash
# Calls that do not simply return: left by an exception, paused before their checkpoints, made in a
# pause, or open when the program is killed. Both recorded and in profile mode.
# variants: clang asan
. "$(dirname "$0")/../common.bash"

# Prints a member of a function's JSON. $1 function, $2 member
of() {
    jq ".functions[] | select(.name == \"$1\") | .$2" report
}

# Prints the value if it is off by more than 2 ms. $1 function, $2 key, $3 expected CPU time in ms
lasts() {
    local ns
    ns=$(of "$1" "$2")
    [ "${ns:-0}" -ge $((($3 - 2) * 1000000)) ] && [ "$ns" -le $((($3 + 2) * 1000000)) ] ||
        echo "$mode: $1: $2 is ${ns:-nothing}, not $3 ms"
}

fresh
PROBITY_OUT=$WORK/trace "$PROGRAMS/ways_out" throw || fail "throw: status $?"
"$PROBITY" log --color=never trace > log || fail "throw: no log"
expect "throw: ways out" \
    "return (3);leave; (left by an exception);leave; (left by an exception);return (2);leave;" \
    "$(sed -n 's/^[0-9]*: *\(leave;.*\|return.*\)$/\1/p' log | paste -sd ';')"
"$PROBITY" report --json trace > report || fail "throw: no report"
expect "throw: repaired" 0 "$(jq '[.repairs[]] | add' report)"

pauses() {
    fresh
    PROBITY_PROFILE=$mode PROBITY_OUT=$WORK/trace "$PROGRAMS/ways_out" pauses ||
        fail "pauses: status $?"
    "$PROBITY" report --json trace > report || fail "pauses: no report"
    expect "$mode: calls" "5 1 4 1" \
        "$(of callee calls) $(of reported calls) $(of comes_back calls) $(of pauses calls)"
    expect "$mode: calls without a checkpoint" "" "$(of not_reported 'calls // 0')"
    expect "$mode: self times above the total" "[]" \
        "$(jq -c '[.functions[] | select(.self_ns > .total_ns) | .name]' report)"
    {
        lasts reported cpu_self_ns 25
        lasts reported cpu_total_ns 35
        lasts comes_back cpu_self_ns 20
        lasts comes_back cpu_total_ns 20
        lasts pauses cpu_self_ns 5
        lasts pauses cpu_total_ns 15
    } > wrong_times
}

# Time stolen from a virtual machine may count as CPU time, so one of several runs must have the
# right times.
for mode in 0 1; do
    for _ in 1 2 3 4 5; do
        pauses
        [ -s wrong_times ] || break
    done
    [ ! -s wrong_times ] || fail "$(cat wrong_times)"
done

fresh
PROBITY_OUT=$WORK/trace "$PROGRAMS/ways_out" killed 2> errors || true
"$PROBITY" report --json trace > report || fail "killed: no report"
expect "killed: calls, open" "2 1" "$(of dies calls) $(of dies calls_open)"
expect "killed: calls with a duration" 1 "$(of dies 'histogram | map(.[1]) | add')"
[ "$(of dies min_ns)" -ge 2000000 ] || fail "killed: the shortest call took $(of dies min_ns) ns"
# Neither main nor the call during the kill has ended: both are shown with their times so far.
fresh
PROBITY_PROFILE=1 PROBITY_OUT=$WORK/trace "$PROGRAMS/ways_out" killed 2> errors || true
open_calls() {
    "$PROBITY" report --json trace > report || fail "$1: no report"
    expect "$1: calls, open" "1 1 2 1" \
        "$(of main calls) $(of main calls_open) $(of dies calls) $(of dies calls_open)"
    expect "$1: calls with a duration" 1 "$(of dies 'histogram | map(.[1]) | add')"
    [ "$(of main total_ns)" -ge 2000000 ] || fail "$1: wrong time for main: $(of main total_ns) ns"
    "$PROBITY" report trace | grep -q '^2 calls are in progress' ||
        fail "$1: not in the table"
}
open_calls "killed in profile mode"
"$PROBITY" recover trace > recovered || fail "recovery failed"
open_calls "recovered"
finish
