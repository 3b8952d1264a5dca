#!/usr/bin/env bash
# Rows with equal sort keys have a defined order: no answer depends on the order of elements for
# which qsort()'s comparison returns 0.
# variants: gcc
. "$(dirname "$0")/../common.bash"

"$CC" -std=gnu11 -O2 -Wall -Wextra -D_GNU_SOURCE -fPIC -shared -o reverse.so \
    "$SOURCE/tests/tool/reverse_qsort.c"
PROBITY_LEVEL=5 PROBITY_OUT=$WORK/mixed "$PROGRAMS/refused" mixed 20 > /dev/null || true
PROBITY_OUT=$WORK/tracked "$PROGRAMS/tracked" > /dev/null || fail "tracked: status $?"
PROBITY_OUT=$WORK/planted "$PROGRAMS/planted" 30 > /dev/null || fail "planted: status $?"

# $1 command; "out" is the page or the export, if it writes one. Prints the answer.
answer_to() {
    rm -f out
    # shellcheck disable=SC2086
    "$PROBITY" $1 2>&1 < /dev/null || echo "status $?"
    [ ! -e out ] || cat out
}

GOOD=$SOURCE/tests/golden/good
answers=0
while read -r command; do
    for trace in mixed tracked planted "$GOOD"/{mixed,moments,sites}.probity; do
        answer_to "${command/TRACE/"$trace"}" > usual
        LD_PRELOAD=$WORK/reverse.so answer_to "${command/TRACE/"$trace"}" > reversed
        cmp -s usual reversed ||
            fail "$command: ${trace##*/}: $(diff -a usual reversed | head -n 5)"
        answers=$((answers + 1))
    done
done << 'LIST'
report --sort calls TRACE
report --by-thread --json TRACE
info --json TRACE
tree --json TRACE
threads TRACE
blocks --json TRACE
list --json TRACE
model TRACE
timeline TRACE
timeline --json TRACE
waits --json TRACE
memory --json TRACE
why --json TRACE
diff --json mixed -- TRACE
view -f -o out TRACE
view --diff mixed -f -o out TRACE
export --format chrome -f -o out TRACE
export --format pprof -f -o out TRACE
export --format openmetrics -f -o out TRACE
LIST
expect "answers" 114 "$answers"
finish
