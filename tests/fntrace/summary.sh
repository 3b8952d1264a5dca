#!/usr/bin/env bash
# The summary that a program prints when recording ends (PROBITY_SUMMARY) is the table that the
# tool's report prints for the trace, in both modes. Without a request, no trace is
# left; errors are printed.
# variants: clang asan tsan
. "$(dirname "$0")/../common.bash"

table() {
    grep -v '^trace: ' "$1"
}

for program in $(forms_of tree); do
    for profile in 0 1; do
        fresh
        PROBITY_PROFILE=$profile PROBITY_OUT=$WORK/trace PROBITY_SUMMARY=$WORK/%n.sum \
            "$PROGRAMS/$program" > out || fail "$program: status $?"
        "$PROBITY" report trace > by_tool || fail "$program: no report"
        cmp <(table by_tool) <(table "$program.sum") ||
            fail "$program $profile: the summary differs"
        expect "$program $profile: functions" "$(wc -l < by_tool)" "$(wc -l < "$program.sum")"
        [ "$(table "$program.sum" | wc -l)" -gt 3 ] || fail "$program $profile: no functions"
        grep -q "^trace: $WORK/trace: complete: closed at exit" "$program.sum" ||
            fail "$program $profile: no line about completeness"

        # With only a summary requested, no trace is left.
        fresh
        (cd "$WORK" && PROBITY_PROFILE=$profile PROBITY_SUMMARY=stderr "$PROGRAMS/$program") \
            > out 2> errors || fail "$program: status $?"
        [ "$(table errors | wc -l)" -gt 3 ] || fail "$program $profile: nothing on stderr"
        expect "$program $profile: traces left" "" "$(find . -name '*.probity')"
        no_leftovers "$program"
    done

    # If its summary cannot be printed, the trace is kept, and the program ends normally.
    fresh
    status=0
    PROBITY_SUMMARY=$WORK/nowhere/sum "$PROGRAMS/$program" > out 2> errors || status=$?
    expect "$program: status" 0 "$status"
    expect "$program: lines" 1 \
        "$(grep -c "^probity: summary '.*/nowhere/sum': No such file" errors)"
    expect "$program: traces left" 1 "$(find . -name '*.probity' | wc -l)"
done
finish
