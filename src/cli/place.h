/* SPDX-License-Identifier: MIT
 *
 * place.h: the location of a trace's bytes: a file, or a part of a bundle (doc/bundle.md).
 */
#ifndef PROBITY_CLI_PLACE_H
#define PROBITY_CLI_PLACE_H

#include <stdint.h>

/* Two traces in equal places are the same trace. */
struct cli_place {
    uint64_t device, inode, base;
};

/* Returns 1, or 0 if the path cannot be examined. */
int cli_place_of(const char *path, struct cli_place *ret_place);

/* Whether the file is a bundle, even a damaged one. */
int cli_is_bundle(const char *path);

#endif
