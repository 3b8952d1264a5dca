/* SPDX-License-Identifier: MIT
 *
 * declare.c: an append-only list in memory that is never given back. Appended to under the
 * session's declare_lock, walked without: an entry is linked by one store, so that a child forked
 * in between finds it or does not.
 */
#include "runtime/declare.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/bytes.h"
#include "base/os.h"
#include "runtime/record.h"
#include "runtime/thread.h"

enum { ARENA_BYTES = 64 * 1024 };

struct declaration {
    struct declaration *next;
    uint32_t kind, bytes;
    uint8_t payload[];
};

/* Not wiped at fork: a child declares what its parent knew. */
static struct declaration *first_declaration, **last_link = &first_declaration;
static uint8_t *arena_at;
static size_t arena_left;
static uint32_t site_numbers;

static void *arena_take(size_t bytes)
{
    bytes = (bytes + 15) & ~(size_t)15;
    if (bytes > arena_left) {
        void *at =
            mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (at == MAP_FAILED)
            return NULL;
        arena_at = at;
        arena_left = ARENA_BYTES;
    }
    arena_left -= bytes;
    arena_at += bytes;
    return arena_at - bytes;
}

int probity_declare(uint32_t kind, const void *payload, size_t bytes)
{
    struct declaration *entry = arena_take(sizeof *entry + bytes);

    if (entry == NULL)
        return PROBITY_ERROR_MEMORY;
    entry->next = NULL;
    entry->kind = kind;
    entry->bytes = (uint32_t)bytes;
    memcpy(entry->payload, payload, bytes);
    __atomic_store_n(last_link, entry, __ATOMIC_RELEASE);
    last_link = &entry->next;
    return 0;
}

void probity_declare_all(struct probity_session *session, struct probity_slot *slot)
{
    const struct declaration *entry = __atomic_load_n(&first_declaration, __ATOMIC_ACQUIRE);

    for (; entry != NULL; entry = __atomic_load_n(&entry->next, __ATOMIC_ACQUIRE))
        probity_record_event(session, slot, entry->kind, entry->payload, entry->bytes);
}

static uint8_t *put_text(uint8_t *at, const char *text)
{
    size_t length = text != NULL ? strnlen(text, PROBITY_LIMIT_NAME) : 0;

    probity_put_u16(at, (uint16_t)length);
    if (length > 0)
        memcpy(at + 2, text, length);
    return at + 2 + length;
}

/* Declares the site unless another thread did; returns its number, or UINT32_MAX. declare_lock
 * held. */
static uint32_t site_number(struct probity_site *site)
{
    uint8_t payload[8 + 3 * (2 + PROBITY_LIMIT_NAME)];

    if (site_numbers >= PROBITY_LIMIT_SITES)
        return UINT32_MAX;
    probity_put_u32(payload, site_numbers);
    probity_put_u32(payload + 4, site->line);
    uint8_t *end = put_text(payload + 8, site->name);
    end = put_text(end, site->file);
    end = put_text(end, site->function);
    /* Counted first: a child forked in between must not give the number to another site. */
    uint32_t number = site_numbers++;
    if (probity_declare(PROBITY_EVENT_SITE, payload, (size_t)(end - payload)) != 0)
        return UINT32_MAX;
    probity_record_event_here(PROBITY_EVENT_SITE, payload, (size_t)(end - payload));
    return number;
}

PROBITY_API void probity_site_slow(struct probity_site *site)
{
    struct probity_os_signals before;
    uint32_t number = UINT32_MAX, code = 0;

    probity_os_signals_block(&before);
    struct probity_session *session = probity_session_enter();
    if (session != NULL) {
        probity_os_lock(&session->declare_lock);
        code = site->code;
        number = code == 0 ? site_number(site) : 0;
        if (code == 0 && number != UINT32_MAX)
            code = PROBITY_CODE_FIRST + 2 * number + 1;
        /* Release: the declaration comes first, for whoever probes with this code. */
        __atomic_store_n(&site->code, code, __ATOMIC_RELEASE);
        probity_os_unlock(&session->declare_lock);
        if (code == 0)
            __atomic_add_fetch(&session->live.header->dropped_memory, 1, __ATOMIC_RELAXED);
        probity_session_leave(session);
    }
    probity_os_signals_restore(&before);
    if (code != 0)
        probity_hit(code);
}
