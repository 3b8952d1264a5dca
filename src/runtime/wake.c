/* SPDX-License-Identifier: MIT
 *
 * wake.c: the library's half of `probity attach`. Runs in the thread whose probe finds the request.
 * Other threads do not wait for it: their probes record nothing until the recording has begun.
 */
#include "runtime/wake.h"

#include <string.h>
#include <time.h>

#include "base/assert.h"
#include "base/os.h"
#include "probity_scope.h"
#include "runtime/levels.h"
#include "spool/wake.h"

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
 * survives strip. */
__asm__(".pushsection .note.probity.wake, \"a\", %note\n\t"
        ".balign 4\n\t.long 8, 8, 2\n\t.asciz \"Probity\"\n\t"
        ".long 1, probity_wake_block - .\n\t.popsection");

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

/* Whether the request has its own levels, which then take precedence over all earlier ones. */
static int names_levels(void)
{
    for (const char *at = probity_wake_text; *at != 0; at += strlen(at) + 1) {
        if (strncmp(at, "PROBITY_LEVEL=", 14) == 0)
            return 1;
    }
    return 0;
}

/* The tool may write the text again at any time. */
static int start(struct probity_session *session)
{
    struct probity_settings *settings = &session->wanted;
    const char *what;

    probity_wake_text[PROBITY_WAKE_TEXT_BYTES - 1] = 0;
    probity_wake_text[PROBITY_WAKE_TEXT_BYTES - 2] = 0;
    int result = probity_os_is_privileged()
                     ? PROBITY_ERROR_STATE
                     : probity_settings_read_text(probity_wake_text, settings, &what);
    if (result != 0)
        return result;
    settings->is_for_text = 0;
    settings->log[0] = settings->summary[0] = 0;
    probity_levels_forget(names_levels());
    probity_session_keep_silent(1);
    result = probity_session_start(session, settings, 0);
    probity_session_keep_silent(0);
    if (result == 0)
        probity_session_need_writer(session); /* which also ends the recording on request */
    return result;
}

void probity_wake_take(struct probity_session *session)
{
    struct probity_wake *wake = &probity_wake_block;
    static uint32_t taking; /* process id of the thread that takes a request */
    uint32_t own = (uint32_t)getpid(), before = __atomic_load_n(&taking, __ATOMIC_RELAXED);

    /* In a child forked meanwhile, the thread of the parent does not exist. */
    if (before == own || probity_os_is_in_parents_memory() ||
        !__atomic_compare_exchange_n(&taking, &before, own, 0, __ATOMIC_ACQUIRE,
                                     __ATOMIC_RELAXED))
        return;
    probity_os_lock(&session->lock);
    uint32_t state = __atomic_load_n(&session->state, __ATOMIC_ACQUIRE);
    int may_start = state == PROBITY_SESSION_NONE || state == PROBITY_SESSION_ENDED;
    /* Acquire: pairs with the tool's order of writes, the rest before the serial. Read once, since
     * the tool may withdraw the request at any time. */
    uint32_t serial = __atomic_load_n(&wake->requested, __ATOMIC_ACQUIRE);
    uint64_t until_ns = __atomic_load_n(&wake->until_ns, __ATOMIC_RELAXED);
    if (may_start && (int32_t)(serial - wake->taken) > 0 && !is_past(until_ns)) {
        __atomic_store_n(&wake->until_ns, 0, __ATOMIC_RELAXED);
        wake->result = start(session);
        wake->pid = own;
        if (wake->result != 0)
            probity_session_switch_off(); /* before the tool may make another request */
        /* Release: who sees it sees the result. */
        __atomic_store_n(&wake->taken, serial, __ATOMIC_RELEASE);
    } else if (state == PROBITY_SESSION_ENDED && is_past(until_ns) &&
               __atomic_compare_exchange_n(&wake->until_ns, &until_ns, 0, 0, __ATOMIC_RELAXED,
                                           __ATOMIC_RELAXED)) {
        probity_session_switch_off(); /* the tool withdrew its request, or was killed */
    }
    probity_os_unlock(&session->lock);
    __atomic_store_n(&taking, 0, __ATOMIC_RELEASE);
}
