/* SPDX-License-Identifier: MIT
 *
 * stepper_scopes.c: the scopes of the child that is stepped, and the records that a reader must
 * find of each.
 */
#define FN_INSTRUMENT
#include "FnTrace.h"
#include "probity_typed.h"

#include "tool/stepper_scopes.h"

#include "base/bytes.h"

enum { OWN = 0x21000000, HANDLER = 0x42000000, NUMBER = 0x00ffffff };

/* Called by code compiled with -finstrument-functions. */
void __cyg_profile_func_enter(void *function, void *back);
void __cyg_profile_func_exit(void *function, void *back);

static void (*begins)(void), (*ends)(void);
static int has_hooks, has_fentry;

static void plain(void)
{
    FN_FUNC(FN_VOID, FN_1);
    ends();
    begins();
}

static __attribute__((noinline)) void hooked(void)
{
    __cyg_profile_func_enter((void *)hooked, __builtin_return_address(0));
    ends();
    begins();
    __cyg_profile_func_exit((void *)hooked, __builtin_return_address(0));
}

/* As gcc compiles calls of them with -pg -mfentry -minstrument-return=call. */
#define WITH_FENTRY(name, body)                                                                    \
    __asm__("    .text\n"                                                                          \
            "    .type " #name ", @function\n" #name ":\n"                                        \
            "    call __fentry__\n"                                                                \
            "    subq $8, %rsp\n"                                                                  \
            "    call " #body "\n"                                                                 \
            "    addq $8, %rsp\n"                                                                  \
            "    call __return__\n"                                                                \
            "    ret\n"                                                                            \
            "    .size " #name ", . - " #name "\n")

WITH_FENTRY(fentried, fentried_body);
WITH_FENTRY(fentry_handle, fentry_handle_body);
void fentried(void);
void fentry_handle(uint32_t number);

static __attribute__((used)) void fentried_body(void)
{
    ends();
    begins();
}

static uint32_t parameters(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    uint32_t result = a * 3;
    FN_FUNC_PARAMS(uint32_t, result, FN_1, 4, a, b, c, d);
    ends();
    begins();
    return result;
}

static uint32_t text(uint32_t a, const char *name)
{
    uint32_t result = a * 3;
    FN_FUNC_PARAMS(uint32_t, result, FN_1, 2, a, name);
    ends();
    begins();
    return result;
}

static void message(uint32_t a, uint32_t b)
{
    FN_FUNC(FN_VOID, FN_1);
    ends();
    begins();
    FN_OUTPUT("a and b are ", a, b);
    ends();
    begins();
}

static void checkpoint(uint32_t a, uint32_t b)
{
    FN_ENTRY(FN_1);
    FN_CHECKPOINT("here", FN_1, 2, a, b);
    ends();
    begins();
}

static void pauses(void)
{
    FN_FUNC(FN_VOID, FN_1);
    ends();
    begins();
    FN_PAUSE();
    ends();
    begins();
    FN_RESUME();
    ends();
    begins();
}

static uint32_t counted(uint32_t a, const char *name)
{
    uint32_t result = a * 3;
    FN_FUNC_PARAMS(uint32_t, result, FN_1, 2, a, name);
    return result;
}

static void typed(uint32_t a)
{
    PROBITY_PROBE_ROLE(7, PROBITY_ROLE_QUEUE_PUT, a, ~a);
    ends();
    begins();
    PROBITY_REQUEST_END("unit", a);
}

static uint32_t handled(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    uint32_t result = a * 3;
    FN_FUNC_PARAMS(uint32_t, result, FN_1, 4, a, b, c, d);
    return result;
}

static void handle(uint32_t number)
{
    uint32_t a = HANDLER | number;

    handled(a, ~a, a * 5, a ^ 0x5a5a5a5a);
}

static __attribute__((used)) void fentry_handle_body(uint32_t number)
{
    handle(number);
}

void scopes_handle(uint32_t number)
{
    if (has_fentry) {
        fentry_handle(number);
        return;
    }
    if (has_hooks)
        __cyg_profile_func_enter((void *)scopes_handle, __builtin_return_address(0));
    handle(number);
    if (has_hooks)
        __cyg_profile_func_exit((void *)scopes_handle, __builtin_return_address(0));
}

static void name_of(uint32_t number, char ret_name[16])
{
    snprintf(ret_name, 16, "unit %u", number);
}

void scopes_run(enum scopes_kind kind, uint32_t number, void (*record_begins)(void),
                void (*record_ends)(void))
{
    uint32_t a = OWN | number;
    char name[16];

    begins = record_begins;
    ends = record_ends;
    has_hooks = kind == SCOPES_HOOKED;
    has_fentry = kind == SCOPES_FENTRY;
    if (kind == SCOPES_TEXT || kind == SCOPES_PROFILE)
        name_of(number, name);
    begins();
    switch (kind) {
    case SCOPES_PLAIN: plain(); break;
    case SCOPES_PARAMETERS: parameters(a, ~a, a * 5, a ^ 0x5a5a5a5a); break;
    case SCOPES_TEXT: text(a, name); break;
    case SCOPES_MESSAGE: message(a, ~a); break;
    case SCOPES_CHECKPOINT: checkpoint(a, ~a); break;
    case SCOPES_PAUSE: pauses(); break;
    case SCOPES_PROFILE: counted(a, name); break;
    case SCOPES_TYPED: typed(a); break;
    case SCOPES_HOOKED: hooked(); break;
    case SCOPES_FENTRY: fentried(); break;
    default: break;
    }
    ends();
}

uint32_t scopes_records(enum scopes_kind kind)
{
    return kind == SCOPES_PROFILE ? 1 : kind == SCOPES_MESSAGE ? 3 : kind == SCOPES_PAUSE ? 4 : 2;
}

/* Returns the number of a record whose first value is `a`, at `position` in its scope. */
static int64_t found(enum scopes_kind kind, uint32_t a, uint32_t place, int is_right)
{
    uint32_t number = a & NUMBER, whose = a & ~(uint32_t)NUMBER;

    if (!is_right || (whose != OWN && whose != HANDLER))
        return -2;
    return whose == OWN ? (int64_t)number * scopes_records(kind) + place
                        : SCOPES_HANDLER + (int64_t)number * 2 + place;
}

static int64_t of_enter(enum scopes_kind kind, const struct probity_record *record)
{
    const uint8_t *value = record->payload + 8;
    uint32_t a = record->payload_bytes >= 12 ? probity_get_u32(value) : 0;
    char name[16];

    if (kind == SCOPES_TEXT && (a & HANDLER) == 0) {
        name_of(a & NUMBER, name);
        size_t length = strlen(name);
        return found(kind, a, 0,
                     record->payload_bytes == 14 + length && probity_get_u16(value + 4) == length &&
                         memcmp(value + 6, name, length) == 0);
    }
    return found(kind, a, 0,
                 record->payload_bytes == 24 && probity_get_u32(value + 4) == ~a &&
                     probity_get_u32(value + 8) == a * 5 &&
                     probity_get_u32(value + 12) == (a ^ 0x5a5a5a5a));
}

static int64_t of_two(enum scopes_kind kind, const struct probity_record *record, size_t head,
                      uint32_t place)
{
    const uint8_t *value = record->payload + head;

    if (record->payload_bytes != head + 8)
        return -2;
    uint32_t a = probity_get_u32(value);
    return found(kind, a, place, probity_get_u32(value + 4) == ~a);
}

static int64_t of_ids(enum scopes_kind kind, const struct probity_record *record)
{
    struct probity_hit_with hit;

    if (!probity_hit_with_parse(record->payload, record->payload_bytes, &hit))
        return -2;
    uint32_t a = (uint32_t)hit.correlation;
    if (hit.code & 1)
        return found(kind, a, 1,
                     record->payload_bytes == 16 && hit.correlation == a &&
                         hit.role == PROBITY_ROLE_REQUEST_END);
    return found(kind, a, 0,
                 record->payload_bytes == 24 && hit.correlation == a && hit.code == 2 * 7 &&
                     hit.object == (uint32_t)~a && hit.role == PROBITY_ROLE_QUEUE_PUT);
}

/* The handler's hooks, which come after the first scope, have no numbers. The codes of enter and
 * leave differ in one bit. */
static int is_of_handler(enum scopes_kind kind, uint32_t code)
{
    static uint32_t first;

    if (first == 0)
        first = code | 2;
    return (kind == SCOPES_HOOKED || kind == SCOPES_FENTRY) && (code | 2) != first;
}

int64_t scopes_number(enum scopes_kind kind, const struct probity_record *record, uint32_t hits[4])
{
    uint32_t last = scopes_records(kind) - 1;

    if (record->kind == PROBITY_EVENT_HIT && is_of_handler(kind, record->code))
        return -1;

    switch (record->kind) {
    case PROBITY_EVENT_HIT: { /* sites have odd codes; those of enters have even numbers */
        uint32_t is_leave = record->code / 2 & 1;
        return (record->code & 1) == 0
                   ? -2
                   : (int64_t)hits[is_leave]++ * (last + 1) + (is_leave ? last : 0);
    }
    case PROBITY_EVENT_ENTER: return of_enter(kind, record);
    case PROBITY_EVENT_LEAVE: {
        uint32_t value = record->payload_bytes == 12 ? probity_get_u32(record->payload + 8) : 0;
        return found(kind, value * 0xaaaaaaabu, 1, 1); /* divided by 3 */
    }
    case PROBITY_EVENT_MESSAGE: return of_two(kind, record, 4, 1);
    case PROBITY_EVENT_CHECKPOINT: return of_two(kind, record, 16, 0);
    case PROBITY_EVENT_HIT_WITH: return of_ids(kind, record);
    case PROBITY_EVENT_PAUSE: return (int64_t)hits[2]++ * (last + 1) + 1;
    case PROBITY_EVENT_RESUME: return (int64_t)hits[3]++ * (last + 1) + 2;
    default: return -1;
    }
}
