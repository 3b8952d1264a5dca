/* SPDX-License-Identifier: MIT
 *
 * spool_file.c: chooses the directory of a session's spool, and creates its first segment there.
 */
#include "runtime/spool_file.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "runtime/ceiling.h"
#include "spool/segment.h"

/* Stores the name "DIRECTORY/[.probity-]SESSION.0". */
static void spool_name(struct probity_session *session, const char *directory, const char *prefix)
{
    char *at = session->spool_path;
    size_t room = sizeof session->spool_path;
    int length = snprintf(at, room - 40, "%s/%s", directory, prefix);

    if (length < 0 || (size_t)length >= room - 40)
        length = 0; /* too long: the open will fail */
    for (int i = 0; i < 16; i++)
        length += snprintf(at + length, room - (size_t)length, "%02x", session->id[i]);
    probity_assert((size_t)length < room - 3);
    snprintf(at + length, room - (size_t)length, ".0");
}

/* Makes the path absolute: it is stored in the trace, which may be read from any directory. */
static const char *absolute(struct probity_session *session, const char *path)
{
    char *at = session->scratch[2];
    size_t room = sizeof session->scratch[2];

    if (path[0] == 0 || probity_os_is_absolute(path) || getcwd(at, room) == NULL)
        return path;
    size_t length = strlen(at);
    int added = snprintf(at + length, room - length, "/%s", path);
    return added > 0 && (size_t)added < room - length ? at : path;
}

int probity_spool_file_make(struct probity_session *session,
                            struct probity_spool_header *header, void **ret_segment)
{
    const char *wanted = absolute(session, session->settings.spool_directory);
    int result = probity_segment_directory(wanted[0] != 0 ? wanted : NULL, session->scratch[0],
                                           sizeof session->scratch[0]);

    probity_assert(header->segment == 0);
    spool_name(session, session->scratch[0], "");
    if (result == 0) {
        int is_over = probity_ceiling_apply(session, session->scratch[0], session->scratch[1],
                                            sizeof session->scratch[1]);
        if (is_over != 0)
            return is_over;
        header->chunks = session->settings.segment_chunks;
        header->chunk_words = session->settings.chunk_words;
    }
    if (result == 0)
        result = probity_segment_make(session->spool_path, header, ret_segment,
                                      &session->unnamed_spool, &session->present_chunks);
    if (result == 0 || wanted[0] != 0)
        return result;
    /* Without a usable tmpfs, the spool is created next to the trace. */
    snprintf(session->scratch[0], sizeof session->scratch[0], "%s", session->trace_path);
    char *slash = strrchr(session->scratch[0], '/');
    if (slash == NULL)
        return result;
    *slash = 0;
    spool_name(session, session->scratch[0], ".probity-");
    return probity_segment_make(session->spool_path, header, ret_segment, &session->unnamed_spool,
                                &session->present_chunks);
}
