/* SPDX-License-Identifier: MIT
 *
 * address.h: finds names for recorded addresses, given as linked in the file that was mapped there:
 * symbol and distance from it, and source line if there is debugging information. Linked only into
 * the tool. The file must have the build id in the trace; nothing is fetched from a network.
 */
#ifndef PROBITY_SYMBOLS_ADDRESS_H
#define PROBITY_SYMBOLS_ADDRESS_H

#include <stdint.h>

struct symbols_addresses;

struct symbols_place {
    const char *symbol; /* name of a function or data, demangled; NULL: none */
    uint64_t offset;    /* from the symbol to the address */
    const char *file;   /* as passed to the compiler; NULL: unknown */
    uint32_t line;
};

/* no_memory is called, here and below, if memory is exhausted; it may end the process. If it
 * returns, or is NULL, names are missing. Returns NULL if out of memory: nothing is found then. */
struct symbols_addresses *symbols_addresses_open(void (*no_memory)(void));

/* Names an address, as linked, in the file at path. build_id: lower-case hexadecimal, "" if the
 * file had none; a file with a different one is not used. For a return address, pass the address of
 * the byte before it. Returns 1, or 0 with *ret_place all zeros if nothing was found. Looks up each
 * address only once. Texts are valid until close. addresses may be NULL. One thread. */
int symbols_address_find(struct symbols_addresses *addresses, const char *path,
                         const char *build_id, uint64_t address, struct symbols_place *ret_place);

void symbols_addresses_close(struct symbols_addresses *addresses);

#endif
