/* SPDX-License-Identifier: MIT
 *
 * verify.c: reads the files that a dead victim left, using the tool's reader, check and recover,
 * and compares each record with the script: it must be the next one of its stream, occur once, and
 * have all of its values.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "death/death.h"
#include "format/stream.h"
#include "probity_typed.h"
#include "programs/hits.h"
#include "reader/reader.h"
#include "writer/recover.h"

enum { KINDS = 8, TRACES_MAX = 64, NAME_BYTES = 256 };

struct verifier {
    struct death_tally *tally;
    uint64_t next[DEATH_THREADS][DEATH_LEVELS]; /* position in the script */
    uint64_t calls[2];                          /* profile mode: outer, plain */
    uint64_t faults, records;
    int flags;
    uint32_t position[KINDS], per_unit;
};

/* A position in the script. */
struct place {
    uint32_t thread, level;
    uint32_t kind;   /* an enum death_kind */
    uint64_t number; /* of the unit; UINT64_MAX if not in the record */
    uint64_t mask;   /* the bits of the number that the record has */
};

static void fault(struct verifier *verifier, uint64_t *counter, uint64_t count, const char *what,
                  const struct place *place)
{
    *counter += count;
    verifier->faults++;
    fprintf(stderr, "%s: %llu, thread %u level %u kind %u number %llu\n", what,
            (unsigned long long)count, place->thread, place->level, place->kind,
            (unsigned long long)place->number);
}

/* Returns the number that the script gives to all records of a unit. */
static int take_number(uint64_t a, struct place *place)
{
    place->level = (uint32_t)(a >> 56);
    place->thread = (uint32_t)(a >> 48) & 255;
    place->number = a & ((UINT64_C(1) << 48) - 1);
    place->mask = UINT64_MAX;
    return place->level < DEATH_LEVELS && place->thread < DEATH_THREADS;
}

static int take_hit(const struct probity_event *event, struct place *place)
{
    uint32_t stream = (event->id & 0x7fffffff) >> DEATH_SEQUENCE_BITS;

    place->kind = event->id >> 31 ? DEATH_WIDE : DEATH_HIT;
    place->thread = stream / DEATH_LEVELS;
    place->level = stream % DEATH_LEVELS;
    place->number = event->id & HITS_SEQUENCE_MASK;
    place->mask = HITS_SEQUENCE_MASK;
    return !event->is_site && place->thread < DEATH_THREADS;
}

static int take_typed(const struct probity_event *event, struct place *place)
{
    place->kind = DEATH_TYPED;
    return take_number(event->correlation, place) && event->has_correlation && event->has_object &&
           event->object == ~event->correlation && event->id == 7 && !event->is_site &&
           event->role == PROBITY_ROLE_QUEUE_PUT;
}

/* Returns whether this is the text for the unit's number (see victim.c). */
static int is_text(const uint8_t *at, size_t bytes, uint64_t number)
{
    static const char *const texts[] = {"", "some text",
                                        "a text that takes more words than the other", NULL};
    const char *text = texts[number % 4];

    if (bytes < 2)
        return 0;
    uint32_t length = probity_get_u16(at);
    if (text == NULL)
        return length == 0xffff && bytes == 2;
    return length == strlen(text) && bytes == 2 + length && memcmp(at + 2, text, length) == 0;
}

static int take_scope(const struct probity_event *event, struct place *place)
{
    int is_enter = event->kind == PROBITY_EVENT_ENTER;
    const char *name = event->function != NULL ? event->function->name : "";
    const uint8_t *at = event->values;

    if (strncmp(name, "plain_", 6) == 0) {
        place->kind = is_enter ? DEATH_PLAIN_ENTER : DEATH_PLAIN_LEAVE;
        place->level = (uint32_t)(name[6] - '0');
        place->number = UINT64_MAX;
        place->mask = 0;
        for (place->thread = 0; place->thread < DEATH_THREADS; place->thread++) {
            if (death_truth->thread[place->thread].tid == event->tid)
                return place->level < DEATH_LEVELS;
        }
        return 0;
    }
    place->kind = is_enter ? DEATH_ENTER : DEATH_LEAVE;
    if (strcmp(name, "outer") != 0 || event->format == NULL || event->value_bytes < 8)
        return 0;
    uint64_t a = probity_get_u64(at);
    if (!is_enter)
        return take_number(a * UINT64_C(0xaaaaaaaaaaaaaaab), place) && event->value_bytes == 8;
    return take_number(a, place) && event->value_bytes >= 16 && probity_get_u64(at + 8) == ~a &&
           is_text(at + 16, event->value_bytes - 16, place->number);
}

