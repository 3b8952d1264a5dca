/* SPDX-License-Identifier: MIT
 *
 * test_reader_spool.c: traces of dead programs: records missing from the file are read from the
 * spool, exactly once, and `recover` appends them to the file, even if interrupted.
 * link-flags: -Wl,--wrap=fsync
 */
#include "test_reader_make.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/os.h"
#include "reader/reader.h"
#include "writer/recover.h"

static struct make make;
static struct make_spool spool;

/* The wrapped fsync: calls so far, the error it returns, whether the spool existed. */
static struct {
    int calls, error, found_spool;
    void (*meanwhile)(void);
} syncing;

int __wrap_fsync(int file);

int __wrap_fsync(int file)
{
    struct stat status;

    syncing.calls += fstat(file, &status) == 0 && (size_t)status.st_size > make.used;
    syncing.found_spool = access(spool.path, F_OK) == 0;
    if (syncing.meanwhile != NULL)
        syncing.meanwhile();
    errno = syncing.error;
    return syncing.error != 0 ? -1 : 0;
}

/* Trace: words 0 to 1 (ids 0 and 1) of the 4 in chunk 1 of thread 1. Spool: chunk 1 with ids 0 to
 * 3, drained as given; chunk 2 of thread 2 with ids 4 to 6. */
static void make_sample(uint32_t drained)
{
    make_drained(&make, &spool, "dead");
    make_chunk(&spool, 0, 1, 1000100, 100, 0, 4)->drained = drained;
    make_chunk(&spool, 1, 2, 1000500, 100, 4, 3);
    make_spool_header(&spool)->committed = make.used;
    make_spool_header(&spool)->threads = 2;
}

static void release_sample(void)
{
    make_spool_release(&spool);
    unlink(make.path);
}

static struct probity_reader *open_sample(enum probity_trace_state state)
{
    const char *path = make.path;
    struct probity_reader *reader;

    assert_int_equal(probity_reader_open(&path, 1, NULL, NULL, &reader), 0);
    assert_int_equal(probity_reader_facts(reader, 0)->state, state);
    return reader;
}

/* Reads all hits in order: ids 0, 1, 2 ... count - 1. */
static void expect_hits(enum probity_trace_state state, uint32_t count)
{
    struct probity_reader *reader = open_sample(state);
    const struct probity_event *event;
    uint32_t seen = 0;
    int got;

    while ((got = probity_reader_next(reader, &event)) > 0)
        assert_int_equal(event->id, seen++);
    assert_int_equal(got, 0);
    assert_int_equal(seen, count);
    assert_false(probity_trace_is_damaged(probity_reader_facts(reader, 0)));
    probity_reader_close(reader);
}

static void ignore_fault(void *context, uint64_t offset, const char *text)
{
    (void)context;
    print_message("byte %lu: %s\n", (unsigned long)offset, text);
}

static void expect_sound(void)
{
    struct probity_check_listener listener = {.report = ignore_fault};
    struct probity_check_result result;

    assert_int_equal(probity_check_file(make.path, &listener, &result), 0);
    assert_int_equal(result.faults, 0);
    assert_int_equal(result.cut_bytes, 0);
    assert_true(result.has_end);
}

static void words_that_were_drained_are_not_read_again(void **state)
{
    (void)state;
    make_sample(2);
    make_spool_write(&spool);
    expect_hits(PROBITY_TRACE_KILLED, 7);
    release_sample();
}

static void words_that_the_file_covers_are_not_read_again(void **state)
{
    (void)state;
    for (uint32_t drained = 0; drained < 2; drained++) {
        make_sample(drained); /* killed between write() and the store of `drained` */
        make_spool_write(&spool);
        expect_hits(PROBITY_TRACE_KILLED, 7);
        release_sample();
    }
}

static void a_torn_block_is_read_from_the_spool(void **state)
{
    (void)state;
    make_sample(2);
    make_data(&make, (struct probity_data){.thread = 2, .tid = 102, .chunk = 2},
              (struct make_hit[]){{1000500, 8, 0}, {1000600, 10, 0}, {1000700, 12, 0}}, 3);
    make.used -= 3;
    make_write(&make, "dead");
    make_spool_write(&spool);
    expect_hits(PROBITY_TRACE_KILLED, 7);
    release_sample();
}

