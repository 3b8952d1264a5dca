#!/usr/bin/env bash
# With a budget, the CPU times of the functions that stay recorded are within 2 % of what the
# program measures itself, while a function that one of them calls very often is only counted, or
# its sleds are off again. The best of several runs counts, since the machine may be busy.
# variants: clang
. "$(dirname "$0")/../common.bash"
CC=${CC:-gcc}
[ -z "${SANITIZE:-}" ] || { echo "times of sanitized programs say nothing"; exit 77; }

# Prints the largest deviation of a function's CPU time from the true time, in percent, and whether
# the frequent function was demoted.
examine() {
    local caller alone
    read -r caller alone < <(tail -n 1 errors)
    "$PROBITY" report --json trace | jq -r --argjson caller "$caller" --argjson alone "$alone" '
        (.functions | map({(.name): .}) | add) as $of |
        [($of.caller.cpu_total_ns / $caller - 1), ($of.alone.cpu_self_ns / $alone - 1)] |
        (map(if . < 0 then -. else . end) | max * 100 | tostring) + " " +
        ($of.often | (.calls_counted > 0 or .calls_are_least) | tostring)'
}

# $1 description, $2 program
check() {
    local what=$1 distance demoted attempt
    for attempt in {1..12}; do
        rm -rf trace*
        "$PROBITY" record --functions --budget 3% -o trace -- "./$2" 200 > out 2> errors ||
            fail "$what: $(cat errors)"
        read -r distance demoted < <(examine)
        echo "$what: run $attempt: at most $distance % off"
        [ "$demoted" = true ] && awk "BEGIN { exit !($distance <= 2) }" && return
    done
    fail "$what: times are $distance % off, demoted: $demoted"
}

"$CC" -g -O1 -finstrument-functions -o hooks "$SOURCE/tests/functions/budget_self.c"
check "hooks" hooks
if [ "$(uname -m)" = x86_64 ] && "$CC" --version | grep -q clang; then
    "$CC" -g -O1 -fxray-instrument -fxray-instruction-threshold=1 -o sleds \
        "$SOURCE/tests/functions/budget_self.c"
    check "sleds" sleds
fi
finish
