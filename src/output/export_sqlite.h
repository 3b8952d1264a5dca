/* SPDX-License-Identifier: MIT
 *
 * export_sqlite.h: the parts of the exporter to SQLite.
 */
#ifndef PROBITY_OUTPUT_EXPORT_SQLITE_H
#define PROBITY_OUTPUT_EXPORT_SQLITE_H

/* SQL that makes the tables; and, when they are full, indices and views. */
extern const char export_sqlite_tables[], export_sqlite_views[];

#endif
