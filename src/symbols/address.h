/* SPDX-License-Identifier: MIT
 *
 * address.h: names of addresses that a trace has recorded, as linked in the file that was mapped
 * there: symbol and distance from it, and source line if there is debugging information. Linked
 * only into the tool. The file must have the build id in the trace; nothing is fetched from a
 * network.
 */
#ifndef PROBITY_SYMBOLS_ADDRESS_H
#define PROBITY_SYMBOLS_ADDRESS_H

#include <stdint.h>

struct symbols_addresses;

struct symbols_place {
    const char *symbol; /* of a function or data, readable; NULL: none */
    uint64_t offset;    /* from the symbol to the address */
    const char *file;   /* as passed to the compiler; NULL: unknown */
    uint32_t line;
};

/* no_memory is called, here and below, if memory is exhausted; it may end the process. If it
 * returns, or is NULL, names are missing. Returns NULL if out of memory: then nothing is found. */
struct symbols_addresses *symbols_addresses_open(void (*no_memory)(void));

/* Names an address, as linked, of the file at path. build_id: lower-case hexadecimal, "" if the
 * file had none; files with a different one are not used. For a return address, pass the byte
 * before it. Returns 1; or 0 if nothing is known, and *ret_place is then all zero. Looked up once
 * per address. Texts are valid until close. addresses may be NULL. One thread. */
int symbols_address_find(struct symbols_addresses *addresses, const char *path,
                         const char *build_id, uint64_t address, struct symbols_place *ret_place);

void symbols_addresses_close(struct symbols_addresses *addresses);

#endif
