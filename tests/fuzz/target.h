/* SPDX-License-Identifier: MIT
 *
 * target.h: shared by the fuzz targets in this directory. A target is one fuzz_NAME.c with
 * libFuzzer's entry point, which is also used by AFL++ and by a driver without a fuzzer
 * (standalone_main.c).
 *
 * Inputs of targets that read a trace are one byte that selects a way, and the trace. The target
 * corrects checksums, lengths and serials of its blocks unless the byte is 128 or more, because no
 * fuzzer guesses a checksum, and the code after the check is what must be tested. So all these
 * targets can share one corpus.
 */
#ifndef TESTS_FUZZ_TARGET_H
#define TESTS_FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { TARGET_BYTES_MAX = 1 << 20, TARGET_FIX_BELOW = 128 };

/* The number of ways to read a trace, defined by each target; 0 if inputs are not traces. */
extern const int target_ways;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Corrects the framing of a trace's blocks. */
void target_fix_checksums(uint8_t *trace, size_t size);

/* Kinds of blocks by type; 0: any other. */
enum { TARGET_KINDS = 8 };

/* The kinds of blocks in a trace, one bit each. */
unsigned target_kinds(const uint8_t *trace, size_t size);

/* Changes one field, row or record of a trace (mutate_fields.c) of at most `room` bytes, in a block
 * of this kind if there is one (TARGET_KINDS: any). Returns its new size. The same for the same
 * seed. */
size_t target_mutate_field(uint8_t *trace, size_t size, size_t room, unsigned kind, uint64_t seed);

/* The name of a directory of the target in memory, within that of the tests, which remove it,
 * because a fuzzer may end the process at any time. */
static inline void target_directory_name(char *ret_name, size_t room, const char *target)
{
    const char *above = getenv("PROBITY_SPOOL_DIR");

    snprintf(ret_name, room, "%s/fuzz-%s.%ld", above != NULL ? above : "/dev/shm", target,
             (long)getpid());
}

/* A file in memory, in place of src/reader/file.c: reading makes no system calls. */
void target_file_set(const uint8_t *bytes, size_t size);

#endif
