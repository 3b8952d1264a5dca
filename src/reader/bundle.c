/* SPDX-License-Identifier: MIT
 *
 * bundle.c: reads and writes the table of a bundle. Members are not read here: each is verified by
 * its own checksums.
 */
#include "reader/bundle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/checksum.h"
#include "probity.h"
#include "reader/file.h"

enum {
    HEADER_BYTES = 40,
    ENTRY_BYTES = 24, /* followed by the name */
    MAJOR = 1,
    ALIGNMENT = 8,
    TABLE_BYTES_MAX = PROBITY_BUNDLE_MEMBERS_MAX *
                      (ENTRY_BYTES + PROBITY_BUNDLE_NAME_BYTES_MAX + 1)
};

static const uint8_t magic[12] = {0x89, 'P', 'R', 'O', 'B', 'B', 'N', 'D', '\r', '\n', 0x1a, '\n'};

static uint64_t padded(uint64_t bytes)
{
    return (bytes + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1);
}

/* ---- Reading -----------------------------------------------------------------------------------
 */

int probity_bundle_is_name(const char *name)
{
    size_t length = strlen(name);

    if (length == 0 || length > PROBITY_BUNDLE_NAME_BYTES_MAX || strcmp(name, ".") == 0 ||
        strcmp(name, "..") == 0)
        return 0;
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)name[i] < ' ' || name[i] == 0x7f || name[i] == '/')
            return 0;
    }
    return 1;
}

static int damaged(struct probity_bundle *bundle, const char *why)
{
    bundle->why = why;
    return PROBITY_ERROR_DAMAGED;
}

/* Reads the table, of *ret_bytes, and the number of members. */
static int read_table(struct probity_bundle *bundle, uint64_t *ret_bytes, uint64_t *ret_end)
{
    uint8_t header[HEADER_BYTES];
    ssize_t got = probity_file_read(bundle->file, header, sizeof header, 0);

    if (got < 0)
        return (int)got;
    if (got < (ssize_t)sizeof magic || memcmp(header, magic, sizeof magic) != 0)
        return PROBITY_ERROR_FORMAT;
    if (got < HEADER_BYTES)
        return damaged(bundle, "the file is truncated");
    if (probity_get_u16(header + 12) != MAJOR)
        return PROBITY_ERROR_VERSION;
    uint32_t count = probity_get_u32(header + 16), bytes = probity_get_u32(header + 20);
    if (count == 0 || count > PROBITY_BUNDLE_MEMBERS_MAX || bytes > TABLE_BYTES_MAX ||
        bytes < count * (uint64_t)ENTRY_BYTES)
        return damaged(bundle, "the size of its table is invalid");
    bundle->table = malloc((size_t)bytes + 1);
    if (bundle->table == NULL)
        return PROBITY_ERROR_MEMORY;
    got = probity_file_read(bundle->file, bundle->table, bytes, HEADER_BYTES);
    if (got < 0)
        return (int)got;
    if ((size_t)got < bytes)
        return damaged(bundle, "the file is truncated");
    uint32_t sum = probity_checksum(probity_checksum(0, header, 32), bundle->table, bytes);
    if (sum != probity_get_u32(header + 32))
        return damaged(bundle, "the checksum of its table is wrong");
    bundle->count = count;
    *ret_bytes = bytes;
    *ret_end = probity_get_u64(header + 24);
    return 0;
}

/* Takes the entry of the table at *at, and moves *at to the next entry. The name is terminated by
 * its padding, which is at least one byte. */
static int take_entry(struct probity_bundle *bundle, size_t number, uint64_t bytes, uint64_t *at)
{
    struct probity_bundle_member *member = &bundle->members[number];
    const uint8_t *entry = bundle->table + *at;

    if (bytes - *at < ENTRY_BYTES)
        return damaged(bundle, "its table is too short");
    size_t name_bytes = probity_get_u16(entry + 18);
    uint64_t taken = ENTRY_BYTES + padded(name_bytes + 1);
    if (bytes - *at < taken)
        return damaged(bundle, "its table is too short");
    member->offset = probity_get_u64(entry);
    member->bytes = probity_get_u64(entry + 8);
    member->kind = probity_get_u16(entry + 16);
    member->name = (const char *)entry + ENTRY_BYTES;
    if (member->name[name_bytes] != 0 || strlen(member->name) != name_bytes ||
        !probity_bundle_is_name(member->name))
        return damaged(bundle, "the name of a member is invalid");
    *at += taken;
    probity_assert(*at <= bytes);
    return 0;
}

static int take_table(struct probity_bundle *bundle, uint64_t bytes, uint64_t end)
{
    uint64_t at = 0, from = HEADER_BYTES + bytes;
    int error = 0;

    for (size_t i = 0; error == 0 && i < bundle->count; i++) {
        const struct probity_bundle_member *member = &bundle->members[i];
        error = take_entry(bundle, i, bytes, &at);
        if (error == 0 && (member->offset < from || member->offset % ALIGNMENT != 0 ||
                           member->offset > end || member->bytes > end - member->offset))
            error = damaged(bundle, "members overlap, or are outside of the file");
        from = member->offset + member->bytes;
    }
    return error == 0 && at != bytes ? damaged(bundle, "its table is too long") : error;
}

static int read_bundle(struct probity_bundle *bundle)
{
    uint64_t bytes = 0, end = 0;
    int64_t size = probity_file_size(bundle->file);
    int error = size < 0 ? (int)size : read_table(bundle, &bytes, &end);

    if (error == 0 && end != (uint64_t)size)
        error = damaged(bundle, (uint64_t)size < end ? "the file is truncated"
                                                     : "the file is longer than its members");
    if (error == 0) {
        bundle->members = calloc(bundle->count, sizeof *bundle->members);
        error = bundle->members != NULL ? take_table(bundle, bytes, end) : PROBITY_ERROR_MEMORY;
    }
    return error;
}

