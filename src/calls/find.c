/* SPDX-License-Identifier: MIT
 *
 * find.c: finds libc's own functions, and the text of Probity's libraries, in the dynamic symbol
 * tables in memory. Does not use dlsym(), which may allocate memory before malloc() has been found,
 * nor libc's string functions: a sanitizer, which replaces them, may be looking for them at the
 * same time.
 */
#include <errno.h>
#include <link.h>

#include "base/objects.h"
#include "calls/calls.h"
#include "calls/memory.h"

struct probity_calls_next probity_calls_next;

/* In the order of the members of struct probity_calls_next. */
static const char *const names[] = {
#define PROBITY_CALLS_NAME(name) #name,
    PROBITY_CALLS_NAMES(PROBITY_CALLS_NAME)
#undef PROBITY_CALLS_NAME
};
enum { NAMES = sizeof names / sizeof *names };
_Static_assert(sizeof probity_calls_next == NAMES * sizeof(void *), "a member for each name");

/* ---- Symbols of one object ---------------------------------------------------------------------
 */

struct symbols {
    uintptr_t offset;
    const ElfW(Sym) *table;
    const char *texts;
    const uint32_t *hashes; /* those of DT_GNU_HASH */
    const uint16_t *versions;
};

/* Returns an address in the dynamic section: glibc has converted offsets there to addresses, if the
 * section is writable; other libcs have not. */
static const void *address_of(uintptr_t offset, uintptr_t value)
{
    return (const void *)(value < offset ? offset + value : value);
}

static int read_dynamic(const struct probity_object *object, struct symbols *ret_symbols)
{
    const ElfW(Phdr) *header = object->headers;
    const ElfW(Dyn) *entry = NULL;

    *ret_symbols = (struct symbols){.offset = object->offset};
    for (size_t i = 0; i < object->header_count; i++) {
        if (header[i].p_type == PT_DYNAMIC)
            entry = (const ElfW(Dyn) *)(object->offset + header[i].p_vaddr);
    }
    for (; entry != NULL && entry->d_tag != DT_NULL; entry++) {
        const void *at = address_of(object->offset, entry->d_un.d_ptr);
        switch (entry->d_tag) {
        case DT_SYMTAB: ret_symbols->table = at; break;
        case DT_STRTAB: ret_symbols->texts = at; break;
        case DT_GNU_HASH: ret_symbols->hashes = at; break;
        case DT_VERSYM: ret_symbols->versions = at; break;
        default: break;
        }
    }
    return ret_symbols->table != NULL && ret_symbols->texts != NULL && ret_symbols->hashes != NULL;
}

static int is_same(const char *one, const char *other)
{
    while (*one != '\0' && *one == *other) {
        one++;
        other++;
    }
    return *one == *other;
}

static uint32_t hash_of(const char *name)
{
    uint32_t hash = 5381;

    for (; *name != '\0'; name++)
        hash = hash * 33 + (uint8_t)*name;
    return hash;
}

/* Returns whether the symbol is a defined, global function of the default version. */
static int is_function(const struct symbols *symbols, uint32_t index, const char *name)
{
    enum { HIDDEN = 0x8000, VERSION = 0x7fff };
    const ElfW(Sym) *symbol = &symbols->table[index];
    uint32_t type = symbol->st_info & 15u, binding = symbol->st_info >> 4;

    if (symbol->st_shndx == SHN_UNDEF || symbol->st_value == 0 || binding == STB_LOCAL ||
        (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE))
        return 0;
    if (symbols->versions != NULL && ((symbols->versions[index] & HIDDEN) != 0 ||
                                      (symbols->versions[index] & VERSION) == 0))
        return 0;
    return is_same(symbols->texts + symbol->st_name, name);
}

static void *function_at(const struct symbols *symbols, uint32_t index)
{
    uintptr_t at = symbols->offset + symbols->table[index].st_value;

    if ((symbols->table[index].st_info & 15u) == STT_GNU_IFUNC)
        return ((void *(*)(void))at)();
    return (void *)at;
}

static void *find_function(const struct symbols *symbols, const char *name, uint32_t hash)
{
    enum { WORD_BITS = 8 * sizeof(ElfW(Addr)) };
    const uint32_t buckets = symbols->hashes[0], first = symbols->hashes[1],
                   words = symbols->hashes[2], shift = symbols->hashes[3];
    const ElfW(Addr) *bloom = (const ElfW(Addr) *)&symbols->hashes[4];
    const uint32_t *bucket = (const uint32_t *)&bloom[words], *chain = &bucket[buckets];

    if (buckets == 0 || words == 0)
        return NULL;
    ElfW(Addr) word = bloom[hash / WORD_BITS % words];
    if ((word >> hash % WORD_BITS & word >> (hash >> shift) % WORD_BITS & 1) == 0)
        return NULL;
    for (uint32_t i = bucket[hash % buckets]; i >= first; i++) {
        uint32_t other = chain[i - first];
        if ((other | 1) == (hash | 1) && is_function(symbols, i, name))
            return function_at(symbols, i);
        if (other & 1)
            break;
    }
    return NULL;
}

