/* SPDX-License-Identifier: MIT
 *
 * test_segment.c: which directories may contain a spool. Creating a spool follows no other user's
 * links, uses no other user's file, and leaves no file if it fails.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "probity.h"
#include "spool/layout.h"
#include "spool/place.h"
#include "spool/segment.h"
#include "unit/emulated.h"

enum { NUMBER_OF_OTHER = 100 };

static char directory[64];

static int set_up(void **state)
{
    (void)state;
    snprintf(directory, sizeof directory, "/dev/shm/test_segment.XXXXXX");
    return mkdtemp(directory) != NULL ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    return rmdir(directory);
}

static char *path_of(const char *name)
{
    static char path[128];

    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

static const struct probity_spool_header header = {.magic = PROBITY_SPOOL_MAGIC,
                                                   .version = PROBITY_SPOOL_VERSION,
                                                   .chunk_words = PROBITY_CHUNK_WORDS_MIN,
                                                   .chunks = 64,
                                                   .segments = 1};

static int make(char *path)
{
    void *segment = NULL;
    int unnamed = -1;
    uint32_t present;
    int result = probity_segment_make(path, &header, &segment, &unnamed, &present);

    if (result != 0)
        return result;
    result = probity_segment_name(unnamed, path, segment, present);
    munmap(segment, probity_spool_segment_bytes(header.chunks, header.chunk_words));
    return result;
}

static int is_directory_taken(const char *path)
{
    char found[128];

    return probity_segment_directory(path, found, sizeof found) == 0;
}

static void a_directory_that_others_may_write_to_is_refused(void **state)
{
    char *path = path_of("spool");

    (void)state;
    assert_true(is_directory_taken(path));
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
    for (unsigned mode = 0; mode <= 077; mode++) {
        assert_int_equal(chmod(path, 0700 | mode), 0);
        assert_int_equal(is_directory_taken(path), (mode & 022) == 0);
    }
    rmdir(path);
}

static void a_directory_behind_a_link_or_a_file_is_refused(void **state)
{
    char *path = path_of("link");

    (void)state;
    assert_int_equal(symlink("/tmp", path), 0);
    assert_false(is_directory_taken(path));
    assert_int_equal(unlink(path), 0);
    close(open(path, O_WRONLY | O_CREAT, 0600));
    assert_false(is_directory_taken(path));
    assert_int_equal(unlink(path), 0);
}

static void a_directory_of_another_user_is_refused(void **state)
{
    char *path = path_of("other");

    (void)state;
    if (geteuid() != 0)
        skip(); /* only root can change a file's owner */
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(chown(path, 12345, 12345), 0);
    assert_false(is_directory_taken(path));
    assert_int_equal(rmdir(path), 0);
}

static void a_link_in_the_place_of_a_segment_is_not_followed(void **state)
{
    char *path = path_of("x.0"), aim[128];

    (void)state;
    snprintf(aim, sizeof aim, "%s/aim", directory);
    assert_int_equal(symlink(aim, path), 0);
    assert_int_equal(make(path), PROBITY_ERROR_OPEN);
    assert_int_equal(access(aim, F_OK), -1);
    assert_int_equal(unlink(path), 0);
}

static void a_file_in_the_place_of_a_segment_is_left_alone(void **state)
{
    char *path = path_of("x.0"), found[8] = "";
    int file = open(path, O_RDWR | O_CREAT, 0600);

    (void)state;
    assert_int_equal(write(file, "mine", 4), 4);
    assert_int_equal(make(path), PROBITY_ERROR_OPEN);
    assert_int_equal(pread(file, found, sizeof found, 0), 4);
    assert_string_equal(found, "mine");
    close(file);
    assert_int_equal(unlink(path), 0);
}

static void a_segment_has_few_pages_and_is_this_users_alone(void **state)
{
    char *path = path_of("x.0");
    struct stat status;

    (void)state;
    assert_int_equal(make(path), 0);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    assert_true(status.st_blocks * 512 < (long)header.chunks * header.chunk_words * 8 / 2);
    assert_int_equal(status.st_size,
                     probity_spool_segment_bytes(header.chunks, header.chunk_words));
    assert_int_equal(unlink(path), 0);
}

