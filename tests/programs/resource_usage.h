/* SPDX-License-Identifier: MIT
 *
 * resource_usage.h: counts a process's resources as the kernel does, so that a test detects any
 * that grow with each thread, library or child that starts and ends.
 */
#ifndef PROBITY_TESTS_RESOURCE_USAGE_H
#define PROBITY_TESTS_RESOURCE_USAGE_H

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

struct resource_usage {
    long maps, descriptors, size_kib, anonymous_kib;
};

static inline long resource_usage_entries(const char *path)
{
    /* open(), because the thread sanitizer does not notice that opendir() creates a descriptor. */
    int descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = descriptor >= 0 ? fdopendir(descriptor) : NULL;
    long count = 0;

    while (directory != NULL && readdir(directory) != NULL)
        count++;
    if (directory != NULL)
        closedir(directory);
    return count;
}

static inline struct resource_usage resource_usage_now(void)
{
    struct resource_usage now = {0};
    FILE *maps = fopen("/proc/self/maps", "r"), *status = fopen("/proc/self/status", "r");
    char line[8192];

    while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
        now.maps += strchr(line, '\n') != NULL;
    while (status != NULL && fgets(line, sizeof line, status) != NULL) {
        sscanf(line, "VmSize: %ld", &now.size_kib);
        /* Without the spool: how much of it is touched depends on when the writer thread runs. */
        sscanf(line, "RssAnon: %ld", &now.anonymous_kib);
    }
    if (maps != NULL)
        fclose(maps);
    if (status != NULL)
        fclose(status);
    now.descriptors = resource_usage_entries("/proc/self/fd");
    return now;
}

/* Prints "grown MAPS DESCRIPTORS KIB-OF-ADDRESSES KIB-RESIDENT-AND-ANONYMOUS" to stderr. */
static inline void resource_usage_print(const struct resource_usage *since)
{
    struct resource_usage now = resource_usage_now();

    fprintf(stderr, "grown %ld %ld %ld %ld\n", now.maps - since->maps,
            now.descriptors - since->descriptors, now.size_kib - since->size_kib,
            now.anonymous_kib - since->anonymous_kib);
}

#endif
