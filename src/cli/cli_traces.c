/* SPDX-License-Identifier: MIT
 *
 * cli_traces.c: matches the names in a directory against a pattern.
 */
#include "cli/cli_traces.h"

#include <dirent.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array_grow.h"
#include "base/os.h"
#include "probity.h"

char *cli_absolute_pattern(const char *pattern)
{
    char directory[PATH_MAX];
    size_t used = 0;

    if (probity_os_is_absolute(pattern))
        return strdup(pattern);
    if (getcwd(directory, sizeof directory) == NULL)
        return NULL;
    char *absolute = malloc(2 * strlen(directory) + strlen(pattern) + 2);
    if (absolute == NULL)
        return NULL;
    for (const char *at = directory; *at != '\0'; at++) {
        if (*at == '%')
            absolute[used++] = '%';
        absolute[used++] = *at;
    }
    absolute[used++] = '/';
    memcpy(absolute + used, pattern, strlen(pattern) + 1);
    return absolute;
}

/* Writes the last component of a pattern as a wildcard for fnmatch(), escaping special characters.
 */
static void put_wildcard(FILE *stream, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '%' && i + 1 < length) {
            i++;
            if (text[i] == 'p' || text[i] == 'n' || text[i] == 'i') {
                fputc('*', stream);
                continue;
            }
        }
        if (strchr("*?[]\\", text[i]) != NULL)
            fputc('\\', stream);
        fputc(text[i], stream);
    }
}

/* The name with or without ".PID" inserted. malloc'ed. */
static char *wildcard_of(const char *name, int is_inserted)
{
    const char *dot = strrchr(name, '.');
    size_t length = strlen(name), stem = dot != NULL && dot != name ? (size_t)(dot - name) : length;
    char *wildcard = NULL;
    size_t bytes;
    FILE *stream = open_memstream(&wildcard, &bytes);

    if (stream == NULL)
        return NULL;
    put_wildcard(stream, name, stem);
    if (is_inserted)
        fputs(".*", stream);
    put_wildcard(stream, name + stem, length - stem);
    if (length > 4 && strcmp(name + length - 4, ".csv") == 0)
        fputs(".probity", stream);
    return fclose(stream) == 0 ? wildcard : NULL;
}

static int add_name(struct cli_names *names, const char *stem, const char *name)
{
    char **items = probity_array_append(names->items, sizeof *items, names->count);
    char *path = NULL;

    if (items == NULL)
        return PROBITY_ERROR_MEMORY;
    names->items = items;
    if (asprintf(&path, "%s%s", stem, name) < 0)
        return PROBITY_ERROR_MEMORY;
    items[names->count++] = path;
    return 0;
}

static int compare_names(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

/* Adds the names in a directory that match one of two wildcards. stem: the directory's path with a
 * slash at its end, or empty for the working directory. */
static int search(const char *stem, const char *plain, const char *other, struct cli_names *names)
{
    DIR *directory = opendir(*stem != '\0' ? stem : ".");
    const struct dirent *entry;
    int error = 0;

    if (directory == NULL)
        return 0; /* has no names */
    while (error == 0 && (entry = readdir(directory)) != NULL) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            (fnmatch(plain, entry->d_name, 0) == 0 || fnmatch(other, entry->d_name, 0) == 0))
            error = add_name(names, stem, entry->d_name);
    }
    closedir(directory);
    return error;
}

static char *text_of(const char *stem, const char *text, size_t length)
{
    char *path = malloc(strlen(stem) + length + 1);
    size_t used = strlen(stem);

    if (path == NULL)
        return NULL;
    memcpy(path, stem, used);
    for (size_t i = 0; i < length; i++) {
        i += text[i] == '%' && i + 1 < length && text[i + 1] == '%';
        path[used++] = text[i];
    }
    path[used] = '\0';
    return path;
}

static int is_plain(const char *text, size_t length)
{
    for (size_t i = 0; i + 1 < length; i++) {
        if (text[i] == '%' && (text[i + 1] == 'p' || text[i + 1] == 'n'))
            return 0;
        i += text[i] == '%';
    }
    return 1;
}

static int find_last(const char *stem, const char *name, struct cli_names *names)
{
    char *plain = wildcard_of(name, 0), *inserted = wildcard_of(name, 1);
    int error = plain != NULL && inserted != NULL ? search(stem, plain, inserted, names)
                                                  : PROBITY_ERROR_MEMORY;

    free(plain);
    free(inserted);
    return error;
}

