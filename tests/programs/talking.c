/* SPDX-License-Identifier: MIT
 *
 * talking.c THREADS ROUNDS: threads that wait for pipes, files, sleep, a lock and each other. The
 * file "kept" is open from beginning to end, others only for a moment. In each round, each thread
 * passes a byte to the next one, and holds a lock while it writes to the file. The first thread
 * flushes now and then, so that reading can start at many places in the trace.
 */
#define FN_INSTRUMENT
#include <FnTrace.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "probity.h"

#define NOINLINE __attribute__((noinline))

enum { THREADS_MAX = 64, SLEEP_EVERY = 8, OPEN_EVERY = 16, FLUSH_EVERY = 15, SLEEP_NS = 50000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int pipes[THREADS_MAX][2], sockets[2], kept;
static int threads, rounds;

static void require(int holds)
{
    if (holds)
        return;
    perror("talking");
    exit(1);
}

static NOINLINE void hold(int round)
{
    FN_FUNC(void, FN_1);
    char byte = (char)round;

    pthread_mutex_lock(&lock);
    require(pwrite(kept, &byte, 1, round) == 1);
    if (round % SLEEP_EVERY == 0)
        require(fsync(kept) == 0);
    if (round % SLEEP_EVERY == 1)
        nanosleep(&(struct timespec){.tv_nsec = SLEEP_NS}, NULL);
    pthread_mutex_unlock(&lock);
}

static NOINLINE void look(int number)
{
    FN_FUNC(void, FN_1);
    char name[32], bytes[16];

    snprintf(name, sizeof name, "brief%d", number);
    int file = open(name, O_RDWR | O_CREAT, 0600), copy = dup(file);
    require(file >= 0 && copy >= 0 && write(copy, "x", 1) == 1 && fsync(file) == 0);
    require(pread(file, bytes, sizeof bytes, 0) >= 1 && close(copy) == 0 && close(file) == 0);
}

static NOINLINE void turn(int number, int round)
{
    FN_FUNC(void, FN_1);
    char byte;

    require(read(pipes[number][0], &byte, 1) == 1);
    hold(round);
    if (round % OPEN_EVERY == number)
        look(number);
    require(write(sockets[0], &byte, 1) == 1 && read(sockets[1], &byte, 1) == 1);
    require(write(pipes[(number + 1) % threads][1], &byte, 1) == 1);
}

static void *take_turns(void *argument)
{
    for (int round = 0; round < rounds; round++) {
        turn((int)(intptr_t)argument, round);
        if (argument == NULL && round % FLUSH_EVERY == 0)
            require(probity_flush() == 0);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread[THREADS_MAX];

    threads = argc == 3 ? atoi(argv[1]) : 0;
    rounds = argc == 3 ? atoi(argv[2]) : 0;
    if (threads < 2 || threads > THREADS_MAX || rounds < 1)
        return 2;
    kept = open("kept", O_RDWR | O_CREAT, 0600);
    require(kept >= 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
    for (int i = 0; i < threads; i++)
        require(pipe(pipes[i]) == 0);
    /* Half of the threads run at the same time. */
    for (int i = 0; i < threads; i += 2)
        require(write(pipes[i][1], "x", 1) == 1);
    for (intptr_t i = 0; i < threads; i++)
        require(pthread_create(&thread[i], NULL, take_turns, (void *)i) == 0);
    for (int i = 0; i < threads; i++)
        require(pthread_join(thread[i], NULL) == 0);
    return 0;
}
