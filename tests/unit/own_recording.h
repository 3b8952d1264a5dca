/* SPDX-License-Identifier: MIT
 *
 * own_recording.h: for tests that record this process: its trace and spool are in a new
 * directory.
 */
#ifndef TESTS_UNIT_OWN_RECORDING_H
#define TESTS_UNIT_OWN_RECORDING_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "probity.h"

static char directory[64], trace_path[96];

static inline int start_recording(struct probity_options options)
{
    snprintf(directory, sizeof directory, "/dev/shm/probity-unit.XXXXXX");
    if (mkdtemp(directory) == NULL)
        return -1;
    setenv("PROBITY_SPOOL_DIR", directory, 1);
    snprintf(trace_path, sizeof trace_path, "%s/trace", directory);
    options.out = trace_path;
    return probity_start(&options);
}

static inline int tear_down(void **state)
{
    (void)state;
    probity_stop();
    unlink(trace_path);
    return rmdir(directory);
}

#endif
