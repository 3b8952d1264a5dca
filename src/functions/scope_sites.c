/* SPDX-License-Identifier: MIT
 *
 * scope_sites.c: see scope_sites.h. Leaves are patched before enters, and enters are restored
 * before leaves, so every scope that is entered is also left.
 */
#include "functions/scope_sites.h"

#include <string.h>
#include <sys/mman.h> /* PROT_WRITE */

#include "base/cpu.h"
#include "base/os.h"
#include "functions/code_segments.h"
#include "functions/symbol_table.h"

struct probity_scope_sites_found probity_scope_sites_found;
struct probity_pairs probity_site_pairs;

#if PROBITY_CPU_HAS_FENTRY

enum {
    TEST = 0xa9,
    CALL = 0xe8,
    JUMP = 0xe9,
    BYTES = 5,
    ENTRY_BYTES = 4,  /* table entry: the distance from it to the site */
    STUB_BYTES = 6,   /* minimum size; in an enter: the instruction that pushes the description */
    COUNT_MAX = 1 << 26
};

enum kind { NONE, ENTER, ENTER_VALUES, LEAVE };

/* Returns the byte that replaces the first byte of a site. */
static uint8_t patched(enum kind kind)
{
    return kind == ENTER_VALUES ? JUMP : CALL;
}

static int32_t distance_at(const uint8_t *at)
{
    int32_t distance;

    memcpy(&distance, at, sizeof distance);
    return distance;
}

/* ---- Sites -------------------------------------------------------------------------------------
 */

static enum kind kind_of_stub(const uint8_t *stub)
{
    static const uint8_t enter[] = {0xff, 0x35}, leave[] = {0x41, 0x5b};
    static const uint8_t values[] = {0x0f, 0x1f, 0x44, 0x50, 0x53};

    if (memcmp(stub, enter, sizeof enter) == 0)
        return ENTER;
    if (memcmp(stub, leave, sizeof leave) == 0)
        return LEAVE;
    return memcmp(stub, values, sizeof values) == 0 ? ENTER_VALUES : NONE;
}

/* Finds the site of an entry, if the code there is a site. */
static enum kind examine(const struct probity_object *object, const uint8_t *entry,
                         uint8_t **ret_site)
{
    uintptr_t site = (uintptr_t)entry + (uintptr_t)(intptr_t)distance_at(entry);

    if (!probity_code_has(object, site, BYTES))
        return NONE;
    const uint8_t *at = (const uint8_t *)site;
    uintptr_t stub = site + BYTES + (uintptr_t)(intptr_t)distance_at(at + 1);
    if (!probity_code_has(object, stub, STUB_BYTES))
        return NONE;
    enum kind kind = kind_of_stub((const uint8_t *)stub);
    if (kind == NONE || (*at != TEST && *at != patched(kind)))
        return NONE;
    *ret_site = (uint8_t *)site;
    return kind;
}

void probity_scope_sites_take(const struct probity_object *object, const char *path,
                              struct probity_scope_sites *ret_sites)
{
    uint64_t address, bytes;
    uint32_t scopes = 0;
    uint8_t *site;

    *ret_sites = (struct probity_scope_sites){.table = NULL};
    if (probity_section_find(path, object, "probity_sites", &address, &bytes) != 0)
        return;
    const uint8_t *table = (const uint8_t *)(object->offset + address);
    if (bytes < ENTRY_BYTES || bytes / ENTRY_BYTES > COUNT_MAX ||
        probity_object_bytes(object, table) < bytes)
        return;
    *ret_sites = (struct probity_scope_sites){.table = table, .count = bytes / ENTRY_BYTES};
    for (size_t i = 0; i < ret_sites->count; i++) {
        enum kind kind = examine(object, table + i * ENTRY_BYTES, &site);
        scopes += kind == ENTER || kind == ENTER_VALUES;
    }
    probity_scope_sites_found.scopes += scopes;
    probity_scope_sites_found.objects += scopes > 0;
}

int probity_scope_sites_are_there(const struct probity_scope_sites *sites,
                                  const struct probity_object *object)
{
    enum kind kind = NONE;
    uint8_t *site = NULL;

    if (sites->table == NULL)
        return 1;
    if (probity_object_bytes(object, sites->table) / ENTRY_BYTES < sites->count)
        return 0;
    for (size_t i = 0; i < sites->count && kind == NONE; i++)
        kind = examine(object, sites->table + i * ENTRY_BYTES, &site);
    return kind != NONE && (!sites->is_on || *site == patched(kind));
}

/* ---- Changes -----------------------------------------------------------------------------------
 */

/* The sites to be changed in one segment. */
struct range {
    uintptr_t first, last; /* first > last: none */
    int protection;
};

static uint8_t *site_to_change(const struct probity_scope_sites *sites,
                               const struct probity_object *object, size_t index, int is_on,
                               enum kind *ret_kind)
{
    uint8_t *site = NULL;

    *ret_kind = examine(object, sites->table + index * ENTRY_BYTES, &site);
    return *ret_kind != NONE && *site == (is_on ? TEST : patched(*ret_kind)) ? site : NULL;
}

