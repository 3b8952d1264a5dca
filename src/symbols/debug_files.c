/* SPDX-License-Identifier: MIT
 *
 * debug_files.c: see debug_files.h. Tries the same paths as elfutils.
 */
#include "symbols/debug_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"

/* Keeps the first reason. */
__attribute__((format(printf, 2, 3)))
static void note(struct symbols_debug_files *files, const char *format, ...)
{
    va_list arguments;

    if (files->why[0] != '\0')
        return;
    va_start(arguments, format);
    vsnprintf(files->why, sizeof files->why, format, arguments);
    va_end(arguments);
}

static void note_others(struct symbols_debug_files *files, const char *place)
{
    note(files, "others may write to '%s'", place);
}

/* The caller's own group may write: on many systems, this is the default for new files. */
static int is_ours(const struct stat *status)
{
    mode_t others = status->st_gid == getegid() ? S_IWOTH : S_IWOTH | S_IWGRP;

    return (status->st_uid == geteuid() || status->st_uid == 0) &&
           (status->st_mode & others) == 0;
}

/* Removes the last component of an absolute path. */
static void to_directory(char *path)
{
    char *slash = strrchr(path, '/');

    slash[slash == path] = '\0';
}

/* Whether a file and its directory may be used; path: that of the file, without links. */
static int is_file_ours(struct symbols_debug_files *files, const struct stat *of_file,
                        const char *path)
{
    struct stat of_directory;
    char directory[PATH_MAX];

    snprintf(directory, sizeof directory, "%s", path);
    to_directory(directory);
    int is = stat(directory, &of_directory) == 0 && is_ours(&of_directory);
    if (!is)
        note_others(files, directory);
    else if (!S_ISREG(of_file->st_mode))
        note(files, "'%s' is not a regular file", path);
    else if (!is_ours(of_file))
        note_others(files, path);
    return is && S_ISREG(of_file->st_mode) && is_ours(of_file);
}

/* The length of the shortest prefix of an absolute path that is a symbolic link, or 0. */
static size_t first_link(char *path)
{
    struct stat status;

    for (char *slash = path; slash != NULL;) {
        slash = strchr(slash + 1, '/');
        if (slash != NULL)
            *slash = '\0';
        int is_link = lstat(path, &status) == 0 && S_ISLNK(status.st_mode);
        size_t length = strlen(path);
        if (slash != NULL)
            *slash = '/';
        if (is_link)
            return length;
    }
    return 0;
}

/* Replaces a prefix, which is a link, by its target. Returns -1 if the result is too long. */
static int follow(char path[PATH_MAX], size_t link_bytes)
{
    char link[PATH_MAX], target[PATH_MAX], rest[PATH_MAX];

    snprintf(rest, sizeof rest, "%s", path + link_bytes);
    snprintf(link, sizeof link, "%.*s", (int)link_bytes, path);
    ssize_t length = readlink(link, target, sizeof target - 1);
    if (length <= 0)
        return -1;
    target[length] = '\0';
    to_directory(link);
    int bytes = target[0] == '/' ? snprintf(path, PATH_MAX, "%s%s", target, rest)
                                 : snprintf(path, PATH_MAX, "%s/%s%s", link, target, rest);
    return bytes < PATH_MAX ? 0 : -1;
}

/* Whether nobody else can replace a link through which an absolute path leads. */
static int are_links_safe(struct symbols_debug_files *files, const char *path)
{
    enum { LINKS_MAX = 40 }; /* as in Linux */
    char now[PATH_MAX], directory[PATH_MAX], own[PATH_MAX];
    struct stat status;

    snprintf(now, sizeof now, "%s", path);
    for (int i = 0; i <= LINKS_MAX; i++) {
        size_t bytes = first_link(now);
        if (bytes == 0)
            return 1;
        snprintf(directory, sizeof directory, "%.*s", (int)bytes, now);
        to_directory(directory);
        if (realpath(directory, own) == NULL || stat(own, &status) != 0) {
            note(files, "cannot look up '%s': %s", directory, strerror(errno));
            return 0;
        }
        if (!is_ours(&status)) {
            note_others(files, own);
            return 0;
        }
        if (follow(now, bytes) != 0)
            break;
    }
    note(files, "'%s' leads through too many links", path);
    return 0;
}

