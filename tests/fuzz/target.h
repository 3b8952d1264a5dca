/* SPDX-License-Identifier: MIT
 *
 * target.h: shared by the fuzz targets in this directory. A target is a fuzz_NAME.c with
 * libFuzzer's entry point, which AFL++ and a driver without a fuzzer (standalone_main.c) call, too.
 *
 * If a target reads traces, its input is a byte that selects a way to read, and the trace. No
 * fuzzer can guess checksums, and the code after the check must be tested, so the target corrects
 * the checksums, lengths and serials of blocks unless the byte is 128 or more. All these targets
 * can share a corpus.
 */
#ifndef TESTS_FUZZ_TARGET_H
#define TESTS_FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { TARGET_BYTES_MAX = 1 << 20, TARGET_FIX_BELOW = 128 };

/* The number of ways in which the target can read a trace; 0 if its inputs are not traces. */
extern const int target_ways;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Corrects the framing of a trace's blocks. */
void target_fix_checksums(uint8_t *trace, size_t size);

/* Kinds of blocks, by type; 0: any other. */
enum { TARGET_KINDS = 8 };

/* Returns the kinds of blocks in a trace, one bit each. */
unsigned target_kinds(const uint8_t *trace, size_t size);

/* Changes a field, row or record of a trace (mutate_fields.c) of at most `room` bytes, if possible
 * in a block of this kind (TARGET_KINDS: any). The change depends only on the seed. Returns the new
 * size. */
size_t target_mutate_field(uint8_t *trace, size_t size, size_t room, unsigned kind, uint64_t seed);

/* Names a directory in memory, below that of the tests. The tests remove it, because a fuzzer may
 * end the process at any time. */
static inline void target_directory_name(char *ret_name, size_t room, const char *target)
{
    const char *above = getenv("PROBITY_SPOOL_DIR");

    snprintf(ret_name, room, "%s/fuzz-%s.%ld", above != NULL ? above : "/dev/shm", target,
             (long)getpid());
}

/* Sets the file in memory that replaces src/reader/file.c, so that reading takes no system
 * calls. */
void target_file_set(const uint8_t *bytes, size_t size);

#endif
