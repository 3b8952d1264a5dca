#!/usr/bin/env bash
# Events while a recording begins on request: other tools attach, detach, or are killed, and the
# program ends the recording itself. Each tool gets a correct answer, the program is unaffected, and
# afterwards it can be attached to.
# variants: clang asan
. "$(dirname "$0")/../common.bash"
ROUNDS=${ROUNDS:-15}

start() {
    rm -f go out
    mkfifo go
    "$@" < go > out 2> program.err &
    job=$!
    exec {gate}> go
    wait_until "$job" test -s out || fail "ended early: $(cat program.err)"
}

stop() {
    exec {gate}>&-
    wait "$job" || fail "$1: status $?: $(head -n 5 program.err)"
    expect "$1: standard error" "" "$(cat program.err)"
    no_leftovers "$1"
}

# Ends any recording, then makes sure that a complete one is possible.
settles() {
    "$PROBITY" detach "$job" > output 2>&1 || grep -q 'is not recording' output ||
        fail "$1: $(cat output)"
    "$PROBITY" attach -o last "$job" > output 2>&1 || fail "$1: afterwards: $(cat output)"
    "$PROBITY" detach "$job" > output 2>&1 || fail "$1: afterwards: $(cat output)"
    "$PROBITY" check last > output 2>&1 || fail "$1: afterwards: $(cat output)"
    rm -f last ./*.probity
}

# $1 description, $2 statuses; the files "errors.N" contain the messages: each status but 0 is
# explained
are_answers() {
    local status number=0
    for status in $2; do
        number=$((number + 1))
        [ "$status" = 0 ] || grep -qE "already recording|another command is attaching|\
is not recording|ended the recording itself|ended, or stopped recording|hit no probe" \
            errors.$number || fail "$1: tool $number, status $status: $(cat errors.$number)"
    done
}

# Two tools attach at the same moment: they must not both succeed with separate traces.
start "$PROGRAMS/counted.shared" 4
for ((i = 0; i < ROUNDS; i++)); do
    "$PROBITY" attach -o one.probity "$job" > out.1 2> errors.1 &
    first=$!
    status=0
    "$PROBITY" attach -o two.probity "$job" > out.2 2> errors.2 || status=$?
    statuses=0
    wait "$first" || statuses=$?
    are_answers "twice" "$statuses $status"
    [ "$statuses" = 0 ] || [ "$status" = 0 ] || fail "twice: $(cat errors.1 errors.2)"
    if [ "$statuses$status" = 00 ] && ! cmp -s out.1 out.2; then
        fail "twice: both: $(cat out.1 out.2)"
    fi
    settles "twice"
done

# One detaches at any moment while the other one attaches.
for ((i = 0; i < ROUNDS; i++)); do
    "$PROBITY" attach -o one.probity "$job" > out.1 2> errors.1 &
    first=$!
    tries=0 status=1
    while [ "$status" != 0 ] && is_running "$first"; do
        status=0 tries=$((tries + 1))
        "$PROBITY" detach "$job" > out.2 2> errors.2 || status=$?
        [ "$status" = 0 ] || grep -q 'is not recording' errors.2 || break
    done
    statuses=0
    wait "$first" || statuses=$?
    are_answers "detach meanwhile" "$statuses $status"
    settles "detach meanwhile"
done

# A tool is killed at any moment: no process waits for it, and no recording begins later than it
# allowed.
for ((i = 0; i < ROUNDS; i++)); do
    "$PROBITY" attach -o one.probity "$job" > out.1 2> errors.1 &
    first=$!
    for ((j = 0; j < i; j++)); do :; done
    kill -KILL "$first" 2> /dev/null || true
    wait "$first" 2> /dev/null || true
    until "$PROBITY" attach --wait 5s -o two.probity "$job" > out.2 2> errors.2; do
        are_answers "killed" "0 1"
        "$PROBITY" detach "$job" > output 2>&1 || true
    done
    settles "killed"
done
stop "counted"

# The program ends each recording as soon as it has begun.
cat > stopping.c << 'END'
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "probity.h"
static int is_over;
/* The library calls it while it starts the writer thread, so that the end can come first. */
pid_t getpid(void)
{
    static const struct timespec a_while = {0, 3000000};
    if (probity_is_recording())
        nanosleep(&a_while, NULL);
    return (pid_t)syscall(SYS_getpid);
}
static void *probe(void *unused)
{
    while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED))
        PROBITY_PROBE(1);
    return unused;
}
int main(void)
{
    struct pollfd input = {0, POLLIN, 0};
    pthread_t thread[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, probe, NULL);
    puts("ready");
    fflush(stdout);
    while (poll(&input, 1, 0) == 0)
        if (probity_is_recording())
            probity_stop();
    __atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    return 0;
}
END
"$CC" ${SANITIZE_FLAG:+"$SANITIZE_FLAG"} -O1 -I"$SOURCE/include" stopping.c -L"$BUILD/lib" \
    -lprobity "-Wl,-rpath,$BUILD/lib" -pthread -o stopping 2> messages ||
    fail "stopping: $(cat messages)"
is_closed() {
    "$PROBITY" info "$1" > output 2>&1
    grep -q '^state *closed' output
}

has_no_writer() {
    ! grep -qs probity-writer "/proc/$job"/task/*/comm
}

start ./stopping
for ((i = 0; i < ROUNDS; i++)); do
    status=0
    "$PROBITY" attach -o one.probity "$job" > out.1 2> errors.1 || status=$?
    are_answers "stop meanwhile" "$status"
    if [ -e one.probity ]; then
        # Removing a trace before the program has closed it is an error of the recording.
        wait_until "$job" is_closed one.probity || fail "stop meanwhile: $(cat output)"
        "$PROBITY" check one.probity > output 2>&1 || fail "stop meanwhile: $(cat output)"
    fi
    for _ in {1..500}; do ! has_no_writer || break; sleep 0.02; done
    has_no_writer || fail "stop meanwhile: a writer thread after the end"
    rm -f ./*.probity
done
stop "stopping"
finish
