/* SPDX-License-Identifier: MIT
 *
 * export_sqlite.h: internal interface of the SQLite exporter.
 */
#ifndef PROBITY_EXPORTS_SQLITE_EXPORT_SQLITE_H
#define PROBITY_EXPORTS_SQLITE_EXPORT_SQLITE_H

/* SQL that creates the tables and, once they are filled, indices and views. */
extern const char export_sqlite_tables[], export_sqlite_views[];

#endif
