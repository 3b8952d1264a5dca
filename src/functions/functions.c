/* SPDX-License-Identifier: MIT
 *
 * functions.c: a hash table from addresses to descriptors, and a list of objects with their symbol
 * tables. No locks are taken, so a forked child or a signal handler never waits: if two threads add
 * the same entry, one succeeds, and the memory of the other stays unused.
 */
#include "functions/functions.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cpu.h"
#include "base/hooked.h"
#include "base/objects.h"
#include "base/os.h"
#include "base/selection.h"
#include "functions/arena.h"
#include "functions/arguments.h"
#include "functions/rules.h"
#include "functions/symbol_table.h"

enum { ENTRIES = PROBITY_ENTRIES, PROBES_MAX = 64 };

struct object {
    struct object *next;
    uintptr_t start, end, offset; /* as loaded; offset: load address minus linked address */
    const char *path;             /* "": the executable */
    const char *file;             /* its last component */
    struct probity_symbol_table symbols;
    struct probity_object loaded;
    const struct probity_arguments_object *arguments; /* those of its functions; NULL: none */
    const char *searched; /* rules of the latest search for sources; NULL: none */
    uint32_t is_gone;
    uint32_t returns; /* an enum returns */
};

/* Whether functions that call __fentry__ also call __return__. */
enum returns { RETURNS_UNKNOWN, RETURNS, RETURNS_NOT };

struct probity_entry *probity_entries;
static struct object *objects;
static __thread int is_searching __attribute__((tls_model("initial-exec")));

/* ---- Objects -----------------------------------------------------------------------------------
 */

struct found {
    struct probity_object object;
    uintptr_t start;
};

#ifdef DLFO_STRUCT_HAS_EH_DBASE
#pragma weak _dl_find_object /* since glibc 2.35; unlike dladdr(), takes no lock */
#endif

static int find_loaded(uintptr_t address, const char **ret_path, uintptr_t *ret_start)
{
    Dl_info info;

#ifdef DLFO_STRUCT_HAS_EH_DBASE
    struct dl_find_object object;
    if (_dl_find_object != NULL) {
        if (_dl_find_object((void *)address, &object) != 0)
            return 0;
        *ret_path = object.dlfo_link_map->l_name;
        *ret_start = (uintptr_t)object.dlfo_map_start;
        return 1;
    }
#endif
    if (dladdr((void *)address, &info) == 0)
        return 0;
    *ret_path = info.dli_fname;
    *ret_start = (uintptr_t)info.dli_fbase;
    return 1;
}

/* Finds the object of a shared library, whose headers are in its first page. */
static int object_at(uintptr_t start, const char *path, struct found *ret_found)
{
    enum { PAGE = 4096 };
    const ElfW(Ehdr) *head = (const ElfW(Ehdr) *)start;

    if (start == 0 || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_phoff > PAGE ||
        head->e_phnum * sizeof(ElfW(Phdr)) > PAGE - head->e_phoff)
        return 0;
    const ElfW(Phdr) *header = (const ElfW(Phdr) *)(start + head->e_phoff);
    for (size_t i = 0; i < head->e_phnum; i++) {
        if (header[i].p_type != PT_LOAD)
            continue;
        uintptr_t offset = start - header[i].p_vaddr / PAGE * PAGE;
        *ret_found = (struct found){{path, offset, header, head->e_phnum}, start};
        return 1;
    }
    return 0;
}

static int find_object(uintptr_t address, struct found *ret_found)
{
    const char *path;
    uintptr_t start;

    if (probity_object_executable(&ret_found->object) == 0 &&
        probity_object_bytes(&ret_found->object, (const void *)address) > 0) {
        ret_found->start = 0;
        return 1;
    }
    return find_loaded(address, &path, &start) && object_at(start, path, ret_found);
}

static const char *copy_text(const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = probity_arena_take(bytes);

    return copy != NULL ? memcpy(copy, text, bytes) : "";
}

/* Stores the range of its readable segments. */
static void set_range(struct object *object, const struct probity_object *from)
{
    const ElfW(Phdr) *header = from->headers;

    object->start = UINTPTR_MAX;
    for (size_t i = 0; i < from->header_count; i++) {
        uintptr_t start = from->offset + header[i].p_vaddr;
        if (header[i].p_type != PT_LOAD)
            continue;
        object->start = start < object->start ? start : object->start;
        object->end = start + header[i].p_memsz > object->end ? start + header[i].p_memsz
                                                              : object->end;
    }
}