static void holes_and_pending_records_are_skipped(void **state)
{
    (void)state;
    make_sample(2);
    uint64_t *words = probity_spool_words(spool.memory, MAKE_CHUNKS, MAKE_WORDS, 1);
    words[5] = words[2]; /* after a hole and a pending record of two words */
    words[2] = 0;
    words[3] = probity_word(1000650, probity_word_special(PROBITY_WORD_PENDING, 2));
    words[4] = 12345;
    make_spool_write(&spool);
    struct probity_reader *reader = open_sample(PROBITY_TRACE_KILLED);
    assert_int_equal(probity_reader_facts(reader, 0)->holes, 2);
    probity_reader_close(reader);
    expect_hits(PROBITY_TRACE_KILLED, 7);
    release_sample();
}

static void of_a_held_chunk_only_what_is_in_no_block_is_new(void **state)
{
    (void)state;
    make_sample(2);
    struct probity_chunk_header *chunk = probity_spool_chunk(spool.memory, 0);
    uint64_t *words = probity_spool_words(spool.memory, MAKE_CHUNKS, MAKE_WORDS, 0);
    /* The writer wrote word 3 while 2 was empty; word 2 was stored later. */
    make_data(&make, (struct probity_data){.thread = 1, .tid = 101, .chunk = 1, .first_word = 3},
              (struct make_hit[]){{1000400, 6, 0}}, 1);
    make_write(&make, "dead");
    chunk->state = PROBITY_CHUNK_FULL;
    chunk->used = 4;
    chunk->drained = 2;
    chunk->flags |= PROBITY_CHUNK_HELD;
    make_spool_write(&spool);
    expect_hits(PROBITY_TRACE_KILLED, 7);
    unlink(spool.path);
    words[2] = 0; /* it was never stored */
    make_spool_write(&spool);
    struct probity_reader *reader = open_sample(PROBITY_TRACE_KILLED);
    assert_int_equal(probity_reader_facts(reader, 0)->spool_records, 3);
    probity_reader_close(reader);
    release_sample();
}

static void holes_on_both_sides_of_a_block_are_read(void **state)
{
    (void)state;
    make_sample(2);
    make_data(&make, (struct probity_data){.thread = 2, .tid = 102, .chunk = 2, .first_word = 1},
              (struct make_hit[]){{1000600, 10, 0}}, 1);
    make_write(&make, "dead");
    make_spool_write(&spool);
    expect_hits(PROBITY_TRACE_KILLED, 7);
    release_sample();
}

/* Its last word is zero, and the next chunk, too. */
static void of_a_live_chunk_the_newest_record_is_whole(void **state)
{
    const uint64_t tick = 1000900, event[] = {
        probity_word(tick, probity_word_special(PROBITY_WORD_EVENT, 6)), tick,
        PROBITY_EVENT_HIT_WITH | 24u << 16, 7 | (uint64_t)6 << 32, 5, 0};
    (void)state;
    make_sample(2);
    memcpy(probity_spool_words(spool.memory, MAKE_CHUNKS, MAKE_WORDS, 1) + 3, event, sizeof event);
    make_spool_write(&spool);
    int program = make_spool_hold(&spool, F_WRLCK);
    expect_hits(PROBITY_TRACE_LIVE, 8);
    close(program);
    release_sample();
}

static void a_spool_of_another_session_is_not_taken(void **state)
{
    (void)state;
    make_sample(2);
    for (int i = 0; i < 32; i++) {
        struct probity_spool_header *header = make_spool_header(&spool);
        uint8_t *byte = i < 16 ? &header->session[i] : &header->boot[i - 16];
        *byte ^= 1;
        make_spool_write(&spool);
        expect_hits(PROBITY_TRACE_UNFINISHED, 2);
        *byte ^= 1;
    }
    make_spool_header(&spool)->version = 9;
    make_spool_write(&spool);
    expect_hits(PROBITY_TRACE_UNFINISHED, 2);
    release_sample();
}

static void a_spool_whose_header_lies_is_not_touched(void **state)
{
    static const uint32_t lies[][2] = {
        {0, MAKE_WORDS},  {0xffffffff, MAKE_WORDS}, {MAKE_CHUNKS + 1, MAKE_WORDS},
        {MAKE_CHUNKS, 0}, {MAKE_CHUNKS, 511},       {MAKE_CHUNKS, 1u << 31}};
    (void)state;
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        make_sample(2);
        make_spool_header(&spool)->chunks = lies[i][0];
        make_spool_header(&spool)->chunk_words = lies[i][1];
        make_spool_write(&spool);
        expect_hits(PROBITY_TRACE_UNFINISHED, 2);
        release_sample();
    }
}

