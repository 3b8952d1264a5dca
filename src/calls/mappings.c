/* SPDX-License-Identifier: MIT
 *
 * mappings.c: lists the mapped files with their addresses, for readers that turn addresses into
 * symbols. The list is kept, so that a forked child, in which the dynamic linker's lock may never
 * be released, can record it again. Memory is never freed. The list changes only under that lock.
 */
#include <elf.h>
#include <limits.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/objects.h"
#include "calls/calls.h"

enum {
    EVENT_MAPPING = 23, /* from doc/trace-format.md */
    PATH_BYTES_MAX = 1600, BUILD_ID_BYTES_MAX = 64,
    PAYLOAD_MAX = 24 + 2 + PATH_BYTES_MAX + 2 + 2 * BUILD_ID_BYTES_MAX,
    BLOCK_BYTES = 64 * 1024
};
_Static_assert(PAYLOAD_MAX <= (int)PROBITY_EVENT_ROOM, "fits into one event");

struct mapping {
    struct mapping *next;
    uintptr_t start, end;
    size_t bytes;
    uint8_t payload[];
};

static struct mapping *first, **last_link = &first;
static uint8_t *block;
static size_t block_left;
static uint64_t loads;
static uint32_t is_behind; /* a library may have been loaded that is not in the list */

static void *take(size_t bytes)
{
    bytes = (bytes + 15) & ~(size_t)15;
    if (bytes > block_left) {
        void *made = mmap(NULL, BLOCK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                          -1, 0);
        if (made == MAP_FAILED)
            return NULL;
        block = made;
        block_left = BLOCK_BYTES;
    }
    void *taken = block;
    block += bytes;
    block_left -= bytes;
    return taken;
}

/* ---- One object --------------------------------------------------------------------------------
 */

struct build_id {
    const uint8_t *at;
    size_t bytes;
};

static void take_build_id(void *context, const struct probity_object *object, const uint8_t *note,
                          size_t bytes)
{
    (void)object;
    *(struct build_id *)context =
        (struct build_id){note, bytes < BUILD_ID_BYTES_MAX ? bytes : BUILD_ID_BYTES_MAX};
}

static uint8_t *put_text(uint8_t *at, const char *text, size_t length)
{
    probity_put_u16(at, (uint16_t)length);
    memcpy(at + 2, text, length);
    return at + 2 + length;
}

static uint8_t *put_build_id(uint8_t *at, const struct probity_object *object)
{
    static const char digits[] = "0123456789abcdef";
    struct build_id id = {NULL, 0};

    probity_object_notes(object, "GNU", NT_GNU_BUILD_ID, take_build_id, &id);
    probity_put_u16(at, (uint16_t)(2 * id.bytes));
    at += 2;
    for (size_t i = 0; i < id.bytes; i++) {
        *at++ = (uint8_t)digits[id.at[i] >> 4];
        *at++ = (uint8_t)digits[id.at[i] & 15];
    }
    return at;
}

static void find_range(const struct probity_object *object, uintptr_t *ret_start,
                       uintptr_t *ret_end)
{
    const ElfW(Phdr) *header = object->headers;

    *ret_start = UINTPTR_MAX;
    *ret_end = 0;
    for (size_t i = 0; i < object->header_count; i++) {
        uintptr_t start = object->offset + header[i].p_vaddr;
        if (header[i].p_type != PT_LOAD)
            continue;
        *ret_start = start < *ret_start ? start : *ret_start;
        *ret_end = start + header[i].p_memsz > *ret_end ? start + header[i].p_memsz : *ret_end;
    }
}

/* Returns whether the list has the mapping: the newest overlapping one is in effect. */
static int is_known(uintptr_t start, uintptr_t end, const uint8_t *payload, size_t bytes)
{
    const struct mapping *newest = NULL;

    for (const struct mapping *at = first; at != NULL; at = at->next) {
        if (at->start < end && start < at->end)
            newest = at;
    }
    return newest != NULL && newest->bytes == bytes &&
           memcmp(newest->payload, payload, bytes) == 0;
}

/* Drops mappings that are completely covered by a newer one: they no longer exist, and the list
 * must not grow each time a program reloads a plugin. Keeps the last one, to which the next is
 * linked. */
