/* SPDX-License-Identifier: MIT
 *
 * sqlite.c: loads SQLite's functions.
 */
#include "store/sqlite.h"

#ifndef PROBITY_WITHOUT_DLOPEN

struct probity_sqlite probity_sqlite;

int probity_sqlite_load(void)
{
    static const char *const names[] = {PROBITY_SQLITE_FUNCTIONS(PROBITY_LIBRARY_NAME)};
    static struct probity_library library = {.file = "libsqlite3.so.0", .project = "SQLite",
                                             .names = names, .count = sizeof names / sizeof *names,
                                             .functions = &probity_sqlite};
    _Static_assert(sizeof names == sizeof probity_sqlite, "a pointer for each name");

    return probity_library_load(&library);
}

#endif
