/* SPDX-License-Identifier: MIT
 *
 * spools.c: lists a spool directory. The trace path in a spool is a hint: a file is accepted only
 * if it has the device and inode that the program recorded, and the owner of the spool
 * (doc/spool.md, "From a spool to its trace").
 */
#include "reader/spools.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array_grow.h"
#include "base/assert.h"
#include "base/os.h"
#include "base/parent.h"
#include "probity.h"
#include "reader/file.h"
#include "reader/scan.h"
#include "reader/spool_tail.h"

/* ---- The trace ---------------------------------------------------------------------------------
 */

static int is_that_file(const struct probity_spools_entry *entry, const struct stat *status)
{
    return S_ISREG(status->st_mode) && status->st_uid == entry->owner &&
           status->st_dev == entry->device && status->st_ino == entry->inode;
}

/* Opens a name if it is the file of the trace. Returns a descriptor, or -1 with errno set. */
static int open_that_file(const struct probity_spools_entry *entry, int directory, const char *name)
{
    struct stat status;

    if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
        return -1;
    errno = ENOENT;
    if (!is_that_file(entry, &status))
        return -1;
    int file = probity_os_open_regular(directory, name, O_RDONLY | O_NOFOLLOW);
    if (file >= 0 && (fstat(file, &status) != 0 || !is_that_file(entry, &status))) {
        close(file);
        errno = ENOENT;
        return -1;
    }
    return file;
}

/* Searches for a trace that was renamed, by its inode. On success sets the path of the entry. */
static int find_renamed(struct probity_spools_entry *entry, const struct probity_parent *parent)
{
    int list_file = openat(parent->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), file = -1;
    DIR *list = list_file >= 0 ? fdopendir(list_file) : NULL;
    const struct dirent *found;

    if (list == NULL && list_file >= 0)
        close(list_file);
    while (list != NULL && file < 0 && (found = readdir(list)) != NULL) {
        char *path;
        if (found->d_ino != entry->inode)
            continue;
        file = open_that_file(entry, parent->directory, found->d_name);
        if (file >= 0 && asprintf(&path, "%.*s%s", (int)(parent->name - entry->trace_path),
                                  entry->trace_path, found->d_name) >= 0) {
            free(entry->trace_path);
            entry->trace_path = path;
        }
    }
    if (list != NULL)
        closedir(list);
    return file;
}

/* Opens the trace, and stores the outcome in the entry. Returns its descriptor, or -1. */
static int open_trace(struct probity_spools_entry *entry)
{
    struct probity_parent parent = {.directory = -1};

    if (entry->trace_path == NULL || (entry->device == 0 && entry->inode == 0)) {
        entry->trace = PROBITY_SPOOLS_UNRECORDED;
        return -1;
    }
    int file = -1, error = probity_parent_open(entry->trace_path, &parent) != 0 ? errno : 0;
    if (error == 0) {
        file = open_that_file(entry, parent.directory, parent.name);
        error = file < 0 ? errno : 0;
        if (error == ENOENT)
            file = find_renamed(entry, &parent);
    }
    probity_parent_close(&parent);
    entry->trace = file >= 0                               ? PROBITY_SPOOLS_FOUND
                   : error == ENOENT || error == ENOTDIR ? PROBITY_SPOOLS_GONE
                                                         : PROBITY_SPOOLS_UNREADABLE;
    return file;
}

/* ---- The rest ----------------------------------------------------------------------------------
 */

/* Removes the words that are in the trace. A file without the trace's INFO is not the spool's
 * trace. */
static int cover(const struct probity_spools_entry *entry, int file,
                 struct probity_spool_tail *rest)
{
    int64_t size = probity_file_size(file);
    struct probity_scan scan;
    struct probity_scan_item item;
    struct probity_info info;
    struct probity_data data;
    int has_info = 0;