static int compare_names(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Rejects duplicate names: the second member could not be opened. */
static int check_names(struct probity_bundle *bundle)
{
    const char **names = calloc(bundle->count, sizeof *names);
    int error = 0;

    if (names == NULL)
        return PROBITY_ERROR_MEMORY;
    for (size_t i = 0; i < bundle->count; i++)
        names[i] = bundle->members[i].name;
    qsort(names, bundle->count, sizeof *names, compare_names);
    for (size_t i = 1; error == 0 && i < bundle->count; i++) {
        if (strcmp(names[i - 1], names[i]) == 0)
            error = damaged(bundle, "two members have one name");
    }
    free(names);
    return error;
}

/* Opens a bundle. To open one member, names need not be unique: the first match is opened. */
static int open_bundle(const char *path, int checks_names, struct probity_bundle *ret_bundle)
{
    struct probity_bundle bundle = {.file = -1};
    int error = probity_file_open(path, &bundle.file);

    ret_bundle->why = NULL;
    if (error != 0)
        return error;
    error = read_bundle(&bundle);
    if (error == 0 && checks_names)
        error = check_names(&bundle);
    if (error != 0) {
        int error_number = errno;
        const char *why = bundle.why;
        probity_bundle_release(&bundle);
        bundle.why = why;
        errno = error_number;
    }
    *ret_bundle = bundle;
    return error;
}

int probity_bundle_open(const char *path, struct probity_bundle *ret_bundle)
{
    return open_bundle(path, 1, ret_bundle);
}

void probity_bundle_release(struct probity_bundle *bundle)
{
    if (bundle->file >= 0)
        close(bundle->file);
    free(bundle->members);
    free(bundle->table);
    *bundle = (struct probity_bundle){.file = -1};
}

static int take_member(struct probity_bundle *bundle, const char *name,
                       struct probity_range *ret_range)
{
    for (size_t i = 0; i < bundle->count; i++) {
        const struct probity_bundle_member *member = &bundle->members[i];
        if (strcmp(member->name, name) != 0)
            continue;
        *ret_range = (struct probity_range){bundle->file, member->offset, member->bytes};
        bundle->file = -1;
        return 0;
    }
    errno = ENOENT;
    return PROBITY_ERROR_OPEN;
}

int probity_bundle_open_member(const char *path, struct probity_range *ret_range)
{
    const char *slash = strrchr(path, '/');
    struct probity_bundle bundle;

    if (slash == NULL)
        return PROBITY_ERROR_FORMAT;
    char *parent = strndup(path, (size_t)(slash - path));
    if (parent == NULL)
        return PROBITY_ERROR_MEMORY;
    int error = open_bundle(parent, 0, &bundle);
    free(parent);
    if (error != 0)
        return error == PROBITY_ERROR_OPEN ? PROBITY_ERROR_FORMAT : error;
    error = take_member(&bundle, slash + 1, ret_range);
    int error_number = errno;
    probity_bundle_release(&bundle);
    errno = error_number;
    return error;
}

/* ---- Making ------------------------------------------------------------------------------------
 */

uint64_t probity_bundle_end(const struct probity_bundle_member *member)
{
    return padded(member->offset + member->bytes);
}

static size_t entry_bytes(const struct probity_bundle_member *member)
{
    return ENTRY_BYTES + padded(strlen(member->name) + 1);
}

static uint64_t place_members(struct probity_bundle_member *members, size_t count, uint64_t at)
{
    for (size_t i = 0; i < count; i++) {
        members[i].offset = at;
        at = probity_bundle_end(&members[i]);
    }
    return at;
}

static void put_entry(uint8_t *entry, const struct probity_bundle_member *member)
{
    size_t length = strlen(member->name);

    probity_assert(probity_bundle_is_name(member->name));
    probity_put_u64(entry, member->offset);
    probity_put_u64(entry + 8, member->bytes);
    probity_put_u16(entry + 16, (uint16_t)member->kind);
    probity_put_u16(entry + 18, (uint16_t)length);
    memcpy(entry + ENTRY_BYTES, member->name, length);
}

uint8_t *probity_bundle_layout(struct probity_bundle_member *members, size_t count,
                               size_t *ret_bytes)
{
    size_t bytes = HEADER_BYTES, at = HEADER_BYTES;

    probity_assert(count > 0 && count <= PROBITY_BUNDLE_MEMBERS_MAX);
    for (size_t i = 0; i < count; i++)
        bytes += entry_bytes(&members[i]);
    uint8_t *head = calloc(1, bytes);
    if (head == NULL)
        return NULL;
    uint64_t end = place_members(members, count, bytes);
    memcpy(head, magic, sizeof magic);
    probity_put_u16(head + 12, MAJOR);
    probity_put_u32(head + 16, (uint32_t)count);
    probity_put_u32(head + 20, (uint32_t)(bytes - HEADER_BYTES));
    probity_put_u64(head + 24, end);
    for (size_t i = 0; i < count; i++) {
        put_entry(head + at, &members[i]);
        at += entry_bytes(&members[i]);
    }
    uint32_t sum = probity_checksum(0, head, 32);
    sum = probity_checksum(sum, head + HEADER_BYTES, bytes - HEADER_BYTES);
    probity_put_u32(head + 32, sum);
    *ret_bytes = bytes;
    return head;
}
