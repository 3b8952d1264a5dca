/* SPDX-License-Identifier: MIT
 *
 * checksum.h: CRC-32C (Castagnoli), as in RFC 3720 appendix B.4.
 */
#ifndef PROBITY_BASE_CHECKSUM_H
#define PROBITY_BASE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* Continues a checksum: crc is 0 at first, then the previous result. Any thread. */
uint32_t probity_checksum(uint32_t crc, const void *bytes, size_t count);

#endif