/* Returns the symbols of an unloaded object if the same file is loaded again: memory must not grow
 * if a program loads and unloads a library many times. */
static int revive_symbols(const char *path, struct probity_symbol_table *ret_table)
{
    struct probity_file_id file = probity_file_id_of(path);
    const struct object *object = __atomic_load_n(&objects, __ATOMIC_ACQUIRE);

    for (; object != NULL; object = object->next) {
        if (__atomic_load_n(&object->is_gone, __ATOMIC_RELAXED) &&
            probity_file_is_same(&object->symbols.file, &file)) {
            *ret_table = object->symbols;
            return 1;
        }
    }
    return 0;
}

static void link_object(struct object *object)
{
    struct object *first = __atomic_load_n(&objects, __ATOMIC_ACQUIRE);

    do {
        object->next = first;
    } while (!__atomic_compare_exchange_n(&objects, &first, object, 0, __ATOMIC_SEQ_CST,
                                          __ATOMIC_ACQUIRE));
}

static const char *file_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return copy_text(slash != NULL ? slash + 1 : path);
}

static const char *file_of_executable(void)
{
    char path[PATH_MAX];
    ssize_t bytes = readlink("/proc/self/exe", path, sizeof path - 1);

    path[bytes > 0 ? bytes : 0] = '\0';
    return bytes > 0 ? file_of(path) : program_invocation_short_name;
}

/* Finds the functions that come from the source files in the rules. Several threads may do this for
 * one object at the same time, with the same result. */
static void find_sources(struct object *object, const char *rules)
{
    const char *file = *object->path != '\0' ? object->path : "/proc/self/exe";

    if (__atomic_load_n(&object->searched, __ATOMIC_ACQUIRE) == rules)
        return;
    probity_rules_find_sources(rules, file, &object->loaded, &object->symbols);
    __atomic_store_n(&object->searched, rules, __ATOMIC_RELEASE);
}

static struct object *add_object(const struct found *found)
{
    const char *path = found->object.path;
    const char *file = *path != '\0' ? path : "/proc/self/exe";
    struct object *object = probity_arena_take(sizeof *object);

    if (object == NULL)
        return NULL;
    object->offset = found->object.offset;
    object->loaded = found->object;
    object->path = copy_text(path);
    object->file = *path != '\0' ? file_of(path) : file_of_executable();
    set_range(object, &found->object);
    if (!revive_symbols(file, &object->symbols))
        probity_symbol_table_read(file, &found->object, &object->symbols);
    find_sources(object, probity_rules_now());
    object->arguments = probity_arguments_object_of(&found->object, &object->symbols.file);
    link_object(object);
    find_sources(object, probity_rules_now()); /* the rules may have been replaced before it was
                                                * listed */
    return object;
}

/* Finds an object that was unloaded, and is now loaded again at the same address. */
static struct object *revive_object(const struct found *found)
{
    struct object *object = __atomic_load_n(&objects, __ATOMIC_ACQUIRE);
    struct probity_file_id file = {0};

    for (; object != NULL; object = object->next) {
        if (!__atomic_load_n(&object->is_gone, __ATOMIC_RELAXED) ||
            object->offset != found->object.offset ||
            strcmp(object->path, found->object.path) != 0)
            continue;
        if (file.inode == 0)
            file = probity_file_id_of(object->path);
        if (!probity_file_is_same(&object->symbols.file, &file))
            continue;
        object->loaded = found->object;
        /* The symbols must be searched again: another object may have used them meanwhile. */
        __atomic_store_n(&object->searched, NULL, __ATOMIC_RELAXED);
        find_sources(object, probity_rules_now());
        __atomic_store_n(&object->is_gone, 0, __ATOMIC_SEQ_CST);
        find_sources(object, probity_rules_now());
        return object;
    }
    return NULL;
}

static struct object *object_of(uintptr_t address)
{
    struct object *object = __atomic_load_n(&objects, __ATOMIC_ACQUIRE);
    struct found found;