static void any_words_in_a_spool_do_no_harm(void **state)
{
    uint64_t random = 88172645463325252u;
    (void)state;
    for (int round = 0; round < 300; round++) {
        make_sample(2);
        uint64_t *at = (uint64_t *)((char *)spool.memory + PROBITY_SPOOL_HEADER_BYTES);
        for (int i = 0; i < 4000; i++) {
            random ^= random << 13, random ^= random >> 7, random ^= random << 17;
            size_t place = random % ((spool.bytes - PROBITY_SPOOL_HEADER_BYTES) / 8);
            at[place] = random >> 20 & 1 ? random : random >> 20 & 0xfff;
        }
        for (uint32_t i = 0; i < MAKE_CHUNKS; i++)
            probity_spool_chunk(spool.memory, i)->state %= 3;
        make_spool_write(&spool);
        const struct probity_event *event;
        struct probity_reader *reader = open_sample(PROBITY_TRACE_KILLED);
        int got;
        while ((got = probity_reader_next(reader, &event)) > 0)
            ;
        assert_int_equal(got, 0);
        probity_reader_close(reader);
        release_sample();
    }
}

/* ---- Recovery ----------------------------------------------------------------------------------
 */

static void recover_appends_the_spool_and_removes_it(void **state)
{
    struct probity_recover_result result;
    (void)state;
    make_sample(0);
    make_spool_write(&spool);
    assert_int_equal(probity_recover(make.path, 0, &result), 0);
    assert_int_equal(result.records, 5);
    assert_int_equal(result.was_closed, 0);
    assert_int_equal(access(spool.path, F_OK), -1);
    expect_sound();
    expect_hits(PROBITY_TRACE_CLOSED, 7);
    assert_int_equal(probity_recover(make.path, 0, &result), 0);
    assert_int_equal(result.was_closed, 1);
    expect_hits(PROBITY_TRACE_CLOSED, 7);
    release_sample();
}

static void recover_cuts_the_torn_tail(void **state)
{
    struct probity_recover_result result;
    (void)state;
    make_sample(2);
    size_t whole = make.used;
    make_data(&make, (struct probity_data){.thread = 2, .tid = 102, .chunk = 2},
              (struct make_hit[]){{1000500, 8, 0}, {1000600, 10, 0}, {1000700, 12, 0}}, 3);
    make.used -= 3;
    make_write(&make, "dead");
    make_spool_write(&spool);
    assert_int_equal(probity_recover(make.path, 0, &result), 0);
    assert_int_equal(result.torn_bytes, make.used - whole);
    expect_sound();
    expect_hits(PROBITY_TRACE_CLOSED, 7);
    release_sample();
}

/* As after a kill of `recover`: the file may be truncated at any byte, and the spool still
 * exists. */
static void recover_may_be_interrupted_anywhere(void **state)
{
    struct probity_recover_result result;
    (void)state;
    make_sample(0);
    make_spool_write(&spool);
    size_t before = make.used;
    assert_int_equal(probity_recover(make.path, 0, &result), 0);
    int file = open(make.path, O_RDONLY);
    ssize_t after = pread(file, make.bytes, sizeof make.bytes, 0);
    close(file);
    assert_true(after > (ssize_t)before);
    for (size_t cut = before; cut <= (size_t)after; cut++) {
        make.used = cut;
        make_write(&make, "dead");
        make_spool_write(&spool);
        expect_hits(cut < (size_t)after ? PROBITY_TRACE_KILLED : PROBITY_TRACE_CLOSED, 7);
        assert_int_equal(probity_recover(make.path, 0, &result), 0);
        assert_int_equal(access(spool.path, F_OK), -1);
        expect_sound();
        expect_hits(PROBITY_TRACE_CLOSED, 7);
    }
    release_sample();
}

