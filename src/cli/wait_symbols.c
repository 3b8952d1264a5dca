/* SPDX-License-Identifier: MIT
 *
 * wait_symbols.c: looks up symbols of data and code, with lines if there is debugging information.
 */
#include "cli/wait_symbols.h"

#include <inttypes.h>
#include <stdio.h>

static int find(void *context, const char *path, const char *build_id, uint64_t address,
                enum probity_wait_symbol_form form, char *ret_text, size_t bytes)
{
    struct symbols_place place;

    if (!symbols_address_find(context, path, build_id, address, &place) || place.symbol == NULL)
        return 0;
    if (form == PROBITY_WAIT_SYMBOL_CODE && place.file != NULL)
        snprintf(ret_text, bytes, "%s (%s:%" PRIu32 ")", place.symbol, place.file, place.line);
    else if (form != PROBITY_WAIT_SYMBOL_FUNCTION && place.offset != 0)
        snprintf(ret_text, bytes, "%s+0x%" PRIx64, place.symbol, place.offset);
    else
        snprintf(ret_text, bytes, "%s", place.symbol);
    return 1;
}

struct probity_wait_symbols cli_wait_symbols(struct symbols_addresses *addresses)
{
    return (struct probity_wait_symbols){find, addresses};
}
