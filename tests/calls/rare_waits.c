/* SPDX-License-Identifier: MIT
 *
 * rare_waits.c ROUNDS: one thread reads zeros as fast as it can until the other one has read ROUNDS
 * bytes from a pipe, waiting 1 ms for each. Prints how many calls of read() each has made.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int ends[2], is_over;
static long rounds;

static void *read_pipe(void *unused)
{
    char byte;

    (void)unused;
    for (long i = 0; i < rounds; i++) {
        if (read(ends[0], &byte, 1) != 1)
            exit(1);
    }
    __atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
    return NULL;
}

static void *write_pipe(void *unused)
{
    const struct timespec pause = {0, 1000000};

    (void)unused;
    for (long i = 0; i < rounds; i++) {
        nanosleep(&pause, NULL);
        if (write(ends[1], "x", 1) != 1)
            exit(1);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t reader, writer;
    int zeros = open("/dev/zero", O_RDONLY);
    long quick = 0;
    char byte;

    rounds = argc > 1 ? atol(argv[1]) : 100;
    if (zeros < 0 || pipe(ends) != 0 || pthread_create(&reader, NULL, read_pipe, NULL) != 0 ||
        pthread_create(&writer, NULL, write_pipe, NULL) != 0)
        return 1;
    for (; !__atomic_load_n(&is_over, __ATOMIC_ACQUIRE); quick++) {
        if (read(zeros, &byte, 1) != 1)
            return 1;
    }
    pthread_join(reader, NULL);
    pthread_join(writer, NULL);
    printf("quick %ld\nwaits %ld\n", quick, rounds);
    return 0;
}