    for (; object != NULL; object = object->next) {
        if (!__atomic_load_n(&object->is_gone, __ATOMIC_RELAXED) && address >= object->start &&
            address < object->end)
            return object;
    }
    if (!find_object(address, &found))
        return NULL;
    struct object *revived = revive_object(&found);
    return revived != NULL ? revived : add_object(&found);
}

/* ---- Selection ---------------------------------------------------------------------------------
 */

struct probity_site_function probity_function_left_out;

static int is_selected(const char *name, const struct object *object,
                       const struct probity_symbol *symbol)
{
    const struct probity_selection_subject subject = {
        .symbol = name,
        .object = object != NULL ? object->file : "",
        .bytes = symbol != NULL ? symbol->bytes : 0,
        .is_file = symbol != NULL && symbol->source == PROBITY_SOURCE_WANTED};

    return probity_rules_take(&subject, object != NULL && object->symbols.sources > 0);
}

/* ---- Functions without returns -----------------------------------------------------------------
 */

/* Reports once, and only if a trace was requested. */
static void report_without_return(const struct object *object)
{
    static uint32_t is_reported;
    char message[256];

    if (__atomic_exchange_n(&is_reported, 1, __ATOMIC_RELAXED) || getenv("PROBITY_OUT") == NULL)
        return;
    int length = snprintf(message, sizeof message, "probity: %.80s: recording only the entries of "
                          "functions: they were compiled without %s "
                          "(see man 7 probity-functions)\n",
                          object->file, PROBITY_CPU_HAS_FENTRY
                                            ? "-pg -mfentry -minstrument-return=call"
                                            : "-fxray-instrument");
    probity_os_say(message, (size_t)length);
}

/* Returns whether the object calls __return__: otherwise the end of a function could only be
 * guessed. */
static int has_returns(struct object *object)
{
    uint32_t returns = __atomic_load_n(&object->returns, __ATOMIC_RELAXED);

    if (returns == RETURNS_UNKNOWN) {
        returns = probity_object_calls_return(&object->loaded) ? RETURNS : RETURNS_NOT;
        __atomic_store_n(&object->returns, returns, __ATOMIC_RELAXED);
        if (returns == RETURNS_NOT)
            report_without_return(object);
    }
    return returns == RETURNS;
}

/* ---- Descriptors -------------------------------------------------------------------------------
 */

/* Returns the name without the suffix of a clone made by the compiler, such as ".constprop.0". */
static const char *plain_name(const char *name)
{
    const char *dot = strchr(name + 1, '.');

    if (dot == NULL)
        return name;
    char *copy = probity_arena_take((size_t)(dot - name) + 1);
    return copy != NULL ? memcpy(copy, name, (size_t)(dot - name)) : name;
}

/* Returns "libfoo.so+0x1234", for a function without a symbol. */
static const char *address_name(const struct object *object, uint64_t address)
{
    enum { BYTES = 64 };
    char *name = probity_arena_take(BYTES);

    if (name == NULL)
        return "?";
    snprintf(name, BYTES, "%.40s+0x%llx", object != NULL ? object->file : "",
             (unsigned long long)address);
    return name;
}

/* Returns the start of the function that calls __fentry__ before this address, if it has no
 * symbol. */
static uintptr_t start_without_symbol(const struct object *object, uintptr_t address)
{
    static const uint8_t landing[] = {0xf3, 0x0f, 0x1e, 0xfa}; /* ENDBR64 */
    enum { CALL = 0xe8, NOP = 0x90, LONG_NOP = 0x0f, CALL_BYTES = 5, LONG_CALL_BYTES = 6 };
    enum { BRANCH_BYTES = 4 };
    const uint8_t *at = (const uint8_t *)address;

    if (!PROBITY_CPU_HAS_FENTRY)
        return address - BRANCH_BYTES;
    if (address - object->start < LONG_CALL_BYTES + sizeof landing)
        return address;
    /* A call through the GOT has six bytes, even if the linker has made it direct. */
    int is_long = at[-LONG_CALL_BYTES] == 0xff || at[-LONG_CALL_BYTES] == 0x67;
    int is_short = at[-CALL_BYTES] == CALL || at[-CALL_BYTES] == NOP || at[-CALL_BYTES] == LONG_NOP;
    at -= is_short && !is_long ? CALL_BYTES : LONG_CALL_BYTES;
    if (memcmp(at - sizeof landing, landing, sizeof landing) == 0)
        at -= sizeof landing;
    return (uintptr_t)at;
}

