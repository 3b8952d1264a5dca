/* SPDX-License-Identifier: MIT
 *
 * wake.c: the library's side of `probity attach`. Runs in the thread whose probe finds the request,
 * or in the thread that waits for requests (control_page.c). Other threads do not wait for it:
 * their probes record nothing until the recording has begun. Work that may need the dynamic
 * linker's lock is left to the writer thread, which holds no other lock; it then replies to the
 * request.
 */
#include "runtime/wake.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/assert.h"
#include "base/called.h"
#include "base/hooked.h"
#include "base/os.h"
#include "probity_scope.h"
#include "runtime/external.h"
#include "runtime/levels.h"
#include "runtime/session.h"
#include "runtime/session_messages.h"
#include "runtime/trigger_calls.h"
#include "spool/control.h"

/* In .bss: only its address is in the block. */
char probity_wake_text[PROBITY_WAKE_TEXT_BYTES];

struct probity_wake probity_wake_block = {
    .magic = PROBITY_WAKE_MAGIC,
    .version = PROBITY_WAKE_VERSION,
    .bytes = sizeof(struct probity_wake),
    .active = 0,
    .level = 0,
    .text = 0};

/* The note has the version and the distance to the block, so that it needs no relocation, and
 * survives strip. Omitted if objects have no notes (doc/porting.md). */
#ifndef PROBITY_NO_NOTES
__asm__(".pushsection .note.probity.wake, \"a\", %note\n\t"
        ".balign 4\n\t.long 8, 8, 2\n\t.asciz \"Probity\"\n\t"
        ".long 2, probity_wake_block - .\n\t.popsection");
#endif

/* A request whose recording has begun, for the writer thread. NULL: none. */
static struct {
    struct probity_wake *block;
    uint32_t serial, pid; /* pid: so that a child forked in the meantime does not reply */
    int has_functions;
    char rules[PROBITY_WAKE_TEXT_BYTES], calls[128];
} answering;

static uint32_t taking; /* process id of the thread that handles a request */

/* Whether the other libraries must be stopped once the recording has ended. OVER: it ended while
 * they were starting, so the thread that started them stops them. */
enum { NOTHING, PUTTING, PUT, OVER };
static uint32_t others;

__attribute__((constructor(101))) static void set_addresses(void)
{
    probity_wake_block.active = (uint64_t)(uintptr_t)&probity_active;
    probity_wake_block.level = (uint64_t)(uintptr_t)&probity_scope_level;
    probity_wake_block.text = (uint64_t)(uintptr_t)probity_wake_text;
}