/* Whether open() fails for this reason too, so that there is no file. */
static int is_missing_for(int reason)
{
    return reason == ENOENT || reason == EACCES || reason == ENOTDIR || reason == ENAMETOOLONG;
}

/* Whether a file at this absolute path may be opened. If it does not exist, nobody else may be able
 * to create it, or a directory above it. */
static int is_safe(struct symbols_debug_files *files, const char *path)
{
    char rest[PATH_MAX], own[PATH_MAX];
    struct stat status;
    int is_missing = 0;

    if (path[0] != '/' || strlen(path) >= sizeof rest) {
        note(files, "it names a file whose path is too long");
        return 0;
    }
    if (!are_links_safe(files, path))
        return 0;
    snprintf(rest, sizeof rest, "%s", path);
    for (; realpath(rest, own) == NULL; is_missing = 1) {
        if (!is_missing_for(errno) || lstat(rest, &status) == 0) {
            note(files, "'%s' is not a regular file", rest); /* a dangling link, for example */
            return 0;
        }
        to_directory(rest);
    }
    if (stat(own, &status) != 0)
        return 0;
    if (!is_missing || !S_ISDIR(status.st_mode))
        return is_file_ours(files, &status, own);
    if (!is_ours(&status))
        note_others(files, own);
    return is_ours(&status);
}

/* ---- The file itself ---------------------------------------------------------------------------
 */

void symbols_debug_files_init(struct symbols_debug_files *files, const char *path, int descriptor)
{
    char link[48], own[PATH_MAX];
    struct stat status;

    *files = (struct symbols_debug_files){0};
    snprintf(files->path, sizeof files->path, "%s", path);
    snprintf(link, sizeof link, "%s/%d", probity_os_descriptors(), descriptor);
    ssize_t length = readlink(link, own, sizeof own - 1);
    if (length <= 0 || own[0] != '/' || fstat(descriptor, &status) != 0)
        return;
    own[length] = '\0';
    files->is_trusted = is_file_ours(files, &status, own);
    if (files->is_trusted)
        snprintf(files->path, sizeof files->path, "%s", own);
}

/* ---- Separate files ----------------------------------------------------------------------------
 */

enum { PLACES = 3 }; /* places of a file: the names in libdwfl's default */

/* Writes "" if the path is too long. */
static void named_path(char ret_path[PATH_MAX], const char *directory, const char *name, int place)
{
    static const char *const formats[PLACES] = {"%s/%s", "%s/.debug/%s", "/usr/lib/debug%s/%s"};
    int bytes = name[0] == '/' ? snprintf(ret_path, PATH_MAX, "%s", name)
                               : snprintf(ret_path, PATH_MAX, formats[place], directory, name);

    if (bytes < 0 || bytes >= PATH_MAX)
        ret_path[0] = '\0';
}

/* Whether a file that is named in the file in this directory may be opened. */
static int is_name_safe(struct symbols_debug_files *files, const char *directory, const char *name)
{
    char path[PATH_MAX];

    for (int place = 0; place < PLACES; place++) {
        named_path(path, directory, name, place);
        if (!is_safe(files, path))
            return 0;
    }
    return 1;
}

/* Without a link, libdwfl looks for the file's own name with ".debug". */
static int is_link_safe(struct symbols_debug_files *files, const char *file, const char *link)
{
    char directory[PATH_MAX], own[PATH_MAX], name[PATH_MAX + sizeof ".debug"];

    if (file[0] != '/' || strlen(file) >= sizeof directory || realpath(file, own) == NULL)
        return 0; /* the file was deleted */
    snprintf(directory, sizeof directory, "%s", file);
    snprintf(name, sizeof name, "%s.debug", strrchr(file, '/') + 1);
    to_directory(directory);
    to_directory(own);
    return is_name_safe(files, directory, link != NULL ? link : name) &&
           is_name_safe(files, own, link != NULL ? link : name);
}

