#!/usr/bin/env bash
# A budget when a program becomes busy after being idle, during which its cost is evaluated only
# every 100 ms: a decision is followed by the next evaluation within a few milliseconds, not after
# the long interval. On a busy machine it may take longer, so one of ten runs must show this.
# variants: gcc
. "$(dirname "$0")/../common.bash"
"$CC" -D_GNU_SOURCE -O1 -g -pthread -o burst "$SOURCE/tests/calls/budget_burst.c"

# Prints the milliseconds from the first decision to the finding that counting, too, exceeds the
# budget, or nothing if no such finding followed it.
between() {
    "$PROBITY" log --time relative b.probity 2> errors |
        awk '/are only counted/ && !first { first = $1 }
             /no function is left/ && first { printf "%d\n", ($1 - first) * 1000; exit }'
}

least=
for ((i = 0; i < 10; i++)); do
    "$PROBITY" record -f --budget 1% -o b.probity --calls locks -- ./burst > printed 2> errors ||
        fail "record: $(cat errors)"
    ms=$(between)
    [ -n "$least" ] && [ "${ms:-1000}" -ge "$least" ] || least=${ms:-$least}
    [ "${least:-1000}" -ge 80 ] || break
done
[ -n "$least" ] || fail "no run has both: $("$PROBITY" log --time relative b.probity | head)"
[ "$least" -lt 80 ] || fail "the next evaluation took $least ms, in the fastest of 10 runs"
finish
