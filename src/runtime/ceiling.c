/* SPDX-License-Identifier: MIT
 *
 * ceiling.c: a killed program leaves a spool until its trace is recovered. A program that starts
 * recording adds up the existing spools, and uses less memory, or does not record, before memory is
 * exhausted. Runs when a recording starts, before the spool is created; never on a probe's path.
 */
#include "runtime/ceiling.h"

#include <stdio.h>

#include "base/assert.h"
#include "runtime/session_messages.h"
#include "spool/usage.h"

enum { CHUNKS_MIN = 8 };
#define DEFAULT_MAX (UINT64_C(1) << 30)

/* Counts all pages that a segment can grow to. */
static uint64_t segment_bytes(uint64_t chunks, uint64_t words)
{
    probity_assert(chunks > 0 && words > 0);
    return PROBITY_SPOOL_HEADER_BYTES + chunks * (words * 8 + sizeof(struct probity_chunk_header));
}

uint64_t probity_ceiling_share(uint64_t total, uint64_t used)
{
    uint64_t left = total > used ? total - used : 0;

    /* Once half of the total is used, each program gets less than the previous one, so that many
     * more can record. */
    return used < total / 2 ? left : left / 4;
}

int probity_ceiling_fit(struct probity_settings *settings, uint64_t bytes)
{
    uint64_t words = settings->chunk_words, chunks = settings->segment_chunks;

    probity_assert(probity_chunk_words_is_valid(settings->chunk_words));
    if (segment_bytes(chunks, words) > bytes) {
        while (words > PROBITY_CHUNK_WORDS_MIN && segment_bytes(CHUNKS_MIN, words) > bytes)
            words /= 2;
        while (chunks > CHUNKS_MIN && segment_bytes(chunks, words) > bytes)
            chunks = chunks / 2 > CHUNKS_MIN ? chunks / 2 : CHUNKS_MIN;
        if (segment_bytes(chunks, words) > bytes)
            return PROBITY_ERROR_LIMIT;
    }
    int is_smaller = words < settings->chunk_words || chunks < settings->segment_chunks;
    uint64_t segments = bytes / segment_bytes(chunks, words);
    settings->chunk_words = (uint32_t)words;
    settings->segment_chunks = (uint32_t)chunks;
    if (segments < settings->segments_max)
        settings->segments_max = (uint32_t)segments;
    probity_assert(probity_chunk_words_is_valid(settings->chunk_words));
    probity_assert(settings->segments_max > 0);
    return is_smaller;
}

static void say(const char *directory, uint64_t total, uint64_t used, uint64_t kept)
{
    char text[640], what[64] = "not recording";

    if (kept > 0)
        snprintf(what, sizeof what, "recording with only %llu KiB", (unsigned long long)kept >> 10);
    snprintf(text, sizeof text, "spools in '%.300s' use %llu of the %llu KiB allowed by "
             "PROBITY_SPOOL_TOTAL: %s; see `probity spools`", directory,
             (unsigned long long)used >> 10, (unsigned long long)total >> 10, what);
    probity_session_say_once(text);
}

static uint64_t total_of(const struct probity_settings *settings, uint64_t system_bytes)
{
    uint64_t half = system_bytes / 2;

    if (settings->has_spool_total)
        return settings->spool_total;
    return half == 0 || half > DEFAULT_MAX ? DEFAULT_MAX : half;
}

/* Returns whether the spool would fit even if all used space on the file system were spools; if so,
 * the files need not be examined. */
static int fits_anyway(const struct probity_settings *settings, uint64_t total, uint64_t used)
{
    uint64_t most = settings->segments_max * segment_bytes(settings->segment_chunks,
                                                           settings->chunk_words);

    return most <= probity_ceiling_share(total, used);
}

int probity_ceiling_apply(struct probity_session *session, const char *directory, void *buffer,
                          size_t room)
{
    struct probity_settings *settings = &session->settings;
    uint64_t system_bytes, used, total;

    if ((settings->has_spool_total && settings->spool_total == 0) ||
        probity_usage_of_system(directory, &system_bytes, &used) != 0)
        return 0;
    total = total_of(settings, system_bytes);
    /* The file system is too small for any spool: existing spools are not the cause. */
    if (!settings->has_spool_total && total < segment_bytes(CHUNKS_MIN, PROBITY_CHUNK_WORDS_MIN))
        return 0;
    if (fits_anyway(settings, total, used) ||
        probity_usage_of_files(directory, buffer, room, &used) != 0)
        return 0;
    int result = probity_ceiling_fit(settings, probity_ceiling_share(total, used));
    if (result != 0)
        say(directory, total, used,
            result > 0 ? segment_bytes(settings->segment_chunks, settings->chunk_words) : 0);
    return result < 0 ? result : 0;
}
