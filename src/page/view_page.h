/* SPDX-License-Identifier: MIT
 *
 * view_page.h: the page, view/dist/page.html, which view_page.S embeds in the tool.
 */
#ifndef PROBITY_PAGE_VIEW_PAGE_H
#define PROBITY_PAGE_VIEW_PAGE_H

/* Start and end of the page. */
extern const char probity_view_page[], probity_view_page_end[];

#endif
