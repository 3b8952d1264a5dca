/* SPDX-License-Identifier: MIT
 *
 * control_page.h: the file through which a process that may not write to a program's memory starts
 * a recording in it (doc/attach.md, "The control page"): the layout for both sides. The file is in
 * the user's spool directory, for that user only, and exists while the program runs under
 * PROBITY_CONTROL=1.
 */
#ifndef PROBITY_SPOOL_CONTROL_PAGE_H
#define PROBITY_SPOOL_CONTROL_PAGE_H

#include <stddef.h>
#include <stdint.h>

#include "spool/wake.h"

#define PROBITY_CONTROL_PAGE_MAGIC "PBCTRL01"
#define PROBITY_CONTROL_PAGE_SUFFIX ".control"

enum {
    PROBITY_CONTROL_PAGE_VERSION = 1,
    PROBITY_CONTROL_PAGE_LOCK_PROGRAM = 0, /* byte that the program locks while it runs */
    PROBITY_CONTROL_PAGE_LOCK_TOOL = 1     /* byte that a tool locks for a request */
};

struct probity_control_page {
    struct probity_wake wake; /* without addresses; with this magic and version */
    uint8_t boot[16];
    uint32_t pid, unused; /* in the program's PID namespace */
    uint64_t process_start;
    uint8_t reserved[4000];
    char text[PROBITY_WAKE_TEXT_BYTES];
};

_Static_assert(offsetof(struct probity_control_page, boot) == 64, "doc/attach.md");
_Static_assert(offsetof(struct probity_control_page, text) == 4096, "doc/attach.md");
_Static_assert(sizeof(struct probity_control_page) == 12288, "doc/attach.md");

#endif