/* Returns whether storing to the address causes no page fault. */
static int is_page_there(int pages, const void *address)
{
    uint64_t entry = 0;
    off_t place = (off_t)((uintptr_t)address / (uintptr_t)sysconf(_SC_PAGESIZE) * sizeof entry);

    assert_int_equal(pread(pages, &entry, sizeof entry, place), sizeof entry);
    return entry >> 63 != 0;
}

static void pages_of_a_chunk_are_mapped_before_it_is_used(void **state)
{
    char *path = path_of("x.0");
    void *segment;
    uint32_t present;
    int unnamed, pages = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);

    (void)state;
    assert_true(pages >= 0);
    assert_int_equal(probity_segment_make(path, &header, &segment, &unnamed, &present), 0);
    assert_int_equal(probity_segment_name(unnamed, path, segment, present), 0);
    assert_in_range(present, 2, header.chunks / 2);
    for (uint32_t i = 0; i < header.chunks; i++) {
        uint64_t *words = probity_spool_words(segment, header.chunks, header.chunk_words, i);
        assert_int_equal(is_page_there(pages, words), i < present);
        if (i >= present)
            assert_int_equal(probity_segment_extend(segment, i), 0);
        assert_true(is_page_there(pages, words));
        assert_true(is_page_there(pages, words + header.chunk_words - 1));
    }
    close(pages);
    munmap(segment, probity_spool_segment_bytes(header.chunks, header.chunk_words));
    assert_int_equal(unlink(path), 0);
}

/* Returns the kind of lock on byte 0 of the segment. */
static int lock_on(const char *path)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
    int file = open(path, O_RDONLY | O_CLOEXEC);

    assert_true(file >= 0);
    assert_int_equal(fcntl(file, F_OFD_GETLK, &lock), 0);
    close(file);
    return lock.l_type;
}

/* The lock does not belong to a descriptor, a thread, or a child that outlives the mapping. */
static void the_mapping_of_segment_0_holds_the_lock(void **state)
{
    size_t bytes = probity_spool_segment_bytes(header.chunks, header.chunk_words);
    char *path = path_of("x.0");
    void *segment;
    uint32_t present;
    int unnamed, status;

    (void)state;
    leave_out_if_emulated("a child unmaps what it must not have only after the fork");
    assert_int_equal(probity_segment_make(path, &header, &segment, &unnamed, &present), 0);
    assert_int_equal(((struct probity_spool_header *)segment)->locked, 1);
    pid_t child = fork(); /* inherits the unnamed file's descriptor */
    assert_true(child >= 0);
    if (child == 0) {
        pause();
        _exit(0);
    }
    assert_int_equal(probity_segment_name(unnamed, path, segment, present), 0);
    assert_int_equal(lock_on(path), F_WRLCK);
    munmap(segment, bytes);
    assert_int_equal(lock_on(path), F_UNLCK);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(unlink(path), 0);
}

/* Only segment 0 shows whether its program is alive. */
static void a_further_segment_has_no_lock(void **state)
{
    struct probity_spool_header further = header;
    char *path = path_of("x.1");
    void *segment;
    uint32_t present;
    int unnamed;

    (void)state;
    further.segment = 1;
    assert_int_equal(probity_segment_make(path, &further, &segment, &unnamed, &present), 0);
    assert_int_equal(probity_segment_name(unnamed, path, segment, present), 0);
    assert_int_equal(lock_on(path), F_UNLCK);
    munmap(segment, probity_spool_segment_bytes(header.chunks, header.chunk_words));
    assert_int_equal(unlink(path), 0);
}

/* The thread has a separate descriptor table; its lowest free number is in use for another file in
 * the program's table. */
static void *make_in_own_table(void *ret_result)
{
    int lowest, *result = ret_result;

    *result = unshare(CLONE_FILES);
    lowest = open("/dev/null", O_RDONLY | O_CLOEXEC);
    while (*result == 0 && lowest >= 0 && lowest < NUMBER_OF_OTHER)
        lowest = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(NUMBER_OF_OTHER);
    if (*result == 0)
        *result = make(path_of("x.0"));
    return NULL;
}

