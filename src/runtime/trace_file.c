/* SPDX-License-Identifier: MIT
 *
 * trace_file.c: creates the trace, named by the template, with its first block.
 */
#include "runtime/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/cpu.h"
#include "base/objects.h"
#include "base/os.h"
#include "base/parent.h"
#include "runtime/session_messages.h"
#include "runtime/sites.h"
#include "spool/segment.h"
#include "writer/append.h"

enum {
    NAME_TRIES = 100,
    HELD_BYTES = 4096,
    BUILD_ID_BYTES_MAX = 64,
    COST_ROOM = PROBITY_BLOCK_HEADER_BYTES + PROBITY_COST_BYTES_MAX
};

/* A path being built, and whether it is too long. */
struct path {
    char *text;
    size_t room, length;
    int is_cut;
};

static void path_add(struct path *path, const char *text, size_t length)
{
    probity_assert(path->length < path->room);
    if (path->length + length >= path->room) {
        path->is_cut = 1;
        return;
    }
    memcpy(path->text + path->length, text, length);
    path->length += length;
    path->text[path->length] = 0;
    probity_assert(path->length < path->room);
}

static void path_add_number(struct path *path, uint32_t number)
{
    char digits[12];
    int length = snprintf(digits, sizeof digits, "%u", number);

    path_add(path, digits, (size_t)length);
}

/* Makes the path absolute: the program may change its directory before the writer opens the file
 * again. */
static void path_begin(struct path *path, const char *template)
{
    if (probity_os_is_absolute(template) || getcwd(path->text, path->room - 1) == NULL)
        return;
    path->length = strlen(path->text);
    path_add(path, "/", 1);
}

/* Keeps a copy: libc's name is in the argument list, which some programs overwrite with a
 * description of what the process does. */
const char *probity_trace_file_program(void)
{
    enum { NAME_BYTES = 256 };
    static char program[NAME_BYTES];
    const char *now = program_invocation_short_name;

    if (program[0] != 0)
        return program;
    for (size_t i = 0; now[i] != 0 && i < sizeof program - 1; i++)
        program[i] = (char)(now[i] != '/' ? now[i] : '_');
    return program;
}

/* Expands %p, %n and %%. Returns whether the result contains the process id. */
static int path_expand(struct path *path, const char *template, uint32_t pid)
{
    const char *program = probity_trace_file_program();
    int has_pid = 0;

    probity_assert(template[0] != 0);
    path_begin(path, template);
    for (const char *at = template; *at != 0; at++) {
        if (at[0] == '%' && at[1] == 'p') {
            path_add_number(path, pid);
            has_pid = 1;
            at++;
        } else if (at[0] == '%' && at[1] == 'n') {
            path_add(path, program, strlen(program));
            at++;
        } else {
            at += at[0] == '%' && at[1] == '%';
            path_add(path, at, 1);
        }
    }
    return has_pid;
}

static size_t extension_length(const struct path *path)
{
    const char *slash = strrchr(path->text, '/'), *dot = strrchr(path->text, '.');

    return dot != NULL && dot != path->text && (slash == NULL || dot > slash + 1)
               ? path->length - (size_t)(dot - path->text)
               : 0;
}

/* Turns x.probity into x.123.probity, then x.123.2.probity; without the process id (0),
 * x.2.probity. */
static void path_insert(struct path *path, char *extension, uint32_t pid, uint32_t number)
{
    size_t length = extension_length(path);

    probity_assert(length <= path->length);
    probity_assert(number != 0 || pid != 0);
    memcpy(extension, path->text + path->length - length, length);
    path->length -= length;
    if (pid != 0) {
        path_add(path, ".", 1);
        path_add_number(path, pid);
    }
    if (number > 1) {
        path_add(path, ".", 1);
        path_add_number(path, number);
    }
    path_add(path, extension, length);
}

static int is_csv(const struct path *path)
{
    return path->length > 4 && memcmp(path->text + path->length - 4, ".csv", 4) == 0;
}