static struct probity_site_function *describe(const char *name, const struct object *object,
                                              const struct probity_symbol *symbol, uint64_t linked,
                                              int has_entries_only)
{
    struct probity_addressed_function *made = probity_arena_take(sizeof *made);

    if (made == NULL)
        return NULL;
    made->function = (struct probity_site_function){
        .name = name,
        .file = symbol != NULL ? symbol->file : "",
        .signature = symbol != NULL && strncmp(symbol->name, "_Z", 2) == 0 ? symbol->name : NULL,
        .returns = "",
        .level = PROBITY_FUNCTIONS_LEVEL,
        .flags = has_entries_only ? PROBITY_FUNCTION_ADDRESSED | PROBITY_FUNCTION_ENTRIES
                                  : PROBITY_FUNCTION_ADDRESSED};
    made->object = object != NULL ? object->path : "";
    made->address = linked;
    struct probity_site_function *valued =
        object != NULL ? probity_arguments_describe(object->arguments, made) : NULL;
    return valued != NULL ? valued : &made->function;
}

/* The descriptors made before the rules changed, by place in the table. NULL: the rules never
 * changed. */
static struct probity_site_function **earlier;

static struct probity_site_function *make(const struct probity_entry *entry, uintptr_t address,
                                          int is_inside)
{
    struct probity_site_function **made = __atomic_load_n(&earlier, __ATOMIC_ACQUIRE);
    struct object *object = object_of(address);

    int has_entries_only = is_inside && object != NULL && !has_returns(object);
    uint64_t linked = object != NULL ? address - object->offset : address;
    const struct probity_symbol *symbol =
        object != NULL ? probity_symbol_find(&object->symbols, linked) : NULL;
    if (is_inside && symbol != NULL)
        linked = symbol->address;
    else if (is_inside && object != NULL)
        linked = start_without_symbol(object, address) - object->offset;
    const char *name = symbol != NULL ? plain_name(symbol->name) : address_name(object, linked);
    if (!is_selected(name, object, symbol))
        return &probity_function_left_out;
    made = made != NULL ? &made[entry - probity_entries] : NULL;
    return made != NULL && *made != NULL ? *made
                                         : describe(name, object, symbol, linked,
                                                    has_entries_only);
}

/* ---- The table ---------------------------------------------------------------------------------
 */

static struct probity_entry *table(void)
{
    struct probity_entry *found = __atomic_load_n(&probity_entries, __ATOMIC_ACQUIRE);

