/* SPDX-License-Identifier: MIT
 *
 * effigy.c: what a death at this instant would leave, without the death. The victim stands still;
 * its spool and traces are copied, the copies of the spool get the names that the traces tell, and
 * are judged and recovered as those of a dead program; then the victim's own come back.
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

static char own_spool[4096]; /* where the victim's files wait meanwhile */
static const char *spool;

void death_effigy_init(void)
{
    spool = getenv("PROBITY_SPOOL_DIR");
    snprintf(own_spool, sizeof own_spool, "%s.own", spool);
    mkdir(own_spool, 0700);
    mkdir("effigy", 0700);
}

/* Holes stay holes: most of a segment's bytes are none. */
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

/* No process has this number. */
static void forget_process(const char *path)
{
    uint32_t nobody = 0;
    int file = open(path, O_WRONLY);

    hits_need(file >= 0 && pwrite(file, &nobody, sizeof nobody,
                                  offsetof(struct probity_spool_header, pid)) == sizeof nobody,
              path);
    close(file);
}

/* Calls for each file of a folder whose name begins so. */
static void for_each(const char *folder, const char *prefix, void (*act)(const char *name))
{
    DIR *list = opendir(folder);
    struct dirent *entry;

    while (list != NULL && (entry = readdir(list)) != NULL) {
        if (entry->d_name[0] != '.' && strncmp(entry->d_name, prefix, strlen(prefix)) == 0)
            act(entry->d_name);
    }
    closedir(list);
}

static void move(const char *from_folder, const char *to_folder, const char *name)
{
    char from[4400], to[4400];

    snprintf(from, sizeof from, "%s/%s", from_folder, name);
    snprintf(to, sizeof to, "%s/%s", to_folder, name);
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
}

static void put_back(const char *name)
{
    move(own_spool, spool, name);
}

static void copy_trace(const char *name)
{
    char to[4400];

    snprintf(to, sizeof to, "effigy/%s", name);
    copy_file(name, to);
}

uint64_t death_effigy_judge(struct death_tally *tally)
{
    for_each(spool, "", put_aside);
    for_each(own_spool, "", put_copy);
    for_each(".", "trace", copy_trace);
    hits_need(chdir("effigy") == 0, "effigy");
    uint64_t faults = death_judge(tally, 0);
    death_clean();
    hits_need(chdir("..") == 0, "effigy");
    for_each(own_spool, "", put_back);
    return faults;
}

/* ---- What a death has left, to be had again -----------------------------------------------------
 */

static void save_spool(const char *name)
{
    char from[4400], to[4400];

    snprintf(from, sizeof from, "%s/%s", spool, name);
    snprintf(to, sizeof to, "%s/%s", own_spool, name);
    copy_file(from, to);
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

    snprintf(from, sizeof from, "effigy/%s", name);
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
    for_each("effigy", "trace", restore_trace);
}