static void recover_on_a_full_disk_leaves_all_as_it_was(void **state)
{
    struct rlimit before, limit;
    struct probity_recover_result result;
    (void)state;
    make_sample(2);
    make_spool_write(&spool);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    for (rlim_t more = 0; more < 200; more += 10) {
        limit = before;
        limit.rlim_cur = make.used + more;
        setrlimit(RLIMIT_FSIZE, &limit);
        assert_int_equal(probity_recover(make.path, 0, &result), PROBITY_ERROR_WRITE);
        assert_int_equal(errno, EFBIG);
        setrlimit(RLIMIT_FSIZE, &before);
        struct stat status;
        assert_int_equal(stat(make.path, &status), 0);
        assert_int_equal(status.st_size, make.used);
        expect_hits(PROBITY_TRACE_KILLED, 7);
    }
    assert_int_equal(probity_recover(make.path, 0, &result), 0);
    expect_hits(PROBITY_TRACE_CLOSED, 7);
    release_sample();
}

static void the_spool_goes_when_its_records_are_on_the_disk(void **state)
{
    struct probity_recover_result result;
    (void)state;
    make_sample(2);
    make_spool_write(&spool);
    syncing.calls = 0;
    syncing.error = EIO;
    assert_int_equal(probity_recover(make.path, 0, &result), PROBITY_ERROR_WRITE);
    assert_int_equal(errno, EIO);
    assert_int_equal(syncing.calls, 1);
    expect_hits(PROBITY_TRACE_KILLED, 7);
    syncing.error = 0;
    assert_int_equal(probity_recover(make.path, 0, &result), 0);
    assert_int_equal(syncing.calls, 2);
    assert_true(syncing.found_spool);
    assert_int_equal(access(spool.path, F_OK), -1);
    expect_hits(PROBITY_TRACE_CLOSED, 7);
    release_sample();
}

/* A probe was killed in a held chunk; its record is older than the watermark in the file. */
static void recover_reports_what_comes_late(void **state)
{
    struct probity_recover_result result;
    (void)state;
    make_sample(4);
    make_chunk(&spool, 1, 2, 1000110, 10, 4, 3);
    make_spool_write(&spool);
    assert_int_equal(probity_recover(make.path, 0, &result), 0);
    assert_int_equal(result.records, 3);
    expect_sound();
    struct probity_reader *reader = open_sample(PROBITY_TRACE_CLOSED);
    assert_int_equal(probity_reader_facts(reader, 0)->late_blocks, 1);
    probity_reader_close(reader);
    release_sample();
}

static void recover_leaves_a_live_spool_alone(void **state)
{
    struct probity_recover_result result;
    int ready[2];
    (void)state;
    make_sample(2);
    make_spool_write(&spool);
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        int file = open(spool.path, O_RDWR);
        char byte = fcntl(file, F_SETLK, &lock) == 0;
        if (write(ready[1], &byte, 1) == 1)
            pause();
        _exit(0);
    }
    char byte = 0;
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(byte, 1);
    assert_int_equal(probity_recover(make.path, 0, &result), PROBITY_ERROR_STATE);
    struct probity_reader *reader = open_sample(PROBITY_TRACE_LIVE);
    probity_reader_close(reader);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_int_equal(probity_recover(make.path, 0, &result), 0);
    close(ready[0]);
    close(ready[1]);
    release_sample();
}

/* Writers before 0.2 lock the whole file; until they do, nothing shows that they are running. */
static void a_spool_without_a_lock_is_read_and_never_recovered(void **state)
{
    struct probity_recover_result result;
    (void)state;
    make_sample(2);
    make_spool_header(&spool)->locked = 0;
    make_spool_write(&spool);
    assert_int_equal(probity_recover(make.path, 0, &result), PROBITY_ERROR_STATE);
    assert_true(result.is_unknown);
    expect_hits(PROBITY_TRACE_LIVE, 7);
    assert_int_equal(access(spool.path, F_OK), 0);
    release_sample();
}

/* Process id and start time match an existing process, but only the lock counts. */
static void a_released_lock_is_the_only_sign_of_death(void **state)
{
    struct probity_recover_result result;
    (void)state;
    make_sample(2);
    make_spool_header(&spool)->pid = (uint32_t)getpid();
    make_spool_header(&spool)->process_start = probity_os_process_start((uint32_t)getpid());
    make_spool_write(&spool);
    int program = make_spool_hold(&spool, F_WRLCK);
    assert_int_equal(probity_recover(make.path, 0, &result), PROBITY_ERROR_STATE);
    assert_false(result.is_unknown || result.is_taken);
    probity_reader_close(open_sample(PROBITY_TRACE_LIVE));
    close(program);
    expect_hits(PROBITY_TRACE_KILLED, 7);
    assert_int_equal(probity_recover(make.path, 0, &result), 0);
    expect_hits(PROBITY_TRACE_CLOSED, 7);
    release_sample();
}

