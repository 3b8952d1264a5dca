#!/usr/bin/env bash
# Stopping a recording while threads exit, with a hole in a chunk, and during a start.
# variants: clang asan tsan
. "$(dirname "$0")/../common.bash"

for program in $(forms_of stopping); do
    for _ in 1 2 3 4 5 6 7 8; do
        PROBITY_OUT=ending.probity "$PROGRAMS/$program" ending || fail "$program ending: status $?"
        expect "$program ending: hits" 800 "$("$PROBITY" csv ending.probity | wc -l)"
        rm -f ending.probity
    done
    PROBITY_OUT=hole.probity "$PROGRAMS/$program" hole || fail "$program hole: status $?"
    expect "$program hole: hits behind it" 1000 \
        "$("$PROBITY" csv hole.probity | cut -d, -f3 | grep -cx 2)"
    "$PROBITY" check hole.probity > checked || fail "$program hole: $(cat checked)"
    if [ "$(uname -m)" = x86_64 ]; then
        PROBITY_OUT=late.probity "$PROGRAMS/$program" late || fail "$program late: status $?"
        expect "$program late: hits" 1 "$("$PROBITY" csv late.probity | wc -l)"
        for way in held held_killed; do
            status=0
            PROBITY_OUT=$way.probity "$PROGRAMS/$program" $way 2> errors || status=$?
            expect "$program $way: status" "$([ $way = held ] && echo 0 || echo 137)" "$status"
            expect "$program $way: late hits" "3 4" "$("$PROBITY" csv $way.probity |
                cut -d, -f3 | grep -x '[34]' | sort | tr '\n' ' ' | sed 's/ $//')"
            [ $way = held ] || "$PROBITY" recover $way.probity > recovered
            expect "$program $way: all, late hits" 2 \
                "$("$PROBITY" csv $way.probity | cut -d, -f3 | grep -cx '[34]')"
            "$PROBITY" check $way.probity > checked || fail "$program $way: $(cat checked)"
        done
    fi
    timeout 300 "$PROGRAMS/$program" beside || fail "$program beside: status $?"
    rm -f ./*.probity
done
finish
