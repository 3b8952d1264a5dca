/* SPDX-License-Identifier: MIT
 *
 * child.h: replaces the recording's memory in a forked child. A signal handler that interrupted a
 * probe may fork, and the child returns into the probe: the memory that the probe reads must exist
 * there, and its stores must not reach the parent's records.
 */
#ifndef PROBITY_RUNTIME_CHILD_H
#define PROBITY_RUNTIME_CHILD_H

#include <stddef.h>

/* Adds a segment of this process's recording, which a child does not inherit, to a list. Call with
 * the session's lock held. */
void probity_child_note(void *segment, size_t bytes);

/* Discards the list of segments: other memory, which children inherit, has replaced them. */
void probity_child_forget(void);

/* Call once. Children of fork() get private memory at the addresses of the segments, and a copy of
 * the state that the forking thread is using. Children of a raw clone do not. */
void probity_child_prepare(void);

#endif
