/* SPDX-License-Identifier: MIT
 *
 * tool/view_page.S: src/page/view_page.S for this system's object format.
 */
    .section .rdata, "dr"
    .global probity_view_page
probity_view_page:
    .incbin PAGE
    .global probity_view_page_end
probity_view_page_end:
    .byte 0
