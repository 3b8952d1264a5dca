/* SPDX-License-Identifier: MIT
 *
 * wait_symbols.c: symbols of data and code, with lines where there is debugging information.
 */
#include "answers/waits/wait_symbols.h"

#include <inttypes.h>
#include <stdio.h>

#include "answers/waits/wait_names.h"
#include "symbols/address.h"

static struct symbols_addresses *addresses;

static int find(const char *path, const char *build_id, uint64_t address, int is_data,
                char *ret_text, size_t bytes)
{
    struct symbols_place place;

    if (!symbols_address_find(addresses, path, build_id, address, &place) || place.symbol == NULL)
        return 0;
    if (!is_data && place.file != NULL)
        snprintf(ret_text, bytes, "%s (%s:%" PRIu32 ")", place.symbol, place.file, place.line);
    else if (place.offset != 0)
        snprintf(ret_text, bytes, "%s+0x%" PRIx64, place.symbol, place.offset);
    else
        snprintf(ret_text, bytes, "%s", place.symbol);
    return 1;
}

void probity_wait_symbols_open(void (*no_memory)(void))
{
    addresses = symbols_addresses_open(no_memory);
    probity_wait_symbol_find = find;
}

void probity_wait_symbols_close(void)
{
    symbols_addresses_close(addresses);
    addresses = NULL;
    probity_wait_symbol_find = NULL;
}
