#!/usr/bin/env bash
# Thousands of threads, in sequence and at once, and every way in which a thread can end. ALIVE:
# number of threads at once. PART=N: only 1/N of the other threads.
# variants: asan clang tsan
. "$(dirname "$0")/../common.bash"

# $1 program, $2 how, $3 threads, $4 hits of each
threads() {
    fresh
    PROBITY_OUT=$WORK/trace "$PROGRAMS/$1" "$2" "$3" "$4" > expected 2> errors ||
        fail "$1 $2: status $?"
    same_hits "$1 $2" trace
    expect "$1 $2: stderr" "" "$(cat errors)"
    no_leftovers "$1 $2"
}

if [ "${VARIANT:-gcc}" = tsan ]; then
    # The thread sanitizer needs milliseconds per thread, and cannot follow every way to end: if a
    # thread is cancelled inside an intercepted call, the sanitizer considers the call open, and
    # everything after it looks like a race; it misses threads that end by a system call; and it has
    # ended before late destructors run.
    threads threads churn 300 3
    threads threads beside 200 3
    threads threads alive 150 20
    threads threads.shared churn 100 300
    threads threads pthread_exit 30 1000
    finish
    exit
fi
PART=${PART:-1}
threads threads churn $((10000 / PART)) 3
threads threads beside $((4000 / PART)) 3
threads threads alive "${ALIVE:-3000}" 20
for program in $(forms_of threads); do
    threads $program churn $((300 / PART)) 2000
    for how in pthread_exit cancel destructor; do
        threads $program $how 50 1000
    done
done
[ "${VARIANT:-gcc}" = asan ] || threads threads system_call 50 1000

# A thread cancelled between a probe and the count of its hit made one more hit.
fresh
PROBITY_OUT=$WORK/trace "$PROGRAMS/threads" cancel_anywhere 50 > expected
"$PROBITY" csv trace > csv.out
"$PROGRAMS/check_hits" < csv.out > found || fail "cancelled anywhere: failed, see above"
paste expected found | awk '$1 != $4 || $2 != $5 || $6 < $3 || $6 > $3 + 1 { print; bad = 1 }
    END { exit bad || NR != 50 }' || fail "cancelled anywhere: counts differ"
finish
