/* SPDX-License-Identifier: MIT
 *
 * place.c: the directories that may contain the spool of a trace, in search order. A trace is
 * untrusted: the spool that it names is tried last, and only in a directory to which only the
 * caller's user can write.
 */
#include "spool/place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/os.h"
#include "probity.h"

enum { NAME_BYTES = 64, DEFAULT_BYTES = 320 };

void probity_place_default(uint32_t user, char *ret_path, size_t room)
{
    if (probity_os_spool_directory(user, ret_path, room) < 0)
        ret_path[0] = 0;
}

/* Takes ownership of the descriptor, and closes it if the directory is unsuitable. */
static int check_directory(int directory, uint32_t owner)
{
    struct stat status;

    probity_assert(directory >= -1);
    if (directory < 0)
        return PROBITY_ERROR_OPEN;
    if (fstat(directory, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == owner &&
        (status.st_mode & 022) == 0)
        return directory;
    close(directory);
    return PROBITY_ERROR_STATE;
}

int probity_place_open_directory(const char *path, uint32_t owner)
{
    return check_directory(open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), owner);
}

/* Takes the next part of a path, or "" at its end. Returns whether it fits and does not lead
 * upwards. */
static int take_part(const char **path, char ret_part[NAME_MAX + 1])
{
    const char *at = *path + strspn(*path, "/");
    size_t length = strcspn(at, "/");

    if (length > NAME_MAX || (length == 2 && memcmp(at, "..", 2) == 0))
        return 0;
    memcpy(ret_part, at, length);
    ret_part[length] = 0;
    *path = at + length;
    return 1;
}

