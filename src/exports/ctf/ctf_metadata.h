/* SPDX-License-Identifier: MIT
 *
 * ctf_metadata.h: the exported events in the Common Trace Format.
 */
#ifndef PROBITY_EXPORTS_CTF_CTF_METADATA_H
#define PROBITY_EXPORTS_CTF_CTF_METADATA_H

#include <stdio.h>

#include "reader/reader.h"

/* Event ids. */
enum ctf_event {
    CTF_PROCESS,
    CTF_THREAD_NAME,
    CTF_FUNCTION,
    CTF_ENTER,
    CTF_LEAVE,
    CTF_HIT,
    CTF_HIT_WITH,
    CTF_MESSAGE,
    CTF_PARAMETERS,
    CTF_CHECKPOINT,
    CTF_PAUSE,
    CTF_RESUME,
    CTF_STALL,
    CTF_PROFILING,
    CTF_LEVELS,
    CTF_LOST,
    CTF_STATE,
    CTF_EVENTS
};

/* Writes the description of all events. Sets the error indicator of the stream if a write fails. */
void ctf_metadata_put(FILE *stream, const struct probity_info *info);

#endif