    if (__builtin_expect(found != NULL, 1))
        return found;
    struct probity_entry *made = probity_arena_map(ENTRIES * sizeof *made);
    if (made == NULL || __atomic_compare_exchange_n(&probity_entries, &found, made, 0,
                                                    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return made;
    probity_arena_unmap(made, ENTRIES * sizeof *made);
    return found;
}

/* Blocks signals: a handler that jumps away would leave is_searching set. */
static __attribute__((noinline)) struct probity_site_function *add(struct probity_entry *entry,
                                                                   uintptr_t address,
                                                                   int is_inside)
{
    struct probity_site_function *none = NULL;
    struct probity_os_signals signals;
    int before = errno;

    /* A function that this calls, such as a program's own open(), may be instrumented too. */
    if (is_searching)
        return NULL;
    probity_os_signals_block(&signals);
    is_searching = 1;
    const char *rules = probity_rules_now();
    struct probity_site_function *made = make(entry, address, is_inside);
    is_searching = 0;
    probity_os_signals_restore(&signals);
    errno = before;
    if (made != NULL && !__atomic_compare_exchange_n(&entry->function, &none, made, 0,
                                                     __ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE))
        return none;
    if (made == NULL || probity_rules_now() == rules)
        return made;
    /* The rules with which it was selected were replaced meanwhile, maybe after the table was
     * cleared. */
    (void)__atomic_compare_exchange_n(&entry->function, &made, NULL, 0, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED);
    return NULL;
}

/* Returns the place of this address in the table, allocated if it has none yet; NULL if the table
 * is full. */
static inline struct probity_entry *entry_of(uintptr_t address)
{
    _Static_assert(ENTRIES == 1 << (64 - 46), "probity_entry_place() yields a place in it");
    struct probity_entry *all = table();

    for (uint32_t i = 0; all != NULL && i < PROBES_MAX; i++) {
        struct probity_entry *entry = &all[(probity_entry_place(address) + i) % ENTRIES];
        uintptr_t key = __atomic_load_n(&entry->address, __ATOMIC_RELAXED);
        if (key == 0 && __atomic_compare_exchange_n(&entry->address, &key, address, 0,
                                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            key = address;
        if (key == address)
            return entry;
    }
    return NULL;
}

static inline __attribute__((always_inline)) struct probity_site_function *
find(uintptr_t address, int is_inside)
{
    struct probity_entry *entry = entry_of(address);

    if (entry == NULL)
        return NULL;
    struct probity_site_function *function = __atomic_load_n(&entry->function, __ATOMIC_ACQUIRE);
    return __builtin_expect(function != NULL, 1) ? function : add(entry, address, is_inside);
}

struct probity_site_function *probity_function_find(uintptr_t address)
{
    return find(address, 0);
}

struct probity_site_function *probity_function_find_inside(uintptr_t address)
{
    return find(address, 1);
}

int probity_function_put(uintptr_t address, struct probity_site_function *function)
{
    struct probity_entry *entry = entry_of(address);

    if (entry == NULL)
        return -1;
    __atomic_store_n(&entry->function, function, __ATOMIC_RELEASE);
    return 0;
}

static void find_all_sources(const char *rules)
{
    struct object *object = __atomic_load_n(&objects, __ATOMIC_SEQ_CST);

    for (; object != NULL; object = object->next) {
        if (!__atomic_load_n(&object->is_gone, __ATOMIC_SEQ_CST))
            find_sources(object, rules);
    }
}

/* Keeps the existing descriptors, to which the numbers of functions in the trace belong. */
static void clear_table(struct probity_site_function **made)
{
    struct probity_entry *all = __atomic_load_n(&probity_entries, __ATOMIC_ACQUIRE);

    if (all == NULL)
        return;
    for (uint32_t i = 0; i < ENTRIES; i++) {
        struct probity_site_function *function =
            __atomic_load_n(&all[i].function, __ATOMIC_ACQUIRE);
        if (function == NULL)
            continue;
        if (function != &probity_function_left_out)
            made[i] = function;
        __atomic_store_n(&all[i].function, NULL, __ATOMIC_SEQ_CST);
    }
}

int probity_functions_select(const char *text)
{
    const char *rules = probity_rules_make(text);

    if (earlier == NULL)
        __atomic_store_n(&earlier, probity_arena_map(ENTRIES * sizeof *earlier), __ATOMIC_RELEASE);
    if (rules == NULL || earlier == NULL)
        return -1;
    if (rules == probity_rules_now())
        return 0;
    /* The sources come first, so that no thread sees the new rules without them. */
    find_all_sources(rules);
    probity_rules_set(rules);
    find_all_sources(rules); /* those of objects that were added meanwhile */
    clear_table(earlier);
    return 1;
}

static int is_still_loaded(const struct object *object)
{
    const char *path;
    uintptr_t start;

    return *object->path == '\0' ||
           (find_loaded(object->start, &path, &start) && start == object->start &&
            strcmp(path, object->path) == 0);
}

void probity_functions_unloaded(void)
{
    struct probity_entry *all = __atomic_load_n(&probity_entries, __ATOMIC_ACQUIRE);
    struct probity_site_function **made = __atomic_load_n(&earlier, __ATOMIC_ACQUIRE);
    struct object *object = __atomic_load_n(&objects, __ATOMIC_ACQUIRE);

    for (; object != NULL && all != NULL; object = object->next) {
        if (object->is_gone || is_still_loaded(object))
            continue;
        __atomic_store_n(&object->is_gone, 1, __ATOMIC_RELAXED);
        for (uint32_t i = 0; i < ENTRIES; i++) {
            uintptr_t address = __atomic_load_n(&all[i].address, __ATOMIC_RELAXED);
            if (address < object->start || address >= object->end)
                continue;
            __atomic_store_n(&all[i].function, NULL, __ATOMIC_RELEASE);
            if (made != NULL)
                made[i] = NULL;
        }
    }
}
