/* SPDX-License-Identifier: MIT
 *
 * rare_waits.c ROUNDS [FILE]: one thread reads zeros as fast as it can until the other one has read
 * enough bytes from a pipe, waiting 1 ms for each: ROUNDS more once FILE exists. Prints how many
 * calls of read() each thread has made, and the first one has made since FILE existed ("later
 * N").
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int ends[2], is_over;
static long rounds, waits, quick; /* quick: atomic */
static long quick_before;
static const char *path;

static void *read_pipe(void *unused)
{
    char byte = 'x';

    (void)unused;
    for (; byte == 'x'; waits++) {
        if (read(ends[0], &byte, 1) != 1)
            exit(1);
    }
    __atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
    return NULL;
}

static void write_byte(char byte)
{
    const struct timespec pause = {0, 1000000};

    nanosleep(&pause, NULL);
    if (write(ends[1], &byte, 1) != 1)
        exit(1);
}

static void *write_pipe(void *unused)
{
    (void)unused;
    while (path != NULL && access(path, F_OK) != 0)
        write_byte('x');
    quick_before = __atomic_load_n(&quick, __ATOMIC_RELAXED);
    for (long i = 1; i < rounds; i++)
        write_byte('x');
    write_byte('e');
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t reader, writer;
    int zeros = open("/dev/zero", O_RDONLY);
    char byte;

    rounds = argc > 1 ? atol(argv[1]) : 100;
    path = argc > 2 ? argv[2] : NULL;
    if (zeros < 0 || pipe(ends) != 0 || pthread_create(&reader, NULL, read_pipe, NULL) != 0 ||
        pthread_create(&writer, NULL, write_pipe, NULL) != 0)
        return 1;
    while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE)) {
        if (read(zeros, &byte, 1) != 1)
            return 1;
        __atomic_add_fetch(&quick, 1, __ATOMIC_RELAXED);
    }
    pthread_join(reader, NULL);
    pthread_join(writer, NULL);
    printf("quick %ld\nwaits %ld\nlater %ld\n", quick, waits, quick - quick_before);
    return 0;
}
