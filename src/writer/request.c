/* SPDX-License-Identifier: MIT
 *
 * request.c: finds the spool of a process and determines whether the process is alive. The files in
 * the directory are untrusted until probity_attach_open() has checked them.
 */
#include "writer/request.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"
#include "base/parent.h"
#include "probity.h"
#include "spool/attach.h"
#include "spool/control.h"

struct probity_request {
    struct probity_attach attach;
};

/* Takes ownership of the attachment; its program must be recording. */
static int begin(struct probity_attach *attach, struct probity_request **ret_request)
{
    const struct probity_spool_header *header = probity_attach_header(attach);
    struct probity_request *request = malloc(sizeof *request);
    int error = request == NULL ? PROBITY_ERROR_MEMORY : PROBITY_ERROR_STATE;
    enum probity_attach_owner owner = probity_attach_owner(attach);

    if (request != NULL && __atomic_load_n(&header->failed, __ATOMIC_ACQUIRE) == 0 &&
        (owner == PROBITY_ATTACH_ALIVE || owner == PROBITY_ATTACH_UNKNOWN)) {
        request->attach = *attach;
        *ret_request = request;
        return 0;
    }
    free(request);
    probity_attach_close(attach);
    return error;
}

int probity_request_open_trace(const struct probity_request_trace *trace,
                               struct probity_request **ret_request)
{
    const struct probity_text *named = &trace->info->text[PROBITY_TAG_SPOOL];
    struct probity_attach_query query = {
        .place = {.session = trace->info->session,
                  .owner = trace->owner,
                  .trace_directory = probity_parent_of_target(trace->path),
                  .named = named->bytes,
                  .named_length = named->length},
        .boot = trace->info->boot,
        .trace_device = trace->device,
        .trace_inode = trace->inode,
        .writable = 1};
    struct probity_attach attach;
    int error = probity_attach_find(&query, NULL, &attach), before = errno;

    if (query.place.trace_directory >= 0)
        close(query.place.trace_directory);
    errno = before;
    return error == 0 ? begin(&attach, ret_request) : error;
}

/* Identifies the process: by the id in its PID namespace, which it wrote into its spool, and, if
 * readable, by its mappings. */
struct process {
    uint32_t own_pid;
    FILE *maps; /* or NULL */
};

static void process_find(uint32_t pid, struct process *ret_process)
{
    char path[40], line[256];
    FILE *status;

    ret_process->own_pid = pid;
    snprintf(path, sizeof path, "/proc/%" PRIu32 "/maps", pid);
    ret_process->maps = fopen(path, "re");
    snprintf(path, sizeof path, "/proc/%" PRIu32 "/status", pid);
    status = fopen(path, "re");
    while (status != NULL && fgets(line, sizeof line, status) != NULL) {
        const char *last = strrchr(line, '\t');
        if (strncmp(line, "NSpid:", 6) == 0 && last != NULL)
            ret_process->own_pid = (uint32_t)strtoul(last, NULL, 10);
    }
    if (status != NULL)
        fclose(status);
}

/* Returns whether the process has the file mapped, which rules out another process with the same
 * id. The device is not compared, because on some file systems stat() and the list of mappings
 * disagree on it. */
static int maps_file(const struct process *process, int file)
{
    struct stat status;
    char *line = NULL;
    size_t room = 0;
    int is_mapped = 0, is_empty = 1;

    if (process->maps == NULL || fstat(file, &status) != 0)
        return 1;
    rewind(process->maps);
    while (!is_mapped && getline(&line, &room, process->maps) > 0) {
        uint64_t inode;
        is_empty = 0;
        is_mapped = sscanf(line, "%*s %*s %*s %*s %" SCNu64, &inode) == 1 &&
                    inode == (uint64_t)status.st_ino;
    }
    free(line);
    return is_mapped || is_empty; /* the list is empty if the process belongs to another user */
}

/* Returns whether the process is of the boot in the header. A program without /proc cannot
 * determine the boot id: then the process must have the file mapped, if its list of mappings can be
 * read. */
static int is_of_boot(const struct probity_spool_header *header, const struct process *process)
{
    static const uint8_t unknown[16];
    uint8_t boot[16];

    probity_os_boot_id(boot);
    return memcmp(header->boot, boot, sizeof boot) == 0 ||
           (memcmp(header->boot, unknown, sizeof unknown) == 0 && process->maps != NULL);
}

/* Reads the header of a possible segment 0. Returns whether it is one, of this process and boot. */
static int header_of_process(const struct probity_place *place, const struct process *process,
                             struct probity_spool_header *ret_header)
{
    size_t bytes;
    int file = probity_place_open(place, 0, 0, &bytes);

    if (file < 0)
        return 0;
    ssize_t got = pread(file, ret_header, sizeof *ret_header, 0);
    int is_mapped = maps_file(process, file);
    close(file);
    return got == (ssize_t)sizeof *ret_header && is_mapped &&
           memcmp(ret_header->magic, PROBITY_SPOOL_MAGIC, sizeof ret_header->magic) == 0 &&
           is_of_boot(ret_header, process) &&
           ret_header->pid == process->own_pid &&
           ret_header->state == PROBITY_SPOOL_RECORDING;
}

/* Opens the spool if it matches, and counts it; only the first one stays open. *is_other: set if it
 * has another version. */
static void consider(struct probity_place *place, const struct process *process, int *count,
                     struct probity_request **first, int *is_other)
{
    struct probity_spool_header header;
    struct probity_request *request;
    struct probity_attach attach;