static void drop_covered(uintptr_t start, uintptr_t end)
{
    struct mapping **link = &first, *at;

    while ((at = *link) != NULL && at->next != NULL) {
        /* Release: as in add(). A reader at the dropped entry continues through its `next`, which
         * is unchanged. */
        if (at->start >= start && at->end <= end)
            __atomic_store_n(link, at->next, __ATOMIC_RELEASE);
        else
            link = &at->next;
    }
}

static void add(uintptr_t start, uintptr_t end, const uint8_t *payload, size_t bytes)
{
    struct mapping *made = take(sizeof *made + bytes);

    if (made == NULL)
        return;
    drop_covered(start, end);
    made->next = NULL;
    made->start = start;
    made->end = end;
    made->bytes = bytes;
    memcpy(made->payload, payload, bytes);
    /* Release: pairs with record_from(), which takes no lock. */
    __atomic_store_n(last_link, made, __ATOMIC_RELEASE);
    last_link = &made->next;
}

static void take_object(void *context, const struct probity_object *object)
{
    uint8_t payload[PAYLOAD_MAX], *at = payload;
    char own[PATH_BYTES_MAX];
    const char *path = object->path;
    uintptr_t start, end;

    (void)context;
    size_t length = strlen(path);
    if (length == 0) {
        ssize_t got = readlink("/proc/self/exe", own, sizeof own);
        path = own;
        length = got > 0 ? (size_t)got : 0;
    } else if (memchr(path, '/', length) == NULL || length > PATH_BYTES_MAX) {
        return; /* the kernel's object, or not a file that a reader could open */
    }
    find_range(object, &start, &end);
    if (start >= end)
        return;
    probity_put_u64(at, start);
    probity_put_u64(at + 8, end);
    probity_put_u64(at + 16, object->offset);
    at = put_text(at + 24, path, length);
    at = put_build_id(at, object);
    if (!is_known(start, end, payload, (size_t)(at - payload)))
        add(start, end, payload, (size_t)(at - payload));
}

/* ---- All mappings ------------------------------------------------------------------------------
 */

static void record_from(struct mapping **link)
{
    struct mapping *at = __atomic_load_n(link, __ATOMIC_ACQUIRE);

    for (; at != NULL; at = __atomic_load_n(&at->next, __ATOMIC_ACQUIRE))
        probity_event_slow(EVENT_MAPPING, at->payload, at->bytes);
}

/* Records without the linker's lock, since recording may have to wait for the writer. Two threads
 * may record the same mapping. */
void probity_calls_mappings_update(void)
{
    struct mapping **from = __atomic_load_n(&last_link, __ATOMIC_ACQUIRE);

    probity_thread_inside++;
    probity_objects_each(&loads, take_object, NULL);
    if (probity_is_recording())
        record_from(from);
    probity_thread_inside--;
}

void probity_calls_mappings_record(void)
{
    record_from(&first);
}

static void catch_up(void)
{
    if (__builtin_expect(__atomic_load_n(&is_behind, __ATOMIC_RELAXED), 0) &&
        probity_thread_inside == 0 && __atomic_exchange_n(&is_behind, 0, __ATOMIC_RELAXED))
        probity_calls_mappings_update();
}

/* ---- Replacements for functions of libc --------------------------------------------------------
 */

/* libc searches for a name without a slash, and expands $ORIGIN, relative to the caller's object,
 * so it must see that caller. Therefore such a call is last here, which gcc and clang compile to a
 * jump. The libraries that it loads are recorded at the program's next call to dlsym() or
 * dlopen(). */
PROBITY_API void *dlopen(const char *path, int flags)
{
    if (probity_calls_are_off(PROBITY_CALLS_ALL))
        return probity_calls_next.dlopen(path, flags);
    catch_up();
    if (path == NULL || strchr(path, '/') == NULL || strchr(path, '$') != NULL) {
        __atomic_store_n(&is_behind, path != NULL, __ATOMIC_RELAXED);
        return probity_calls_next.dlopen(path, flags);
    }
    void *handle = probity_calls_next.dlopen(path, flags);
    if (handle != NULL)
        probity_calls_mappings_update();
    return handle;
}

PROBITY_API void *dlsym(void *restrict handle, const char *restrict name)
{
    if (!probity_calls_are_off(PROBITY_CALLS_ALL))
        catch_up();
    return probity_calls_next.dlsym(handle, name);
}