static int take_message(const struct probity_event *event, struct place *place)
{
    const uint8_t *at = event->values;

    place->kind = DEATH_MESSAGE;
    return event->format != NULL && event->value_bytes == 16 &&
           take_number(probity_get_u64(at), place) &&
           probity_get_u64(at + 8) == ~probity_get_u64(at);
}

/* Returns how many records of this stream from `first` up to `end` were not abandoned by a jump. */
static uint64_t really_lost(const struct verifier *verifier, const struct place *place,
                            uint64_t first, uint64_t end)
{
    uint64_t lost = end - first;

    for (uint32_t i = 0; (verifier->flags & DEATH_JUMPS) && lost > 0 &&
         i < death_truth->jumps; i++) {
        const struct death_jumped *jumped = &death_truth->jumped[i];
        lost -= jumped->thread == place->thread && jumped->level == place->level &&
                jumped->index >= first && jumped->index < end;
    }
    return (verifier->flags & DEATH_HANDLERS_LATE) && place->level > 0 ? 0 : lost;
}

/* Checks that a record is the next one in its stream's script. */
static void count_record(struct verifier *verifier, const struct place *place)
{
    uint64_t *next = &verifier->next[place->thread][place->level];
    const struct death_stream *stream = &death_truth->thread[place->thread].level[place->level];
    uint32_t position = verifier->position[__builtin_ctz(place->kind)];
    uint64_t unit = *next / verifier->per_unit + (*next % verifier->per_unit > position);
    uint64_t ahead = (place->number - unit) & place->mask;

    if (ahead > place->mask / 2) {
        fault(verifier, &verifier->tally->duplicated, 1, "duplicated", place);
        return;
    }
    uint64_t index = (unit + ahead) * verifier->per_unit + position;
    if (index >= stream->begun) {
        fault(verifier, &verifier->tally->invented, 1, "invented", place);
        return;
    }
    uint64_t lost = really_lost(verifier, place, *next, index);
    if (lost > 0)
        fault(verifier, &verifier->tally->lost, lost, "lost before this one", place);
    *next = index + 1;
    verifier->records++;
}

static void take_event(struct verifier *verifier, const struct probity_event *event)
{
    struct place place = {0};
    int is_whole;

    switch (event->kind) {
    case PROBITY_EVENT_HIT:
        is_whole = event->has_correlation ? take_typed(event, &place) : take_hit(event, &place);
        break;
    case PROBITY_EVENT_ENTER:
    case PROBITY_EVENT_LEAVE: is_whole = take_scope(event, &place); break;
    case PROBITY_EVENT_MESSAGE: is_whole = take_message(event, &place); break;
    default: return;
    }
    if (!is_whole || (death_truth->kinds & place.kind) == 0 ||
        death_truth->thread[place.thread].tid != event->tid ||
        death_truth->thread[place.thread].pid != event->pid)
        fault(verifier, &verifier->tally->torn, 1, "torn", &place);
    else
        count_record(verifier, &place);
}

static int take_profiled(void *context, const struct probity_profiled *profiled)
{
    struct verifier *verifier = context;
    const char *name = profiled->function != NULL ? profiled->function->name : "";

    verifier->calls[strncmp(name, "plain_", 6) == 0] += profiled->calls - profiled->open;
    return 0;
}

static void read_trace(struct verifier *verifier, const char *path)
{
    struct probity_reader *reader;
    const struct probity_event *event;
    int got;

    /* A victim that died before it created a trace has recorded nothing; the counts must agree. */
    if (probity_reader_open(&path, 1, NULL, NULL, &reader) != 0)
        return;
    while ((got = probity_reader_next(reader, &event)) > 0)
        take_event(verifier, event);
    if (got == 0)
        got = probity_reader_profile(reader, 0, take_profiled, verifier);
    const struct probity_trace_facts *facts = probity_reader_facts(reader, 0);
    if (got < 0 || probity_trace_is_damaged(facts) || facts->late_records_unordered > 0) {
        fprintf(stderr, "%s: reader says %d, damages %llu\n", path, got,
                (unsigned long long)facts->damages);
        verifier->tally->unclean++;
        verifier->faults++;
    }
    probity_reader_close(reader);
}

