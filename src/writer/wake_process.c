/* SPDX-License-Identifier: MIT
 *
 * wake_process.c: requests that a process start recording. Opens its directory in /proc once, and
 * its memory through that: both stay with that process, so a later process with the same id is
 * never written to. Its memory is untrusted: it can only determine which bytes of that memory
 * change, and only writable ones.
 */
#include "writer/wake_process.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/array_grow.h"
#include "base/os.h"
#include "probity.h"
#include "spool/wake.h"

_Static_assert(PROBITY_WAKE_SETTINGS_MAX == PROBITY_WAKE_TEXT_BYTES - 2, "two zeros follow");

enum { HEADERS_MAX = 128, NOTES_MAX = 1 << 16, CANDIDATES_MAX = 32, LEVEL_ALL = 5, LEVEL_OFF = -1 };
enum { BEGIN_NS = 200000000, ANSWER_NS = 100000000 };

static const struct timespec a_moment = {0, 500000};

/* Returns how long to sleep before looking again: briefly at first, since a program with probes
 * replies within a millisecond; then a sixteenth of the time waited so far, since an idle one may
 * take long. */
static struct timespec pause_after(int64_t waited_ns)
{
    const int64_t most = 20000000;
    int64_t ns = waited_ns / 16;

    ns = ns < a_moment.tv_nsec ? a_moment.tv_nsec : ns > most ? most : ns;
    return (struct timespec){.tv_nsec = ns};
}

struct range {
    uint64_t start, end;
};

struct candidate {
    uint64_t block; /* address */
    uint32_t version;
};

struct target {
    int directory, memory;
    struct range *writable;
    size_t writable_count;
    struct candidate candidates[CANDIDATES_MAX];
    size_t candidate_count;
    uint64_t block;
};

/* ---- The library in the process ----------------------------------------------------------------
 */

static int is_writable(const struct target *target, uint64_t at, uint64_t bytes)
{
    for (size_t i = 0; i < target->writable_count; i++) {
        const struct range *range = &target->writable[i];
        if (at >= range->start && at < range->end && range->end - at >= bytes)
            return 1;
    }
    return 0;
}

/* Searches the notes in a buffer for Probity's. Returns the offset of its description, or 0. */
static size_t find_note(const uint8_t *notes, size_t bytes)
{
    for (size_t at = 0; bytes - at >= sizeof(Elf64_Nhdr);) {
        Elf64_Nhdr head;
        memcpy(&head, notes + at, sizeof head);
        at += sizeof head;
        uint64_t name = ((uint64_t)head.n_namesz + 3) & ~UINT64_C(3);
        uint64_t size = ((uint64_t)head.n_descsz + 3) & ~UINT64_C(3);
        if (name > bytes - at || size > bytes - at - name)
            return 0;
        if (head.n_type == PROBITY_WAKE_NOTE && head.n_namesz == 8 && head.n_descsz == 8 &&
            memcmp(notes + at, "Probity", 8) == 0)
            return at + (size_t)name;
        at += (size_t)(name + size);
    }
    return 0;
}

static int get(const struct target *target, uint64_t at, void *ret_bytes, size_t count)
{
    return pread(target->memory, ret_bytes, count, (off_t)at) == (ssize_t)count;
}

/* bias: the distance from addresses in the file to those in memory. */
static void take_notes(struct target *target, const Elf64_Phdr *header, uint64_t bias)
{
    size_t bytes = header->p_memsz < NOTES_MAX ? (size_t)header->p_memsz : NOTES_MAX;
    uint8_t *notes = malloc(bytes + 1);
    uint64_t address = bias + header->p_vaddr;
    size_t at = notes != NULL && get(target, address, notes, bytes) ? find_note(notes, bytes) : 0;
    struct candidate found;
    int32_t distance;

    if (at != 0) {
        memcpy(&found.version, notes + at, 4);
        memcpy(&distance, notes + at + 4, 4);
        found.block = address + at + 4 + (uint64_t)(int64_t)distance;
        target->candidates[target->candidate_count++] = found;
    }
    free(notes);
}

/* start: the address at which the beginning of a file is mapped. Reads headers and notes from
 * memory, so the file may have been removed. */
static void look_into(struct target *target, uint64_t start)
{
    Elf64_Ehdr head;
    Elf64_Phdr headers[HEADERS_MAX];
    uint64_t first = 0;

    if (!get(target, start, &head, sizeof head) || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
        head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_phentsize != sizeof *headers ||
        head.e_phnum == 0 || head.e_phnum > HEADERS_MAX ||
        !get(target, start + head.e_phoff, headers, head.e_phnum * sizeof *headers))
        return;
    for (size_t i = 0; i < head.e_phnum; i++) {
        if (headers[i].p_type == PT_LOAD && headers[i].p_offset == 0)
            first = headers[i].p_vaddr;
    }
    for (size_t i = 0; i < head.e_phnum && target->candidate_count < CANDIDATES_MAX; i++) {
        if (headers[i].p_type == PT_NOTE)
            take_notes(target, &headers[i], start - first);
    }
}

