/* SPDX-License-Identifier: MIT
 *
 * prepare.c: one-time work: reading the setting, finding libc's functions, and, at the beginning of
 * each recording, including that of a forked child, describing the process in the trace.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/os.h"
#include "calls/calls.h"
#include "calls/locks.h"
#include "calls/scopes.h"

/* After the constructors of libprobity, on which this library depends. */
enum { FIRST_PRIORITY = 101 };

struct probity_calls_shared probity_calls_shared __attribute__((aligned(64))) = {
    .on = PROBITY_CALLS_UNREADY};

static uint32_t is_found, is_ready;
/* Number of recordings begun so far, and the latest one whose trace describes the process. */
static uint32_t recordings, described;
static pid_t process;
static __thread uint32_t is_describing __attribute__((tls_model("initial-exec")));

/* Call before any call of this thread is recorded: a mapping must be recorded before any call from
 * it. Does not rely on another thread that is doing the same, since that thread may be
 * preempted. */
static void describe_process(void)
{
    uint32_t number = __atomic_load_n(&recordings, __ATOMIC_SEQ_CST);

    if (__atomic_load_n(&described, __ATOMIC_SEQ_CST) == number)
        return;
    is_describing = 1;
    probity_thread_inside++;
    probity_calls_mappings_record();
    if (__atomic_load_n(&probity_calls_shared.on, __ATOMIC_RELAXED) & PROBITY_CALLS_IO)
        probity_calls_descriptors_record();
    probity_thread_inside--;
    is_describing = 0;
    __atomic_store_n(&described, number, __ATOMIC_SEQ_CST);
}

/* Sequentially consistent, as in begin_recording(): either this thread sees the new recording, or
 * the bit for that recording is set last. */
static void set_ready(void)
{
    __atomic_and_fetch(&probity_calls_shared.on, ~PROBITY_CALLS_UNREADY, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&recordings, __ATOMIC_SEQ_CST) !=
        __atomic_load_n(&described, __ATOMIC_SEQ_CST))
        __atomic_or_fetch(&probity_calls_shared.on, PROBITY_CALLS_UNREADY, __ATOMIC_SEQ_CST);
}

static void find_once(void)
{
    if (__atomic_load_n(&is_found, __ATOMIC_ACQUIRE))
        return;
    probity_calls_find();
    /* Release: a thread that sees this sees the table. Two threads may do this work at once, with
     * the same result. */
    __atomic_store_n(&is_found, 1, __ATOMIC_RELEASE);
}

static void describe_if_ready(void)
{
    if (!__atomic_load_n(&is_ready, __ATOMIC_ACQUIRE) || is_describing)
        return;
    describe_process();
    set_ready();
}

void probity_calls_prepare(const void *place)
{
    int saved = errno;

    find_once();
    /* Only for calls by the program: describing takes the library's lock for declarations, which
     * the library may hold when it calls libc itself. */
    if (probity_calls_are_of_program(place))
        describe_if_ready();
    errno = saved;
}

static void begin_recording(void)
{
    __atomic_add_fetch(&recordings, 1, __ATOMIC_SEQ_CST);
    __atomic_or_fetch(&probity_calls_shared.on, PROBITY_CALLS_UNREADY, __ATOMIC_SEQ_CST);
}

/* The first record of a forked child begins its recording: here, it is that of
 * describe_process(). */
PROBITY_API void probity_calls_recording(void)
{
    if (!is_describing && __atomic_load_n(&is_ready, __ATOMIC_ACQUIRE))
        begin_recording();
}

static void begin_child(void)
{
    process = getpid();
    begin_recording();
}

int probity_calls_is_own_process(void)
{
    return getpid() == process;
}

static uint32_t families_wanted(void)
{
    const char *text = probity_os_is_privileged() ? NULL : getenv("PROBITY_CALLS");
    uint32_t families = 0;
    char message[256];

    if (text == NULL || *text == '\0' || probity_called_parse(text, &families))
        return families;
    int length = snprintf(message, sizeof message, "probity: invalid PROBITY_CALLS '%.80s': "
                          "no calls are recorded\n", text);
    probity_os_say(message, (size_t)length);
    return 0;
}

static void prepare_forks(void)
{
    static uint32_t is_prepared;

    process = getpid();
    if (!__atomic_exchange_n(&is_prepared, 1, __ATOMIC_RELAXED))
        pthread_atfork(NULL, NULL, begin_child);
}

/* If a recording began before calls were recorded, the next call adds the missing description. */
PROBITY_API int probity_calls_wake(const char *text)
{
    uint32_t families;

    if (!probity_called_parse(text, &families))
        return -1;
    probity_thread_inside++;
    probity_calls_mappings_update();
    prepare_forks();
    probity_calls_thread_prepare();
    if (families & PROBITY_CALLS_LOCKS)
        probity_calls_locks_prepare();
    probity_calls_count_by(families);
    __atomic_store_n(&is_ready, 1, __ATOMIC_RELEASE);
    __atomic_add_fetch(&recordings, 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(&probity_calls_shared.on, families | PROBITY_CALLS_UNREADY, __ATOMIC_SEQ_CST);
    probity_thread_inside--;
    return 0;
}

PROBITY_API void probity_calls_sleep(void)
{
    __atomic_store_n(&is_ready, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&probity_calls_shared.on, 0, __ATOMIC_SEQ_CST);
}

__attribute__((constructor(FIRST_PRIORITY))) static void at_load(void)
{
    int saved = errno;

    probity_thread_inside++;
    find_once();
    uint32_t families = families_wanted();
    if (families != 0) {
        probity_calls_count_by(families);
        probity_calls_mappings_update();
        prepare_forks();
        __atomic_add_fetch(&recordings, 1, __ATOMIC_SEQ_CST);
        __atomic_or_fetch(&probity_calls_shared.on, families, __ATOMIC_SEQ_CST);
    } else {
        __atomic_store_n(&probity_calls_shared.on, 0, __ATOMIC_SEQ_CST);
    }
    __atomic_store_n(&is_ready, families != 0, __ATOMIC_RELEASE);
    if (families != 0 && probity_is_recording())
        describe_if_ready();
    probity_thread_inside--;
    errno = saved;
}
