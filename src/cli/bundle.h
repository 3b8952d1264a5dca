/* SPDX-License-Identifier: MIT
 *
 * bundle.h: takes the members of bundles (doc/bundle.md) in place of the bundles.
 */
#ifndef PROBITY_CLI_BUNDLE_H
#define PROBITY_CLI_BUNDLE_H

#include <stddef.h>

#include "cli/cli.h"

/* Replaces the path of each bundle by those of its traces. The paths are malloc'ed, in a malloc'ed
 * array. Returns CLI_OK, or CLI_FAILURE and reports why; the caller frees the paths in any case. */
int cli_bundles_expand(const struct cli_command *command, char ***paths, size_t *count);

#endif
