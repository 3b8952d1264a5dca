/* SPDX-License-Identifier: MIT
 *
 * hosts_print.h: how the clocks of several hosts were aligned (doc/hosts.md), as text and JSON.
 */
#ifndef PROBITY_ANSWERS_REPORT_HOSTS_PRINT_H
#define PROBITY_ANSWERS_REPORT_HOSTS_PRINT_H

#include <stdio.h>

#include "reader/reader.h"

enum { PROBITY_HOSTS_TEXT_BYTES = 512, PROBITY_HOST_NAME_BYTES = 80 };

/* Returns the name of a host, with its number if another host has the same name. Control characters
 * are replaced, and the name is truncated. */
const char *probity_host_name(const struct probity_hosts *hosts, uint32_t host,
                              char ret_name[PROBITY_HOST_NAME_BYTES]);

/* Return sentences about the clock of a host, and about a pair of linked hosts. */
const char *probity_hosts_text(const struct probity_hosts *hosts, uint32_t host,
                               char ret_text[PROBITY_HOSTS_TEXT_BYTES]);
const char *probity_hosts_pair_text(const struct probity_hosts *hosts,
                                    const struct probity_host_pair *pair,
                                    char ret_text[PROBITY_HOSTS_TEXT_BYTES]);

/* Prints the members "hosts" and "pairs" of a JSON object, without braces. Times are ns. Returns 0
 * or PROBITY_ERROR_MEMORY. */
int probity_hosts_json(FILE *stream, const struct probity_hosts *hosts);

#endif
