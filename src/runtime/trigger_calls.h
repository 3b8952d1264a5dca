/* SPDX-License-Identifier: MIT
 *
 * trigger_calls.h: the table through which the rest of the library calls code that only programs
 * with conditions or dumps need (trigger.h), if that is linked.
 */
#ifndef PROBITY_RUNTIME_TRIGGER_CALLS_H
#define PROBITY_RUNTIME_TRIGGER_CALLS_H

#include <stddef.h>
#include <stdint.h>

#include "probity_scope.h"

struct probity_session;
struct probity_settings;
struct probity_thread_state;

/* A record, as the thread stores it: the code of a hit, or the kind and payload of an event. */
struct probity_trigger_record {
    uint32_t code, kind;
    const void *payload;
    size_t bytes;
};

/* Conditions that a record meets, or may meet. */
struct probity_trigger_met {
    uint64_t conditions; /* a set */
    uint64_t start, end, id;
    uint32_t from, code;
};

/* Async-signal-safe, except the first two; preserve errno. */
struct probity_trigger_calls {
    /* Checks conditions and pattern in the settings, and stores those of dumps (PROBITY_DUMPS;
     * NULL: not set). *ret_ring_ns: the shortest window of a ring that holds a dump. Returns NULL
     * or the name of the invalid variable. */
    const char *(*read_settings)(const char *dumps, struct probity_settings *settings,
                                 uint64_t *ret_ring_ns);

    /* Call when a recording is prepared. Returns 0 or an error, which is reported. Lock held. */
    int (*begin)(struct probity_session *session, int is_child);

    /* Call when a function has its number, under declare_lock. Returns whether its calls are
     * compared. */
    int (*function_declared)(struct probity_session *session,
                             const struct probity_site_function *function, uint32_t number);

    /* Call when a named site has its number, under declare_lock. */
    void (*site_declared)(const char *name, uint32_t number);

    /* Call when a function has its number, under declare_lock: marks it as only counted if it
     * is switched off. */
    void (*switch_declared)(const struct probity_site_function *function, uint32_t number);

    /* Call when a site has its number, under declare_lock: stores its code and returns it, or
     * returns 0 if the site is switched off. */
    uint32_t (*switch_site)(struct probity_session *session, struct probity_site *site,
                            uint32_t number, uint32_t code);

    /* Compares the duration of a call that has ended, given the ticks of its two records; 0: the
     * record was dropped. */
    void (*call_ended)(const struct probity_site_function *function, uint64_t entered,
                       uint64_t left);

    /* Call before a record after a gap, which will be stored at `at` or later; the thread's
     * previous record has the tick `last`. Finds the conditions whose span or wait ends there, and
     * where it began. */
    void (*gap_found)(struct probity_session *session, const struct probity_thread_state *slot,
                      const struct probity_trigger_record *record, uint64_t at, uint64_t last,
                      struct probity_trigger_met *ret_met);

    /* Compares with the limits. Call once the record is stored, with its tick as the end: the dump
     * must contain it. */
    void (*compare)(const struct probity_trigger_met *met);

    /* Call when the thread hands over its chunk, whose last words may be needed. */
    void (*keep_words)(const uint64_t *words, uint32_t count);

    /* Prints the first failure to write a dump, once. In a thread of the program. */
    void (*report)(struct probity_session *session);
};

/* Weak: its address is NULL in a program without this code, whose recordings have no dumps. */
#ifdef PROBITY_NO_WEAK
extern const struct probity_trigger_calls probity_trigger_calls;

static inline int probity_trigger_is_linked(void)
{
    return 1;
}
#else
extern const struct probity_trigger_calls probity_trigger_calls __attribute__((weak));

static inline int probity_trigger_is_linked(void)
{
    return &probity_trigger_calls != NULL;
}
#endif

#endif
