/* SPDX-License-Identifier: MIT
 *
 * control_page.h: the program's side of the control page: creates it, and waits for requests in a
 * separate thread.
 */
#ifndef PROBITY_RUNTIME_CONTROL_PAGE_H
#define PROBITY_RUNTIME_CONTROL_PAGE_H

/* Creates the page and the thread if PROBITY_CONTROL is set. On failure, prints a line on stderr,
 * and the program continues without them. Call in a constructor. */
void probity_control_page_begin(void);

/* Unlinks the page. Call at exit. */
void probity_control_page_end(void);

#endif
