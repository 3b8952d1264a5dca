/* SPDX-License-Identifier: MIT
 *
 * view_open.h: opens a page in the browser. Only for view_command.c.
 */
#ifndef PROBITY_PAGE_VIEW_OPEN_H
#define PROBITY_PAGE_VIEW_OPEN_H

/* place: a file or an address. Reports errors. Returns an exit status. */
int view_open(const char *place);

#endif
