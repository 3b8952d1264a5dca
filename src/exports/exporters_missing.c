/* SPDX-License-Identifier: MIT
 *
 * exporters_missing.c: stands in for the formats whose libraries the tool is built without
 * (-DPROBITY_WITHOUT_SQLITE, -DPROBITY_WITHOUT_PROTOBUF): the names of the formats remain, but
 * using them is an error. With -DPROBITY_WITHOUT_ANSWERS, it also replaces otlp_answer.c.
 */
#include "exports/export.h"
#include "exports/otlp/otlp_answer.h"

#ifdef PROBITY_WITHOUT_SQLITE

const struct probity_exporter probity_exporter_sqlite = {.name = "sqlite", .missing = "SQLite"};

#endif

#ifdef PROBITY_WITHOUT_PROTOBUF

const struct probity_exporter probity_exporter_pprof = {.name = "pprof", .missing = "protobuf-c"};
const struct probity_exporter probity_exporter_otlp = {.name = "otlp", .missing = "protobuf-c"};
const struct probity_exporter probity_exporter_otlp_json = {.name = "otlp-json",
                                                            .missing = "protobuf-c"};

#endif

#if defined(PROBITY_WITHOUT_PROTOBUF) || defined(PROBITY_WITHOUT_ANSWERS)

/* Without these formats nothing is sent, so there is no response. */
void otlp_answer_get(const char *bytes, size_t count, int is_json, struct otlp_answer *ret_answer)
{
    (void)bytes;
    (void)count;
    (void)is_json;
    *ret_answer = (struct otlp_answer){0};
}

#endif
