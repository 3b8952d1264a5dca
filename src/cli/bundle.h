/* SPDX-License-Identifier: MIT
 *
 * bundle.h: replaces bundles (doc/bundle.md) with their members.
 */
#ifndef PROBITY_CLI_BUNDLE_H
#define PROBITY_CLI_BUNDLE_H

#include <stddef.h>

#include "cli/cli.h"

/* Replaces the path of each bundle with the paths of its traces. The paths are malloc'ed, in a
 * malloc'ed array. Returns CLI_OK, or CLI_FAILURE after reporting why; the caller frees the paths
 * in either case. */
int cli_bundles_expand(const struct cli_command *command, char ***paths, size_t *count);

#endif
