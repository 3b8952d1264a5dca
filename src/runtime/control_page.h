/* SPDX-License-Identifier: MIT
 *
 * control_page.h: the program's half of the control page: makes it, and waits for requests in a
 * separate thread.
 */
#ifndef PROBITY_RUNTIME_CONTROL_PAGE_H
#define PROBITY_RUNTIME_CONTROL_PAGE_H

/* Creates the page and the thread if PROBITY_CONTROL is set. In a constructor. If that fails,
 * prints a line on stderr, and the program continues without them. */
void probity_control_page_begin(void);

/* Removes the page's name. At exit. */
void probity_control_page_end(void);

#endif
