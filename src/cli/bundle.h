/* SPDX-License-Identifier: MIT
 *
 * bundle.h: takes the members of bundles (doc/bundle.md) in place of the bundles.
 */
#ifndef PROBITY_CLI_BUNDLE_H
#define PROBITY_CLI_BUNDLE_H

#include <stddef.h>

#include "cli/cli.h"

/* Where the bytes of a trace are. Two traces with equal places are the same trace. */
struct cli_place {
    uint64_t device, inode, base;
};

/* Returns 1, or 0 if the path cannot be examined. */
int cli_place_of(const char *path, struct cli_place *ret_place);

/* Replaces the path of each bundle by those of its traces. The paths are malloc'ed, in a malloc'ed
 * array. Returns CLI_OK, or CLI_FAILURE and reports why; the caller frees the paths in any case. */
int cli_bundles_expand(const struct cli_command *command, char ***paths, size_t *count);

/* Whether the file is a bundle, even a damaged one. */
int cli_is_bundle(const char *path);

#endif
