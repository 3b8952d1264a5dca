#!/usr/bin/env bash
# Scopes left by longjmp: found at the next enter, counted, and out of the times of what follows;
# and scopes that only look so, of which none may be touched. Recorded and in profile mode.
# variants: clang asan
# campaign: tsan
. "$(dirname "$0")/common.bash"

# $1 way, $2 count, $3 how many scopes are left by jumps
case_of() {
    fresh
    PROBITY_OUT=$WORK/trace "$PROGRAMS/$program" "$1" "$2" > calls || fail "$1: status $?"
    "$PROBITY" report --json trace > report || fail "$1: no report"
    expect "$program $mode $1: calls" "$(cat calls)" \
        "$(jq '[.functions[].calls] | add' report)"
    expect "$program $mode $1: unwound" "$3" "$(jq .repairs.unwound report)"
    for repair in orphans open pauses_unmatched; do
        expect "$program $mode $1: $repair" 0 "$(jq ".repairs.$repair // 0" report)"
    done
}

# $1 function, $2 of its JSON
of() {
    jq ".functions[] | select(.name == \"$1\") | .$2" report
}

for program in jumps jumps.shared; do
    for mode in 0 1; do
        export PROBITY_PROFILE=$mode
        case_of inlined 100 0
        case_of handlers 100 0
        case_of turns 100 0
        case_of far 40 41
        case_of loop 2000 6000
        # The one that lasts spun 20 ms; what was left each time knows nothing of it. CPU time, as
        # on a busy machine any call may last.
        [ "$(of serves self_ns)" -ge 20000000 ] ||
            fail "$program $mode: serves $(of serves self_ns)"
        for name in handles succeeds; do
            [ "$(($(of $name cpu_total_ns) * 2))" -lt "$(of serves cpu_total_ns)" ] ||
                fail "$program $mode: $name lasted"
        done
        if [ "$mode" = 0 ]; then
            # Nothing nests in what was left: no line is deeper than the deepest call.
            "$PROBITY" log --color=never trace |
                awk '{ sub(/^[0-9]*: /, ""); match($0, /^ */); if (RLENGTH > 10) exit 1 }' ||
                fail "$program: the log grows to the right"
        fi
    done
done
finish
