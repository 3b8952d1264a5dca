#!/usr/bin/env bash
# The end of recording: beside threads that end, behind a hole, beside a start.
# variants: clang asan tsan
. "$(dirname "$0")/common.bash"

for program in stopping stopping.shared; do
    for _ in 1 2 3 4 5 6 7 8; do
        PROBITY_OUT=ending.probity "$PROGRAMS/$program" ending || fail "$program ending: status $?"
        expect "$program ending: hits" 800 "$("$PROBITY" csv ending.probity | wc -l)"
        rm -f ending.probity
    done
    PROBITY_OUT=hole.probity "$PROGRAMS/$program" hole || fail "$program hole: status $?"
    expect "$program hole: hits behind it" 1000 \
        "$("$PROBITY" csv hole.probity | cut -d, -f3 | grep -cx 2)"
    "$PROBITY" check hole.probity > checked || fail "$program hole: $(cat checked)"
    timeout 60 "$PROGRAMS/$program" beside || fail "$program beside: status $?"
    rm -f ./*.probity
done
finish
