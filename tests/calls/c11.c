/* SPDX-License-Identifier: MIT
 *
 * c11.c: mutexes, conditions and threads of <threads.h>. If the calls do not behave as without the
 * library, the program fails; tests/calls/calls_locks.sh checks how they appear in the trace.
 * Prints "NAME ADDRESS" of each object, and "main TID".
 */
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static mtx_t held, recursive;
static cnd_t condition;
static once_flag flag = ONCE_FLAG_INIT;
static atomic_long waiter;
static int runs;

#define CHECK(is_right) check(is_right, #is_right)
static void check(int is_right, const char *what)
{
    if (is_right)
        return;
    fprintf(stderr, "c11: %s\n", what);
    exit(1);
}

static void show(const char *name, const volatile void *object)
{
    printf("%s %lu\n", name, (unsigned long)(uintptr_t)object);
}

static void await_sleep_of_waiter(void)
{
    char path[64], state = 0;

    while (atomic_load(&waiter) == 0)
        thrd_yield();
    snprintf(path, sizeof path, "/proc/self/task/%ld/stat", atomic_load(&waiter));
    while (state != 'S') {
        FILE *file = fopen(path, "r");
        CHECK(file != NULL && fscanf(file, "%*d (%*[^)]) %c", &state) == 1);
        fclose(file);
    }
}

static int wait_for_mutex(void *result)
{
    atomic_store(&waiter, syscall(SYS_gettid));
    CHECK(mtx_lock(&held) == thrd_success);
    CHECK(mtx_unlock(&held) == thrd_success);
    return *(int *)result;
}

static int give_up(void *unused)
{
    const struct timespec past = {1, 0};
    (void)unused;

    CHECK(mtx_timedlock(&held, &past) == thrd_timedout);
    CHECK(mtx_trylock(&held) == thrd_busy);
    CHECK(mtx_unlock(&recursive) == thrd_error);
    thrd_exit(9);
}

static void run_once(void)
{
    runs++;
}

static int in_thread(int (*function)(void *), void *argument, int is_waiting)
{
    thrd_t thread;
    int result;

    CHECK(mtx_lock(&held) == thrd_success);
    CHECK(thrd_create(&thread, function, argument) == thrd_success);
    if (is_waiting) {
        await_sleep_of_waiter();
        CHECK(mtx_unlock(&held) == thrd_success);
        CHECK(thrd_join(thread, &result) == thrd_success);
    } else {
        CHECK(thrd_join(thread, &result) == thrd_success);
        CHECK(mtx_unlock(&held) == thrd_success);
    }
    return result;
}

int main(void)
{
    const struct timespec past = {1, 0}, shortly = {0, 1000};
    int seven = 7;

    CHECK(mtx_init(&held, mtx_timed) == thrd_success && cnd_init(&condition) == thrd_success);
    CHECK(mtx_init(&recursive, mtx_plain | mtx_recursive) == thrd_success);
    show("held", &held);
    show("recursive", &recursive);
    show("condition", &condition);
    show("flag", &flag);
    printf("main %ld\n", (long)syscall(SYS_gettid));
    CHECK(mtx_lock(&recursive) == thrd_success && mtx_trylock(&recursive) == thrd_success);
    CHECK(in_thread(give_up, NULL, 0) == 9);
    CHECK(in_thread(wait_for_mutex, &seven, 1) == 7);
    CHECK(mtx_unlock(&recursive) == thrd_success && mtx_unlock(&recursive) == thrd_success);
    CHECK(mtx_lock(&held) == thrd_success);
    CHECK(cnd_timedwait(&condition, &held, &past) == thrd_timedout);
    CHECK(cnd_signal(&condition) == thrd_success && cnd_broadcast(&condition) == thrd_success);
    CHECK(mtx_unlock(&held) == thrd_success);
    call_once(&flag, run_once);
    call_once(&flag, run_once);
    CHECK(runs == 1 && thrd_sleep(&shortly, NULL) == 0);
    cnd_destroy(&condition);
    mtx_destroy(&held);
    return 0;
}
