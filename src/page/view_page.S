/* SPDX-License-Identifier: MIT
 *
 * view_page.S: the file PAGE as bytes in the tool.
 */
    .section .rodata
    .global probity_view_page
    .hidden probity_view_page
probity_view_page:
    .incbin PAGE
    .global probity_view_page_end
    .hidden probity_view_page_end
probity_view_page_end:
    .byte 0
    .section .note.GNU-stack, "", %progbits
