/* SPDX-License-Identifier: MIT
 *
 * store_without_sqlite.c: replaces the functions of store.h if the tool is built with
 * -DPROBITY_WITHOUT_SQLITE: no history can be opened.
 */
#include "store/store.h"

#ifdef PROBITY_WITHOUT_SQLITE

#include <stddef.h>

int probity_store_open(const char *path, int is_for_writing, struct probity_store **ret_store)
{
    (void)path;
    (void)is_for_writing;
    *ret_store = NULL;
    return PROBITY_ERROR_OPEN;
}

const char *probity_store_why(const struct probity_store *store)
{
    (void)store;
    return "this build cannot read the history of runs (requires SQLite)";
}

/* Never called, since there is no history. */

int probity_store_each(struct probity_store *store, const struct probity_store_choice *choice,
                       probity_store_take *take, void *context)
{
    (void)store;
    (void)choice;
    (void)take;
    (void)context;
    return PROBITY_ERROR_STATE;
}

int probity_store_load(struct probity_store *store, uint64_t number,
                       struct probity_compare_run *run)
{
    (void)store;
    (void)number;
    (void)run;
    return PROBITY_ERROR_STATE;
}

void probity_store_close(struct probity_store *store)
{
    (void)store;
}

#endif
