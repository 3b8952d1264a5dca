/* SPDX-License-Identifier: MIT
 *
 * view_page.h: the page that view/ makes, as view_page.S puts it into the tool.
 */
#ifndef PROBITY_OUTPUT_VIEW_PAGE_H
#define PROBITY_OUTPUT_VIEW_PAGE_H

/* From the one up to the other; nothing in between where the tool was built without it. */
extern const char probity_view_page[], probity_view_page_end[];

#endif
