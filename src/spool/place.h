/* SPDX-License-Identifier: MIT
 *
 * place.h: the place of a spool, for reading, recovering or removing it (doc/spool.md, "Finding a
 * spool"). A place is a directory that was checked once and is kept open. Its files are opened,
 * compared and removed by name relative to it, never by path, and without following symbolic links.
 */
#ifndef PROBITY_SPOOL_PLACE_H
#define PROBITY_SPOOL_PLACE_H

#include <stddef.h>
#include <stdint.h>

struct probity_place {
    int directory;  /* -1: none */
    uint32_t owner; /* user id of the files in it */
    char stem[48];  /* SESSION or .probity-SESSION: segment N is the file STEM.N */
    char *text;     /* path of segment 0, only for messages; malloc'ed */
};

/* Facts about the trace whose spool is searched for. */
struct probity_place_query {
    const uint8_t *session;
    uint32_t owner;      /* user id of the trace's file */
    int trace_directory; /* the trace's directory, or -1 */
    const char *named;   /* path of segment 0 according to INFO, not zero-terminated */
    size_t named_length;
};

/* Writes "/dev/shm/probity-USER", the default directory for spools of a user's programs. */
void probity_place_default(uint32_t user, char *ret_path, size_t room);

/* Opens a spool directory for reading. It must be a directory, not a link; owned by this user; and
 * not writable by others. Returns a descriptor; PROBITY_ERROR_OPEN (errno set), or
 * PROBITY_ERROR_STATE if it is another user's or writable by others. */
int probity_place_open_directory(const char *path, uint32_t owner);

/* Opens place number *step, from 0, of those that may contain the spool; increments *step. Returns
 * 1 with an open place, 0 if there are no more, or PROBITY_ERROR_MEMORY. */
int probity_place_next(const struct probity_place_query *query, unsigned *step,
                       struct probity_place *ret_place);

/* Makes a place for the files STEM.N of a directory, and takes ownership of the descriptor. path is
 * for messages. Returns 1, or PROBITY_ERROR_MEMORY (the descriptor is closed). */
int probity_place_make(int directory, const char *path, uint32_t owner, const char *stem,
                       struct probity_place *ret_place);

/* Returns 1 if a name in a spool directory is that of a segment 0, SESSION.0, and stores its stem;
 * else 0. */
int probity_place_stem(const char *name, char ret_stem[48]);

/* Opens a segment: a regular file of the place's owner, not writable by others. Returns a
 * descriptor; PROBITY_ERROR_OPEN (errno set); PROBITY_ERROR_FORMAT if it is anything else. */
int probity_place_open(const struct probity_place *place, uint32_t number, int writable,
                       size_t *ret_bytes);

/* Removes a segment if its name still refers to the open file. Returns 0, even if the name no
 * longer exists; or -1 with errno: ESTALE if the name refers to another file. */
int probity_place_remove(const struct probity_place *place, uint32_t number, int file);

void probity_place_close(struct probity_place *place);

#endif
