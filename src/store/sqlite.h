/* SPDX-License-Identifier: MIT
 *
 * sqlite.h: the functions of SQLite that the tool calls, loaded on first use (base/library.h).
 */
#ifndef PROBITY_STORE_SQLITE_H
#define PROBITY_STORE_SQLITE_H

#include <sqlite3.h>

#include "base/library.h"

#define PROBITY_SQLITE_FUNCTIONS(X) \
    X(sqlite3_bind_blob) X(sqlite3_bind_double) X(sqlite3_bind_int) X(sqlite3_bind_int64) \
    X(sqlite3_bind_null) X(sqlite3_bind_text) X(sqlite3_busy_timeout) X(sqlite3_changes) \
    X(sqlite3_clear_bindings) X(sqlite3_close) X(sqlite3_close_v2) X(sqlite3_column_blob) \
    X(sqlite3_column_bytes) X(sqlite3_column_count) X(sqlite3_column_double) \
    X(sqlite3_column_int) X(sqlite3_column_int64) X(sqlite3_column_text) X(sqlite3_column_type) \
    X(sqlite3_db_config) X(sqlite3_db_handle) X(sqlite3_errcode) X(sqlite3_errmsg) \
    X(sqlite3_exec) X(sqlite3_extended_result_codes) X(sqlite3_finalize) \
    X(sqlite3_get_autocommit) X(sqlite3_initialize) X(sqlite3_last_insert_rowid) \
    X(sqlite3_limit) X(sqlite3_open_v2) X(sqlite3_prepare_v2) X(sqlite3_reset) X(sqlite3_step) \
    X(sqlite3_system_errno) X(sqlite3_vfs_find) X(sqlite3_vfs_register) \
    X(sqlite3_vfs_unregister)

#ifdef PROBITY_WITHOUT_DLOPEN
static inline int probity_sqlite_load(void)
{
    return 0;
}
#else

struct probity_sqlite {
    PROBITY_SQLITE_FUNCTIONS(PROBITY_LIBRARY_POINTER)
};

extern struct probity_sqlite probity_sqlite;

/* Call before any other function of SQLite. Returns the same as probity_library_load(). */
int probity_sqlite_load(void);

#define sqlite3_bind_blob probity_sqlite.sqlite3_bind_blob
#define sqlite3_bind_double probity_sqlite.sqlite3_bind_double
#define sqlite3_bind_int probity_sqlite.sqlite3_bind_int
#define sqlite3_bind_int64 probity_sqlite.sqlite3_bind_int64
#define sqlite3_bind_null probity_sqlite.sqlite3_bind_null
#define sqlite3_bind_text probity_sqlite.sqlite3_bind_text
#define sqlite3_busy_timeout probity_sqlite.sqlite3_busy_timeout
#define sqlite3_changes probity_sqlite.sqlite3_changes
#define sqlite3_clear_bindings probity_sqlite.sqlite3_clear_bindings
#define sqlite3_close probity_sqlite.sqlite3_close
#define sqlite3_close_v2 probity_sqlite.sqlite3_close_v2
#define sqlite3_column_blob probity_sqlite.sqlite3_column_blob
#define sqlite3_column_bytes probity_sqlite.sqlite3_column_bytes
#define sqlite3_column_count probity_sqlite.sqlite3_column_count
#define sqlite3_column_double probity_sqlite.sqlite3_column_double
#define sqlite3_column_int probity_sqlite.sqlite3_column_int
#define sqlite3_column_int64 probity_sqlite.sqlite3_column_int64
#define sqlite3_column_text probity_sqlite.sqlite3_column_text
#define sqlite3_column_type probity_sqlite.sqlite3_column_type
#define sqlite3_db_config probity_sqlite.sqlite3_db_config
#define sqlite3_db_handle probity_sqlite.sqlite3_db_handle
#define sqlite3_errcode probity_sqlite.sqlite3_errcode
#define sqlite3_errmsg probity_sqlite.sqlite3_errmsg
#define sqlite3_exec probity_sqlite.sqlite3_exec
#define sqlite3_extended_result_codes probity_sqlite.sqlite3_extended_result_codes
#define sqlite3_finalize probity_sqlite.sqlite3_finalize
#define sqlite3_get_autocommit probity_sqlite.sqlite3_get_autocommit
#define sqlite3_initialize probity_sqlite.sqlite3_initialize
#define sqlite3_last_insert_rowid probity_sqlite.sqlite3_last_insert_rowid
#define sqlite3_limit probity_sqlite.sqlite3_limit
#define sqlite3_open_v2 probity_sqlite.sqlite3_open_v2
#define sqlite3_prepare_v2 probity_sqlite.sqlite3_prepare_v2
#define sqlite3_reset probity_sqlite.sqlite3_reset
#define sqlite3_step probity_sqlite.sqlite3_step
#define sqlite3_system_errno probity_sqlite.sqlite3_system_errno
#define sqlite3_vfs_find probity_sqlite.sqlite3_vfs_find
#define sqlite3_vfs_register probity_sqlite.sqlite3_vfs_register
#define sqlite3_vfs_unregister probity_sqlite.sqlite3_vfs_unregister
#endif

#endif