/* Whether a file exists that an untrusted file names. */
static int is_there(const char *file, const char *link)
{
    char own[PATH_MAX], path[PATH_MAX];
    struct stat status;
    int is = 0;

    if (realpath(file, own) == NULL)
        return 0;
    to_directory(own);
    for (int place = 0; place < PLACES && !is; place++) {
        named_path(path, own, link, place);
        is = lstat(path, &status) == 0;
    }
    return is;
}

/* Writes the path at which a file with a build id is looked for, or "" if libdwfl ignores the
 * id. */
static void build_id_path(char ret_path[PATH_MAX], const unsigned char *id, ssize_t bytes)
{
    enum { BYTES_MIN = 3, BYTES_MAX = 64 };
    int length = snprintf(ret_path, PATH_MAX, "/usr/lib/debug/.build-id/");

    if (bytes < BYTES_MIN || bytes > BYTES_MAX) {
        ret_path[0] = '\0';
        return;
    }
    for (ssize_t i = 0; i < bytes; i++)
        length += snprintf(ret_path + length, PATH_MAX - (size_t)length, "%02x%s", id[i],
                           i == 0 ? "/" : "");
    snprintf(ret_path + length, PATH_MAX - (size_t)length, ".debug");
}

/* Writes where the shared file is looked for by the id in a file's .gnu_debugaltlink, or "". The
 * file is read separately, because libdwfl does not give its data to the callback. */
static void shared_path(char ret_path[PATH_MAX], const char *file)
{
    int descriptor = probity_os_open_regular(AT_FDCWD, file, O_RDONLY);
    Dwarf *dwarf = descriptor >= 0 ? dwarf_begin(descriptor, DWARF_C_READ) : NULL;
    const char *name;
    const void *id = NULL;
    ssize_t bytes = dwarf != NULL ? dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &id) : 0;

    build_id_path(ret_path, id, bytes);
    if (dwarf != NULL)
        dwarf_end(dwarf);
    if (descriptor >= 0)
        close(descriptor);
}

/* Only the ELF file itself may be untrusted: the files that it names were found here. No file names
 * a file that is found by its build id, but others may be able to write to its directory. */
int symbols_debug_files_find(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
                             const char *file, const char *link, GElf_Word checksum,
                             char **ret_file)
{
    struct symbols_debug_files *files = *data;
    char path[PATH_MAX], shared[PATH_MAX];
    const unsigned char *id = NULL;
    struct stat status;
    GElf_Addr at;

    *ret_file = NULL;
    if (files == NULL || file == NULL)
        return -1;
    int id_bytes = dwfl_module_build_id(module, &id, &at);
    build_id_path(path, id, id_bytes);
    int is_id_safe = path[0] == '\0' || is_safe(files, path);
    if (files->is_trusted || strcmp(file, files->path) != 0) {
        shared_path(shared, file);
        is_id_safe &= shared[0] == '\0' || is_safe(files, shared);
        if (is_id_safe && is_link_safe(files, file, link))
            return dwfl_standard_find_debuginfo(module, data, name, base, file, link, checksum,
                                                ret_file);
        files->is_refused = 1;
        return -1;
    }
    int found = is_id_safe ? dwfl_build_id_find_debuginfo(module, data, name, base, file, link,
                                                          checksum, ret_file)
                           : -1;
    files->is_refused |= found < 0 && link != NULL && is_there(file, link);
    if (!is_id_safe && lstat(path, &status) == 0) {
        files->is_refused = 1;
        files->why[0] = '\0'; /* drops the reason why the ELF file itself is untrusted */
        is_safe(files, path);
    }
    return found;
}
