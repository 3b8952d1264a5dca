/* SPDX-License-Identifier: MIT
 *
 * declare.c: an append-only list in memory that is never freed. It is appended to under the
 * session's declare_lock and read without a lock: one store links an entry, so that a child forked
 * at any time sees either a complete entry or none.
 */
#include "runtime/declare.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/checksum.h"
#include "base/cpu.h"
#include "base/os.h"
#include "format/stream.h"
#include "probity_typed.h"
#include "runtime/budget.h"
#include "runtime/inside.h"
#include "runtime/record.h"
#include "runtime/scope.h"
#include "runtime/session.h"
#include "runtime/thread.h"
#include "runtime/trigger_calls.h"

enum { ARENA_BYTES = 64 * 1024, BUCKETS = 4096, NUMBER_BYTES = 4 };

struct declaration {
    struct declaration *next;
    struct declaration *next_in_bucket;
    uint32_t kind, bytes;
    int is_reported; /* 0: its event was dropped */
    uint8_t payload[]; /* starts with the number, if it has one */
};

/* Survives a fork: a child declares what its parent declared. */
static struct declaration *first_declaration, **last_link = &first_declaration;
static uint8_t *arena_at;
static size_t arena_left;
static struct declaration *buckets[BUCKETS]; /* keyed by everything except the number */
static uint32_t site_numbers, format_numbers = 1;

static void *arena_take(size_t bytes)
{
    probity_assert(bytes > 0 && bytes <= ARENA_BYTES);
    bytes = (bytes + 15) & ~(size_t)15;
    if (bytes > arena_left) {
        void *at =
            mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (at == MAP_FAILED)
            return NULL;
        arena_at = at;
        arena_left = ARENA_BYTES;
    }
    probity_assert(bytes % 16 == 0);
    arena_left -= bytes;
    arena_at += bytes;
    return arena_at - bytes;
}

static struct declaration *declaration_make(uint32_t kind, const void *payload, size_t bytes)
{
    struct declaration *entry = arena_take(sizeof *entry + bytes);

    probity_assert(kind != 0 && bytes > 0 && bytes <= PROBITY_EVENT_BYTES_MAX);
    if (entry == NULL)
        return NULL;
    entry->next = NULL;
    entry->is_reported = 0;
    entry->kind = kind;
    entry->bytes = (uint32_t)bytes;
    memcpy(entry->payload, payload, bytes);
    probity_assert(*last_link == NULL);
    __atomic_store_n(last_link, entry, __ATOMIC_RELEASE);
    last_link = &entry->next;
    return entry;
}

int probity_declare(uint32_t kind, const void *payload, size_t bytes)
{
    return declaration_make(kind, payload, bytes) != NULL ? 0 : PROBITY_ERROR_MEMORY;
}

int probity_declare_all(struct probity_session *session, struct probity_thread_state *slot)
{
    const struct declaration *entry = __atomic_load_n(&first_declaration, __ATOMIC_ACQUIRE);
    int result = 0;

    for (; entry != NULL; entry = __atomic_load_n(&entry->next, __ATOMIC_ACQUIRE)) {
        if (probity_record_event(session, slot, entry->kind, entry->payload, entry->bytes) != 0)
            result = PROBITY_ERROR_LIMIT;
    }
    return result;
}

void probity_declare_each(void (*each)(uint32_t kind, const uint8_t *payload, size_t bytes))
{
    const struct declaration *entry = __atomic_load_n(&first_declaration, __ATOMIC_ACQUIRE);

    for (; entry != NULL; entry = __atomic_load_n(&entry->next, __ATOMIC_ACQUIRE))
        each(entry->kind, entry->payload, entry->bytes);
}

static uint8_t *put_text_of(uint8_t *at, const char *text, size_t length)
{
    probity_assert(length <= UINT16_MAX);
    probity_put_u16(at, (uint16_t)length);
    if (length > 0)
        memcpy(at + 2, text, length);
    return at + 2 + length;
}

static uint8_t *put_text(uint8_t *at, const char *text)
{
    return put_text_of(at, text, text != NULL ? strnlen(text, PROBITY_LIMIT_NAME) : 0);
}

static uint8_t *put_long_text(uint8_t *at, const char *text)
{
    return put_text_of(at, text, text != NULL ? strnlen(text, PROBITY_LIMIT_SIGNATURE) : 0);
}

static struct declaration **bucket_of(uint32_t kind, const void *payload, size_t bytes)
{
    const uint8_t *text = (const uint8_t *)payload + NUMBER_BYTES;

