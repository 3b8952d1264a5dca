/* SPDX-License-Identifier: MIT
 *
 * victim.c: a victim's records. Each is counted before and after, in memory that outlives the
 * process: a reader must find that count, or one more if a record was in progress.
 */
#define FN_INSTRUMENT
#include <FnTrace.h>

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "death/death.h"
#include "probity_typed.h"
#include "programs/hits.h"
#include "programs/shared_memory.h"

struct death_truth *death_truth;

/* The stream that the calling thread writes to. */
static __thread uint32_t own_thread;
static __thread volatile uint32_t own_level;

static const char *const texts[] = {"", "some text", "a text that takes more words than the other",
                                    NULL};

static struct death_stream *stream(void)
{
    return &death_truth->thread[own_thread].level[own_level];
}

static void begin(void)
{
    struct death_stream *mine = stream();

    __atomic_store_n(&mine->begun, mine->begun + 1, __ATOMIC_SEQ_CST);
}

static void end(void)
{
    struct death_stream *mine = stream();

    __atomic_store_n(&mine->finished, mine->begun, __ATOMIC_SEQ_CST);
}

/* One function for each level, because only the name of a scope without values shows its level. */
#define PLAIN(level)                                                                               \
    static void plain_##level(uint64_t a)                                                          \
    {                                                                                              \
        FN_FUNC(FN_VOID, FN_1);                                                                    \
        end();                                                                                     \
        if (death_truth->kinds & DEATH_MESSAGE) {                                                  \
            begin();                                                                               \
            FN_OUTPUT("numbers ", a, ~a);                                                          \
            end();                                                                                 \
        }                                                                                          \
        begin();                                                                                   \
    }
PLAIN(0)
PLAIN(1)
PLAIN(2)

static void inner(uint64_t a)
{
    static void (*const plain[])(uint64_t) = {plain_0, plain_1, plain_2};

    if ((death_truth->kinds & DEATH_PLAIN_ENTER) == 0)
        return;
    begin();
    plain[own_level](a);
    end();
}

static uint64_t outer(uint64_t a, uint64_t b, const char *text)
{
    uint64_t result = a * 3;
    FN_FUNC_PARAMS(uint64_t, result, FN_1, 3, a, b, text);
    end();
    inner(a);
    begin();
    return result;
}

static uint32_t records_of_unit(void)
{
    return (uint32_t)__builtin_popcount(death_truth->kinds);
}

void death_unit(uint32_t thread)
{
    uint32_t kinds = death_truth->kinds, level = own_level;
    uint64_t number = stream()->begun / records_of_unit();
    uint64_t a = (uint64_t)level << 56 | (uint64_t)thread << 48 | number;
    uint32_t id = hits_id(thread * DEATH_LEVELS + level, number);

    if (kinds & DEATH_HIT) {
        begin();
        PROBITY_PROBE(id);
        end();
    }
    if (kinds & DEATH_WIDE) {
        begin();
        PROBITY_PROBE(id | 1u << 31);
        end();
    }
    if (kinds & DEATH_TYPED) {
        begin();
        PROBITY_PROBE_ROLE(7, PROBITY_ROLE_QUEUE_PUT, a, ~a);
        end();
    }
    if (kinds & DEATH_ENTER) {
        begin();
        outer(a, ~a, texts[number % 4]);
        end();
    } else {
        inner(a);
    }
}

static void take_name(uint32_t thread)
{
    own_thread = thread;
    death_truth->thread[thread].tid = (uint32_t)syscall(SYS_gettid);
    death_truth->thread[thread].pid = (uint32_t)getpid();
}

void death_be(uint32_t thread)
{
    take_name(thread);
    own_level = 0;
}

void death_truth_map(void)
{
    death_truth = shared_memory(sizeof *death_truth);
    hits_need(death_truth != NULL, "shared memory");
}