/* Returns how many of the first `records` records of a stream are of this kind, at `position`. */
static uint64_t of_kind(const struct verifier *verifier, uint64_t records, uint32_t kind)
{
    uint32_t position = verifier->position[__builtin_ctz(kind)];

    return (death_truth->kinds & kind)
               ? (records + verifier->per_unit - 1 - position) / verifier->per_unit
               : 0;
}

/* Profile mode counts only calls that have returned. */
static void compare_calls(struct verifier *verifier, int flags)
{
    static const uint32_t leaves[] = {DEATH_LEAVE, DEATH_PLAIN_LEAVE};

    for (int i = 0; i < 2; i++) {
        uint64_t least = 0, most = 0;
        for (uint32_t t = 0; t < DEATH_THREADS * DEATH_LEVELS; t++) {
            const struct death_stream *stream =
                &death_truth->thread[t / DEATH_LEVELS].level[t % DEATH_LEVELS];
            if ((flags & DEATH_HANDLERS_LATE) == 0 || t % DEATH_LEVELS == 0)
                least += of_kind(verifier, stream->finished, leaves[i]);
            most += of_kind(verifier, stream->begun, leaves[i]);
        }
        const struct place place = {0, 0, leaves[i], verifier->calls[i], 0};
        verifier->tally->written += least;
        verifier->tally->found += verifier->calls[i];
        if (verifier->calls[i] < least)
            fault(verifier, &verifier->tally->lost, least - verifier->calls[i], "calls lost",
                  &place);
        if (verifier->calls[i] > most)
            fault(verifier, &verifier->tally->invented, verifier->calls[i] - most,
                  "calls invented", &place);
    }
}

static void compare_counts(struct verifier *verifier, int flags)
{
    for (uint32_t thread = 0; thread < DEATH_THREADS; thread++) {
        for (uint32_t level = 0; level < DEATH_LEVELS; level++) {
            const struct death_stream *stream = &death_truth->thread[thread].level[level];
            const struct place place = {thread, level, 0, stream->finished, 0};
            uint64_t wanted = (flags & DEATH_EXACT) ? stream->begun : stream->finished;
            uint64_t next = verifier->next[thread][level];
            uint64_t lost = next < wanted ? really_lost(verifier, &place, next, wanted) : 0;
            verifier->tally->written += stream->finished;
            if (lost > 0)
                fault(verifier, &verifier->tally->lost, lost, "lost at the end", &place);
        }
    }
    verifier->tally->found += verifier->records;
}

static void verifier_init(struct verifier *verifier, struct death_tally *tally)
{
    memset(verifier, 0, sizeof *verifier);
    verifier->tally = tally;
    for (uint32_t i = 0; i < KINDS; i++) {
        verifier->position[i] = verifier->per_unit;
        verifier->per_unit += death_truth->kinds >> i & 1;
    }
}

/* Finds the files in the working directory whose names start with "trace". Returns their number. */
static uint32_t find_traces(char names[TRACES_MAX][NAME_BYTES])
{
    DIR *list = opendir(".");
    struct dirent *entry;
    uint32_t count = 0;

    while (list != NULL && count < TRACES_MAX && (entry = readdir(list)) != NULL) {
        if (strncmp(entry->d_name, "trace", 5) == 0)
            snprintf(names[count++], NAME_BYTES, "%s", entry->d_name);
    }
    closedir(list);
    return count;
}

static uint64_t read_all(struct verifier *verifier, int flags)
{
    static char names[TRACES_MAX][NAME_BYTES];
    uint32_t count = find_traces(names);

    verifier->flags = flags;
    for (uint32_t i = 0; i < count; i++)
        read_trace(verifier, names[i]);
    if (death_truth->is_profile)
        compare_calls(verifier, flags);
    else
        compare_counts(verifier, flags);
    return verifier->faults;
}

uint64_t death_verify_read(struct death_tally *tally, int flags)
{
    struct verifier verifier;

    verifier_init(&verifier, tally);
    return read_all(&verifier, flags);
}

