/* SPDX-License-Identifier: MIT
 *
 * grown.h: what a process takes of its system, as the kernel counts it: so that a test sees what
 * grows with every thread, library or child that came and went.
 */
#ifndef PROBITY_TESTS_GROWN_H
#define PROBITY_TESTS_GROWN_H

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

struct grown {
    long maps, descriptors, size_kib, resident_kib;
};

static inline long grown_entries(const char *folder)
{
    /* By open(): the thread sanitizer does not know that opendir() makes a descriptor. */
    int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = descriptor >= 0 ? fdopendir(descriptor) : NULL;
    long count = 0;

    while (directory != NULL && readdir(directory) != NULL)
        count++;
    if (directory != NULL)
        closedir(directory);
    return count;
}

static inline struct grown grown_now(void)
{
    struct grown now = {0};
    FILE *maps = fopen("/proc/self/maps", "r"), *status = fopen("/proc/self/status", "r");
    char line[8192];

    while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
        now.maps += strchr(line, '\n') != NULL;
    while (status != NULL && fgets(line, sizeof line, status) != NULL) {
        sscanf(line, "VmSize: %ld", &now.size_kib);
        sscanf(line, "VmRSS: %ld", &now.resident_kib);
    }
    if (maps != NULL)
        fclose(maps);
    if (status != NULL)
        fclose(status);
    now.descriptors = grown_entries("/proc/self/fd");
    return now;
}

/* "grown MAPS DESCRIPTORS KIB-OF-ADDRESSES KIB-RESIDENT" on stderr. */
static inline void grown_tell(const struct grown *since)
{
    struct grown now = grown_now();

    fprintf(stderr, "grown %ld %ld %ld %ld\n", now.maps - since->maps,
            now.descriptors - since->descriptors, now.size_kib - since->size_kib,
            now.resident_kib - since->resident_kib);
}

#endif