    probity_assert(file >= 0);
    if (size < 0)
        return (int)size;
    int got = probity_scan_init(&scan, file, (uint64_t)size, 1);
    while (got >= 0 && (got = probity_scan_next(&scan, &item)) > 0) {
        if (item.kind != PROBITY_SCAN_BLOCK)
            continue;
        if (item.header.type == PROBITY_BLOCK_INFO && !has_info)
            has_info = probity_info_get(item.payload, item.header.payload_bytes, &info) == 0 &&
                       memcmp(info.session, entry->session, 16) == 0 &&
                       memcmp(info.boot, entry->boot, 16) == 0;
        if (item.header.type == PROBITY_BLOCK_DATA &&
            probity_data_get(item.payload, item.header.payload_bytes, &data) == 0)
            got = probity_spool_tail_cover(rest, &data);
    }
    probity_scan_release(&scan);
    return got < 0 ? got : has_info ? 0 : PROBITY_ERROR_FORMAT;
}

static void count_rest(struct probity_spools_entry *entry, struct probity_spool_tail *rest)
{
    struct probity_drain_output output;
    struct probity_cells cells;

    for (size_t i = 0; i < rest->count; i++) {
        probity_spool_tail_pack(rest, i, 0, &output);
        entry->records += output.records;
    }
    for (uint64_t i = 0; i < rest->attach.chunk_count; i++) {
        if (probity_attach_cells(&rest->attach, i, &cells))
            entry->functions += cells.count;
    }
    entry->has_records = 1;
}

/* Takes ownership of the attachment of a spool whose program has ended. */
static void look_at_rest(struct probity_spools_entry *entry, struct probity_attach *attach)
{
    static const struct probity_info no_info;
    struct probity_spool_tail rest;
    int file = open_trace(entry), error = probity_spool_tail_adopt(attach, &no_info, &rest);

    if (error != 0)
        probity_attach_close(attach);
    if (error == 0 && file >= 0) {
        error = cover(entry, file, &rest);
        if (error == PROBITY_ERROR_FORMAT)
            entry->trace = PROBITY_SPOOLS_GONE;
        else if (error != 0)
            entry->trace = PROBITY_SPOOLS_UNREADABLE;
        if (error == 0 || error == PROBITY_ERROR_FORMAT)
            count_rest(entry, &rest);
        probity_spool_tail_release(&rest);
    } else if (error == 0) {
        count_rest(entry, &rest);
        probity_spool_tail_release(&rest);
    }
    if (file >= 0)
        close(file);
}

/* ---- The spool ---------------------------------------------------------------------------------
 */

/* Reads what the program wrote into its spool. Returns 0, or PROBITY_ERROR_FORMAT, _MEMORY. */
static int take_header(struct probity_spools_entry *entry, int file)
{
    union {
        uint8_t bytes[PROBITY_SPOOL_HEADER_BYTES];
        struct probity_spool_header fields;
    } page;
    struct probity_spool_origin origin;

    if (pread(file, &page, sizeof page, 0) != (ssize_t)sizeof page ||
        memcmp(page.fields.magic, PROBITY_SPOOL_MAGIC, sizeof page.fields.magic) != 0)
        return PROBITY_ERROR_FORMAT;
    memcpy(&origin, page.bytes + PROBITY_SPOOL_ORIGIN_OFFSET, sizeof origin);
    entry->pid = page.fields.pid;
    entry->device = page.fields.trace_device;
    entry->inode = page.fields.trace_inode;
    memcpy(entry->session, page.fields.session, 16);
    memcpy(entry->boot, page.fields.boot, 16);
    memcpy(entry->program, origin.program, sizeof origin.program);
    if (origin.trace_path_bytes == 0 || origin.trace_path_bytes > sizeof origin.trace_path ||
        !probity_os_is_absolute(origin.trace_path) ||
        memchr(origin.trace_path, 0, origin.trace_path_bytes) != NULL)
        return 0;
    entry->trace_path = strndup(origin.trace_path, origin.trace_path_bytes);
    return entry->trace_path != NULL ? 0 : PROBITY_ERROR_MEMORY;
}

int probity_spools_find_trace(const struct probity_attach *attach,
                              struct probity_spools_entry *ret_entry)
{
    *ret_entry = (struct probity_spools_entry){.owner = attach->place.owner};
    int error = take_header(ret_entry, attach->file);
    if (error != 0)
        return error;
    int file = open_trace(ret_entry);
    if (file >= 0)
        close(file);
    return (int)ret_entry->trace;
}

