/* SPDX-License-Identifier: MIT
 *
 * plant.c: stalls on demand, to demonstrate and test commands that find them: with --plant, the
 * worker of a request for /stall/KIND/MS is delayed by MS milliseconds before it responds. Runs in
 * a worker, which waits for the other threads that it starts.
 */
#define _GNU_SOURCE 1
#include "plant.h"
#include "stages.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MS_MAX = 1000, NEIGHBORS = 3, PIPE_BYTES = 256 << 10, FAULT_BYTES = 4096 };

/* Argument of a thread that helps to stall. */
struct stall {
    unsigned ms;
    atomic_bool is_ready, is_over;
    int descriptor; /* the pipe's end to read, or the userfaultfd */
};

static pthread_mutex_t cache = PTHREAD_MUTEX_INITIALIZER;
static char bytes[PIPE_BYTES];

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void pause_ms(unsigned ms)
{
    struct timespec rest = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};

    syscall(SYS_nanosleep, &rest, NULL); /* not a call that is recorded */
}

static void *cache_refill(void *argument)
{
    FN_FUNC(void *, 1);
    struct stall *stall = argument;

    pthread_mutex_lock(&cache);
    PROBITY_LOCK_HOLD("cache", &cache);
    atomic_store(&stall->is_ready, true);
    pause_ms(stall->ms);
    PROBITY_LOCK_RELEASE("cache", &cache);
    pthread_mutex_unlock(&cache);
    return NULL;
}

static void *neighbor_run(void *argument)
{
    struct stall *stall = argument;

    while (!atomic_load(&stall->is_over))
        continue;
    return NULL;
}

/* Reads what the worker writes, after a delay. */
static void *reader_run(void *argument)
{
    struct stall *stall = argument;
    static _Thread_local char into[PIPE_BYTES / 4];

    pause_ms(stall->ms);
    while (syscall(SYS_read, stall->descriptor, into, sizeof into) > 0)
        continue;
    return NULL;
}

/* Provides the page that the worker has touched, after a delay. */
static void *pager_run(void *argument)
{
    struct stall *stall = argument;
    struct pollfd event = {.fd = stall->descriptor, .events = POLLIN};
    struct uffd_msg message;

    if (poll(&event, 1, MS_MAX) != 1 || read(stall->descriptor, &message, sizeof message) <= 0)
        return NULL;
    pause_ms(stall->ms);
    uint64_t page = message.arg.pagefault.address & ~(uint64_t)(FAULT_BYTES - 1);
    struct uffdio_copy copy = {.dst = page, .src = (uintptr_t)bytes, .len = FAULT_BYTES};
    ioctl(stall->descriptor, UFFDIO_COPY, &copy);
    return NULL;
}

/* A worker looks something up in a cache that is being refilled. */
static void stall_by_lock(struct stall *stall)
{
    pthread_t refiller;

    if (pthread_create(&refiller, NULL, cache_refill, stall) != 0)
        return;
    while (!atomic_load(&stall->is_ready))
        sched_yield();
    PROBITY_LOCK_WAIT("cache", &cache);
    pthread_mutex_lock(&cache);
    PROBITY_LOCK_HOLD("cache", &cache);
    PROBITY_LOCK_RELEASE("cache", &cache);
    pthread_mutex_unlock(&cache);
    pthread_join(refiller, NULL);
}

/* Other threads use the only CPU on which the worker may run. */
static void stall_by_neighbors(struct stall *stall)
{
    pthread_t neighbors[NEIGHBORS];
    cpu_set_t before, one;
    int count = 0;

    CPU_ZERO(&one);
    CPU_SET((unsigned)sched_getcpu(), &one);
    if (sched_getaffinity(0, sizeof before, &before) != 0 ||
        sched_setaffinity(0, sizeof one, &one) != 0)
        return;
    uint64_t end_ns = now_ns() + (uint64_t)stall->ms * 1000000;
    while (count < NEIGHBORS &&
           pthread_create(&neighbors[count], NULL, neighbor_run, stall) == 0)
        count++;
    while (now_ns() < end_ns)
        sched_yield();
    atomic_store(&stall->is_over, true);
    for (int i = 0; i < count; i++)
        pthread_join(neighbors[i], NULL);
    sched_setaffinity(0, sizeof before, &before);
}

/* The reader of a pipe is late. */
static void stall_by_write(struct stall *stall)
{
    pthread_t reader;
    size_t left = sizeof bytes;
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) != 0)
        return;
    stall->descriptor = ends[0];
    if (pthread_create(&reader, NULL, reader_run, stall) == 0) {
        for (ssize_t wrote = 1; left > 0 && wrote > 0; left -= (size_t)wrote)
            wrote = write(ends[1], bytes, left);
        close(ends[1]);
        pthread_join(reader, NULL);
    } else {
        close(ends[1]);
    }
    close(ends[0]);
}

static int pages_register(void *pages)
{
    struct uffdio_api api = {.api = UFFD_API};
    struct uffdio_register range = {.range = {(uintptr_t)pages, FAULT_BYTES},
                                    .mode = UFFDIO_REGISTER_MODE_MISSING};
    int descriptor = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);

    if (descriptor >= 0 && (ioctl(descriptor, UFFDIO_API, &api) != 0 ||
                            ioctl(descriptor, UFFDIO_REGISTER, &range) != 0)) {
        close(descriptor);
        return -1;
    }
    return descriptor;
}

/* A page arrives late, as from a slow disk. */
static bool stall_by_fault(struct stall *stall)
{
    pthread_t pager;
    volatile char *page = mmap(NULL, FAULT_BYTES, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (page == MAP_FAILED)
        return false;
    stall->descriptor = pages_register((void *)page);
    bool is_there = stall->descriptor >= 0 &&
                    pthread_create(&pager, NULL, pager_run, stall) == 0;
    if (is_there) {
        (void)*page;
        pthread_join(pager, NULL);
    }
    if (stall->descriptor >= 0)
        close(stall->descriptor);
    munmap((void *)page, FAULT_BYTES);
    return is_there;
}

int plant_stall(const struct request *request, struct response *response)
{
    FN_FUNC(int, 1);
    const char *kind = request->path + strlen(PLANT_PATH), *slash = strchr(kind, '/');
    size_t length = slash != NULL ? (size_t)(slash - kind) : 0;
    struct stall stall = {.ms = slash != NULL ? (unsigned)atoi(slash + 1) : 0};
    bool is_known = stall.ms > 0 && stall.ms <= MS_MAX;

    if (is_known && length == 4 && strncmp(kind, "lock", 4) == 0)
        stall_by_lock(&stall);
    else if (is_known && length == 3 && strncmp(kind, "cpu", 3) == 0)
        stall_by_neighbors(&stall);
    else if (is_known && length == 5 && strncmp(kind, "write", 5) == 0)
        stall_by_write(&stall);
    else
        is_known = is_known && length == 5 && strncmp(kind, "fault", 5) == 0 &&
                   stall_by_fault(&stall);
    response_init(response, is_known ? 200 : 404);
    return response->status;
}