static void a_thread_with_descriptors_of_its_own_names_its_segment(void **state)
{
    struct stat other, segment;
    pthread_t thread;
    int result = -1, file = open(path_of("other"), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    (void)state;
    assert_true(file >= 0);
    assert_int_equal(dup2(file, NUMBER_OF_OTHER), NUMBER_OF_OTHER);
    assert_int_equal(pthread_create(&thread, NULL, make_in_own_table, &result), 0);
    pthread_join(thread, NULL);
    assert_int_equal(result, 0);
    assert_int_equal(fstat(file, &other), 0);
    assert_int_equal(stat(path_of("x.0"), &segment), 0);
    close(NUMBER_OF_OTHER);
    close(file);
    assert_int_equal(unlink(path_of("x.0")), 0);
    assert_int_equal(unlink(path_of("other")), 0);
    assert_true(segment.st_ino != other.st_ino);
    assert_int_equal(other.st_nlink, 1);
}

static void a_segment_is_removed_only_while_the_name_is_its_own(void **state)
{
    struct probity_place place;
    char *path = path_of("x.0"), moved[128];
    size_t bytes;

    (void)state;
    snprintf(moved, sizeof moved, "%s/moved", directory);
    int opened = probity_place_open_directory(directory, geteuid());
    assert_true(opened >= 0);
    assert_int_equal(probity_place_make(opened, directory, geteuid(), "x", &place), 1);
    assert_int_equal(make(path), 0);
    int file = probity_place_open(&place, 0, 0, &bytes);
    assert_true(file >= 0);
    assert_int_equal(rename(path, moved), 0);
    assert_int_equal(probity_place_remove(&place, 0, file), 0); /* the name does not exist */
    assert_int_equal(make(path), 0);
    errno = 0;
    assert_int_equal(probity_place_remove(&place, 0, file), -1);
    assert_int_equal(errno, ESTALE);
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(rename(moved, path), 0);
    assert_int_equal(probity_place_remove(&place, 0, file), 0);
    assert_int_equal(access(path, F_OK), -1);
    close(file);
    probity_place_close(&place);
}

/* In a child, because the limit cannot be raised again and SIGXFSZ would kill the test. */
static void a_limit_of_file_size_is_an_error_and_no_signal(void **state)
{
    size_t bytes = probity_spool_segment_bytes(header.chunks, header.chunk_words);
    char *path = path_of("x.0");
    int status;

    (void)state;
    for (int less = 0; less <= 1; less++) {
        const struct rlimit limit = {bytes - (size_t)less, bytes - (size_t)less};
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            signal(SIGXFSZ, SIG_DFL);
            if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
                _exit(2);
            _exit(make(path) == (less ? PROBITY_ERROR_LIMIT : 0) ? 0 : 1);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
        assert_int_equal(unlink(path), less ? -1 : 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_directory_that_others_may_write_to_is_refused),
        cmocka_unit_test(a_directory_behind_a_link_or_a_file_is_refused),
        cmocka_unit_test(a_directory_of_another_user_is_refused),
        cmocka_unit_test(a_link_in_the_place_of_a_segment_is_not_followed),
        cmocka_unit_test(a_file_in_the_place_of_a_segment_is_left_alone),
        cmocka_unit_test(a_segment_has_few_pages_and_is_this_users_alone),
        cmocka_unit_test(pages_of_a_chunk_are_mapped_before_it_is_used),
        cmocka_unit_test(the_mapping_of_segment_0_holds_the_lock),
        cmocka_unit_test(a_further_segment_has_no_lock),
        cmocka_unit_test(a_thread_with_descriptors_of_its_own_names_its_segment),
        cmocka_unit_test(a_segment_is_removed_only_while_the_name_is_its_own),
        cmocka_unit_test(a_limit_of_file_size_is_an_error_and_no_signal),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