    if (!header_of_process(place, process, &header))
        return;
    int error = probity_attach_open(place, header.session, header.boot, 1, &attach);
    *is_other |= error == PROBITY_ERROR_VERSION;
    if (error != 0 || begin(&attach, &request) != 0)
        return;
    if ((*count)++ == 0)
        *first = request;
    else
        probity_request_close(request);
}

/* Searches a directory that was checked; takes ownership of its descriptor. */
static int look_through(int file, const char *directory, uint32_t owner, uint32_t pid, int *count,
                        struct probity_request **first)
{
    struct process process;
    DIR *list = fdopendir(file);
    const struct dirent *entry;
    char stem[48];
    int is_other = 0, result = list != NULL ? 1 : PROBITY_ERROR_MEMORY;

    if (list == NULL)
        close(file);
    process_find(pid, &process);
    while (result > 0 && (entry = readdir(list)) != NULL) {
        struct probity_place place;
        if (!probity_place_stem(entry->d_name, stem))
            continue;
        result = probity_place_make(fcntl(file, F_DUPFD_CLOEXEC, 0), directory, owner, stem,
                                    &place);
        if (result > 0) {
            consider(&place, &process, count, first, &is_other);
            probity_place_close(&place);
        }
    }
    if (list != NULL)
        closedir(list);
    if (process.maps != NULL)
        fclose(process.maps);
    return result < 0 ? result : *count == 0 && is_other ? PROBITY_ERROR_VERSION : 0;
}

/* Returns the user of a process or, if unknown, the calling user. */
static uint32_t user_of(uint32_t pid)
{
    char process[32];
    struct stat status;

    snprintf(process, sizeof process, "/proc/%u", pid);
    return stat(process, &status) == 0 ? status.st_uid : geteuid();
}

int probity_request_has_other_files(uint32_t pid)
{
    static const char *const links[] = {"ns/mnt", "root"};
    char path[48], its[PATH_MAX], own[PATH_MAX];

    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        snprintf(path, sizeof path, "/proc/%" PRIu32 "/%s", pid, links[i]);
        ssize_t its_length = readlink(path, its, sizeof its);
        snprintf(path, sizeof path, "/proc/self/%s", links[i]);
        ssize_t own_length = readlink(path, own, sizeof own);
        if (its_length > 0 && own_length > 0 &&
            (its_length != own_length || memcmp(its, own, (size_t)own_length) != 0))
            return 1;
    }
    return 0;
}

/* Searches the same directory in the file system of the process. The user of the process may read
 * it in any case, and it is checked like the caller's. Sets *directory to its path for the
 * caller. */
static int look_into_its_files(char *directory, size_t room, uint32_t owner, uint32_t pid,
                               int *count, struct probity_request **first)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "/proc/%" PRIu32 "/root%s", pid, directory);
    int file = length > 0 && (size_t)length < sizeof path && directory[0] == '/'
                   ? probity_place_open_directory(path, owner)
                   : -1;

    if (file < 0)
        return 0;
    snprintf(directory, room, "%s", path);
    return look_through(file, directory, owner, pid, count, first);
}

int probity_request_open_process(uint32_t pid, char *ret_directory, size_t room, int *ret_count,
                                 struct probity_request **ret_request)
{
    const char *wanted = getenv("PROBITY_SPOOL_DIR");
    int is_named = wanted != NULL && wanted[0] != 0;
    uint32_t owner = user_of(pid);
    struct probity_request *first = NULL;

    *ret_count = 0;
    if (is_named)
        snprintf(ret_directory, room, "%s", wanted);
    else
        probity_place_default(owner, ret_directory, room);
    int file = probity_place_open_directory(ret_directory, owner);
    if (file == PROBITY_ERROR_STATE && is_named && owner != geteuid()) {
        owner = geteuid();
        file = probity_place_open_directory(ret_directory, owner);
    }
    int is_missing = file == PROBITY_ERROR_OPEN && errno == ENOENT;
    if (file < 0 && !is_missing)
        return file;
    int result = file < 0 ? 0
                          : look_through(file, ret_directory, owner, pid, ret_count, &first);
    if (result == 0 && *ret_count == 0 && probity_request_has_other_files(pid))
        result = look_into_its_files(ret_directory, room, owner, pid, ret_count, &first);
    if (first != NULL && (*ret_count > 1 || result < 0))
        probity_request_close(first);
    else if (first != NULL)
        *ret_request = first;
    return result;
}

const struct probity_attach *probity_request_attach(const struct probity_request *request)
{
    return &request->attach;
}

uint32_t probity_request_pid(const struct probity_request *request)
{
    return probity_attach_header(&request->attach)->pid;
}

int probity_request_has_writer(const struct probity_request *request)
{
    return probity_attach_has_drainer(&request->attach);
}

int probity_request_read(const struct probity_request *request, int *ret_functions,
                         int *ret_parameters)
{
    return probity_control_read(&request->attach, ret_functions, ret_parameters);
}

int probity_request_levels(const struct probity_request *request, int functions, int parameters,
                           int64_t wait_ns, int *ret_functions, int *ret_parameters)
{
    return probity_control_ask(&request->attach, functions, parameters, wait_ns, ret_functions,
                               ret_parameters);
}

int probity_request_end(const struct probity_request *request, int64_t wait_ns, int *ret_why)
{
    return probity_control_end(&request->attach, wait_ns, ret_why);
}

void probity_request_close(struct probity_request *request)
{
    probity_attach_close(&request->attach);
    free(request);
}

int probity_request_change(const struct probity_request *request, const char *text, int64_t wait_ns,
                           char *ret_why)
{
    return probity_control_change(&request->attach, text, wait_ns, ret_why);
}