static enum probity_spools_state state_of(const struct probity_attach *attach)
{
    if (probity_attach_header(attach)->state == PROBITY_SPOOL_CLOSED)
        return PROBITY_SPOOLS_CLOSED;
    switch (probity_attach_owner(attach)) {
    case PROBITY_ATTACH_DEAD: return PROBITY_SPOOLS_DEAD;
    case PROBITY_ATTACH_ALIVE: return PROBITY_SPOOLS_ALIVE;
    case PROBITY_ATTACH_RECOVERING: return PROBITY_SPOOLS_RECOVERING;
    default: return PROBITY_SPOOLS_UNKNOWN;
    }
}

/* Examines a spool. A closed spool usually exists only briefly, but remains if its program was
 * killed at that moment. */
static void look_at_spool(struct probity_spools_entry *entry, struct probity_place *place)
{
    struct probity_attach attach;
    uint8_t boot[16];

    entry->state = PROBITY_SPOOLS_BROKEN;
    if (probity_attach_open(place, entry->session, entry->boot, 0, &attach) != 0)
        return;
    probity_os_boot_id(boot);
    entry->state = memcmp(boot, entry->boot, sizeof boot) == 0 ? state_of(&attach)
                                                               : PROBITY_SPOOLS_OTHER_BOOT;
    if (entry->state == PROBITY_SPOOLS_DEAD || entry->state == PROBITY_SPOOLS_CLOSED)
        look_at_rest(entry, &attach);
    else
        probity_attach_close(&attach);
}

/* Adds the facts that names and sizes of files do not provide. Returns 0 or
 * PROBITY_ERROR_MEMORY. */
static int complete(struct probity_spools_entry *entry, const char *directory, int list)
{
    struct probity_place place;
    struct stat status;
    size_t bytes;
    int copy = fcntl(list, F_DUPFD_CLOEXEC, 0);

    probity_assert(list >= 0);
    if (copy < 0 ||
        probity_place_make(copy, directory, entry->owner, entry->stem, &place) != 1)
        return PROBITY_ERROR_MEMORY;
    int result = PROBITY_ERROR_FORMAT, file = probity_place_open(&place, 0, 0, &bytes);
    entry->path = strdup(place.text);
    entry->state = PROBITY_SPOOLS_BROKEN;
    if (file >= 0 && fstat(file, &status) == 0) {
        entry->changed_ns = (int64_t)status.st_mtim.tv_sec * 1000000000 + status.st_mtim.tv_nsec;
        result = take_header(entry, file);
    }
    if (file >= 0)
        close(file);
    if (result == 0)
        look_at_spool(entry, &place);
    probity_place_close(&place);
    return result == PROBITY_ERROR_MEMORY || entry->path == NULL ? PROBITY_ERROR_MEMORY : 0;
}

/* ---- The directory -----------------------------------------------------------------------------
 */

/* A file in the directory. stem is empty unless the file is named "STEM.NUMBER". */
struct part {
    char stem[48];
    int is_first;
    uint64_t bytes;
};

struct parts {
    struct part *items;
    size_t count, capacity;
};

static void part_name(const char *name, struct part *part)
{
    size_t digits = strlen(name) > 33 ? strspn(name + 33, "0123456789") : 0;

    part->stem[0] = 0;
    part->is_first = 0;
    if (strspn(name, "0123456789abcdef") != 32 || name[32] != '.' || digits == 0 ||
        name[33 + digits] != 0)
        return;
    memcpy(part->stem, name, 32);
    part->stem[32] = 0;
    part->is_first = strcmp(name + 32, ".0") == 0;
}

static int add_part(struct parts *parts, const char *name, uint64_t bytes)
{
    void *items =
        probity_array_room(parts->items, sizeof *parts->items, parts->count, &parts->capacity);
    if (items == NULL)
        return PROBITY_ERROR_MEMORY;
    parts->items = items;
    probity_assert(parts->count < parts->capacity);
    part_name(name, &parts->items[parts->count]);
    parts->items[parts->count++].bytes = bytes;
    return 0;
}

static int compare_parts(const void *left, const void *right)
{
    const struct part *a = left, *b = right;
    int order = strcmp(a->stem, b->stem);

    return order != 0 ? order : b->is_first - a->is_first;
}