static void a_spool_that_a_tool_recovers_is_left_to_it(void **state)
{
    struct probity_recover_result result;
    (void)state;
    make_sample(2);
    make_spool_write(&spool);
    int tool = make_spool_hold(&spool, F_RDLCK);
    assert_int_equal(probity_recover(make.path, 0, &result), PROBITY_ERROR_STATE);
    assert_true(result.is_taken);
    close(tool);
    assert_int_equal(probity_recover(make.path, 0, &result), 0);
    release_sample();
}

/* A program that has closed its spool may still hold the lock that shows that it is running. Then
 * only the drainer's lock excludes a second tool. */
static void a_closed_spool_is_recovered_by_one_tool_at_a_time(void **state)
{
    struct probity_recover_result result;
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET,
                         .l_start = PROBITY_SPOOL_LOCK_DRAINER, .l_len = 1};
    (void)state;
    make_sample(2);
    make_spool_header(&spool)->state = PROBITY_SPOOL_LEFT;
    make_spool_write(&spool);
    int program = make_spool_hold(&spool, F_WRLCK), tool = open(spool.path, O_RDWR | O_CLOEXEC);
    assert_int_equal(fcntl(tool, F_OFD_SETLK, &lock), 0);
    assert_int_equal(probity_recover(make.path, 0, &result), PROBITY_ERROR_STATE);
    assert_true(result.is_taken);
    close(tool);
    assert_int_equal(probity_recover(make.path, 0, &result), 0);
    expect_hits(PROBITY_TRACE_CLOSED, 7);
    close(program);
    release_sample();
}

/* The program continues after the disk was full, and keeps its lock. */
static void what_a_program_could_not_write_is_recovered_while_it_runs(void **state)
{
    struct probity_recover_result result;
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET,
                         .l_start = PROBITY_SPOOL_LOCK_DRAINER, .l_len = 1};
    (void)state;
    make_sample(2);
    make_spool_header(&spool)->failed = 1;
    make_spool_write(&spool);
    int program = make_spool_hold(&spool, F_WRLCK);
    assert_int_equal(fcntl(program, F_OFD_SETLK, &lock), 0);
    assert_int_equal(probity_recover(make.path, 0, &result), PROBITY_ERROR_STATE);
    lock.l_type = F_UNLCK;
    assert_int_equal(fcntl(program, F_OFD_SETLK, &lock), 0);
    assert_int_equal(probity_recover(make.path, 0, &result), 0);
    assert_true(result.has_failed);
    close(program);
    probity_reader_close(open_sample(PROBITY_TRACE_CLOSED));
    release_sample();
}

static void recover_refuses_a_copy_that_is_too_short(void **state)
{
    struct probity_recover_result result;
    (void)state;
    make_sample(2);
    make_spool_header(&spool)->committed = make.used + 1;
    make_spool_write(&spool);
    assert_int_equal(probity_recover(make.path, 0, &result), PROBITY_ERROR_DAMAGED);
    assert_true(result.is_short);
    assert_int_equal(access(spool.path, F_OK), 0);
    struct probity_reader *reader = open_sample(PROBITY_TRACE_KILLED);
    assert_true(probity_trace_is_damaged(probity_reader_facts(reader, 0)));
    probity_reader_close(reader);
    release_sample();
}

static void without_a_spool_recover_changes_nothing(void **state)
{
    struct probity_recover_result result;
    (void)state;
    make_sample(2);
    assert_int_equal(probity_recover(make.path, 0, &result), 0);
    assert_int_equal(result.has_spool, 0);
    assert_int_equal(result.was_closed, 0);
    expect_hits(PROBITY_TRACE_UNFINISHED, 2);
    release_sample();
}

static char own_directory[64], moved_directory[80];

/* A process that may rename the directory replaces it with another one that contains a file with
 * the spool's name.
 */
static void exchange_directories(void)
{
    assert_int_equal(rename(own_directory, moved_directory), 0);
    assert_int_equal(mkdir(own_directory, 0700), 0);
    close(open(spool.path, O_WRONLY | O_CREAT, 0600));
}

