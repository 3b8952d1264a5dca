#!/usr/bin/env bash
# Progress on a terminal: one percentage that only rises, however often a command reads its traces,
# and almost reaches 100; it is erased at the end, and not shown with --quiet. A library whose clock
# advances by a second at each reading makes short work seem long.
# variants: gcc
. "$(dirname "$0")/../common.bash"

cat > clock.c << 'END'
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *now)
{
    static time_t seconds;

    (void)clock;
    now->tv_sec = ++seconds;
    now->tv_nsec = 0;
    return 0;
}
END
"$CC" -shared -fPIC -o clock.so clock.c

# The percentage rises at each SYNC. The number of those that the writer makes without a request
# depends on the machine's load; a flush makes one.
cat > rounds.c << 'END'
#define FN_INSTRUMENT
#include "FnTrace.h"
#include "probity.h"

#include <stdio.h>
#include <stdlib.h>

static __attribute__((noinline)) int plain(int value)
{
    FN_FUNC(int, FN_1);
    return value + 1;
}

static __attribute__((noinline)) int with_values(int value)
{
    int result = value + 1;
    FN_FUNC_PARAMS(int, result, FN_1, 1, value);
    return result;
}

int main(int argc, char **argv)
{
    int value = 0;

    for (int round = 0; round < atoi(argv[1]); round++) {
        for (int i = 0; i < 25000; i++)
            value = plain(value);
        if (argc > 2)
            value = with_values(value);
        if (probity_flush() != 0)
            return 1;
    }
    return value == 0;
}
END
"$CC" -O2 -I"$SOURCE/include" -o rounds rounds.c "$BUILD/lib/libprobity.a" -pthread -lm
for trace in one two; do
    PROBITY_OUT=$trace.probity PROBITY_CHUNK_RECORDS=512 ./rounds 60 || fail "rounds: status $?"
done
PROBITY_OUT=values.probity PROBITY_CHUNK_RECORDS=512 ./rounds 60 values ||
    fail "rounds with values: status $?"

# Runs a command on a terminal; "percents" contains the percentages that it showed. $1 description,
# then the command
on_terminal() {
    local what=$1 words
    shift
    printf -v words '%q ' "$@"
    LD_PRELOAD=$WORK/clock.so script -qec "$words > output" seen < /dev/null > script.out ||
        fail "$what: $(head -c 300 seen)"
    tr '\r' '\n' < seen | sed -n 's/^probity [a-z]*: *\([0-9]*\) %.*/\1/p' > percents
}

# $1 description, $2 the percentage that it must reach, then the command
rises() {
    local what=$1 least=$2
    shift 2
    on_terminal "$what" "$@"
    sort -nc percents 2> /dev/null || fail "$what: falls: $(xargs < percents | head -c 300)"
    [ "$(wc -l < percents)" -ge 3 ] || fail "$what: only $(xargs < percents)"
    [ "$(tail -n 1 percents)" -ge "$least" ] || fail "$what: ends at $(tail -n 1 percents) %"
    [ "$(tail -n 1 percents)" -le 100 ] || fail "$what: ends at $(tail -n 1 percents) %"
    grep -q $'\033\[K' seen || fail "$what: line not erased"
}

rises "one pass" 90 "$PROBITY" --jobs 1 report one.probity
rises "lanes" 90 "$PROBITY" --jobs 2 report one.probity
rises "several traces" 80 "$PROBITY" --jobs 2 report one.probity two.probity
rises "diff" 90 "$PROBITY" diff one.probity -- two.probity
rises "page" 90 "$PROBITY" view -f -o page one.probity
rises "page that is read twice" 90 "$PROBITY" view -f -o page values.probity
rises "page with tiles" 80 "$PROBITY" view -f --tiles tiles one.probity
rises "page of a comparison" 80 "$PROBITY" view -f -o page --diff one.probity two.probity
on_terminal "quiet" "$PROBITY" --jobs 1 report --quiet one.probity
expect "quiet" "" "$(cat percents)"
finish