/* ---- Objects -----------------------------------------------------------------------------------
 */

struct walk {
    int is_after; /* whether this library has been passed */
    uint32_t own; /* number of Probity's libraries */
    const char *name; /* the only name to find; or NULL */
    void *found;
};

static int is_named(const struct probity_object *object, const char *prefix)
{
    const char *name = object->path;

    for (const char *at = name; *at != '\0'; at++)
        name = *at == '/' ? at + 1 : name;
    while (*prefix != '\0' && *name == *prefix) {
        name++;
        prefix++;
    }
    return *prefix == '\0';
}

static void add_own(const struct probity_object *object, uint32_t index)
{
    const ElfW(Phdr) *header = object->headers;
    struct probity_calls_own *own = &probity_calls_shared.own[index];

    for (size_t i = 0; i < object->header_count; i++) {
        if (header[i].p_type == PT_LOAD && (header[i].p_flags & PF_X)) {
            __atomic_store_n(&own->start, object->offset + header[i].p_vaddr, __ATOMIC_RELAXED);
            __atomic_store_n(&own->bytes, header[i].p_memsz, __ATOMIC_RELEASE);
        }
    }
}

/* Updates the range that covers all others. Ranges only grow while a thread reads them. */
static void cover_own(void)
{
    uintptr_t start = UINTPTR_MAX, end = 0;

    for (int i = 1; i <= PROBITY_CALLS_OWN; i++) {
        const struct probity_calls_own *own = &probity_calls_shared.own[i];
        if (own->bytes == 0)
            continue;
        start = own->start < start ? own->start : start;
        end = own->start + own->bytes > end ? own->start + own->bytes : end;
    }
    if (end > start) {
        __atomic_store_n(&probity_calls_shared.own[0].start, start, __ATOMIC_RELAXED);
        __atomic_store_n(&probity_calls_shared.own[0].bytes, end - start, __ATOMIC_RELEASE);
    }
}

/* Stores a library's range only the first time, since the library does not move. */
static void note_own(const struct probity_object *object)
{
    static const char *const own[PROBITY_CALLS_OWN] = {
        "libprobity-calls.so", "libprobity.so", "libprobity-print.so", "libprobity-functions.so"};

    for (uint32_t i = 0; i < PROBITY_CALLS_OWN; i++) {
        if (probity_calls_shared.own[i + 1].bytes == 0 && is_named(object, own[i]))
            add_own(object, i + 1);
    }
}

static void take_names(struct walk *walk, const struct symbols *symbols)
{
    void **table = (void **)&probity_calls_next;

    if (walk->name != NULL) {
        walk->found = find_function(symbols, walk->name, hash_of(walk->name));
        return;
    }
    for (size_t i = 0; i < NAMES; i++) {
        if (__atomic_load_n(&table[i], __ATOMIC_RELAXED) != NULL)
            continue;
        void *found = find_function(symbols, names[i], hash_of(names[i]));
        if (found != NULL)
            __atomic_store_n(&table[i], found, __ATOMIC_RELAXED);
    }
}

static void take_object(void *context, const struct probity_object *object)
{
    struct walk *walk = context;
    struct symbols symbols;

    if (walk->name == NULL)
        note_own(object);
    if (!walk->is_after)
        walk->is_after = probity_object_bytes(object, (const void *)names) > 0;
    else if (walk->found == NULL && !is_named(object, "linux-vdso") &&
             !is_named(object, "linux-gate") && read_dynamic(object, &symbols))
        take_names(walk, &symbols);
}

/* Replaces a function that this libc lacks, but that the program may have found here. */
static int missing(void)
{
    errno = ENOSYS;
    return -1;
}

void probity_calls_find(void)
{
    void **table = (void **)&probity_calls_next;
    struct walk walk = {0};
    uint64_t loads = 0;

    probity_objects_each(&loads, take_object, &walk);
    probity_calls_operators_prepare();
    for (size_t i = 0; i < NAMES; i++) {
        if (table[i] == NULL)
            __atomic_store_n(&table[i], (void *)(uintptr_t)missing, __ATOMIC_RELAXED);
    }
    cover_own();
}

void *probity_calls_find_now(const char *name)
{
    struct walk walk = {.name = name};
    uint64_t loads = 0;

    probity_objects_each(&loads, take_object, &walk);
    return walk.found;
}
