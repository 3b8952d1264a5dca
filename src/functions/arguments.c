/* SPDX-License-Identifier: MIT
 *
 * arguments.c: reads the description of arguments when the library is loaded, and derives from it
 * the data for functions and hooks. argument_values.c reads the values.
 */
#include "functions/arguments.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cpu.h"
#include "base/os.h"
#include "functions/arena.h"
#include "functions/argument_values.h"
#include "functions/functions.h"

/* Read by __fentry__: a byte for each 16 bytes of code, repeating after 1 MiB. Not 0 if the call of
 * __fentry__ in a described function may return there. */
enum { FILTER_BYTES = 65536, FILTER_SHIFT = 4 };
extern uint8_t probity_arguments_filter[FILTER_BYTES], probity_arguments_are_described;
uint8_t probity_arguments_filter[FILTER_BYTES], probity_arguments_are_described;

static struct probity_arguments all; /* head is NULL if there is none */

/* ---- Reading -----------------------------------------------------------------------------------
 */

/* Returns the number of an inherited descriptor, or -1. */
static int descriptor_of(const char *text)
{
    char *end = NULL;
    long number = text != NULL && *text >= '0' && *text <= '9' ? strtol(text, &end, 10) : -1;

    return end != NULL && *end == '\0' && number >= 0 && number <= INT_MAX ? (int)number : -1;
}

/* Returns whether the descriptor is that of a description: a program started by this one may have
 * closed it and reused the number. */
static int is_description(int descriptor, size_t *ret_bytes)
{
    char magic[sizeof PROBITY_ARGUMENTS_MAGIC - 1];
    struct stat status;

    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode) ||
        pread(descriptor, magic, sizeof magic, 0) != (ssize_t)sizeof magic ||
        memcmp(magic, PROBITY_ARGUMENTS_MAGIC, sizeof magic) != 0)
        return 0;
    *ret_bytes = (uint64_t)status.st_size <= PROBITY_ARGUMENTS_BYTES_MAX ? (size_t)status.st_size
                                                                         : 0;
    return 1;
}

/* Reads the description into a copy, which cannot be changed after it was checked. */
static int read_all(int descriptor, size_t bytes)
{
    uint8_t *copy = bytes > 0 ? probity_arena_map(bytes) : NULL;
    size_t got = 0;

    while (copy != NULL && got < bytes) {
        ssize_t more = pread(descriptor, copy + got, bytes - got, (off_t)got);
        if (more <= 0)
            break;
        got += (size_t)more;
    }
    if (copy != NULL && got == bytes && probity_arguments_check(copy, bytes, &all) == 0)
        return 0;
    if (copy != NULL)
        probity_arena_unmap(copy, bytes);
    return -1;
}

/* Makes all calls of described functions take one path, which is slower. */
static void switch_on(void)
{
    __atomic_store_n(&probity_arguments_are_described, all.head->functions > 0, __ATOMIC_RELEASE);
}

void probity_arguments_load(void)
{
    static const char message[] = "probity: PROBITY_ARGUMENTS: invalid description; recording no "
                                  "arguments\n";
    int before = errno, descriptor;
    size_t bytes;

    if (!PROBITY_CPU_HAS_SLEDS || probity_os_is_privileged())
        return;
    descriptor = descriptor_of(getenv("PROBITY_ARGUMENTS"));
    if (descriptor >= 0 && is_description(descriptor, &bytes)) {
        if (read_all(descriptor, bytes) == 0)
            switch_on();
        else
            probity_os_say(message, sizeof message - 1);
    }
    errno = before;
}

/* ---- Objects -----------------------------------------------------------------------------------
 */

/* Identifies an object, as loaded. */
struct identity {
    const struct probity_file_id *file;
    const uint8_t *build_id;
    size_t build_id_bytes;
};

static void take_build_id(void *context, const struct probity_object *object, const uint8_t *note,
                          size_t bytes)
{
    struct identity *identity = context;

    (void)object;
    if (identity->build_id == NULL) {
        identity->build_id = note;
        identity->build_id_bytes = bytes;
    }
}