/* Tries a name: that of the CSV file and that of its trace must both be free. ret_file: the one
 * that could not be opened, or that is not a regular file. */
static int try_names(struct probity_session *session, const struct path *path, int *ret_descriptor,
                     const char **ret_file)
{
    int overwrite = session->settings.overwrite, has_csv = is_csv(path);
    struct stat status;
    struct path trace = {session->trace_path, sizeof session->trace_path, 0, 0};

    session->csv_path[0] = 0;
    path_add(&trace, path->text, path->length);
    if (has_csv)
        path_add(&trace, ".probity", 8);
    if (path->is_cut || trace.is_cut)
        return PROBITY_ERROR_ARGUMENT;
    if (has_csv) {
        snprintf(session->csv_path, sizeof session->csv_path, "%s", path->text);
        int exists = lstat(session->csv_path, &status) == 0;
        if (exists && !S_ISREG(status.st_mode)) {
            *ret_file = session->csv_path;
            return PROBITY_ERROR_ARGUMENT;
        }
        if (exists && !overwrite)
            return PROBITY_ERROR_EXISTS;
    }
    if (overwrite && lstat(trace.text, &status) == 0 && S_ISREG(status.st_mode))
        unlink(trace.text);
    *ret_descriptor =
        open(trace.text, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (*ret_descriptor >= 0)
        return 0;
    int is_taken = errno == EEXIST;
    if (is_taken && (lstat(trace.text, &status) != 0 || S_ISREG(status.st_mode)))
        return PROBITY_ERROR_EXISTS;
    *ret_file = trace.text;
    return is_taken ? PROBITY_ERROR_ARGUMENT : PROBITY_ERROR_OPEN;
}

/* Returns whether `probity record` is running, and this program was not started by it but by the
 * program that it started: others may read its output. */
static int is_of_recorded(void)
{
    const char *recorder = probity_os_is_privileged() ? NULL : getenv("PROBITY_RECORDER");

    return recorder != NULL && strtol(recorder, NULL, 10) != (long)getppid();
}

static void print_name(struct probity_session *session)
{
    const char *path = session->csv_path[0] != 0 ? session->csv_path : session->trace_path;
    size_t room = sizeof session->scratch[1];
    int length = snprintf(session->scratch[1], room,
                          "probity: output exists; recording to %s instead\n", path);

    if (length > 0)
        probity_os_say(session->scratch[1], (size_t)length < room ? (size_t)length : room - 1);
}

/* Returns an FNV-1a hash. */
static uint64_t hash_of(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (; *text != 0; text++)
        hash = (hash ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
    return hash;
}

static void complain(const struct probity_session *session, int result, const char *file)
{
    const char *why = probity_error_text(result);

    if (result == PROBITY_ERROR_OPEN)
        why = strerror(errno);
    else if (file != NULL)
        why = "exists, and is a symbolic link or not a regular file";
    probity_session_complain(file != NULL ? file : session->scratch[0], why);
}

/* Tries the name without a number first. If this process has recorded under that name before,
 * continues with the number after the last one: the earlier files are its own and need no
 * warning. */
int probity_trace_file_make(struct probity_session *session, int is_child, int *ret_descriptor)
{
    char *text = session->scratch[0];
    uint64_t template = hash_of(session->settings.out);
    int is_first = session->names_template != template, result = PROBITY_ERROR_EXISTS;
    uint32_t number = 0, next = is_first ? 1 : session->names_number + 1;
    const char *file = NULL;
    int has_pid = 0;

    for (int try = 0; try < NAME_TRIES && result == PROBITY_ERROR_EXISTS; try++) {
        struct path path = {text, PROBITY_LIMIT_PATH, 0, 0};
        has_pid = path_expand(&path, session->settings.out, session->live.pid);
        if (path.length == 0) {
            result = PROBITY_ERROR_ARGUMENT;
            break;
        }
        number = try == 0 ? 0 : next++;
        if (number == 1 && (has_pid || is_child))
            number = next++; /* the same name as before */
        int is_pid_inserted = !has_pid && (number > 0 || is_child);
        if (!path.is_cut && (number > 0 || is_pid_inserted))
            path_insert(&path, session->scratch[1], is_pid_inserted ? session->live.pid : 0,
                        number);
        result = try_names(session, &path, ret_descriptor, &file);
    }
    /* With the process id: this process used the name before it called exec(). */
    if (result == 0 && number > 0 && is_first && !has_pid && !is_of_recorded())
        print_name(session);
    if (result != 0) {
        complain(session, result, file);
    } else {
        session->names_number = number > 0 || is_first ? number : session->names_number;
        session->names_template = template;
    }
    return result;
}

void probity_trace_file_hold(struct probity_session *session, int descriptor)
{
    void *at = mmap(NULL, HELD_BYTES, PROT_NONE, MAP_PRIVATE, descriptor, 0);

    probity_assert(descriptor >= 0);
    if (at != MAP_FAILED && madvise(at, HELD_BYTES, MADV_DONTFORK) != 0) {
        munmap(at, HELD_BYTES);
        at = MAP_FAILED;
    }
    session->held_trace = at != MAP_FAILED ? at : NULL;
}

void probity_trace_file_release(struct probity_session *session)
{
    if (session->held_trace != NULL)
        munmap(session->held_trace, HELD_BYTES);
    session->held_trace = NULL;
}

/* Reads the file's last name, to which the kernel appends a word if the file is removed. */
int probity_trace_file_is_removed(struct probity_session *session)
{
    static const char word[] = " (deleted)";
    uintptr_t at = (uintptr_t)session->held_trace;
    char link[64], *name = session->scratch[0];
    struct stat status;

    if (at == 0)
        return 0;
    snprintf(link, sizeof link, "/proc/self/map_files/%lx-%lx", (unsigned long)at,
             (unsigned long)at + HELD_BYTES);
    ssize_t length = readlink(link, name, sizeof session->scratch[0] - 1);
    if (length < (ssize_t)sizeof word)
        return 0;
    name[length] = 0;
    return strcmp(name + length - (sizeof word - 1), word) == 0 && lstat(name, &status) != 0;
}

int probity_trace_file_expand(struct probity_session *session, const char *template, int is_child,
                              char ret_path[PROBITY_LIMIT_PATH])
{
    struct path path = {ret_path, PROBITY_LIMIT_PATH, 0, 0};
    int has_pid = path_expand(&path, template, session->live.pid);

    if (is_child && !has_pid && !path.is_cut)
        path_insert(&path, session->scratch[1], session->live.pid, 1);
    return path.is_cut || path.length == 0 ? PROBITY_ERROR_ARGUMENT : 0;
}

/* Does the same as path_add(), with percent signs doubled. */
static void path_add_plain(struct path *path, const char *text)
{
    for (; *text != 0; text++) {
        if (*text == '%')
            path_add(path, "%", 1);
        path_add(path, text, 1);
    }
}

int probity_trace_file_expand_dump(struct probity_session *session, const char *template,
                                   char ret_path[PROBITY_LIMIT_PATH])
{
    struct path path = {ret_path, PROBITY_LIMIT_PATH, 0, 0};

    if (!probity_os_is_absolute(template) &&
        getcwd(session->scratch[1], sizeof session->scratch[1]) != NULL) {
        path_add_plain(&path, session->scratch[1]);
        path_add(&path, "/", 1);
    }
    for (const char *at = template; *at != 0; at++) {
        if (at[0] == '%' && at[1] == 'p')
            path_add_number(&path, session->live.pid);
        else if (at[0] == '%' && at[1] == 'n')
            path_add_plain(&path, probity_trace_file_program());
        else
            path_add(&path, at, at[0] == '%' ? 2 : 1); /* %i and %% stay */
        at += at[0] == '%';
    }
    return path.is_cut || path.length == 0 ? PROBITY_ERROR_ARGUMENT : 0;
}

enum { CPU_ROOM = 2048 };

/* Texts for the INFO block; too large for a small stack. The first ones are initially empty. */
struct facts {
    char build[2 * BUILD_ID_BYTES_MAX + 1], processors[12], cpu_error[12];
    struct utsname system;
    /* Program, command, directory and CPU one after another: usually, all are in one page. */
    char text[3 * PROBITY_LIMIT_PATH + CPU_ROOM];
    uint8_t bytes[PROBITY_FILE_HEADER_BYTES + PROBITY_BLOCK_HEADER_BYTES +
                  PROBITY_INFO_FIXED_BYTES + 8 * PROBITY_LIMIT_PATH + COST_ROOM];
};

_Static_assert(sizeof(struct facts) <= PROBITY_SESSION_WORK_BYTES, "fits");

static struct probity_text text_of(const char *text)
{
    return (struct probity_text){text[0] != 0 ? text : NULL, strlen(text)};
}

/* Reads the CPU's name. Before Linux 5.18, opening /proc/cpuinfo may take 10 ms, because the kernel
 * measures frequencies. */
static struct probity_text cpu_model(char *text, size_t room)
{
    probity_cpu_model(text);
    if (text[0] != 0)
        return text_of(text);
    long bytes = probity_os_read_file("/proc/cpuinfo", text, room - 1);

    text[bytes > 0 ? bytes : 0] = 0;
    const char *at = strstr(text, "model name");
    at = at != NULL ? strchr(at, ':') : NULL;
    if (at == NULL || at[1] != ' ')
        return (struct probity_text){NULL, 0};
    return (struct probity_text){at + 2, strcspn(at + 2, "\n")};
}

/* Stores the build id note; a second one, or one that is too long, is ignored. */
static void take_build_id(void *context, const struct probity_object *object, const uint8_t *note,
                          size_t bytes)
{
    static const char digits[] = "0123456789abcdef";
    char *text = context;

    (void)object;
    for (size_t i = 0; text[2 * i] == 0 && bytes <= BUILD_ID_BYTES_MAX && i < bytes; i++) {
        text[2 * i] = digits[note[i] >> 4];
        text[2 * i + 1] = digits[note[i] & 15];
    }
}

/* Identifies the build of a program. The text is initially all zeros. */
static struct probity_text build_id(char *text, size_t room)
{
    enum { GNU_BUILD_ID = 3 };
    struct probity_object executable;
    struct stat status;

    if (probity_object_executable(&executable) == 0)
        probity_object_notes(&executable, "GNU", GNU_BUILD_ID, take_build_id, text);
    if (text[0] == 0 && stat("/proc/self/exe", &status) == 0)
        snprintf(text, room, "size:%llu", (unsigned long long)status.st_size);
    return text_of(text);
}

static void run_fill(struct facts *facts, const struct probity_session *session,
                     struct probity_info *ret_info)
{
    uint32_t processors = probity_os_processors();

    ret_info->text[PROBITY_TAG_EXECUTABLE] = ret_info->text[PROBITY_TAG_PROGRAM];
    ret_info->text[PROBITY_TAG_BUILD] = build_id(facts->build, sizeof facts->build);
    if (processors > 0)
        snprintf(facts->processors, sizeof facts->processors, "%u", processors);
    ret_info->text[PROBITY_TAG_PROCESSORS] = text_of(facts->processors);
    ret_info->text[PROBITY_TAG_LABEL] = text_of(session->settings.label);
    if (PROBITY_CLOCK_CPU_ERROR() == 0 || !session->settings.cpu_time)
        return;
    snprintf(facts->cpu_error, sizeof facts->cpu_error, "%u", PROBITY_CLOCK_CPU_ERROR());
    ret_info->text[PROBITY_TAG_CPU_ERROR] = text_of(facts->cpu_error);
}

static void facts_fill(struct facts *facts, struct probity_session *session,
                       struct probity_info *ret_info)
{
    struct probity_text *text = ret_info->text;
    char *at = facts->text;
    long length = probity_os_program(at, PROBITY_LIMIT_PATH);

    at[length > 0 ? length : 0] = 0;
    text[PROBITY_TAG_PROGRAM] = text_of(at);
    at += length > 0 ? length + 1 : 1;
    long bytes = probity_os_command(at, PROBITY_LIMIT_PATH);
    if (bytes > 0) {
        text[PROBITY_TAG_COMMAND] = (struct probity_text){at, (size_t)bytes};
        at += bytes;
    }
    if (getcwd(at, PROBITY_LIMIT_PATH) != NULL) {
        text[PROBITY_TAG_DIRECTORY] = text_of(at);
        at += strlen(at) + 1;
    }
    text[PROBITY_TAG_CPU] = cpu_model(at, CPU_ROOM);
    if (uname(&facts->system) == 0) {
        text[PROBITY_TAG_HOST] = text_of(facts->system.nodename);
        text[PROBITY_TAG_KERNEL] = text_of(facts->system.release);
    }
    text[PROBITY_TAG_SPOOL] = text_of(session->spool_path);
    text[PROBITY_TAG_LIBRARY] = text_of(probity_version());
    text[PROBITY_TAG_CSV] = text_of(session->csv_path);
    run_fill(facts, session, ret_info);
}

static void info_fill(struct probity_session *session, struct probity_info *ret_info)
{
    struct probity_live *live = &session->live;
    const struct probity_clock_moment *first = &live->first;

    probity_assert(live->header->rate != 0);
    memcpy(ret_info->session, session->id, 16);
    memcpy(ret_info->boot, live->header->boot, 16);
    ret_info->pid = live->pid;
    ret_info->parent_pid = (uint32_t)getppid();
    ret_info->process_start = live->header->process_start;
    ret_info->clock = live->clock & PROBITY_CLOCK_KIND;
    ret_info->flags = (session->settings.cpu_time ? PROBITY_INFO_CPU_TIME : 0) |
                      (session->settings.wall_time ? PROBITY_INFO_WALL_TIME : 0) |
                      (session->settings.profile ? PROBITY_INFO_PROFILE : 0) |
                      (session->marks_start ? PROBITY_INFO_MARKS_START : 0) |
                      (probity_clock_is_inline(live->clock) ? 0 : PROBITY_INFO_ORDERED);
    ret_info->rate = live->header->rate;
    ret_info->anchor = (struct probity_anchor){first->ticks, first->raw_ns, first->monotonic_ns,
                                               first->realtime_ns, first->width_ns};
    ret_info->mode = live->mode - PROBITY_MODE_BLOCK;
    ret_info->chunk_words = live->pool.chunk_words;
    ret_info->gap_ticks = session->gap_ticks;
    ret_info->cpu_clock_ns =
        (uint32_t)(session->cpu_cost_ticks * live->header->rate >> 32);
}

/* Follows INFO in the same write: a trace has both or neither. */
static size_t cost_put(const struct probity_session *session, uint8_t *block)
{
    probity_assert(session->cost.rows <= PROBITY_COST_ROWS_MAX);
    if (session->cost.rows == 0)
        return 0;
    uint32_t bytes = probity_cost_put(block + PROBITY_BLOCK_HEADER_BYTES, &session->cost);
    probity_block_seal(block, PROBITY_BLOCK_COST, 1, bytes);
    return PROBITY_BLOCK_HEADER_BYTES + bytes;
}

static struct probity_sites_part *next_sites(struct probity_sites_part *part, uint64_t *blocks)
{
    struct probity_sites_part *next = probity_sites_next(part);

    if (next == NULL)
        return NULL;
    probity_assert(next->rows > 0 && next->payload_bytes <= PROBITY_LIMIT_BATCH_BYTES);
    probity_block_seal(next->block, PROBITY_BLOCK_SITES, (*blocks)++, next->payload_bytes);
    return next;
}

/* Writes `used` bytes of the buffer, then all sites listed so far: in the same write if they
 * fit. */
static int sites_append(struct probity_session *session, struct probity_append *append,
                        uint8_t *buffer, size_t used, size_t room, uint64_t *blocks)
{
    struct probity_sites_part *part = NULL, *next;
    int result = 0;

    while (result == 0 && (next = next_sites(part, blocks)) != NULL) {
        size_t bytes = PROBITY_BLOCK_HEADER_BYTES + next->payload_bytes;
        part = next;
        if (used > 0 && bytes <= room - used) {
            memcpy(buffer + used, part->block, bytes);
            used += bytes;
            continue;
        }
        if (used > 0)
            result = probity_append_bytes(append, buffer, used);
        used = 0;
        if (result == 0)
            result = probity_append_bytes(append, part->block, bytes);
    }
    session->sites = part;
    return result == 0 && used > 0 ? probity_append_bytes(append, buffer, used) : result;
}

/* While the lock is held, no tool treats the program as dead before its spool has a name. */
static int lock_start(int descriptor)
{
    return probity_segment_lock(descriptor, 0) == 0;
}

int probity_trace_file_begin(struct probity_session *session, int descriptor, uint64_t *ret_bytes,
                             uint64_t *ret_blocks)
{
    uint64_t blocks = 1 + (session->cost.rows > 0);
    struct probity_append append = {.descriptor = descriptor};
    struct probity_info info = {0};
    struct facts *facts = session->work;

    memset(facts, 0, offsetof(struct facts, system));
    uint8_t *block = facts->bytes + PROBITY_FILE_HEADER_BYTES;
    uint8_t *payload = block + PROBITY_BLOCK_HEADER_BYTES;
    session->marks_start = lock_start(descriptor);
    facts_fill(facts, session, &info);
    info_fill(session, &info);
    size_t room = sizeof facts->bytes - (size_t)(payload - facts->bytes) - COST_ROOM;
    size_t used = probity_info_put(payload, room, &info);
    probity_assert(used >= PROBITY_INFO_FIXED_BYTES && used <= room);
    probity_file_header_put(facts->bytes);
    probity_block_seal(block, PROBITY_BLOCK_INFO, 0, (uint32_t)used);
    used += cost_put(session, payload + used);
    int result = sites_append(session, &append, facts->bytes,
                              (size_t)(payload - facts->bytes) + used, sizeof facts->bytes,
                              &blocks);
    *ret_bytes = append.committed;
    *ret_blocks = blocks;
    return result;
}

int probity_trace_file_mark_start(struct probity_session *session, int descriptor,
                                  uint64_t *bytes, uint64_t *blocks)
{
    const struct probity_clock_moment *first = &session->live.first;
    uint8_t block[PROBITY_BLOCK_HEADER_BYTES + PROBITY_SYNC_BYTES];
    struct probity_append append = {.descriptor = descriptor, .committed = *bytes};
    struct probity_sync sync = {.anchor = {first->ticks, first->raw_ns, first->monotonic_ns,
                                           first->realtime_ns, first->width_ns}};

    probity_assert(*bytes > PROBITY_FILE_HEADER_BYTES);
    if (!session->marks_start)
        return 0;
    probity_sync_put(block + PROBITY_BLOCK_HEADER_BYTES, &sync);
    probity_block_seal(block, PROBITY_BLOCK_SYNC, (*blocks)++, PROBITY_SYNC_BYTES);
    int result = probity_append_bytes(&append, block, sizeof block);
    *bytes = append.committed;
    return result;
}

void probity_trace_file_remove(const struct probity_session *session)
{
    const struct probity_writer *writer = &session->writer;
    struct probity_parent parent;

    if (session->is_spool_left || probity_parent_open(session->trace_path, &parent) != 0)
        return;
    probity_parent_remove(&parent, writer->trace_device, writer->trace_inode);
    probity_parent_close(&parent);
}