    probity_assert(bytes > NUMBER_BYTES);
    return &buckets[probity_checksum(kind, text, bytes - NUMBER_BYTES) % BUCKETS];
}

/* Returns the number, or UINT32_MAX if the event is dropped, or if the recording is ending: a
 * thread may still store records with that number, which would be undeclared. The next caller tries
 * again. */
static uint32_t record_once(struct declaration *entry)
{
    if (!entry->is_reported)
        entry->is_reported =
            probity_record_event_here(entry->kind, entry->payload, entry->bytes) == 0;
    return entry->is_reported ? probity_get_u32(entry->payload) : UINT32_MAX;
}

/* Assigns a number to a declaration and stores it at the beginning of the payload: the number that
 * the declaration had before (a reloaded library has the same sites), or else the next one. `step`:
 * how many numbers the declaration takes. Returns the number, or UINT32_MAX. Call with declare_lock
 * held. */
static uint32_t number_of(uint32_t kind, uint8_t *payload, size_t bytes, uint32_t *numbers,
                          uint32_t step)
{
    struct declaration **bucket = bucket_of(kind, payload, bytes), *entry = *bucket;

    probity_assert(step == 1 || step == 2);
    for (; entry != NULL; entry = entry->next_in_bucket) {
        if (entry->kind == kind && entry->bytes == bytes &&
            memcmp(entry->payload + NUMBER_BYTES, payload + NUMBER_BYTES, bytes - NUMBER_BYTES) ==
                0)
            return record_once(entry);
    }
    if (*numbers + step > PROBITY_LIMIT_SITES)
        return UINT32_MAX;
    probity_assert(*numbers <= PROBITY_LIMIT_SITES);
    probity_put_u32(payload, *numbers);
    /* Incremented first, so that a child forked in between does not assign the number to another
     * site. */
    *numbers += step;
    struct declaration *made = declaration_make(kind, payload, bytes);
    if (made == NULL)
        return UINT32_MAX;
    made->next_in_bucket = *bucket;
    __atomic_store_n(bucket, made, __ATOMIC_RELEASE); /* complete, for a child */
    return record_once(made);
}

/* See number_of(). */
static uint32_t site_number(struct probity_session *session, const struct probity_site *site)
{
    uint8_t *payload = session->declaration;

    probity_put_u32(payload + 4, site->line & ~PROBITY_SITE_SWITCHED);
    uint8_t *end = put_text(payload + 8, site->name);
    end = put_text(end, site->file);
    end = put_text(end, site->function);
    probity_assert(end <= payload + sizeof session->declaration);
    uint32_t number =
        number_of(PROBITY_EVENT_SITE, payload, (size_t)(end - payload), &site_numbers, 1);
    if (number != UINT32_MAX && session->dumps.is_on)
        probity_trigger_calls.site_declared(site->name, number);
    return number;
}

/* Counts a record that is dropped because its declaration was. At the end of a recording it is not
 * counted: it merely came too late. */
static void count_dropped(struct probity_session *session)
{
    if (probity_session_recording() != NULL)
        __atomic_add_fetch(&session->live.header->dropped_memory, 1, __ATOMIC_RELAXED);
}

/* Gives a site its code, or none if it is switched off. Call with declare_lock held. */
static uint32_t declare_site(struct probity_session *session, struct probity_site *site,
                             int *ret_is_off)
{
    uint32_t number = site_number(session, site), code = PROBITY_CODE_FIRST + 2 * number + 1;

    if (number == UINT32_MAX)
        return 0;
    probity_budget_declared_site(site, number);
    if (probity_trigger_is_linked()) {
        code = probity_trigger_calls.switch_site(session, site, number, code);
        *ret_is_off = code == 0;
        return code;
    }
    /* Release: a thread that probes with this code sees the declaration. */
    __atomic_store_n(&site->code, code, __ATOMIC_RELEASE);
    return code;
}

/* Takes no lock, since each hit of such a site gets here. A child that is not recorded yet declares
 * the site. */
static int is_off(const struct probity_site *site)
{
    uint32_t number = site->line & PROBITY_SITE_SWITCHED
                          ? __atomic_load_n(&site->number, __ATOMIC_RELAXED)
                          : 0;

    return number != 0 &&
           (__atomic_load_n(&probity_budget_state[number], __ATOMIC_RELAXED) &
            PROBITY_BUDGET_OFF) != 0 &&
           probity_session_recording() != NULL;
}