static void unclean(struct verifier *verifier, const char *path, const char *what, int64_t number)
{
    fprintf(stderr, "%s: %s (%lld)\n", path, what, (long long)number);
    verifier->tally->unclean++;
    verifier->faults++;
}

static void report_fault(void *context, uint64_t offset, const char *text)
{
    (void)context;
    fprintf(stderr, "check, at %llu: %s\n", (unsigned long long)offset, text);
}

/* Returns whether the file is long enough for a trace and recording had begun; the process may die
 * before the spool has a name. */
static int is_trace(const char *path)
{
    struct probity_reader *reader;

    if (probity_reader_open(&path, 1, NULL, NULL, &reader) != 0)
        return 0;
    const struct probity_trace_facts *facts = probity_reader_facts(reader, 0);
    int has_begun = facts->state != PROBITY_TRACE_UNFINISHED || facts->data_blocks > 0;
    probity_reader_close(reader);
    return has_begun;
}

static void check(struct verifier *verifier, const char *path, int is_closed)
{
    struct probity_check_listener listener = {.report = report_fault};
    struct probity_check_result result;
    int error = probity_check_file(path, &listener, &result);

    if (error != 0)
        unclean(verifier, path, "check ended with", error);
    else if (result.faults > 0)
        unclean(verifier, path, "faults", (int64_t)result.faults);
    else if (is_closed && (!result.has_end || result.cut_bytes > 0))
        unclean(verifier, path, "not closed", result.has_end);
}

static void recover(struct verifier *verifier, const char *path)
{
    struct probity_recover_result result;
    int error = probity_recover(path, 0, &result);

    if (error != 0)
        unclean(verifier, path, "recover ended with", error);
    check(verifier, path, 1);
    error = probity_recover(path, 0, &result);
    if (error != 0 || !result.was_closed)
        unclean(verifier, path, "a second recover ended with", error);
}

static void find_leftovers(struct verifier *verifier)
{
    DIR *list = opendir(getenv("PROBITY_SPOOL_DIR"));
    struct dirent *entry;

    while (list != NULL && (entry = readdir(list)) != NULL) {
        if (entry->d_name[0] != '.')
            unclean(verifier, entry->d_name, "is left of a spool", 0);
    }
    closedir(list);
}

uint64_t death_verify(struct death_tally *tally, int flags)
{
    static char names[TRACES_MAX][NAME_BYTES];
    uint32_t count = find_traces(names);
    struct death_tally unused = {0};
    struct verifier before, after;

    tally->deaths++;
    tally->jumped += death_truth->jumps;
    tally->signals += death_truth->handled + death_truth->nested;
    verifier_init(&before, tally);
    read_all(&before, flags);
    verifier_init(&after, tally);
    for (uint32_t i = 0; i < count; i++) {
        if (!is_trace(names[i]))
            continue;
        check(&after, names[i], 0);
        recover(&after, names[i]);
    }
    find_leftovers(&after);
    after.tally = &unused;
    read_all(&after, flags);
    after.tally = tally;
    if (memcmp(before.next, after.next, sizeof after.next) != 0 ||
        memcmp(before.calls, after.calls, sizeof after.calls) != 0)
        unclean(&after, names[0], "recover changed what is found", 0);
    return before.faults + after.faults;
}

static void empty(const char *directory, const char *prefix)
{
    DIR *list = opendir(directory);
    struct dirent *entry;

    while (list != NULL && (entry = readdir(list)) != NULL) {
        if (entry->d_name[0] != '.' && strncmp(entry->d_name, prefix, strlen(prefix)) == 0)
            unlinkat(dirfd(list), entry->d_name, 0);
    }
    closedir(list);
}

void death_clean(void)
{
    empty(".", "trace");
    empty(getenv("PROBITY_SPOOL_DIR"), "");
}

void death_print(const char *what, const struct death_tally *tally)
{
    printf("%s: %llu deaths, %llu written, %llu found, %llu lost, %llu torn, %llu invented, "
           "%llu duplicated, %llu unclean\n",
           what, (unsigned long long)tally->deaths, (unsigned long long)tally->written,
           (unsigned long long)tally->found, (unsigned long long)tally->lost,
           (unsigned long long)tally->torn, (unsigned long long)tally->invented,
           (unsigned long long)tally->duplicated, (unsigned long long)tally->unclean);
}