static int read_directory(DIR *list, struct parts *parts)
{
    const struct dirent *entry;
    struct stat status;
    int error = 0;

    while (error == 0 && (entry = readdir(list)) != NULL) {
        if (fstatat(dirfd(list), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(status.st_mode))
            error = add_part(parts, entry->d_name, (uint64_t)status.st_blocks * 512);
    }
    if (error == 0 && parts->count > 1)
        qsort(parts->items, parts->count, sizeof *parts->items, compare_parts);
    return error;
}

/* Adds the entries. Parts with the same stem are adjacent, the first segment first. */
static int add_entries(struct probity_spools *spools, const struct parts *parts, uint32_t owner,
                       int list)
{
    size_t before = spools->count;
    struct probity_spools_entry *entries =
        realloc(spools->entries, (before + parts->count + 1) * sizeof *entries);
    int error = entries == NULL ? PROBITY_ERROR_MEMORY : 0;

    if (error == 0)
        spools->entries = entries;
    for (size_t i = 0; error == 0 && i < parts->count; i++) {
        const struct part *part = &parts->items[i];
        struct probity_spools_entry *last = spools->count > before
                                                ? &entries[spools->count - 1]
                                                : NULL;
        if (part->is_first) {
            last = &entries[spools->count++];
            *last = (struct probity_spools_entry){.owner = owner, .bytes = part->bytes,
                                                  .directory = spools->directory_count - 1};
            probity_assert(spools->count <= before + parts->count && spools->directory_count > 0);
            memcpy(last->stem, part->stem, sizeof last->stem);
            error = complete(last, spools->directories[last->directory], list);
        } else if (last != NULL && part->stem[0] != 0 && strcmp(last->stem, part->stem) == 0) {
            last->bytes += part->bytes;
        } else {
            spools->other_files++;
            spools->other_bytes += part->bytes;
        }
    }
    return error;
}

static int keep_directory(struct probity_spools *spools, const char *directory, uint32_t owner)
{
    size_t count = spools->directory_count;
    char **directories = probity_array_append(spools->directories, sizeof *directories, count);

    if (directories == NULL)
        return PROBITY_ERROR_MEMORY;
    spools->directories = directories;
    uint32_t *owners = probity_array_append(spools->owners, sizeof *owners, count);
    if (owners == NULL)
        return PROBITY_ERROR_MEMORY;
    spools->owners = owners;
    directories[count] = strdup(directory);
    if (directories[count] == NULL)
        return PROBITY_ERROR_MEMORY;
    owners[count] = owner;
    spools->directory_count = count + 1;
    return 0;
}

int probity_spools_add(struct probity_spools *spools, const char *directory, uint32_t owner)
{
    int file = probity_place_open_directory(directory, owner);
    struct parts parts = {NULL, 0, 0};

    if (file < 0)
        return file;
    DIR *list = fdopendir(file);
    int error = list == NULL ? PROBITY_ERROR_MEMORY : keep_directory(spools, directory, owner);
    if (error == 0)
        error = read_directory(list, &parts);
    if (error == 0)
        error = add_entries(spools, &parts, owner, dirfd(list));
    free(parts.items);
    if (list != NULL)
        closedir(list);
    else
        close(file);
    return error;
}

static int compare_ages(const void *left, const void *right)
{
    const struct probity_spools_entry *a = left, *b = right;

    if (a->changed_ns != b->changed_ns)
        return a->changed_ns < b->changed_ns ? -1 : 1;
    return strcmp(a->stem, b->stem);
}

void probity_spools_sort(struct probity_spools *spools)
{
    if (spools->count > 1)
        qsort(spools->entries, spools->count, sizeof *spools->entries, compare_ages);
}

void probity_spools_release(struct probity_spools *spools)
{
    for (size_t i = 0; i < spools->count; i++) {
        free(spools->entries[i].path);
        free(spools->entries[i].trace_path);
    }
    for (size_t i = 0; i < spools->directory_count; i++)
        free(spools->directories[i]);
    free(spools->entries);
    free(spools->directories);
    free(spools->owners);
    *spools = (struct probity_spools){0};
}
