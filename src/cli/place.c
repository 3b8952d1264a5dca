/* SPDX-License-Identifier: MIT
 *
 * place.c: see place.h.
 */
#include "cli/place.h"

#include <sys/stat.h>
#include <unistd.h>

#include "probity.h"
#include "reader/bundle.h"

int cli_place_of(const char *path, struct cli_place *ret_place)
{
    struct probity_range range = {.file = -1};
    struct stat status;
    int is_known = stat(path, &status) == 0;

    if (!is_known && probity_range_open(path, &range) == 0) {
        is_known = fstat(range.file, &status) == 0;
        close(range.file);
    }
    if (is_known)
        *ret_place = (struct cli_place){status.st_dev, status.st_ino, range.base};
    return is_known;
}

int cli_is_bundle(const char *path)
{
    struct probity_bundle bundle;
    int error = probity_bundle_open(path, &bundle);

    if (error == 0)
        probity_bundle_release(&bundle);
    return error == 0 || error == PROBITY_ERROR_DAMAGED;
}
