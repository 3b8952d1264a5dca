/* SPDX-License-Identifier: MIT
 *
 * checksum.c: CRC-32C with its initial and final inversion. Any thread.
 */
#include "base/checksum.h"

#include "base/cpu.h"

uint32_t probity_checksum(uint32_t crc, const void *bytes, size_t count)
{
    return ~probity_cpu_crc32c(~crc, bytes, count);
}