static struct range find_range(const struct probity_scope_sites *sites,
                               const struct probity_object *object, const ElfW(Phdr) *segment,
                               int is_on)
{
    uintptr_t start = object->offset + segment->p_vaddr;
    struct range range = {.first = UINTPTR_MAX,
                          .protection = probity_code_protection(segment)};
    enum kind kind;

    for (size_t i = 0; i < sites->count; i++) {
        uintptr_t at = (uintptr_t)site_to_change(sites, object, i, is_on, &kind);
        if (at == 0 || at - start >= segment->p_memsz)
            continue;
        range.first = at < range.first ? at : range.first;
        range.last = at > range.last ? at : range.last;
    }
    return range;
}

static int protect(const struct range *range, int protection)
{
    return probity_code_protect(range->first, range->last + 1, protection);
}

static void change_kind(const struct probity_scope_sites *sites,
                        const struct probity_object *object, const struct range *range, int is_on,
                        int is_leave)
{
    enum kind kind;

    for (size_t i = 0; i < sites->count; i++) {
        uint8_t *site = site_to_change(sites, object, i, is_on, &kind);
        if (site == NULL || (kind == LEAVE) != is_leave || (uintptr_t)site < range->first ||
            (uintptr_t)site > range->last)
            continue;
        /* Release: pairs with the barrier for code. */
        __atomic_store_n(site, is_on ? patched(kind) : TEST, __ATOMIC_RELEASE);
    }
    probity_os_code_barrier();
}

struct change {
    const struct probity_scope_sites *sites;
    const struct probity_object *object;
    int is_on;
};

static int change_segment(void *context, const ElfW(Phdr) *segment)
{
    const struct change *change = context;
    int is_on = change->is_on;
    struct range range = find_range(change->sites, change->object, segment, is_on);

    if (range.first > range.last)
        return 0;
    if (protect(&range, range.protection | PROT_WRITE) != 0)
        return -1;
    change_kind(change->sites, change->object, &range, is_on, is_on);
    change_kind(change->sites, change->object, &range, is_on, !is_on);
    return protect(&range, range.protection);
}

int probity_scope_sites_change(struct probity_scope_sites *sites,
                               const struct probity_object *object, int is_on)
{
    struct change change = {sites, object, is_on};

    if (sites->table == NULL || sites->is_on == is_on)
        return 0;
    if (probity_code_update(object, change_segment, &change) != 0)
        return -1;
    sites->is_on = is_on;
    return 0;
}

void probity_scope_sites_renew(void)
{
    /* A value that no memory contains by chance. */
    uint64_t epoch = probity_ticks() * UINT64_C(0x9e3779b97f4a7c15) | 1;

    /* Release: pairs with the barrier for code. */
    __atomic_store_n(&probity_scope_epoch, epoch, __ATOMIC_RELEASE);
}

int probity_scope_sites_are_calls(void)
{
    return __atomic_load_n(&probity_scope_epoch, __ATOMIC_RELAXED) != 0;
}

/* ---- Calls -------------------------------------------------------------------------------------
 */

/* Call if no scope was jumped over when the one at this place began: the other scopes in its frame
 * are in the same function, as compiled. */
static void keep_pairs(uint32_t place)
{
    const struct probity_scope_place *own = &probity_scope_frame[place + 1];

    for (uint32_t i = place; i > 0 && own->minus != 0; i--) {
        const struct probity_scope_place *open = &probity_scope_frame[i];
        if (open->minus != own->minus)
            break;
        probity_pairs_keep(&probity_site_pairs, open->where >> 16, own->where >> 16);
    }
}

void probity_site_enter_unusual(struct probity_scope_here *scope, uintptr_t frame,
                                const uint8_t *back)
{
    const uint8_t *stub = probity_site_stub(back), *note = probity_site_note(back);
    struct probity_site_function **function =
        (struct probity_site_function **)(uintptr_t)(stub + STUB_BYTES +
                                                     distance_at(stub + STUB_BYTES - 4));

    uint32_t place = probity_scope_depth;

    scope->is_open = 0;
    if (!probity_scope_is_on(note[1]))
        return;
    probity_scope_enter_site(scope, function, frame, note, back);
    if (scope->is_open != 0)
        scope->is_open = probity_scope_epoch;
    if (place < PROBITY_SCOPE_FRAMES && probity_scope_depth == place + 1)
        keep_pairs(place);
}

void probity_site_leave_value(const struct probity_scope_here *scope)
{
    struct probity_value value = {scope->ret, scope->ret_bytes, scope->ret_formatter,
                                  scope->ret_how};

    if (scope->ret_describe != NULL)
        value = scope->ret_describe(scope->ret);
    probity_values_slow(8, scope->code, 0, scope->ret_format, &value);
}

#else

void probity_scope_sites_take(const struct probity_object *object, const char *path,
                              struct probity_scope_sites *ret_sites)
{
    (void)object, (void)path;
    *ret_sites = (struct probity_scope_sites){.table = NULL};
}

int probity_scope_sites_are_there(const struct probity_scope_sites *sites,
                                  const struct probity_object *object)
{
    (void)sites, (void)object;
    return 1;
}

int probity_scope_sites_change(struct probity_scope_sites *sites,
                               const struct probity_object *object, int is_on)
{
    (void)sites, (void)object, (void)is_on;
    return 0;
}

void probity_scope_sites_renew(void)
{
}

int probity_scope_sites_are_calls(void)
{
    return 0;
}
#endif