/* Opens a directory whose path is untrusted: absolute, without a symbolic link in any part. */
static int open_strange_directory(const char *path, uint32_t owner)
{
    int directory = path[0] == '/' ? open("/", O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    char part[NAME_MAX + 1] = "";

    while (directory >= 0 && path[strspn(path, "/")] != 0) {
        int next = take_part(&path, part)
                       ? openat(directory, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                       : -1;
        close(directory);
        directory = next;
    }
    return check_directory(directory, owner);
}

static void session_stem(const char *prefix, const uint8_t session[16], char *ret_stem)
{
    static const char digits[] = "0123456789abcdef";
    size_t length = strlen(prefix);

    memcpy(ret_stem, prefix, length);
    for (size_t i = 0; i < 16; i++) {
        ret_stem[length++] = digits[session[i] >> 4];
        ret_stem[length++] = digits[session[i] & 15];
    }
    probity_assert(length < sizeof ((struct probity_place *)0)->stem);
    ret_stem[length] = 0;
}

int probity_place_stem(const char *name, char ret_stem[48])
{
    if (strspn(name, "0123456789abcdef") != 32 || strcmp(name + 32, ".0") != 0)
        return 0;
    memcpy(ret_stem, name, 32);
    ret_stem[32] = 0;
    return 1;
}

int probity_place_make(int directory, const char *path, uint32_t owner, const char *stem,
                       struct probity_place *ret_place)
{
    struct probity_place place = {.directory = directory, .owner = owner};

    probity_assert(directory >= 0 && stem[0] != 0);
    snprintf(place.stem, sizeof place.stem, "%s", stem);
    if (asprintf(&place.text, "%s/%s.0", path, stem) < 0) {
        close(directory);
        return PROBITY_ERROR_MEMORY;
    }
    *ret_place = place;
    return 1;
}

/* Tries a directory to which only this user, or the trace's owner, can write. */
static int try_directory(const struct probity_place_query *query, const char *path, uint32_t owner,
                         struct probity_place *ret_place)
{
    int directory = probity_place_open_directory(path, owner);
    char stem[sizeof ret_place->stem];

    if (directory < 0)
        return 0;
    session_stem("", query->session, stem);
    return probity_place_make(directory, path, owner, stem, ret_place);
}

static int try_environment(const struct probity_place_query *query, struct probity_place *ret_place)
{
    const char *wanted = probity_os_is_privileged() ? NULL : getenv("PROBITY_SPOOL_DIR");
    uint32_t user = geteuid();

    if (wanted == NULL || wanted[0] == 0)
        return 0;
    int result = try_directory(query, wanted, query->owner, ret_place);
    return result == 0 && user != query->owner ? try_directory(query, wanted, user, ret_place)
                                               : result;
}

static int try_default(const struct probity_place_query *query, uint32_t user,
                       struct probity_place *ret_place)
{
    char path[DEFAULT_BYTES];

    probity_place_default(user, path, sizeof path);
    return try_directory(query, path, user, ret_place);
}

/* Tries the trace's directory. Other users may be able to write to it, so only files of the trace's
 * owner are accepted. */
static int try_beside(const struct probity_place_query *query, struct probity_place *ret_place)
{
    char stem[sizeof ret_place->stem];
    int directory = query->trace_directory >= 0
                        ? fcntl(query->trace_directory, F_DUPFD_CLOEXEC, 0)
                        : -1;

    if (directory < 0)
        return 0;
    session_stem(".probity-", query->session, stem);
    return probity_place_make(directory, "the trace's directory", query->owner, stem, ret_place);
}

/* Tries the directory named in the trace, because the program may have used a different one from
 * the caller's. */
static int try_named(const struct probity_place_query *query, struct probity_place *ret_place)
{
    char path[PATH_MAX], stem[sizeof ret_place->stem];
    size_t length = query->named_length;

    session_stem("", query->session, stem);
    size_t name_length = strlen(stem) + sizeof "/.0" - 1;
    if (query->named == NULL || length >= sizeof path || length <= name_length ||
        memchr(query->named, 0, length) != NULL)
        return 0;
    memcpy(path, query->named, length);
    path[length] = 0;
    char *slash = path + length - name_length;
    if (slash[0] != '/' || strcmp(path + length - 2, ".0") != 0 ||
        memcmp(slash + 1, stem, strlen(stem)) != 0)
        return 0;
    *slash = 0;
    int directory = open_strange_directory(path, geteuid());
    return directory >= 0 ? probity_place_make(directory, path, geteuid(), stem, ret_place) : 0;
}

int probity_place_next(const struct probity_place_query *query, unsigned *step,
                       struct probity_place *ret_place)
{
    uint32_t user = geteuid();
    int result = 0;

    while (result == 0 && *step < 5) {
        switch ((*step)++) {
        case 0: result = try_environment(query, ret_place); break;
        case 1: result = try_default(query, query->owner, ret_place); break;
        case 2: result = user != query->owner ? try_default(query, user, ret_place) : 0; break;
        case 3: result = try_beside(query, ret_place); break;
        default: result = try_named(query, ret_place); break;
        }
    }
    return result;
}

static void segment_name(const struct probity_place *place, uint32_t number, char *ret_name)
{
    snprintf(ret_name, NAME_BYTES, "%s.%u", place->stem, number);
}

int probity_place_open(const struct probity_place *place, uint32_t number, int writable,
                       size_t *ret_bytes)
{
    int flags = (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
    char name[NAME_BYTES];
    struct stat status;

    probity_assert(place->directory >= 0 && number < 1024);
    segment_name(place, number, name);
    int file = openat(place->directory, name, flags);
    if (file < 0)
        return PROBITY_ERROR_OPEN;
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != place->owner ||
        (status.st_mode & 022) != 0) {
        close(file);
        return PROBITY_ERROR_FORMAT;
    }
    *ret_bytes = (size_t)status.st_size;
    return file;
}

int probity_place_remove(const struct probity_place *place, uint32_t number, int file)
{
    char name[NAME_BYTES];
    struct stat open_file, named;

    probity_assert(place->directory >= 0 && file >= 0);
    segment_name(place, number, name);
    if (fstatat(place->directory, name, &named, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? 0 : -1;
    if (fstat(file, &open_file) != 0)
        return -1;
    if (open_file.st_dev != named.st_dev || open_file.st_ino != named.st_ino) {
        errno = ESTALE;
        return -1;
    }
    return unlinkat(place->directory, name, 0) == 0 || errno == ENOENT ? 0 : -1;
}

void probity_place_close(struct probity_place *place)
{
    if (place->directory >= 0)
        close(place->directory);
    free(place->text);
    *place = (struct probity_place){.directory = -1};
}