static void a_spool_is_removed_where_it_was_opened(void **state)
{
    struct probity_recover_result result;
    char moved[400];
    (void)state;
    snprintf(own_directory, sizeof own_directory, "/tmp/test_reader_spool.%ld", (long)getpid());
    snprintf(moved_directory, sizeof moved_directory, "%s.moved", own_directory);
    assert_int_equal(mkdir(own_directory, 0700), 0);
    assert_int_equal(setenv("TMPDIR", own_directory, 1), 0);
    make_sample(2);
    make_spool_write(&spool);
    syncing.meanwhile = exchange_directories;
    assert_int_equal(probity_recover(make.path, 0, &result), 0);
    syncing.meanwhile = NULL;
    unsetenv("TMPDIR");
    assert_int_equal(access(spool.path, F_OK), 0);
    snprintf(moved, sizeof moved, "%s%s", moved_directory, strrchr(spool.path, '/'));
    assert_int_equal(access(moved, F_OK), -1);
    snprintf(moved, sizeof moved, "%s%s", moved_directory, strrchr(make.path, '/'));
    assert_int_equal(unlink(moved), 0);
    release_sample();
    assert_int_equal(rmdir(own_directory) | rmdir(moved_directory), 0);
}

/* The file is not the trace of this spool: it is a copy, or another file with the same session. */
static void a_spool_serves_its_own_trace_only(void **state)
{
    struct probity_recover_result result;
    struct stat status;
    (void)state;
    make_sample(2);
    assert_int_equal(stat(make.path, &status), 0);
    make_spool_header(&spool)->trace_device = status.st_dev;
    make_spool_header(&spool)->trace_inode = status.st_ino + 1;
    make_spool_write(&spool);
    assert_int_equal(probity_recover(make.path, 0, &result), 0);
    assert_true(result.is_copy && !result.has_spool);
    probity_reader_close(open_sample(PROBITY_TRACE_UNFINISHED));
    assert_int_equal(access(spool.path, F_OK), 0);
    make_spool_header(&spool)->trace_inode = status.st_ino;
    make_spool_write(&spool);
    assert_int_equal(probity_recover(make.path, 0, &result), 0);
    assert_true(!result.is_copy && result.has_spool);
    release_sample();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_that_were_drained_are_not_read_again),
        cmocka_unit_test(words_that_the_file_covers_are_not_read_again),
        cmocka_unit_test(a_torn_block_is_read_from_the_spool),
        cmocka_unit_test(holes_and_pending_records_are_skipped),
        cmocka_unit_test(of_a_held_chunk_only_what_is_in_no_block_is_new),
        cmocka_unit_test(holes_on_both_sides_of_a_block_are_read),
        cmocka_unit_test(of_a_live_chunk_the_newest_record_is_whole),
        cmocka_unit_test(a_spool_of_another_session_is_not_taken),
        cmocka_unit_test(a_spool_whose_header_lies_is_not_touched),
        cmocka_unit_test(any_words_in_a_spool_do_no_harm),
        cmocka_unit_test(recover_appends_the_spool_and_removes_it),
        cmocka_unit_test(recover_cuts_the_torn_tail),
        cmocka_unit_test(recover_may_be_interrupted_anywhere),
        cmocka_unit_test(recover_on_a_full_disk_leaves_all_as_it_was),
        cmocka_unit_test(the_spool_goes_when_its_records_are_on_the_disk),
        cmocka_unit_test(recover_reports_what_comes_late),
        cmocka_unit_test(recover_leaves_a_live_spool_alone),
        cmocka_unit_test(a_spool_without_a_lock_is_read_and_never_recovered),
        cmocka_unit_test(a_released_lock_is_the_only_sign_of_death),
        cmocka_unit_test(a_spool_that_a_tool_recovers_is_left_to_it),
        cmocka_unit_test(a_closed_spool_is_recovered_by_one_tool_at_a_time),
        cmocka_unit_test(what_a_program_could_not_write_is_recovered_while_it_runs),
        cmocka_unit_test(recover_refuses_a_copy_that_is_too_short),
        cmocka_unit_test(without_a_spool_recover_changes_nothing),
        cmocka_unit_test(a_spool_is_removed_where_it_was_opened),
        cmocka_unit_test(a_spool_serves_its_own_trace_only),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
