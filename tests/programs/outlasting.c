/* SPDX-License-Identifier: MIT
 *
 * outlasting.c: a call that wakes a thread and takes longer than that thread's work. In serve(), a
 * thread reads the first byte that the writer writes to a pipe; the other bytes do not fit in the
 * pipe, so the writer stays in write() until serve() has ended and the thread reads on. Record its
 * .shared variant with --calls io.
 */
#define FN_INSTRUMENT
#include <FnTrace.h>

#include <fcntl.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

enum { TIMES = 3 };

static int ends[2];
static char bytes[1 << 16];
static int capacity;

/* Long enough for the reader to block in read(), as the test shows: the order of events does not
 * depend on it. */
static void pause_briefly(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
}

static NOINLINE int serve(void)
{
    FN_FUNC(int, FN_1);
    char byte;

    return (int)read(ends[0], &byte, 1);
}

static int read_rest(size_t count)
{
    static char rest[sizeof bytes];

    while (count > 0) {
        ssize_t got = read(ends[0], rest, count);
        if (got <= 0)
            return 0;
        count -= (size_t)got;
    }
    return 1;
}

static void *write_all(void *context)
{
    prctl(PR_SET_NAME, "writer");
    for (int i = 0; i < TIMES; i++) {
        pause_briefly();
        if (write(ends[1], bytes, 2 * (size_t)capacity) != 2 * capacity)
            return NULL;
    }
    return context;
}

int main(void)
{
    pthread_t writer;

    if (pipe(ends) != 0 || (capacity = fcntl(ends[1], F_SETPIPE_SZ, 4096)) < 0 ||
        2 * (size_t)capacity > sizeof bytes || pthread_create(&writer, NULL, write_all, NULL) != 0)
        return 1;
    for (int i = 0; i < TIMES; i++) {
        if (serve() != 1)
            return 1;
        /* Off the CPU for long enough that write() is a wait. */
        pause_briefly();
        if (!read_rest(2 * (size_t)capacity - 1))
            return 1;
    }
    return pthread_join(writer, NULL);
}