static int add_writable(struct target *target, uint64_t start, uint64_t end)
{
    struct range *ranges =
        probity_array_append(target->writable, sizeof *ranges, target->writable_count);

    if (ranges == NULL)
        return 0;
    target->writable = ranges;
    if (target->writable_count > 0 && ranges[target->writable_count - 1].end == start)
        ranges[target->writable_count - 1].end = end; /* .data and .bss */
    else
        ranges[target->writable_count++] = (struct range){start, end};
    return 1;
}

/* Takes a line of the list of mappings. Programs and libraries are mapped private. Files in /dev
 * are devices, whose memory is not read. */
static void take_mapping(struct target *target, char *line)
{
    uint64_t start, end, offset, inode;
    char rights[8];
    int at = 0;

    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %" SCNu64 " %n", &start, &end,
               rights, &offset, &inode, &at) < 5 || at == 0 || rights[0] != 'r' ||
        rights[3] != 'p')
        return;
    if (rights[1] == 'w')
        add_writable(target, start, end);
    if (offset == 0 && inode != 0 && strncmp(line + at, "/dev/", 5) != 0 &&
        target->candidate_count < CANDIDATES_MAX)
        look_into(target, start);
}

/* Chooses the first block that a note points to. A file that is mapped as data has the note, but no
 * block at that distance. */
static enum probity_wake_refusal choose_block(struct target *target)
{
    char magic[sizeof ((struct probity_wake *)0)->magic];

    for (size_t i = 0; i < target->candidate_count; i++) {
        const struct candidate *candidate = &target->candidates[i];
        if (!is_writable(target, candidate->block, sizeof(struct probity_wake)) ||
            !get(target, candidate->block, magic, sizeof magic) ||
            memcmp(magic, PROBITY_WAKE_MAGIC, sizeof magic) != 0)
            continue;
        target->block = candidate->block;
        return candidate->version == PROBITY_WAKE_VERSION ? PROBITY_WAKE_OK
                                                          : PROBITY_WAKE_OTHER_VERSION;
    }
    return PROBITY_WAKE_NO_LIBRARY;
}

static enum probity_wake_refusal refusal_of(int error)
{
    return error == EACCES || error == EPERM ? PROBITY_WAKE_NO_RIGHTS : PROBITY_WAKE_NO_PROCESS;
}

static enum probity_wake_refusal find_block(struct target *target)
{
    int descriptor = openat(target->directory, "maps", O_RDONLY | O_CLOEXEC);
    FILE *maps = descriptor >= 0 ? fdopen(descriptor, "r") : NULL;
    int error = errno;
    char *line = NULL;
    size_t room = 0;

    if (maps == NULL) {
        if (descriptor >= 0)
            close(descriptor);
        return refusal_of(error);
    }
    while (getline(&line, &room, maps) > 0)
        take_mapping(target, line);
    free(line);
    fclose(maps);
    /* Ends the time slice: reading the headers of all libraries takes about half of the time. */
    probity_os_yield();
    return choose_block(target);
}

/* The owner of /proc/PID is root if the process is non-dumpable, so the real, effective and saved
 * ids are read instead. */
static int is_own_process(const struct target *target)
{
    int descriptor = openat(target->directory, "status", O_RDONLY | O_CLOEXEC);
    FILE *status = descriptor >= 0 ? fdopen(descriptor, "r") : NULL;
    uint32_t own = geteuid(), ids[3];
    int is_own = 0;
    char *line = NULL;
    size_t room = 0;

    if (status == NULL) {
        if (descriptor >= 0)
            close(descriptor);
        return 0;
    }
    while (getline(&line, &room, status) > 0) {
        if (sscanf(line, "Uid: %" SCNu32 " %" SCNu32 " %" SCNu32, &ids[0], &ids[1], &ids[2]) == 3)
            is_own = ids[0] == own && ids[1] == own && ids[2] == own;
    }
    free(line);
    fclose(status);
    return is_own;
}

int probity_wake_is_stopped(uint32_t pid)
{
    char path[40], line[128], state = 0;

    snprintf(path, sizeof path, "/proc/%" PRIu32 "/status", pid);
    FILE *status = fopen(path, "re");
    while (status != NULL && state == 0 && fgets(line, sizeof line, status) != NULL)
        (void)sscanf(line, "State: %c", &state);
    if (status != NULL)
        fclose(status);
    return state == 'T' || state == 't';
}