static int is_same(const struct probity_arguments_object *object, const struct identity *identity)
{
    const struct probity_file_id file = {object->device, object->inode, object->file_bytes,
                                         object->changed_ns};

    if (object->build_id_bytes > 0)
        return identity->build_id_bytes == object->build_id_bytes &&
               memcmp(identity->build_id, object->build_id, object->build_id_bytes) == 0;
    return identity->build_id_bytes == 0 && file.inode != 0 &&
           probity_file_is_same(&file, identity->file);
}

const struct probity_arguments_object *
probity_arguments_object_of(const struct probity_object *loaded, const struct probity_file_id *file)
{
    enum { GNU_BUILD_ID = 3 };
    struct identity identity = {.file = file};

    if (all.head == NULL)
        return NULL;
    probity_object_notes(loaded, "GNU", GNU_BUILD_ID, take_build_id, &identity);
    for (uint32_t i = 0; i < all.head->objects; i++) {
        if (is_same(&all.objects[i], &identity))
            return &all.objects[i];
    }
    return NULL;
}

/* Marks the places to which the call of __fentry__ may return: it has 5 or 6 bytes, and may follow
 * the landing pad of an indirect branch, of 4 bytes. */
static void mark(uintptr_t function)
{
    for (uintptr_t back = function + 5; back <= function + 10; back++)
        __atomic_store_n(&probity_arguments_filter[(back >> FILTER_SHIFT) % FILTER_BYTES], 1,
                         __ATOMIC_RELAXED);
}

static void take_object(void *unused, const struct probity_object *loaded)
{
    const char *path = *loaded->path != '\0' ? loaded->path : "/proc/self/exe";
    struct probity_file_id file = probity_file_id_of(path);
    const struct probity_arguments_object *object = probity_arguments_object_of(loaded, &file);

    (void)unused;
    for (uint32_t i = 0; object != NULL && i < object->functions; i++)
        mark(loaded->offset + all.functions[object->first_function + i].address);
}

void probity_arguments_update(void)
{
    uint64_t loads = 0;

    if (all.head != NULL)
        probity_objects_each(&loads, take_object, NULL);
}

/* ---- Functions ---------------------------------------------------------------------------------
 */

struct probity_site_function *
probity_arguments_describe(const struct probity_arguments_object *object,
                           const struct probity_addressed_function *function)
{
    const struct probity_arguments_function *description =
        object != NULL ? probity_arguments_find(&all, object, function->address) : NULL;
    struct probity_valued_function *made =
        description != NULL ? probity_arena_take(sizeof *made) : NULL;

    if (made == NULL)
        return NULL;
    made->own = *function;
    made->description = description;
    made->found = (struct probity_site_function){.name = function->function.name,
                                                 .reserved = PROBITY_FUNCTION_VALUED};
    return probity_argument_values_prepare(&all, made) == 0 ? &made->found : NULL;
}

struct probity_valued_function *
probity_function_valued(struct probity_site_function *found)
{
    return found->reserved == PROBITY_FUNCTION_VALUED &&
                   __atomic_load_n(&probity_scope_param_level, __ATOMIC_RELAXED) >=
                       PROBITY_FUNCTIONS_LEVEL
               ? (struct probity_valued_function *)found
               : NULL;
}

uint64_t probity_arguments_record(struct probity_valued_function *function, uint32_t code,
                                  const struct probity_registers *registers)
{
    return probity_argument_values_record(&all, function, 0, code, registers);
}

uint64_t probity_results_record(struct probity_valued_function *function, uint32_t code,
                                const struct probity_registers *registers)
{
    return probity_argument_values_record(&all, function, 1, code, registers);
}

void probity_arguments_report_unseen(const struct probity_site_function *found)
{
    static uint32_t is_reported;
    char message[256];

    if (found->reserved != PROBITY_FUNCTION_VALUED ||
        __atomic_exchange_n(&is_reported, 1, __ATOMIC_RELAXED))
        return;
    int length = snprintf(message, sizeof message, "probity: %.80s: -finstrument-functions does "
                          "not show arguments: they need -pg -mfentry "
                          "-minstrument-return=call, or XRay (see man 7 probity-functions)\n",
                          found->name);
    probity_os_say(message, (size_t)length);
}