static int find(const char *stem, const char *rest, struct cli_names *names);

/* Searches each directory that the first component of the remaining pattern may refer to. */
static int find_in_each(const char *stem, const char *rest, size_t length, struct cli_names *names)
{
    struct cli_names directories = {NULL, 0};
    char *wildcard = NULL;
    size_t bytes;
    FILE *stream = open_memstream(&wildcard, &bytes);
    int error = PROBITY_ERROR_MEMORY;

    if (stream != NULL) {
        put_wildcard(stream, rest, length);
        error = fclose(stream) == 0 ? search(stem, wildcard, wildcard, &directories)
                                    : PROBITY_ERROR_MEMORY;
    }
    for (size_t i = 0; error == 0 && i < directories.count; i++) {
        char *path = NULL;
        if (asprintf(&path, "%s/", directories.items[i]) < 0)
            error = PROBITY_ERROR_MEMORY;
        else
            error = find(path, rest + length + 1, names);
        free(path);
    }
    free(wildcard);
    cli_names_release(&directories);
    return error;
}

/* Finds the matches of the remaining pattern below a path, which ends with a slash or is empty. */
static int find(const char *stem, const char *rest, struct cli_names *names)
{
    const char *slash = strchr(rest, '/');
    size_t length = slash != NULL ? (size_t)(slash - rest) : 0;

    if (slash == NULL)
        return find_last(stem, rest, names);
    if (!is_plain(rest, length))
        return find_in_each(stem, rest, length, names);
    char *path = text_of(stem, rest, length + 1);
    int error = path != NULL ? find(path, slash + 1, names) : PROBITY_ERROR_MEMORY;
    free(path);
    return error;
}

int cli_names_find(const char *pattern, struct cli_names *ret_names)
{
    struct cli_names names = {NULL, 0};
    int error = find("", pattern, &names);

    if (names.count > 1)
        qsort(names.items, names.count, sizeof *names.items, compare_names);
    if (error != 0)
        cli_names_release(&names);
    else
        *ret_names = names;
    return error;
}

void cli_names_release(struct cli_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->items[i]);
    free(names->items);
    *names = (struct cli_names){NULL, 0};
}

/* ---- Dumps -------------------------------------------------------------------------------------
 */

static char *directory_of(const char *pattern, size_t length, const char *program)
{
    const char *slash = strrchr(program, '/'), *name = slash != NULL ? slash + 1 : program;
    char *directory = NULL;
    size_t bytes;
    FILE *stream = open_memstream(&directory, &bytes);

    if (stream == NULL)
        return NULL;
    for (size_t i = 0; i < length; i++) {
        int is_name = pattern[i] == '%' && i + 1 < length && pattern[i + 1] == 'n';
        i += pattern[i] == '%' && i + 1 < length;
        if (is_name)
            fputs(name, stream);
        else
            fputc(pattern[i], stream);
    }
    return fclose(stream) == 0 ? directory : NULL;
}

void cli_dumps_where(const char *pattern, const char *program, char **ret_directory,
                     char **ret_name)
{
    const char *slash = strrchr(pattern, '/');
    size_t bytes;

    *ret_directory = *ret_name = NULL;
    if (slash == NULL)
        return;
    *ret_directory = slash == pattern ? strdup("/")
                                      : directory_of(pattern, (size_t)(slash - pattern), program);
    FILE *stream = open_memstream(ret_name, &bytes);
    if (stream == NULL)
        return;
    put_wildcard(stream, slash + 1, strlen(slash + 1));
    if (fclose(stream) != 0)
        *ret_name = NULL;
}

/* A trace of a child has the child's process id before its extension, which %p also matches. */
char *cli_dumps_beside(const char *trace_pattern)
{
    static const char extension[] = ".probity";
    size_t length = strlen(trace_pattern), end = sizeof extension - 1;
    char *pattern = NULL;

    if (length > end && strcmp(trace_pattern + length - end, extension) == 0)
        length -= end;
    return asprintf(&pattern, "%.*s%%p-%%i.probity", (int)length, trace_pattern) < 0 ? NULL
                                                                                     : pattern;
}
