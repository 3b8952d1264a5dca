/* SPDX-License-Identifier: MIT
 *
 * bundle.h: a bundle, one file that contains traces and their thread states (doc/bundle.md). The
 * table is untrusted. Only in the tool.
 */
#ifndef PROBITY_READER_BUNDLE_H
#define PROBITY_READER_BUNDLE_H

#include <stddef.h>
#include <stdint.h>

#include "reader/range.h"

enum {
    /* The table is read whenever a member is opened, so the number of members is limited. */
    PROBITY_BUNDLE_MEMBERS_MAX = 4096,
    PROBITY_BUNDLE_NAME_BYTES_MAX = 255
};

enum probity_bundle_kind {
    PROBITY_BUNDLE_TRACE = 1,
    PROBITY_BUNDLE_SCHED = 2 /* thread states of the trace NAME, if its name is NAME.sched */
};

struct probity_bundle_member {
    uint64_t offset, bytes; /* in the file */
    unsigned kind;          /* an enum probity_bundle_kind; may be unknown */
    const char *name;       /* zero-terminated */
};

struct probity_bundle {
    int file;
    struct probity_bundle_member *members; /* in order of offset */
    size_t count;
    uint8_t *table; /* contains the names */
    const char *why; /* description of the damage, after PROBITY_ERROR_DAMAGED; otherwise NULL */
};

/* Opens a bundle and verifies its table. Returns 0; PROBITY_ERROR_OPEN or _READ with errno set;
 * PROBITY_ERROR_FORMAT if it is not a bundle; PROBITY_ERROR_VERSION; PROBITY_ERROR_DAMAGED with
 * ret_bundle->why; PROBITY_ERROR_MEMORY. On failure there is nothing to release. */
int probity_bundle_open(const char *path, struct probity_bundle *ret_bundle);
void probity_bundle_release(struct probity_bundle *bundle);

/* Opens the member with the path BUNDLE/NAME, like probity_range_open_member. Returns 0;
 * PROBITY_ERROR_FORMAT if there is no such bundle; PROBITY_ERROR_OPEN with errno ENOENT if it has
 * no such member; or another error of probity_bundle_open(). */
int probity_bundle_open_member(const char *path, struct probity_range *ret_range);

/* Whether members may have this name: 1 or 0. */
int probity_bundle_is_name(const char *name);

/* Sets the members' offsets. Returns everything before the first member, *ret_bytes long,
 * malloc'ed; NULL if out of memory. At most PROBITY_BUNDLE_MEMBERS_MAX members. */
uint8_t *probity_bundle_layout(struct probity_bundle_member *members, size_t count,
                               size_t *ret_bytes);

/* Returns the end of a member, including the padding up to the next one. */
uint64_t probity_bundle_end(const struct probity_bundle_member *member);

#endif
