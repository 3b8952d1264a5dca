/* SPDX-License-Identifier: MIT
 *
 * wake_page.h: asks a process to start recording through its control page; the tool's half of
 * doc/attach.md, "The control page". Never runs in a traced program.
 */
#ifndef PROBITY_WRITER_WAKE_PAGE_H
#define PROBITY_WRITER_WAKE_PAGE_H

#include "writer/wake_process.h"

/* As probity_wake_process(); PROBITY_WAKE_NO_LIBRARY if the process has no control page. */
enum probity_wake_refusal probity_wake_page(uint32_t pid, const char *settings,
                                            size_t settings_bytes, int64_t wait_ns,
                                            int *ret_error);

#endif