void death_start(const struct death_setting *setting)
{
    struct probity_options options = {
        .out = setting->out != NULL ? setting->out : "trace",
        .mode = setting->mode != 0 ? setting->mode : PROBITY_MODE_BLOCK,
        .cpu_time = setting->cpu_time ? PROBITY_ON : PROBITY_OFF,
        .profile = setting->profile ? PROBITY_ON : PROBITY_OFF,
        .cost = PROBITY_OFF,
        .chunk_records = setting->chunk_records != 0 ? setting->chunk_records : 512,
        .spool_records = setting->spool_records != 0 ? setting->spool_records : 8192,
        .spool_bytes_max = setting->spool_bytes_max,
        .cpu_gap_ns = setting->cpu_time ? 200 : 0,
        .cpu_budget_permille = setting->cpu_time ? 1000 : 0};

    hits_need(probity_start(&options) == 0, "probity_start");
}

/* Fills chunks, for longer than the writer waits for interrupted probes. */
static void take_long(void)
{
    enum { UNITS = 1500 };

    for (int i = 0; i < UNITS; i++)
        death_unit(own_thread);
    usleep(death_truth->slow_ms * 1000);
    errno = 1234;
}

/* A handler inside two others has no level, and records nothing. */
static void on_signal(int number)
{
    int before = errno;

    /* In a forked child that has not yet stored its process id. */
    if (death_truth->thread[own_thread].pid != (uint32_t)getpid())
        take_name(1);
    if (own_level + 1 >= DEATH_LEVELS)
        return;
    own_level = own_level + 1;
    errno = 1234;
    death_unit(own_thread);
    if (own_level == 2 && death_truth->slow_ms > 0)
        take_long();
    if (errno != 1234)
        _exit(98);
    own_level = own_level - 1;
    errno = before;
    __atomic_add_fetch(number == SIGUSR1 ? &death_truth->handled : &death_truth->nested, 1,
                       __ATOMIC_RELAXED);
}

void death_unit_in_handler(void)
{
    if (own_level + 1 >= DEATH_LEVELS)
        return;
    own_level = own_level + 1;
    death_unit(own_thread);
    own_level = own_level - 1;
}

void death_land(void)
{
    sigset_t all, before;

    /* Another jump out of this handler would store the same record again. */
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    own_level = 0;
    for (uint32_t level = 0; level < DEATH_LEVELS; level++) {
        struct death_stream *mine = &death_truth->thread[own_thread].level[level];
        if (mine->begun == mine->finished)
            continue;
        uint32_t place = __atomic_fetch_add(&death_truth->jumps, 1, __ATOMIC_RELAXED);
        hits_need(place < DEATH_JUMPED_MAX, "room for jumps");
        death_truth->jumped[place] =
            (struct death_jumped){own_thread, level, mine->begun - 1};
        mine->finished = mine->begun;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void death_handle_signals(void)
{
    struct sigaction action = {.sa_flags = SA_RESTART | SA_NODEFER | SA_ONSTACK};

    action.sa_handler = on_signal;
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGUSR2, &action, NULL);
}

void death_fill_chunk(uint32_t thread, uint32_t words)
{
    uint32_t draw = 1;

    for (int tries = 0; tries < 20000; tries++) {
        const struct probity_thread *self = probity_thread_self;
        uint64_t bytes = self != NULL ? self->valid_bit : 0;
        uint64_t left = bytes != 0 ? bytes - (self->cursor & (bytes - 1)) : 0;
        if (bytes == 0 && tries > 0)
            probity_flush(); /* no chunk is free: the writer has to catch up */
        if (left > 0 && left <= 8 * (uint64_t)words)
            return;
        /* A name in between shifts records to offsets that they would not reach otherwise. Its
         * length is random: if all hits take the same number of words, as on a busy machine, where
         * the CPU clock is read for each, a fixed sequence of lengths could always miss the end of
         * the chunk. */
        draw = draw * 1103515245 + 12345;
        if (tries % 7 == 6)
            probity_thread_set_name(&"a name of several words"[(draw >> 16) % 3 * 8]);
        death_unit(thread);
    }
    hits_need(0, "the end of a chunk was not reached");
}
