#!/usr/bin/env bash
# Threads by the thousand, one after another and at once, and every way that a thread can end.
# variants: asan clang tsan
. "$(dirname "$0")/common.bash"

# $1 program, $2 how, $3 threads, $4 hits each
threads() {
    fresh
    PROBITY_OUT=$WORK/trace "$PROGRAMS/$1" "$2" "$3" "$4" > expected 2> errors ||
        fail "$1 $2: status $?"
    same_hits "$1 $2" trace
    expect "$1 $2: stderr" "" "$(cat errors)"
    no_leftovers "$1 $2"
}

if [ "${VARIANT:-gcc}" = tsan ]; then
    # The sanitizer needs milliseconds for a thread. A thread that is cancelled inside a call leaves
    # the sanitizer's own account of that call open, and all that follows looks like a race; of one
    # that goes by a system call it does not know that it is gone; and in late destructors it is
    # gone itself.
    threads threads churn 300 3
    threads threads beside 200 3
    threads threads alive 150 20
    threads threads.shared churn 100 300
    threads threads pthread_exit 30 1000
    finish
    exit
fi
threads threads churn 10000 3
threads threads beside 4000 3
threads threads alive "${ALIVE:-3000}" 20
for program in threads threads.shared; do
    threads $program churn 300 2000
    threads $program pthread_exit 50 1000
    threads $program cancel 50 1000
    threads $program destructor 50 1000
done
[ "${VARIANT:-gcc}" = asan ] || threads threads system_call 50 1000

# A thread that is cancelled between a probe and its count may have made one hit more.
fresh
PROBITY_OUT=$WORK/trace "$PROGRAMS/threads" cancel_anywhere 50 > expected
"$PROBITY" csv trace > csv.out
"$PROGRAMS/check_hits" < csv.out > found || fail "cancelled anywhere: see above"
paste expected found | awk '$1 != $4 || $2 != $5 || $6 < $3 || $6 > $3 + 1 { print; bad = 1 }
    END { exit bad || NR != 50 }' || fail "cancelled anywhere: counts differ"
finish
