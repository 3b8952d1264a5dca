/* SPDX-License-Identifier: MIT
 *
 * ping.c ROUNDS: two threads pass a byte to each other through two pipes, ROUNDS times; each blocks
 * until the other one has written.
 */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static int there[2], back[2];
static long rounds;

static void *answer(void *unused)
{
    char byte;

    (void)unused;
    for (long i = 0; i < rounds; i++) {
        if (read(there[0], &byte, 1) != 1 || write(back[1], &byte, 1) != 1)
            exit(1);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    char byte = 'x';

    rounds = argc > 1 ? atol(argv[1]) : 1000;
    if (pipe(there) != 0 || pipe(back) != 0 || pthread_create(&thread, NULL, answer, NULL) != 0)
        return 1;
    for (long i = 0; i < rounds; i++) {
        if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
            return 1;
    }
    pthread_join(thread, NULL);
    return 0;
}
