/* SPDX-License-Identifier: MIT
 *
 * locks_thread.c: each thread's counters for calls that are counted but not recorded. They are
 * written to the trace every few thousand locks, when the thread ends, and for all threads when the
 * recording ends; after a kill they are lower bounds. Memory of ended threads is reused.
 */
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/os.h"
#include "calls/locks.h"
#include "calls/scopes.h"

static __thread uint32_t own_id __attribute__((tls_model("initial-exec")));
static __thread uint32_t has_ended __attribute__((tls_model("initial-exec")));

static struct probity_calls_thread *threads; /* all, newest first */

uint32_t probity_calls_thread_id(void)
{
    if (own_id == 0)
        own_id = probity_os_thread_id();
    return own_id;
}

/* ---- Memory ------------------------------------------------------------------------------------
 */

static struct probity_calls_thread *find_unused(void)
{
    struct probity_calls_thread *thread = __atomic_load_n(&threads, __ATOMIC_ACQUIRE);
    uint32_t unused = 0;

    for (; thread != NULL; thread = thread->next, unused = 0) {
        /* Acquire: pairs with the release at the end of its previous thread. */
        if (__atomic_compare_exchange_n(&thread->is_used, &unused, 1, 0, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED))
            return thread;
    }
    return NULL;
}

/* Allocates a page of states, and marks the first one as used. */
static struct probity_calls_thread *make_some(void)
{
    enum { PAGE = 4096, COUNT = PAGE / sizeof(struct probity_calls_thread) };
    struct probity_calls_thread *made = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
                                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (made == MAP_FAILED)
        return NULL;
    made[0].is_used = 1;
    for (int i = 0; i + 1 < COUNT; i++)
        made[i].next = &made[i + 1];
    struct probity_calls_thread *first = __atomic_load_n(&threads, __ATOMIC_RELAXED);
    do
        made[COUNT - 1].next = first;
    while (!__atomic_compare_exchange_n(&threads, &first, made, 0, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED));
    return made;
}

int probity_calls_thread_count_begin(void)
{
    struct probity_os_signals before;
    int saved = errno;

    if (has_ended)
        return 0;
    /* A signal handler that ran in between would take a second state. */
    probity_os_signals_block(&before);
    struct probity_calls_thread *thread = probity_calls_local.self;
    if (thread == NULL)
        thread = find_unused();
    if (thread == NULL)
        thread = make_some();
    if (thread != NULL) {
        thread->tid = probity_calls_thread_id();
        probity_calls_local.self = thread;
    }
    probity_os_signals_restore(&before);
    errno = saved;
    return thread != NULL;
}

/* ---- Records -----------------------------------------------------------------------------------
 */

static void record_count(uint32_t tid, const char *kind, uint64_t count)
{
    enum { COUNT = 6, EVENT_MESSAGE = 9 };
    static const uint8_t types[COUNT] = {PROBITY_CALLS_LITERAL, PROBITY_CALLS_U64,
                                         PROBITY_CALLS_LITERAL, PROBITY_CALLS_TEXT,
                                         PROBITY_CALLS_LITERAL, PROBITY_CALLS_I32};
    static const char *const texts[COUNT] = {"\"counted \"", "count", "\" of \"", "kind",
                                             "\" by thread \"", "tid"};
    static struct probity_site_format format = {types, texts, NULL, COUNT, 0, 0};
    const struct probity_value values[COUNT] = {
        {"counted ", 8, NULL, PROBITY_AT_DATA},     {&count, sizeof count, NULL, PROBITY_AT_VALUE},
        {" of ", 4, NULL, PROBITY_AT_DATA},         {kind, strlen(kind), NULL, PROBITY_AT_DATA},
        {" by thread ", 11, NULL, PROBITY_AT_DATA}, {&tid, sizeof tid, NULL, PROBITY_AT_VALUE}};

    probity_values_slow(EVENT_MESSAGE, 0, 0, &format, values);
}

