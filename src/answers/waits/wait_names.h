/* SPDX-License-Identifier: MIT
 *
 * wait_names.h: names of the objects of waits in answers. A lock has the name of its site, or the
 * symbol of its data, or else the place where it was created or first used (doc/calls.md,
 * "Mappings"). A thread without open scopes is in the function that called the C library.
 */
#ifndef PROBITY_ANSWERS_WAITS_WAIT_NAMES_H
#define PROBITY_ANSWERS_WAITS_WAIT_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/mappings.h"
#include "analysis/waits.h"
#include "answers/waits/descriptors.h"
#include "base/hashtable.h"

/* Maximum number of places in each program; places beyond it are not named. */
enum { PROBITY_WAIT_NAME_BYTES = 512, PROBITY_WAIT_PLACES_MAX = 1 << 16 };

/* How to write an address. */
enum probity_wait_symbol_form {
    PROBITY_WAIT_SYMBOL_CODE,    /* "f (file.c:12)", or "f+0x10" */
    PROBITY_WAIT_SYMBOL_DATA,    /* "table", or "table+0x10" */
    PROBITY_WAIT_SYMBOL_FUNCTION /* "f": the function that contains this code */
};

/* Writes the symbol of an address, as linked, in a file. Returns 1, or 0 if there is none or the
 * file has another build id. */
typedef int probity_wait_symbol(void *context, const char *path, const char *build_id,
                                uint64_t address, enum probity_wait_symbol_form form,
                                char *ret_text, size_t bytes);

/* Where to look up symbols; all zero: nowhere. */
struct probity_wait_symbols {
    probity_wait_symbol *find;
    void *context;
};

/* The kind of a row's subject. */
enum probity_wait_what {
    PROBITY_WAIT_WHAT_LOCK,
    PROBITY_WAIT_WHAT_CONDITION,
    PROBITY_WAIT_WHAT_FILE,
    PROBITY_WAIT_WHAT_PEER,
    PROBITY_WAIT_WHAT_CALL, /* a call to the C library whose file or peer is unknown */
    PROBITY_WAIT_WHAT_SLEEP,
    PROBITY_WAIT_WHAT_CPU,  /* a thread was runnable but had no CPU */
    PROBITY_WAIT_WHATS
};

/* Returns "lock", "condition", "file", "peer", "call", "sleep", "cpu", or "block" for WHATS: not
 * recorded. */
const char *probity_wait_what_name(enum probity_wait_what what);

/* Names are valid until release, their texts until the next call. */
struct probity_wait_names {
    struct probity_wait_symbols symbols;
    struct probity_mappings mappings;
    struct probity_descriptors descriptors;
    struct probity_hashtable places, functions;
    int is_idle; /* there are no waits to name */
    char text[PROBITY_WAIT_NAME_BYTES];
};

struct probity_wait_name {
    enum probity_wait_what what;
    const char *text; /* "cache", "mutex table", "mutex made at f (file.c:12)", a path, a peer */
    uint64_t object;  /* address or number of a lock or condition, else 0; joins have none, so that
                       * the threads created at one place are one subject */
};

/* Call before the first put: the analysis and the descriptors continue from the states of a reader,
 * as in probity_waits_resume_all(). If its traces have no waits, nothing is stored for their names.
 * Returns 0 or PROBITY_ERROR_MEMORY; probity_wait_names_put() may then also return
 * PROBITY_ERROR_DAMAGED. */
int probity_wait_names_resume(struct probity_wait_names *names, struct probity_waits *waits,
                              const struct probity_reader *reader);

/* Takes any event, in order, and passes it to the analysis of waits: leaves before they change the
 * names, all other events after that. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_wait_names_put(struct probity_wait_names *names, struct probity_waits *waits,
                           const struct probity_event *event);

/* Returns the name of a wait's object. Call it only while the wait is being passed on. */
struct probity_wait_name probity_wait_names_of(struct probity_wait_names *names, uint32_t trace,
                                               const struct probity_wait *wait);

/* If the thread had no open scope of the program, sets the function to the one that called the C
 * library, if that place has a symbol: one object per trace and symbol, valid until release.
 * Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_wait_names_complete(struct probity_wait_names *names, uint32_t trace,
                                const struct probity_wait_place *place,
                                struct probity_past_doing *doing);

/* Does the same for the waiter and the waker of a wait. */
int probity_wait_names_complete_wait(struct probity_wait_names *names, uint32_t trace,
                                     struct probity_wait *wait);

void probity_wait_names_release(struct probity_wait_names *names);

#endif