static __attribute__((noinline)) uint32_t declare_unless_off(struct probity_site *site)
{
    int saved = errno, is_switched_off = 0;
    struct probity_os_signals before;
    uint32_t code = 0;

    probity_inside_begin(&before);
    struct probity_session *session = probity_session_enter();
    if (session != NULL && probity_thread_may_record(session)) {
        probity_os_lock(&session->declare_lock);
        code = __atomic_load_n(&site->code, __ATOMIC_ACQUIRE);
        /* Leaves a code that another thread has stored, because the writer may clear it. */
        if (code == 0)
            code = declare_site(session, site, &is_switched_off);
        probity_os_unlock(&session->declare_lock);
        if (code == 0 && !is_switched_off)
            count_dropped(session);
    }
    if (session != NULL)
        probity_session_leave(session);
    probity_inside_end(&before);
    errno = saved;
    return code;
}

PROBITY_API uint32_t probity_site_declare(struct probity_site *site)
{
    return is_off(site) ? 0 : declare_unless_off(site);
}

PROBITY_API void probity_site_slow(struct probity_site *site)
{
    uint32_t code = probity_site_declare(site);

    if (code != 0)
        probity_hit(code);
}

/* ---- Functions and formats ---------------------------------------------------------------------
 */

/* Returns the path of the shared library that contains the function; "" for the executable. Call
 * with none of our locks held. */
static const char *object_of(const struct probity_site_function *function)
{
    struct probity_os_image image;

    if (function->flags & PROBITY_FUNCTION_ADDRESSED)
        return ((const struct probity_addressed_function *)function)->object;
    probity_os_image_find(&image);
    const void *place = function->reserved == PROBITY_FUNCTION_NOTED
                            ? probity_scope_note_of(function)
                            : (const void *)function;
    return probity_os_image_bytes(&image, place) > 0 ? "" : probity_os_object_name(place);
}

/* Does the same for a function, which takes two numbers. */
static uint32_t function_number(struct probity_session *session,
                                const struct probity_site_function *function, const char *object)
{
    uint8_t *payload = session->declaration;

    _Static_assert(12 + 3 * (2 + PROBITY_LIMIT_NAME) + 2 * (2 + PROBITY_LIMIT_SIGNATURE) + 8 <=
                       sizeof session->declaration, "all names have room");
    probity_put_u32(payload + 4, function->line);
    payload[8] = function->level;
    payload[9] = function->flags;
    probity_put_u16(payload + 10, 0);
    uint8_t *end = put_text(payload + 12, function->name);
    end = put_text(end, function->file);
    end = put_long_text(end, function->signature);
    end = put_text(end, function->returns);
    end = put_long_text(end, object);
    if (function->flags & PROBITY_FUNCTION_ADDRESSED) {
        probity_put_u64(end, ((const struct probity_addressed_function *)function)->address);
        end += 8;
    }
    probity_assert(end <= payload + sizeof session->declaration);
    return number_of(PROBITY_EVENT_FUNCTION, payload, (size_t)(end - payload), &site_numbers, 2);
}

uint32_t probity_declare_function(struct probity_site_function *function)
{
    struct probity_cpu_registers kept;
    struct probity_os_signals before;
    uint32_t code = 0;
    int is_watched = 0;

    probity_cpu_keep(&kept);
    const char *object = object_of(function);
    probity_inside_begin(&before);
    struct probity_session *session = probity_session_enter();
    if (session != NULL && probity_thread_may_record(session)) {
        probity_os_lock(&session->declare_lock);
        code = __atomic_load_n(&function->code, __ATOMIC_RELAXED);
        uint32_t number = code == 0 ? function_number(session, function, object) : 0;
        if (code == 0 && number != UINT32_MAX) {
            code = PROBITY_CODE_FIRST + 2 * number + 1;
            __atomic_store_n(&function->number, number + 1, __ATOMIC_RELAXED);
            probity_assert(code % 2 == 1);
            probity_budget_declared(function);
            is_watched = session->dumps.is_on &&
                         probity_trigger_calls.function_declared(session, function, number);
            /* Sequentially consistent: see switches.c. */
            __atomic_thread_fence(__ATOMIC_SEQ_CST);
            if (probity_trigger_is_linked())
                probity_trigger_calls.switch_declared(function, number);
            /* Without a code, each enter takes the slow path. Leaves a code that another thread has
             * stored, because the writer may clear it at any time. */
            __atomic_store_n(&function->code, is_watched ? 0 : code, __ATOMIC_RELEASE);
        }
        probity_os_unlock(&session->declare_lock);
        if (code == 0)
            count_dropped(session);
    }
    if (session != NULL)
        probity_session_leave(session);
    probity_inside_end(&before);
    probity_cpu_restore(&kept);
    return code;
}

