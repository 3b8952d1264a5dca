/* SPDX-License-Identifier: MIT
 *
 * door.h: what the fuzzed doors of this folder share. A door is one fuzz_NAME.c with libFuzzer's
 * entry; the same entry serves AFL++, and a driver without a fuzzer (plain.c).
 *
 * Inputs of doors that read a trace are one byte that chooses a way, and the trace. Checksums,
 * lengths and serials of its blocks are made right by the door unless the byte is 128 or more: no
 * fuzzer guesses a checksum, and what lies behind it is what is to be tried. So all these doors can
 * share one corpus.
 */
#ifndef TESTS_FUZZ_DOOR_H
#define TESTS_FUZZ_DOOR_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { DOOR_BYTES_MAX = 1 << 20, DOOR_MEND_BELOW = 128 };

/* How many ways there are to take a trace; 0 where inputs are no traces. Each door's own. */
extern const int door_ways;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Makes blocks of a trace right, as far as framing goes. */
void door_mend(uint8_t *trace, size_t size);

/* A folder of a door's own in memory, where the tests have theirs and remove them: a fuzzer ends
 * without asking. */
static inline void door_folder_name(char *ret_name, size_t room, const char *door)
{
    const char *above = getenv("PROBITY_SPOOL_DIR");

    snprintf(ret_name, room, "%s/fuzz-%s.%ld", above != NULL ? above : "/dev/shm", door,
             (long)getpid());
}

/* A file in memory, in the place of src/reader/file.c: reading costs no system call. */
void door_file_set(const uint8_t *bytes, size_t size);

#endif
