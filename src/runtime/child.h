/* SPDX-License-Identifier: MIT
 *
 * child.h: what a forked child finds in the place of the recording. A signal handler that
 * interrupted a probe may fork, and the child returns into the probe: what that reads must be
 * there, and its stores must go somewhere, and not into its parent's records.
 */
#ifndef PROBITY_RUNTIME_CHILD_H
#define PROBITY_RUNTIME_CHILD_H

#include <stddef.h>

/* A segment of this process's recording, which a child does not inherit. The session's lock held.
 */
void probity_child_note(void *segment, size_t bytes);

/* The segments noted so far have other memory in their place, which children inherit. */
void probity_child_forget(void);

/* To be called once: children of fork() get memory of their own at the addresses of the segments,
 * and a copy of what the forking thread is at work with. Those of a raw clone do not. */
void probity_child_prepare(void);

#endif
