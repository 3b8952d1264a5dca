/* SPDX-License-Identifier: MIT
 *
 * checksum.c: CRC-32C with initial and final inversion. Any thread.
 */
#include "base/checksum.h"

#include "base/assert.h"
#include "base/cpu.h"

uint32_t probity_checksum(uint32_t crc, const void *bytes, size_t count)
{
    probity_assert(bytes != NULL || count == 0);
    return ~probity_cpu_crc32c(~crc, bytes, count);
}