void probity_declare_dropped(void)
{
    struct probity_os_signals before;

    probity_inside_begin(&before);
    struct probity_session *session = probity_session_enter();
    if (session != NULL) {
        count_dropped(session);
        probity_session_leave(session);
    }
    probity_inside_end(&before);
}

uint32_t probity_format_type(const struct probity_site_format *format, uint32_t value)
{
    const char *text = format->texts[value];
    uint32_t type = format->types[value];

    probity_assert(value < format->count);
    if (type < PROBITY_TYPE_ARRAY)
        return type;
    return text[0] == '"' || (text[0] == 'L' && text[1] == '"') ? PROBITY_VALUE_LITERAL
                                                                : type - PROBITY_TYPE_ARRAY;
}

/* Returns whether quoted text begins here: in C++, 1'000 is a number and u8'a' is quoted. */
static int is_quote(const char *start, const char *at)
{
    const char *word = at;

    while (word > start && (isalnum((unsigned char)word[-1]) || word[-1] == '\''))
        word--;
    return *at == '"' || (*at == '\'' && (word == at || !isdigit((unsigned char)*word)));
}

const char *probity_argument_end(const char *at)
{
    const char *start = at;
    int depth = 0;
    char quote = 0;

    for (; *at != 0; at++) {
        if (quote != 0) {
            if (*at == '\\' && at[1] != 0)
                at++;
            else if (*at == quote)
                quote = 0;
        } else if (is_quote(start, at)) {
            quote = *at;
        } else if (*at == ',' && depth == 0) {
            break;
        } else {
            depth += (*at == '(') - (*at == ')');
        }
    }
    return at;
}

/* Writes the source text of a value, with macros unexpanded, or expanded for a literal, because
 * that is the value. Advances *source past it. */
static uint8_t *put_value_text(uint8_t *at, const struct probity_site_format *format,
                               uint32_t value, size_t most, const char **source)
{
    const char *text = format->texts[value];
    size_t length = strnlen(text, most);

    if (*source != NULL && **source == ',') {
        const char *start = *source + 1, *end;
        start += strspn(start, " ");
        *source = end = probity_argument_end(start);
        if (probity_format_type(format, value) != PROBITY_VALUE_LITERAL) {
            text = start;
            length = (size_t)(end - start) < most ? (size_t)(end - start) : most;
        }
    }
    return put_text_of(at, text, length);
}

/* Declares a format. Returns its number, or 0 on failure. */
static uint32_t format_number(struct probity_session *session,
                              const struct probity_site_format *format)
{
    enum { HEAD_BYTES = 10, VALUE_BYTES = 4 };
    uint8_t *payload = session->declaration;
    size_t room =
        sizeof session->declaration - HEAD_BYTES - (size_t)VALUE_BYTES * format->count;
    const char *source = format->source, *none = NULL;
    /* A checkpoint's label is the first value, and precedes n in the source. */
    int has_label = source != NULL && *source == ';';

    if (source != NULL)
        source = probity_argument_end(source); /* skips n */
    probity_put_u32(payload + 4, format->line);
    probity_put_u16(payload + 8, (uint16_t)format->count);
    uint8_t *at = payload + HEAD_BYTES;
    for (uint32_t i = 0; i < format->count; i++) {
        at[0] = (uint8_t)probity_format_type(format, i);
        at[1] = 0;
        at = put_value_text(at + 2, format, i, room / format->count,
                            has_label && i == 0 ? &none : &source);
    }
    probity_assert(at <= payload + sizeof session->declaration);
    uint32_t number =
        number_of(PROBITY_EVENT_FORMAT, payload, (size_t)(at - payload), &format_numbers, 1);
    return number != UINT32_MAX ? number : 0;
}

uint32_t probity_declare_format(struct probity_site_format *format)
{
    struct probity_os_signals before;
    uint32_t number = __atomic_load_n(&format->number, __ATOMIC_ACQUIRE);

    if (number != 0)
        return number;
    probity_inside_begin(&before);
    struct probity_session *session = probity_session_enter();
    if (session != NULL) {
        probity_os_lock(&session->declare_lock);
        number = format->number;
        if (number == 0)
            number = format_number(session, format);
        /* Release: a thread that records with this number sees the declaration. */
        __atomic_store_n(&format->number, number, __ATOMIC_RELEASE);
        probity_os_unlock(&session->declare_lock);
        if (number == 0)
            count_dropped(session);
        probity_session_leave(session);
    }
    probity_inside_end(&before);
    return number;
}
