/* SPDX-License-Identifier: MIT
 *
 * request.c: which spool is a process's, and whether it is alive. What lies in the folder is
 * anybody's: a file counts only once probity_attach_open() has checked it.
 */
#include "writer/request.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"
#include "probity.h"
#include "spool/attach.h"
#include "spool/control.h"

struct probity_request {
    struct probity_attach attach;
};

int probity_request_open_spool(const char *path, const uint8_t session[16], const uint8_t boot[16],
                               struct probity_request **ret_request)
{
    struct probity_request *request = malloc(sizeof *request);

    if (request == NULL)
        return PROBITY_ERROR_MEMORY;
    int error = probity_attach_open(path, session, boot, 1, &request->attach);
    if (error != 0) {
        int before = errno;
        free(request);
        errno = before;
        return error;
    }
    const struct probity_spool_header *header = probity_attach_header(&request->attach);
    if (__atomic_load_n(&header->failed, __ATOMIC_ACQUIRE) == 0 &&
        probity_attach_is_alive(&request->attach) &&
        probity_attach_has_process(&request->attach)) {
        *ret_request = request;
        return 0;
    }
    probity_request_close(request);
    return PROBITY_ERROR_STATE;
}

/* Takes the header of what may be a segment 0. Returns whether it is one, of this process and
 * boot. */
static int header_of_process(const char *path, uint32_t pid,
                             struct probity_spool_header *ret_header)
{
    size_t length = strlen(path);
    uint8_t boot[16];

    if (length < 2 || strcmp(path + length - 2, ".0") != 0)
        return 0;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0)
        return 0;
    ssize_t got = pread(file, ret_header, sizeof *ret_header, 0);
    close(file);
    probity_os_boot_id(boot);
    return got == (ssize_t)sizeof *ret_header &&
           memcmp(ret_header->magic, PROBITY_SPOOL_MAGIC, sizeof ret_header->magic) == 0 &&
           memcmp(ret_header->boot, boot, sizeof boot) == 0 && ret_header->pid == pid &&
           ret_header->state == PROBITY_SPOOL_RECORDING;
}

/* Opens the file where it is such a spool; a second one only counts. */
static void consider(const char *path, uint32_t pid, int *count, struct probity_request **first)
{
    struct probity_spool_header header;
    struct probity_request *request;

    if (!header_of_process(path, pid, &header) ||
        probity_request_open_spool(path, header.session, header.boot, &request) != 0)
        return;
    if ((*count)++ == 0)
        *first = request;
    else
        probity_request_close(request);
}

int probity_request_open_process(const char *folder, uint32_t pid, int *ret_count,
                                 struct probity_request **ret_request)
{
    DIR *directory = opendir(folder);
    struct probity_request *first = NULL;
    const struct dirent *entry;
    int count = 0, result = 0;

    if (directory == NULL && errno != ENOENT)
        return PROBITY_ERROR_OPEN;
    while (directory != NULL && result == 0 && (entry = readdir(directory)) != NULL) {
        char *path = NULL;
        if (asprintf(&path, "%s/%s", folder, entry->d_name) < 0) {
            result = PROBITY_ERROR_MEMORY;
            break;
        }
        consider(path, pid, &count, &first);
        free(path);
    }
    if (directory != NULL)
        closedir(directory);
    if (first != NULL && (count > 1 || result != 0))
        probity_request_close(first);
    else if (first != NULL)
        *ret_request = first;
    *ret_count = count;
    return result;
}

uint32_t probity_request_pid(const struct probity_request *request)
{
    return probity_attach_header(&request->attach)->pid;
}

int probity_request_has_writer(const struct probity_request *request)
{
    return __atomic_load_n(&probity_attach_header(&request->attach)->locked, __ATOMIC_ACQUIRE) != 0;
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

void probity_request_close(struct probity_request *request)
{
    probity_attach_close(&request->attach);
    free(request);
}