static const char *name_of(int counter)
{
    static const char *const others[] = {"allocation", "free", "condition", "notify"};

    return counter < PROBITY_CALLS_COUNTED ? probity_calls_kind_names[counter]
                                           : others[counter - PROBITY_CALLS_COUNTED];
}

/* The thread itself and the thread that ends the recording may run this at the same time: only one
 * of them records each count. */
static void record_counts(struct probity_calls_thread *thread)
{
    uint32_t tid = __atomic_load_n(&thread->tid, __ATOMIC_RELAXED);

    for (int kind = 0; kind < PROBITY_CALLS_COUNTERS; kind++) {
        uint64_t now = __atomic_load_n(&thread->counts[kind], __ATOMIC_RELAXED);
        uint64_t recorded = __atomic_load_n(&thread->recorded[kind], __ATOMIC_RELAXED);
        while (recorded < now) {
            if (!__atomic_compare_exchange_n(&thread->recorded[kind], &recorded, now, 0,
                                             __ATOMIC_RELAXED, __ATOMIC_RELAXED))
                continue;
            record_count(tid, name_of(kind), now - recorded);
            break;
        }
    }
}

void probity_calls_thread_record(void)
{
    int saved = errno;

    probity_thread_inside++;
    record_counts(probity_calls_local.self);
    probity_thread_inside--;
    errno = saved;
}

void probity_calls_thread_ends(void)
{
    struct probity_calls_thread *thread = probity_calls_local.self;

    has_ended = 1;
    if (thread == NULL)
        return;
    probity_calls_thread_record();
    probity_calls_local.self = NULL;
    thread->remembered_count = 0;
    __atomic_store_n(&thread->is_used, 0, __ATOMIC_RELEASE);
}

/* Called by libprobity before a recording ends, in the thread that ends it. */
PROBITY_API void probity_calls_ending(void)
{
    struct probity_calls_thread *thread = __atomic_load_n(&threads, __ATOMIC_ACQUIRE);
    int saved = errno;

    probity_thread_inside++;
    for (; thread != NULL; thread = thread->next)
        record_counts(thread);
    probity_thread_inside--;
    errno = saved;
}

/* ---- Locks with a recorded hold ----------------------------------------------------------------
 */

void probity_calls_thread_remember(const volatile void *object)
{
    struct probity_calls_thread *self = probity_calls_local.self;

    if (self != NULL && self->remembered_count < PROBITY_CALLS_REMEMBERED)
        self->remembered[self->remembered_count++] = object;
}

int probity_calls_thread_forget(const volatile void *object)
{
    struct probity_calls_thread *self = probity_calls_local.self;

    for (uint32_t i = self->remembered_count; i > 0; i--) {
        if (self->remembered[i - 1] != object)
            continue;
        self->remembered[i - 1] = self->remembered[--self->remembered_count];
        return 1;
    }
    return 0;
}

/* ---- Forked children ---------------------------------------------------------------------------
 */

/* The child's only thread has a different id, and its parent's trace has the earlier counts. */
static void begin_child(void)
{
    struct probity_calls_thread *self = probity_calls_local.self;

    own_id = 0;
    for (struct probity_calls_thread *thread = threads; thread != NULL; thread = thread->next) {
        thread->is_used = thread == self;
        memcpy(thread->recorded, thread->counts, sizeof thread->recorded);
    }
    if (self != NULL)
        self->tid = probity_calls_thread_id();
}

void probity_calls_thread_prepare(void)
{
    static int is_prepared;
    int saved = errno;

    if (!is_prepared)
        pthread_atfork(NULL, NULL, begin_child);
    is_prepared = 1;
    errno = saved;
}

__attribute__((constructor(102))) static void at_load(void)
{
    if (__atomic_load_n(&probity_calls_shared.on, __ATOMIC_RELAXED) &
        (PROBITY_CALLS_LOCKS | PROBITY_CALLS_THREADS | PROBITY_CALLS_MEMORY))
        probity_calls_thread_prepare();
}
