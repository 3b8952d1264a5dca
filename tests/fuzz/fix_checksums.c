/* SPDX-License-Identifier: MIT
 *
 * fix_checksums.c: corrects the lengths, serials and checksums of a trace's blocks in place.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/checksum.h"
#include "format/block.h"
#include "fuzz/target.h"

void target_fix_checksums(uint8_t *trace, size_t size)
{
    uint64_t serial = 0;
    size_t at = PROBITY_FILE_HEADER_BYTES;

    while (size >= at && size - at >= PROBITY_BLOCK_HEADER_BYTES) {
        uint8_t *head = trace + at;
        size_t left = size - at - PROBITY_BLOCK_HEADER_BYTES;
        uint32_t length = probity_get_u32(head + 4);
        if (length > left) /* the last block ends with the file */
            length = (uint32_t)left;
        memcpy(head, "PBLK", 4);
        probity_put_u32(head + 4, length);
        probity_put_u32(head + 8, 0);
        probity_put_u64(head + 16, serial++);
        probity_put_u32(head + 8, probity_checksum(0, head, PROBITY_BLOCK_HEADER_BYTES + length));
        at += PROBITY_BLOCK_HEADER_BYTES + length;
    }
}