static int is_past(uint64_t until_ns)
{
    struct timespec now;

    return until_ns == 0 || clock_gettime(CLOCK_MONOTONIC, &now) != 0 ||
           (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec >= until_ns;
}

int probity_wake_is_pending(void)
{
    return !is_past(__atomic_load_n(&probity_wake_block.until_ns, __ATOMIC_RELAXED));
}

/* ---- Contents of a request ---------------------------------------------------------------------
 */

/* Returns the value of a setting; NULL: it is not in the text. */
static const char *value_of(const char *text, const char *name)
{
    size_t bytes = strlen(name);

    for (const char *at = text; *at != 0; at += strlen(at) + 1) {
        if (strncmp(at, name, bytes) == 0 && at[bytes] == '=')
            return at + bytes + 1;
    }
    return NULL;
}

static void copy_value(char *ret_copy, size_t room, const char *value)
{
    size_t bytes = value != NULL ? strnlen(value, room - 1) : 0;

    memset(ret_copy, 0, room);
    memcpy(ret_copy, value != NULL ? value : "", bytes);
}

/* Reads the part of the request that the other libraries carry out. */
static int read_wishes(const char *text)
{
    const char *calls = value_of(text, "PROBITY_CALLS");
    const char *functions = value_of(text, "FUNCTIONS");
    const char *rules = value_of(text, "PROBITY_SELECT");

    answering.has_functions = functions != NULL && strcmp(functions, "1") == 0;
    copy_value(answering.calls, sizeof answering.calls, calls);
    copy_value(answering.rules, sizeof answering.rules, rules);
    if (answering.calls[0] != 0 && probity_calls_wake == NULL)
        return PROBITY_WAKE_NO_CALLS;
    return answering.has_functions && probity_hooked_wake == NULL ? PROBITY_WAKE_NO_FUNCTIONS : 0;
}

/* Starts the recording. The tool may overwrite the text at any time. */
static int start(struct probity_session *session, char *text)
{
    struct probity_settings *settings = &session->wanted;
    const char *what;

    text[PROBITY_WAKE_TEXT_BYTES - 1] = 0;
    text[PROBITY_WAKE_TEXT_BYTES - 2] = 0;
    int result = probity_os_is_privileged()
                     ? PROBITY_ERROR_STATE
                     : probity_settings_read_text(text, settings, &what);
    if (result == 0)
        result = read_wishes(text);
    else if (!probity_trigger_is_linked() && value_of(text, "PROBITY_WHEN") != NULL)
        result = PROBITY_WAKE_NO_DUMPS;
    if (result != 0)
        return result;
    settings->is_for_text = 0;
    settings->log[0] = settings->summary[0] = 0;
    /* A level of this request takes precedence over all earlier ones. */
    probity_levels_forget(value_of(text, "PROBITY_LEVEL") != NULL);
    if (probity_session_is_late(session))
        return PROBITY_WAKE_LATE;
    /* Delays the end of the recording until the writer has been started: a writer started after the
     * end would use a spool that no longer exists. */
    __atomic_add_fetch(&session->busy, 1, __ATOMIC_SEQ_CST);
    probity_session_keep_silent(1);
    result = probity_session_start(session, settings, 0);
    probity_session_keep_silent(0);
    if (result == 0)
        probity_session_need_writer(session); /* which also ends the recording on request */
    probity_session_leave(session);
    return result;
}

/* ---- The reply ---------------------------------------------------------------------------------
 */

static void answer(struct probity_wake *block, uint32_t serial, int result)
{
    block->result = result;
    block->pid = (uint32_t)getpid();
    /* Release: the tool sees the result once it sees the serial. */
    __atomic_store_n(&block->taken, serial, __ATOMIC_RELEASE);
    if (block != &probity_wake_block)
        probity_os_wake_shared(&block->taken, INT32_MAX);
}

static int put_hooks(void)
{
    int result = probity_hooked_start != NULL ? probity_hooked_start(1) : 0;

    return result == 0 && answering.has_functions ? probity_hooked_wake(answering.rules) : result;
}

static int put_others(void)
{
    if (answering.calls[0] != 0 && probity_calls_wake(answering.calls) != 0)
        return PROBITY_ERROR_ARGUMENT;
    if (put_hooks() == 0)
        return 0;
    return errno == ECHILD    ? PROBITY_WAKE_FORKED
           : errno == EAGAIN  ? PROBITY_WAKE_CHANGING
           : errno == ENODATA ? PROBITY_WAKE_NO_SOURCES
                              : PROBITY_WAKE_NO_PATCHING | errno << PROBITY_WAKE_ERRNO_SHIFT;
}

static int take_others_out(void)
{
    if (probity_calls_sleep != NULL)
        probity_calls_sleep();
    return probity_hooked_take_out != NULL ? probity_hooked_take_out() : 0;
}

void probity_wake_begun(void *owner)
{
    struct probity_session *session = owner;
    struct probity_wake *block = __atomic_exchange_n(&answering.block, NULL, __ATOMIC_ACQUIRE);
    uint32_t putting = PUTTING;

    if (block == NULL || answering.pid != (uint32_t)getpid())
        return;
    int has_others = answering.calls[0] != 0 || probity_hooked_start != NULL;
    if (has_others)
        __atomic_store_n(&others, PUTTING, __ATOMIC_RELEASE);
    int result = put_others();
    if (has_others && !__atomic_compare_exchange_n(&others, &putting, PUT, 0, __ATOMIC_ACQ_REL,
                                                   __ATOMIC_ACQUIRE)) {
        (void)take_others_out();
        __atomic_store_n(&others, NOTHING, __ATOMIC_RELEASE);
        result = result != 0 ? result : PROBITY_WAKE_ENDED;
    }
    if (result != 0)
        __atomic_store_n(&session->live.header->end_asked, PROBITY_CONTROL_END_ASKED,
                         __ATOMIC_RELEASE);
    answer(block, answering.serial, result);
}

int probity_wake_sleep(void)
{
    uint32_t now = __atomic_load_n(&others, __ATOMIC_ACQUIRE);

    do {
        if (now != PUTTING && now != PUT)
            return 0;
    } while (!__atomic_compare_exchange_n(&others, &now, now == PUTTING ? OVER : NOTHING, 0,
                                          __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
    return now == PUT ? take_others_out() : 0;
}

/* ---- Requests ----------------------------------------------------------------------------------
 */

/* Starts the recording that a block requests. Returns whether there is a request; if so, the reply
 * is given now, or later by the writer thread. Lock held. */
static int take(struct probity_session *session, struct probity_wake *block, char *text)
{
    /* Acquire: pairs with the tool's order of writes, the rest before the serial. Read once, since
     * the tool may withdraw the request at any time. */
    uint32_t serial = __atomic_load_n(&block->requested, __ATOMIC_ACQUIRE);
    uint64_t until_ns = __atomic_load_n(&block->until_ns, __ATOMIC_RELAXED);
    uint32_t state = __atomic_load_n(&session->state, __ATOMIC_ACQUIRE);

    if ((int32_t)(serial - block->taken) <= 0 || is_past(until_ns))
        return 0;
    if (state != PROBITY_SESSION_NONE && state != PROBITY_SESSION_ENDED) {
        answer(block, serial, PROBITY_ERROR_STATE);
        return 1;
    }
    __atomic_store_n(&block->until_ns, 0, __ATOMIC_RELAXED);
    answering.serial = serial;
    answering.pid = (uint32_t)getpid();
    __atomic_store_n(&answering.block, block, __ATOMIC_RELEASE);
    int result = start(session, text);
    /* No writer thread will reply. */
    if (result == 0 && probity_external_is(session))
        probity_wake_begun(session);
    if (result == 0)
        return 1;
    __atomic_store_n(&answering.block, NULL, __ATOMIC_RELAXED);
    probity_session_switch_off(); /* before the tool may make another request */
    answer(block, serial, result);
    return 1;
}

/* Returns whether no other thread of this process is handling a request; in a child forked
 * meanwhile, the parent's thread does not exist. */
static int begin_taking(void)
{
    uint32_t own = (uint32_t)getpid(), before = __atomic_load_n(&taking, __ATOMIC_RELAXED);

    return before != own && !probity_os_is_in_parents_memory() &&
           __atomic_compare_exchange_n(&taking, &before, own, 0, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
}

void probity_wake_take(struct probity_session *session)
{
    struct probity_wake *wake = &probity_wake_block;

    if (!begin_taking())
        return;
    probity_os_lock(&session->lock);
    uint32_t state = __atomic_load_n(&session->state, __ATOMIC_ACQUIRE);
    uint64_t until_ns = __atomic_load_n(&wake->until_ns, __ATOMIC_RELAXED);
    int may_start = state == PROBITY_SESSION_NONE || state == PROBITY_SESSION_ENDED;
    if (!(may_start && take(session, wake, probity_wake_text)) &&
        state == PROBITY_SESSION_ENDED && is_past(until_ns) &&
        __atomic_compare_exchange_n(&wake->until_ns, &until_ns, 0, 0, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED))
        probity_session_switch_off(); /* the tool withdrew its request, or was killed */
    probity_os_unlock(&session->lock);
    __atomic_store_n(&taking, 0, __ATOMIC_RELEASE);
}

/* Returns whether the recording is still ending: `detach` returns once the trace is complete,
 * slightly before that. */
static int is_still_ending(const struct probity_session *session, const struct probity_wake *block)
{
    return __atomic_load_n(&session->state, __ATOMIC_ACQUIRE) == PROBITY_SESSION_ENDING &&
           !is_past(__atomic_load_n(&block->until_ns, __ATOMIC_RELAXED));
}

void probity_wake_take_from(struct probity_session *session, struct probity_wake *block,
                            char *text)
{
    static const struct timespec a_moment = {0, 200000};

    while (is_still_ending(session, block) || !begin_taking())
        nanosleep(&a_moment, NULL);
    probity_os_lock(&session->lock);
    (void)take(session, block, text);
    probity_os_unlock(&session->lock);
    __atomic_store_n(&taking, 0, __ATOMIC_RELEASE);
}
