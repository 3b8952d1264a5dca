/* SPDX-License-Identifier: MIT
 *
 * crash_snapshot.c: what a victim would leave if it died now, without killing it. The victim is
 * stopped, and its spool and traces are copied. The copied spool is renamed to the names in the
 * traces, and is verified and recovered like a dead program's. Then the victim's files are
 * restored.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "death/death.h"
#include "programs/hits.h"
#include "spool/layout.h"

static char own_spool[4096]; /* holds the victim's files while they are replaced */
static const char *spool;

void death_snapshot_init(void)
{
    spool = getenv("PROBITY_SPOOL_DIR");
    snprintf(own_spool, sizeof own_spool, "%s.own", spool);
    mkdir(own_spool, 0700);
    mkdir("snapshot", 0700);
}

/* Keeps holes, because most of a segment is never written. */
static void copy_file(const char *from, const char *to)
{
    static char bytes[1 << 16];
    int in = open(from, O_RDONLY), out = open(to, O_RDWR | O_CREAT | O_TRUNC, 0600);
    struct stat status;
    off_t end = 0;

    hits_need(in >= 0 && out >= 0 && fstat(in, &status) == 0, from);
    for (off_t at = lseek(in, 0, SEEK_DATA); at >= 0; at = lseek(in, end, SEEK_DATA)) {
        end = lseek(in, at, SEEK_HOLE);
        while (at < end) {
            size_t wanted = (size_t)(end - at) < sizeof bytes ? (size_t)(end - at) : sizeof bytes;
            ssize_t got = pread(in, bytes, wanted, at);
            hits_need(got > 0 && pwrite(out, bytes, (size_t)got, at) == got, to);
            at += got;
        }
    }
    hits_need(ftruncate(out, status.st_size) == 0, to);
    close(in);
    close(out);
}

static void put_field(const char *path, size_t offset, size_t bytes)
{
    static const uint64_t zero[2];
    int file = open(path, O_WRONLY);

    hits_need(file >= 0 && pwrite(file, zero, bytes, (off_t)offset) == (ssize_t)bytes, path);
    close(file);
}

/* Clears the process id. */
static void forget_process(const char *path)
{
    put_field(path, offsetof(struct probity_spool_header, pid), 4);
}

/* Clears the trace's identity, because the trace is a copy, too. */
static void forget_trace(const char *path)
{
    put_field(path, offsetof(struct probity_spool_header, trace_device), 16);
}

/* Calls `act` for each file in a directory whose name starts with `prefix`. */
static void for_each(const char *directory, const char *prefix, void (*act)(const char *name))
{
    DIR *list = opendir(directory);
    struct dirent *entry;

    while (list != NULL && (entry = readdir(list)) != NULL) {
        if (entry->d_name[0] != '.' && strncmp(entry->d_name, prefix, strlen(prefix)) == 0)
            act(entry->d_name);
    }
    closedir(list);
}

static void move(const char *from_directory, const char *to_directory, const char *name)
{
    char from[4400], to[4400];

    snprintf(from, sizeof from, "%s/%s", from_directory, name);
    snprintf(to, sizeof to, "%s/%s", to_directory, name);
    hits_need(rename(from, to) == 0, from);
}

static void put_aside(const char *name)
{
    move(spool, own_spool, name);
}

static void put_copy(const char *name)
{
    char from[4400], to[4400];

    snprintf(from, sizeof from, "%s/%s", own_spool, name);
    snprintf(to, sizeof to, "%s/%s", spool, name);
    copy_file(from, to);
    forget_process(to);
    forget_trace(to);
}

static void put_back(const char *name)
{
    move(own_spool, spool, name);
}

static void copy_trace(const char *name)
{
    char to[4400];

    snprintf(to, sizeof to, "snapshot/%s", name);
    copy_file(name, to);
}

uint64_t death_snapshot_verify(struct death_tally *tally)
{
    for_each(spool, "", put_aside);
    for_each(own_spool, "", put_copy);
    for_each(".", "trace", copy_trace);
    hits_need(chdir("snapshot") == 0, "snapshot");
    uint64_t faults = death_verify(tally, 0);
    death_clean();
    hits_need(chdir("..") == 0, "snapshot");
    for_each(own_spool, "", put_back);
    return faults;
}

/* ---- Saving and restoring what a death leaves
 * --------------------------------------------------
 */

static void save_spool(const char *name)
{
    char from[4400], to[4400];

    snprintf(from, sizeof from, "%s/%s", spool, name);
    snprintf(to, sizeof to, "%s/%s", own_spool, name);
    copy_file(from, to);
    forget_trace(to);
}

static void restore_spool(const char *name)
{
    char from[4400], to[4400];

    snprintf(from, sizeof from, "%s/%s", own_spool, name);
    snprintf(to, sizeof to, "%s/%s", spool, name);
    copy_file(from, to);
}

static void restore_trace(const char *name)
{
    char from[4400];

    snprintf(from, sizeof from, "snapshot/%s", name);
    copy_file(from, name);
}

void death_save(void)
{
    for_each(spool, "", save_spool);
    for_each(".", "trace", copy_trace);
}

void death_restore(void)
{
    death_clean();
    for_each(own_spool, "", restore_spool);
    for_each("snapshot", "trace", restore_trace);
}
