/* SPDX-License-Identifier: MIT
 *
 * discard.c: removes spools and control pages, after the same checks as in recovery: directory and
 * files have one owner, and both locks of the spool are free.
 */
#include "writer/discard.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "probity.h"
#include "spool/attach.h"
#include "spool/control_page.h"

int probity_discard(const struct probity_discard_spool *spool)
{
    struct probity_place place;
    struct probity_attach attach;
    enum probity_attach_owner owner;
    int directory = probity_place_open_directory(spool->directory, spool->owner);

    if (directory < 0)
        return directory;
    int result = probity_place_make(directory, spool->directory, spool->owner, spool->stem, &place);
    if (result != 1)
        return result;
    result = probity_attach_open(&place, spool->session, spool->boot, 1, &attach);
    if (result == 0) {
        result = probity_attach_lock(&attach, &owner);
        if (result == 0)
            result = probity_attach_retire(&attach);
        probity_attach_close(&attach);
    }
    probity_place_close(&place);
    return result;
}

static int is_page_name(const char *name)
{
    size_t digits = strspn(name, "0123456789");

    return digits > 0 && strcmp(name + digits, PROBITY_CONTROL_PAGE_SUFFIX) == 0;
}

/* A program locks its page before it sets the file's size: an empty file may belong to a program
 * that is about to lock it. */
static int is_left(int file, uint32_t owner, struct stat *ret_status)
{
    enum { YOUNG_S = 60 };
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET,
                         .l_start = PROBITY_CONTROL_PAGE_LOCK_PROGRAM, .l_len = 1};

    return fstat(file, ret_status) == 0 && S_ISREG(ret_status->st_mode) &&
           ret_status->st_uid == owner &&
           (ret_status->st_size > 0 || time(NULL) - ret_status->st_mtime > YOUNG_S) &&
           fcntl(file, F_OFD_SETLK, &lock) == 0;
}

/* Returns 1 if the page was removed, 0 if not, or -1 with errno. */
static int remove_page(int directory, uint32_t owner, const char *name)
{
    int file = openat(directory, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    struct stat status, named;
    int result = 0;

    if (file < 0)
        return errno == ENOENT || errno == ELOOP ? 0 : -1;
    if (is_left(file, owner, &status) &&
        fstatat(directory, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
        named.st_dev == status.st_dev && named.st_ino == status.st_ino)
        result = unlinkat(directory, name, 0) == 0 ? 1 : -1;
    int why = errno;
    close(file);
    errno = why;
    return result;
}

int probity_discard_pages(const char *directory, uint32_t owner,
                          void (*removed)(const char *directory, const char *name))
{
    int at = probity_place_open_directory(directory, owner), error = 0, why = 0;
    const struct dirent *entry;

    if (at < 0)
        return at;
    DIR *list = fdopendir(at);
    if (list == NULL) {
        close(at);
        return PROBITY_ERROR_MEMORY;
    }
    while ((entry = readdir(list)) != NULL) {
        int result = is_page_name(entry->d_name) ? remove_page(dirfd(list), owner, entry->d_name)
                                                 : 0;
        if (result > 0)
            removed(directory, entry->d_name);
        if (result < 0 && error == 0) {
            error = PROBITY_ERROR_WRITE;
            why = errno;
        }
    }
    closedir(list);
    errno = why != 0 ? why : errno;
    return error;
}
