/* SPDX-License-Identifier: MIT
 *
 * change.h: settings that may change while a program records (`probity level --set`).
 */
#ifndef PROBITY_RUNTIME_CHANGE_H
#define PROBITY_RUNTIME_CHANGE_H

struct probity_session;

/* To be called when a recording with dumps is prepared: from then on its writer thread applies
 * "NAME=VALUE" settings, separated by line ends, all or none, or reports why not. Lock held. */
void probity_change_begin(struct probity_session *session);

#endif
