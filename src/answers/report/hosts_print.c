/* SPDX-License-Identifier: MIT
 *
 * hosts_print.c: prints offsets, drifts and errors of hosts as text and JSON.
 */
#include "answers/report/hosts_print.h"

#include <inttypes.h>
#include <string.h>

#include "print/json.h"
#include "print/text.h"
#include "print/time_text.h"

const char *probity_host_name(const struct probity_hosts *hosts, uint32_t host,
                              char ret_name[PROBITY_HOST_NAME_BYTES])
{
    const char *name = hosts->hosts[host].name;
    int is_shared = name[0] == '\0';

    for (uint32_t i = 0; i < hosts->count; i++)
        is_shared |= i != host && strcmp(hosts->hosts[i].name, name) == 0;
    /* Escapes the name, which may contain anything, and does not split characters. */
    char *end = probity_text_put(ret_name, ret_name + 60, name, strlen(name), 0);
    end = ret_name + probity_text_whole(ret_name, (size_t)(end - ret_name));
    if (is_shared)
        snprintf(end, PROBITY_HOST_NAME_BYTES - 60, "#%" PRIu32, host + 1);
    else
        *end = '\0';
    return ret_name;
}

/* Formats ", error at most 12.3us", or that the error is unknown. */
static const char *error_text(uint64_t error_ns, char *ret_text, size_t bytes)
{
    char time[PROBITY_TIME_TEXT_BYTES];

    if (error_ns == UINT64_MAX)
        snprintf(ret_text, bytes, ", error unknown (messages in one direction only)");
    else
        snprintf(ret_text, bytes, ", error at most %s", probity_time_text(error_ns, time));
    return ret_text;
}

static const char *offset_text(int64_t offset_ns, double drift_ppm, uint64_t error_ns,
                               char *ret_text, size_t bytes)
{
    uint64_t ahead = offset_ns < 0 ? 0 - (uint64_t)offset_ns : (uint64_t)offset_ns;
    char error[80];

    snprintf(ret_text, bytes, "%" PRIu64 ".%09" PRIu64 " s %s, drifts by %.2f ppm%s",
             ahead / 1000000000, ahead % 1000000000, offset_ns < 0 ? "behind" : "ahead", drift_ppm,
             error_text(error_ns, error, sizeof error));
    return ret_text;
}

const char *probity_hosts_text(const struct probity_hosts *hosts, uint32_t host,
                               char ret_text[PROBITY_HOSTS_TEXT_BYTES])
{
    const struct probity_host *facts = &hosts->hosts[host];
    char name[PROBITY_HOST_NAME_BYTES], reference[PROBITY_HOST_NAME_BYTES], offset[160];

    probity_host_name(hosts, host, name);
    probity_host_name(hosts, facts->reference, reference);
    if (facts->reference != host)
        snprintf(ret_text, PROBITY_HOSTS_TEXT_BYTES, "clock of %s aligned to %s: it was %s", name,
                 reference, offset_text(facts->offset_ns, facts->drift_ppm, facts->error_ns, offset,
                                        sizeof offset));
    else
        snprintf(ret_text, PROBITY_HOSTS_TEXT_BYTES, "clock of %s %s", name,
                 facts->is_linked ? "is the reference"
                                  : "not aligned: no usable messages link it to other hosts");
    return ret_text;
}

const char *probity_hosts_pair_text(const struct probity_hosts *hosts,
                                    const struct probity_host_pair *pair,
                                    char ret_text[PROBITY_HOSTS_TEXT_BYTES])
{
    char left[PROBITY_HOST_NAME_BYTES], right[PROBITY_HOST_NAME_BYTES], offset[160];
    const char *what = pair->is_by_requests ? "requests" : "messages";
    uint64_t start_ns = hosts->hosts[pair->left].first_ns;

    probity_host_name(hosts, pair->left, left);
    probity_host_name(hosts, pair->right, right);
    if (pair->state == PROBITY_PAIR_CONTRADICTORY)
        snprintf(ret_text, PROBITY_HOSTS_TEXT_BYTES,
                 "%s between %s and %s contradict each other after %.6f s and are not used: a "
                 "clock was set, or an id was used for two things", what, left, right,
                 (double)(int64_t)(pair->agree_until_ns - start_ns) / 1e9);
    else
        snprintf(ret_text, PROBITY_HOSTS_TEXT_BYTES, "%s to %s: %" PRIu64 " %s, and %" PRIu64
                 " back: %s is %s", left, right, pair->forward, what, pair->backward, right,
                 offset_text(pair->offset_ns, pair->drift_ppm, pair->error_ns, offset,
                             sizeof offset));
    return ret_text;
}

/* ---- JSON --------------------------------------------------------------------------------------
 */

static void put_figures(FILE *stream, int64_t offset_ns, double drift_ppm, uint64_t error_ns)
{
    fprintf(stream, ", \"offset_ns\": %" PRId64 ", \"drift_ppm\": %.6f, \"error_ns\": ", offset_ns,
            drift_ppm);
    if (error_ns == UINT64_MAX)
        fputs("null", stream);
    else
        fprintf(stream, "%" PRIu64, error_ns);
}

static int put_host(FILE *stream, const struct probity_hosts *hosts, uint32_t host)
{
    const struct probity_host *facts = &hosts->hosts[host];
    char name[PROBITY_HOST_NAME_BYTES];

    fprintf(stream, "%s  {\"host\": ", host > 0 ? ",\n" : "\n");
    int error = probity_json_put_text(stream, probity_host_name(hosts, host, name));
    fprintf(stream, ", \"reference\": %" PRIu32 ", \"linked\": %s", facts->reference,
            facts->is_linked ? "true" : "false");
    put_figures(stream, facts->offset_ns, facts->drift_ppm, facts->error_ns);
    fputc('}', stream);
    return error;
}

static void put_pair(FILE *stream, const struct probity_host_pair *pair)
{
    static const char *const states[] = {"", "bounded", "one-sided", "contradictory"};

    fprintf(stream, "{\"from\": %" PRIu32 ", \"to\": %" PRIu32 ", \"state\": \"%s\", "
            "\"by\": \"%s\", \"forward\": %" PRIu64 ", \"backward\": %" PRIu64, pair->left,
            pair->right, states[pair->state], pair->is_by_requests ? "requests" : "messages",
            pair->forward, pair->backward);
    put_figures(stream, pair->offset_ns, pair->drift_ppm, pair->error_ns);
    if (pair->state == PROBITY_PAIR_CONTRADICTORY)
        fprintf(stream, ", \"agree_until_ns\": %" PRIu64, pair->agree_until_ns);
    fputc('}', stream);
}

int probity_hosts_json(FILE *stream, const struct probity_hosts *hosts)
{
    int error = 0;

    fputs("\"hosts\": [", stream);
    for (uint32_t i = 0; error == 0 && i < hosts->count; i++)
        error = put_host(stream, hosts, i);
    fputs("],\n\"pairs\": [", stream);
    for (size_t i = 0; i < hosts->pair_count; i++) {
        fputs(i > 0 ? ",\n  " : "\n  ", stream);
        put_pair(stream, &hosts->pairs[i]);
    }
    fputs("]", stream);
    return error;
}
