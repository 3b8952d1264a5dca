/* SPDX-License-Identifier: MIT
 *
 * discard.h: removes the spool of a dead program whose trace no longer exists, and control pages of
 * dead programs. Never runs in a traced program.
 */
#ifndef PROBITY_WRITER_DISCARD_H
#define PROBITY_WRITER_DISCARD_H

#include <stdint.h>

/* A spool as found in a directory. */
struct probity_discard_spool {
    const char *directory, *stem; /* segment 0 is DIRECTORY/STEM.0 */
    uint32_t owner;               /* of the directory and the files */
    const uint8_t *session, *boot;
};

/* Removes the spool's files. Returns 0; PROBITY_ERROR_STATE if its program is alive or may be, or
 * another process is recovering it; PROBITY_ERROR_OPEN, WRITE (errno set); FORMAT, VERSION, DAMAGED
 * if it is no longer the spool that was found; MEMORY. */
int probity_discard(const struct probity_discard_spool *spool);

/* Removes the control pages (doc/attach.md) in a directory that no program locks, because their
 * programs have ended. Calls removed() with each name. Returns 0; or the same as above, for the
 * first one that could not be removed. */
int probity_discard_pages(const char *directory, uint32_t owner,
                          void (*removed)(const char *directory, const char *name));

#endif