/* Uses the directory of another thread if the first one has exited: its own no longer gives access
 * to the memory. */
static int open_other_thread(struct target *target)
{
    int tasks = openat(target->directory, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC), memory = -1;
    DIR *list = tasks >= 0 ? fdopendir(tasks) : NULL;
    const struct dirent *entry;

    while (list != NULL && memory < 0 && (entry = readdir(list)) != NULL) {
        int thread = *entry->d_name != '.'
                         ? openat(tasks, entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                         : -1;
        memory = thread >= 0 ? openat(thread, "mem", O_RDWR | O_CLOEXEC) : -1;
        if (memory >= 0) {
            close(target->directory);
            target->directory = thread;
        } else if (thread >= 0) {
            close(thread);
        }
    }
    if (list != NULL)
        closedir(list);
    else if (tasks >= 0)
        close(tasks);
    errno = ESRCH;
    return memory;
}

static enum probity_wake_refusal target_open(uint32_t pid, struct target *ret_target)
{
    char path[32];

    *ret_target = (struct target){.directory = -1, .memory = -1};
    snprintf(path, sizeof path, "/proc/%" PRIu32, pid);
    ret_target->directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (ret_target->directory < 0)
        return PROBITY_WAKE_NO_PROCESS;
    if (!is_own_process(ret_target))
        return PROBITY_WAKE_OTHER_USER;
    ret_target->memory = openat(ret_target->directory, "mem", O_RDWR | O_CLOEXEC);
    if (ret_target->memory < 0 && errno == ESRCH)
        ret_target->memory = open_other_thread(ret_target);
    return ret_target->memory < 0 ? refusal_of(errno) : find_block(ret_target);
}

static void target_close(struct target *target)
{
    if (target->directory >= 0)
        close(target->directory);
    if (target->memory >= 0)
        close(target->memory);
    free(target->writable);
}

/* ---- The request -------------------------------------------------------------------------------
 */

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Writes to the memory. Returns 1, or 0 with errno. Writing to memory that exec has replaced writes
 * no bytes and reports no error. */
static int put(const struct target *target, uint64_t at, const void *bytes, size_t count)
{
    ssize_t put = pwrite(target->memory, bytes, count, (off_t)at);

    if (put >= 0 && put != (ssize_t)count)
        errno = ESRCH;
    return put == (ssize_t)count;
}

static int put_u32(const struct target *target, uint64_t at, uint32_t value)
{
    return put(target, at, &value, sizeof value);
}

static enum probity_wake_refusal read_block(const struct target *target,
                                            struct probity_wake *ret_block)
{
    if (!get(target, target->block, ret_block, sizeof *ret_block))
        return PROBITY_WAKE_NO_PROCESS;
    if (memcmp(ret_block->magic, PROBITY_WAKE_MAGIC, sizeof ret_block->magic) != 0)
        return PROBITY_WAKE_NO_LIBRARY;
    if (ret_block->version != PROBITY_WAKE_VERSION || ret_block->bytes != sizeof *ret_block ||
        (ret_block->text != 0 &&
         (!is_writable(target, ret_block->active, 4) || !is_writable(target, ret_block->level, 4) ||
          !is_writable(target, ret_block->text, PROBITY_WAKE_TEXT_BYTES))))
        return PROBITY_WAKE_OTHER_VERSION;
    return PROBITY_WAKE_OK;
}

/* Returns whether the two words are those of a program that is recording or has not decided yet.
 * After a request without effect, they are meaningless until the next probe. */
static int is_awake(const struct target *target, const struct probity_wake *block)
{
    uint32_t active = 0;
    int32_t level = LEVEL_OFF;

    return block->until_ns == 0 && get(target, block->active, &active, sizeof active) &&
           get(target, block->level, &level, sizeof level) && (active != 0 || level >= 0);
}

/* Reads the block. In a starting program, it has no addresses at first, and then, briefly, the
 * words look like those of a recording program. */
static enum probity_wake_refusal await_dormant(const struct target *target, int64_t until_ns,
                                               struct probity_wake *ret_block)
{
    int64_t begin_ns = now_ns(), now;

    for (;;) {
        enum probity_wake_refusal refusal = read_block(target, ret_block);
        if (refusal != PROBITY_WAKE_OK)
            return refusal;
        int is_loaded = ret_block->text != 0;
        if (is_loaded && probity_wake_is_requested(ret_block) &&
            ret_block->until_ns > (uint64_t)now_ns())
            return PROBITY_WAKE_BUSY;
        if (is_loaded && !is_awake(target, ret_block))
            return PROBITY_WAKE_OK;
        now = now_ns();
        if (is_loaded ? now - begin_ns >= BEGIN_NS : now >= until_ns)
            return is_loaded ? PROBITY_WAKE_RECORDS : PROBITY_WAKE_TIMEOUT;
        nanosleep(&a_moment, NULL);
    }
}

#define FIELD(TARGET, NAME) ((TARGET)->block + offsetof(struct probity_wake, NAME))

/* Makes the request. Probes look for it after the first store, and find it after the last one. So
 * these two words are not written once the recording has begun. */
static int make_request(const struct target *target, const struct probity_wake *block,
                        const char *settings, size_t settings_bytes, uint64_t until_ns,
                        uint32_t serial)
{
    static const char end[2];

    /* The request of a killed tool may have the same serial. */
    return put_u32(target, FIELD(target, requested), serial - 1) &&
           put(target, block->text, settings, settings_bytes) &&
           put(target, block->text + settings_bytes, end, sizeof end) &&
           put(target, FIELD(target, until_ns), &until_ns, sizeof until_ns) &&
           put_u32(target, block->level, LEVEL_ALL) && put_u32(target, block->active, 1) &&
           put_u32(target, FIELD(target, requested), serial);
}

/* Withdraws the request. If the library takes it at the same moment, the reply has a later serial
 * than this one. `until` is in the past, and not 0: the words may still be those of this
 * request. */
static void withdraw(const struct target *target, uint32_t serial)
{
    uint64_t past = 1;

    put_u32(target, FIELD(target, requested), serial - 1);
    put(target, FIELD(target, until_ns), &past, sizeof past);
}

/* signals: blocked signals that end the wait; *ret_signal: the one received, or 0. */
static enum probity_wake_refusal wait_for(const struct target *target, uint32_t serial,
                                          int64_t until_ns, const sigset_t *signals,
                                          int *ret_signal, int *ret_error)
{
    struct probity_wake block;
    int64_t since_ns = now_ns();
    int is_withdrawn = 0;

    for (;;) {
        if (now_ns() >= until_ns && !is_withdrawn) {
            withdraw(target, serial);
            is_withdrawn = 1;
            until_ns = now_ns() + ANSWER_NS; /* a thread may already be handling it */
        }
        int is_late = is_withdrawn && now_ns() >= until_ns;
        enum probity_wake_refusal refusal = read_block(target, &block);
        if (refusal != PROBITY_WAKE_OK)
            return PROBITY_WAKE_NO_PROCESS; /* it has called exec, or has ended */
        if (block.taken == serial && block.result != 0) {
            *ret_error = block.result;
            return PROBITY_WAKE_REFUSED;
        }
        if (block.taken == serial)
            return PROBITY_WAKE_OK;
        if (is_late)
            return PROBITY_WAKE_TIMEOUT;
        struct timespec pause = pause_after(now_ns() - since_ns);
        int number = sigtimedwait(signals, NULL, &pause);
        if (number > 0) {
            *ret_signal = number;
            until_ns = now_ns();
        }
    }
}

static enum probity_wake_refusal request(const struct target *target, const char *settings,
                                         size_t settings_bytes, int64_t until_ns,
                                         const sigset_t *signals, int *ret_signal, int *ret_error)
{
    struct probity_wake block;
    enum probity_wake_refusal refusal = await_dormant(target, until_ns, &block);

    if (refusal != PROBITY_WAKE_OK)
        return refusal;
    uint32_t serial = block.taken + 1;
    if (make_request(target, &block, settings, settings_bytes, (uint64_t)until_ns, serial))
        return wait_for(target, serial, until_ns, signals, ret_signal, ret_error);
    return errno == ESRCH ? PROBITY_WAKE_NO_PROCESS : PROBITY_WAKE_SYSTEM;
}

enum probity_wake_refusal probity_wake_process(uint32_t pid, const char *settings,
                                               size_t settings_bytes, int64_t wait_ns,
                                               int *ret_error)
{
    struct target target;
    sigset_t signals, before;
    int64_t until_ns = now_ns() + wait_ns;
    int number = 0;
    enum probity_wake_refusal refusal = target_open(pid, &target);

    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    sigprocmask(SIG_BLOCK, &signals, &before);
    if (refusal == PROBITY_WAKE_OK)
        refusal = request(&target, settings, settings_bytes, until_ns, &signals, &number,
                          ret_error);
    int error = errno;
    target_close(&target);
    if (number > 0)
        raise(number);
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return refusal;
}
