#!/usr/bin/env bash
# Calls to the C library without probes, in qemu: each is counted as often as the program makes it,
# and the sums of locks and allocations are right.
. "$(dirname "$0")/../common.bash"
native=${NATIVE:?the build directory of this machine}

cat > calls.c << 'END'
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void *lock_often(void *unused)
{
    for (int i = 0; i < 100; i++) {
        pthread_mutex_lock(&mutex);
        usleep(10);
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}
int main(void)
{
    pthread_t threads[2];
    int file = open("/dev/null", O_WRONLY);
    char *kept = malloc(100);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, lock_often, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 50; i++) {
        if (write(file, "text", 4) != 4)
            return 1;
        free(realloc(malloc(10), 2000));
    }
    close(file);
    return kept == NULL;
}
END
"$CC" -O1 -g -fno-builtin -pthread -o calls calls.c || fail "does not compile"
# The tool starts a script, which runs the program in the emulator.
printf '#!/bin/sh\nexec %q -L %q -0 "$0" %q\n' "${EMULATOR:?}" "${EMULATOR_ROOT:?}" "$PWD/calls" \
    > started
chmod +x started
"$PROBITY" record --calls io,locks,memory,threads,sleep -o trace -- ./started 2> errors ||
    fail "record: $(cat errors)"
"$native/bin/probity" check trace > checked 2>&1 || fail "$(cat checked)"
"$native/bin/probity" report --json trace | jq -r '.functions[] | "\(.name) \(.calls)"' |
    grep -E '^(write|usleep|pthread_create|open|close) ' | LC_ALL=C sort | xargs > found
expect "calls" "close 1 open 1 pthread_create 2 usleep 200 write 50" "$(cat found)"
"$native/bin/probity" memory --by call --csv trace | cut -d , -f 1,4,5 |
    grep -E '^(malloc|realloc),' > found
expect "allocations" "malloc,51,600 realloc,50,100000" "$(LC_ALL=C sort found | xargs)"
"$native/bin/probity" waits trace > waits || fail "waits"
grep -q 'lock mutex mutex' waits || fail "waits: $(head -n 5 waits)"
finish
