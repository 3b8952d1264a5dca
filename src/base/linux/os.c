/* SPDX-License-Identifier: MIT
 *
 * linux/os.c: os.h on Linux, with direct system calls if libc's wrapper does more than needed.
 */
#include "base/assert.h"
#include "base/os.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/futex.h>
#include <linux/kcmp.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/objects.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

enum {
    DESCRIPTORS_MAX = 65536, /* maximum to close one by one */
    CLOSE_RANGE_OWN_TABLE = 2, /* CLOSE_RANGE_UNSHARE */
    FS_FLAG_NO_COPY_ON_WRITE =
        0x00800000 /* FS_NOCOW_FL of linux/fs.h, which clashes with sys/mount.h */
};
#define FS_GET_FLAGS _IOR('f', 1, long)
#define FS_SET_FLAGS _IOW('f', 2, long)

/* On Linux, destructors run at every orderly exit, which is enough. */
void probity_os_at_exit(void (*function)(void))
{
    (void)function;
}

void probity_os_thread_ends(void)
{
}

uint32_t probity_os_thread_id(void)
{
    return (uint32_t)syscall(SYS_gettid);
}

/* The first thread's directory is that of the process, which is found 15 µs faster. */
const char *probity_os_descriptors(void)
{
    return probity_os_thread_id() == (uint32_t)getpid() ? "/proc/self/fd"
                                                        : "/proc/thread-self/fd";
}

/* Defined if the program is built with a thread sanitizer. The library usually is not: the
 * sanitizer then intercepts its memcpy() and similar calls, but not its locks and atomic
 * accesses. */
void __tsan_acquire(void *memory) __attribute__((weak));
void __tsan_release(void *memory) __attribute__((weak));

static void futex_wait(const uint32_t *word, int command, uint32_t value, int64_t timeout_ns)
{
    int before = errno;
    struct timespec timeout = {timeout_ns / 1000000000, timeout_ns % 1000000000};

    syscall(SYS_futex, word, command, value, timeout_ns < 0 ? NULL : &timeout, NULL, 0);
    errno = before;
}

static void futex_wake(const uint32_t *word, int command, int threads)
{
    int before = errno;

    syscall(SYS_futex, word, command, threads, NULL, NULL, 0);
    errno = before;
}

void probity_os_wait(const uint32_t *word, uint32_t value, int64_t timeout_ns)
{
    probity_assert(word != NULL);
    futex_wait(word, FUTEX_WAIT_PRIVATE, value, timeout_ns);
}

void probity_os_wake(const uint32_t *word, int threads)
{
    futex_wake(word, FUTEX_WAKE_PRIVATE, threads);
}

void probity_os_wait_shared(const uint32_t *word, uint32_t value, int64_t timeout_ns)
{
    futex_wait(word, FUTEX_WAIT, value, timeout_ns);
}

void probity_os_wake_shared(const uint32_t *word, int threads)
{
    futex_wake(word, FUTEX_WAKE, threads);
}

/* 0 free, 1 locked, 2 locked with waiters. Acquire pairs with the release in probity_os_unlock. */
void probity_os_lock(uint32_t *word)
{
    uint32_t expected = 0;

    probity_assert(word != NULL);
    if (__atomic_compare_exchange_n(word, &expected, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return;
    while (__atomic_exchange_n(word, 2, __ATOMIC_ACQUIRE) != 0)
        probity_os_wait(word, 2, -1);
}

void probity_os_unlock(uint32_t *word)
{
    if (__atomic_exchange_n(word, 0, __ATOMIC_RELEASE) == 2)
        probity_os_wake(word, 1);
}

int probity_os_thread_exists(uint32_t pid, uint32_t tid)
{
    int before = errno;
    int gone = syscall(SYS_tgkill, (int)pid, (int)tid, 0) != 0 && errno == ESRCH;

    errno = before;
    return !gone;
}

void probity_os_threads_open(struct probity_os_threads *ret_threads)
{
    int before = errno;
    char first[48];

    snprintf(first, sizeof first, "/proc/self/task/%d", (int)getpid());
    ret_threads->first = open(first, O_PATH | O_DIRECTORY | O_CLOEXEC);
    errno = before;
}

void probity_os_threads_close(struct probity_os_threads *threads)
{
    if (threads->first >= 0)
        close(threads->first);
    threads->first = -1;
}

/* A zombie has no root directory. By name, /proc may belong to another PID namespace, in which
 * there is no such thread. */
static int is_first_gone(const struct probity_os_threads *threads)
{
    struct stat status;
    char first[48];

    if (threads != NULL)
        return threads->first >= 0 && fstatat(threads->first, "root", &status, 0) != 0 &&
               errno == ENOENT;
    int length = snprintf(first, sizeof first, "/proc/self/task/%d", (int)getpid());
    if (stat(first, &status) != 0)
        return 0;
    snprintf(first + length, sizeof first - (size_t)length, "/root");
    return stat(first, &status) != 0 && errno == ENOENT;
}

/* The first thread stays a zombie until all others have exited, and is counted. The directory of
 * threads has one link per thread, plus two. */
int probity_os_is_last_thread(const struct probity_os_threads *threads, uint32_t others)
{
    enum { LINKS = 2, FIRST_AND_CALLER = 2 };
    int before = errno;
    struct stat status;
    int is_last = is_first_gone(threads) &&
                  (threads != NULL ? fstatat(threads->first, "..", &status, 0)
                                   : stat("/proc/self/task", &status)) == 0 &&
                  status.st_nlink == LINKS + FIRST_AND_CALLER + others;

    errno = before;
    return is_last;
}

_Noreturn void probity_os_exit_thread(void)
{
    for (;;)
        syscall(SYS_exit, 0);
}

int probity_os_is_in_parents_memory(void)
{
    int before = errno;
    long order = syscall(SYS_kcmp, getpid(), getppid(), KCMP_VM, 0, 0);

    errno = before;
    return order == 0;
}

static int membarrier(int command)
{
    int before = errno;
    long result = syscall(SYS_membarrier, command, 0, 0);

    errno = before;
    return result < 0 ? -1 : 0;
}

int probity_os_barrier_ready(void)
{
    return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
}

int probity_os_barrier(void)
{
    return membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}

/* Registering again, as in a forked child, does no harm. */
int probity_os_code_barrier(void)
{
    return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE) == 0
               ? membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE)
               : -1;
}

/* struct sched_attr of linux/sched/types.h, which clashes with sched.h of newer libcs. */
struct turns {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime_ns, deadline_ns, period_ns;
};

/* Sets everything else to the values that it read. With other policies, the fields have other
 * meanings. */
int probity_os_short_turns(void)
{
    enum { TURN_NS = 100000 }; /* the minimum that the kernel accepts */
    struct turns turns = {.size = sizeof turns};
    int before = errno;
    int result = syscall(SYS_sched_getattr, 0, &turns, sizeof turns, 0) == 0 &&
                         (turns.policy == SCHED_OTHER || turns.policy == SCHED_BATCH)
                     ? 0
                     : -1;

    turns.runtime_ns = TURN_NS;
    if (result == 0)
        result = (int)syscall(SYS_sched_setattr, 0, &turns, 0);
    errno = before;
    return result;
}

void probity_os_yield(void)
{
    syscall(SYS_sched_yield);
}

/* The directory of threads has one link per thread, plus two. */
int probity_os_is_single_threaded(void)
{
    int before = errno;
    struct stat status;
    int is_single = stat("/proc/self/task", &status) == 0 && status.st_nlink == 3;

    errno = before;
    return is_single;
}

void probity_os_say(const char *line, size_t length)
{
    const struct timespec now = {0, 0};
    sigset_t pipe, before, pending;
    int saved = errno;

    probity_assert(length > 0);
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &pipe, &before);
    if (write(STDERR_FILENO, line, length) < 0 && errno == EPIPE && !sigismember(&pending, SIGPIPE))
        sigtimedwait(&pipe, NULL, &now);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = saved;
}

int probity_os_debugger(void)
{
    return -1;
}

int probity_os_own_descriptors(unsigned first)
{
    int before = errno;
    long result = syscall(SYS_close_range, first, ~0u, CLOSE_RANGE_OWN_TABLE);
    struct rlimit limit;

    /* Fallback for kernels before 5.9, and for filters that do not allow the call. */
    if (result < 0 && syscall(SYS_unshare, CLONE_FILES) == 0 &&
        getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        rlim_t end = limit.rlim_cur < DESCRIPTORS_MAX ? limit.rlim_cur : DESCRIPTORS_MAX;
        for (unsigned descriptor = first; descriptor < end; descriptor++)
            close((int)descriptor);
        result = 0;
    }
    errno = before;
    return result < 0 ? -1 : 0;
}

int probity_os_spool_directory(uint32_t user, char *ret_path, size_t room)
{
    int length = snprintf(ret_path, room, "/dev/shm/probity-%u", user);

    return length > 0 && (size_t)length < room ? length : -1;
}

void probity_os_use_slashes(char *path)
{
    (void)path;
}

int probity_os_is_absolute(const char *path)
{
    return path[0] == '/';
}

int probity_os_create_spool(const char *path)
{
    return open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

/* Opens the file of an O_PATH descriptor, with which no other file can be opened. Without /proc,
 * opens the path again, which may refer to another file by then. */
static int open_named(int named, int directory, const char *path, int flags)
{
    const char *descriptors = probity_os_descriptors();
    char self[48];

    snprintf(self, sizeof self, "%s/%d", descriptors, named);
    int file = open(self, flags & ~O_NOFOLLOW);
    return file < 0 && errno == ENOENT && access(descriptors, X_OK) != 0
               ? openat(directory, path, flags)
               : file;
}

static int is_regular(int file)
{
    struct stat status;

    if (fstat(file, &status) != 0)
        return 0;
    errno = S_ISLNK(status.st_mode) ? ELOOP : EINVAL;
    return S_ISREG(status.st_mode);
}

int probity_os_open_regular(int directory, const char *path, int flags)
{
    int named = openat(directory, path, O_PATH | O_CLOEXEC | (flags & O_NOFOLLOW));

    if (named < 0)
        return -1;
    int file = is_regular(named)
                   ? open_named(named, directory, path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
                   : -1;
    int why = errno;
    close(named);
    if (file >= 0 && !is_regular(file)) {
        why = errno;
        close(file);
        file = -1;
    }
    errno = why;
    return file;
}

/* Opens the same inode. Without /proc, returns the descriptor itself. */
int probity_os_open_again(int descriptor)
{
    char self[48];

    snprintf(self, sizeof self, "%s/%d", probity_os_descriptors(), descriptor);
    int file = open(self, O_RDWR | O_CLOEXEC);
    return file >= 0 ? file : descriptor;
}

void probity_os_close_locked(int descriptor)
{
    close(descriptor);
}

/* An aligned address below libc and everything that a program usually maps near libc. */
static void *guess_place(size_t bytes, size_t window)
{
    const uintptr_t near = (uintptr_t)getpid, distance = (UINT64_C(64) << 20) + bytes;

    return near > distance ? (void *)((near - distance) & ~(window - 1)) : NULL;
}

/* If the address range is in use, the system chooses another one, which is seldom aligned. */
static char *map_at_guess(int descriptor, size_t bytes, size_t window)
{
    char *at = mmap(guess_place(bytes, window), bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                    descriptor, 0);

    if (at == MAP_FAILED || (uintptr_t)at % window == 0)
        return at != MAP_FAILED ? at : NULL;
    munmap(at, bytes);
    return NULL;
}

/* Takes four calls if one is not enough: reserves more, and unmaps the excess. */
void *probity_os_map_aligned(int descriptor, size_t bytes, size_t window)
{
    probity_assert(bytes > 0 && (window & (window - 1)) == 0);
    char *guessed = map_at_guess(descriptor, bytes, window);
    if (guessed != NULL)
        return guessed;
    char *wide = mmap(NULL, bytes + window, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                      -1, 0);
    if (wide == MAP_FAILED)
        return NULL;
    size_t before = (window - (uintptr_t)wide % window) % window;
    probity_assert(before < window);
    char *at =
        mmap(wide + before, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, descriptor, 0);
    if (at == MAP_FAILED) {
        munmap(wide, bytes + window);
        return NULL;
    }
    if (before > 0)
        munmap(wide, before);
    if (window - before > 0)
        munmap(at + bytes, window - before);
    probity_assert((uintptr_t)at % window == 0);
    return at;
}

long probity_os_program(char *ret_path, size_t room)
{
    ssize_t length = readlink("/proc/self/exe", ret_path, room);

    return length > 0 && (size_t)length < room ? length : -1;
}

/* The zero after the last argument is not a separator. */
long probity_os_command(char *ret_text, size_t room)
{
    long bytes = probity_os_read_file("/proc/self/cmdline", ret_text, room);

    return bytes > 1 ? bytes - (ret_text[bytes - 1] == 0) : -1;
}

int probity_os_can_extend(int descriptor)
{
    enum { TMPFS = 0x01021994 };
    struct statfs status;
    int before = errno;
    /* madvise() fails for unsupported advice even with zero bytes. In emulators that accept any
     * advice and do nothing, it never fails. */
    enum { UNKNOWN_ADVICE = 0x7fffff };
    int can = fstatfs(descriptor, &status) == 0 && status.f_type == TMPFS &&
              madvise(NULL, 0, MADV_POPULATE_WRITE) == 0 && madvise(NULL, 0, UNKNOWN_ADVICE) != 0;

    errno = before;
    return can;
}

int probity_os_populate(void *at, size_t bytes)
{
    int before = errno, result = madvise(at, bytes, MADV_POPULATE_WRITE);

    probity_assert(bytes > 0);
    /* Kernels before 5.14 do not support the advice: touches the pages, which fallocate has
     * allocated. */
    if (result != 0 && errno == EINVAL) {
        for (size_t offset = 0; offset < bytes; offset += 4096)
            ((volatile char *)at)[offset] = 0;
        result = 0;
    }
    errno = before;
    return result;
}

int probity_os_counter_is_forbidden(void)
{
    int permission = 0, before = errno;
    int is = prctl(PR_GET_TSC, &permission) == 0 && permission == PR_TSC_SIGSEGV;

    errno = before;
    return is;
}

int probity_os_is_privileged(void)
{
    return getauxval(AT_SECURE) != 0;
}

int probity_os_random(void *bytes, size_t count)
{
    int before = errno;
    int result = getrandom(bytes, count, GRND_NONBLOCK) == (ssize_t)count ? 0 : -1;

    probity_assert(count > 0);
    errno = before;
    return result;
}

void probity_os_memory_take(void *memory)
{
    if (__tsan_acquire != NULL)
        __tsan_acquire(memory);
}

void probity_os_memory_give(void *memory)
{
    if (__tsan_release != NULL)
        __tsan_release(memory);
}

long probity_os_read_file(const char *path, void *bytes, size_t room)
{
    int before = errno, descriptor = open(path, O_RDONLY | O_CLOEXEC);
    size_t used = 0;
    ssize_t got = descriptor < 0 ? -1 : 1;

    probity_assert(room > 0);
    while (got > 0 && used < room) {
        got = read(descriptor, (char *)bytes + used, room - used);
        used += got > 0 ? (size_t)got : 0;
    }
    if (descriptor >= 0)
        close(descriptor);
    errno = before;
    return got < 0 ? -1 : (long)used;
}

/* Counts fields from the last parenthesis, because the name in field 2 may contain anything. */
static const char *stat_field(const char *text, int number)
{
    const char *at = strrchr(text, ')');

    for (int field = 2; field < number && at != NULL; field++) {
        at = strchr(at, ' ');
        at = at != NULL ? at + 1 : NULL;
    }
    return at;
}

uint64_t probity_os_process_start(uint32_t pid)
{
    enum { STATE = 3, THREADS = 20, START = 22 };
    char path[40], text[1024];

    snprintf(path, sizeof path, "/proc/%u/stat", pid);
    long bytes = probity_os_read_file(path, text, sizeof text - 1);
    if (bytes <= 0)
        return 0;
    text[bytes] = 0;
    const char *state = stat_field(text, STATE), *at = stat_field(text, START);
    const char *threads = stat_field(text, THREADS);
    int has_others = threads != NULL && strtol(threads, NULL, 10) > 1;
    if (state == NULL || *state == 'X' || (*state == 'Z' && !has_others))
        return 0;
    uint64_t start = 0;
    for (at = at != NULL ? at : ""; *at >= '0' && *at <= '9'; at++)
        start = start * 10 + (uint64_t)(*at - '0');
    return start;
}

static int hex_value(char digit)
{
    return digit >= '0' && digit <= '9' ? digit - '0' : (digit | 32) - 'a' + 10;
}

void probity_os_boot_id(uint8_t ret_boot[16])
{
    char text[37];
    long bytes = probity_os_read_file("/proc/sys/kernel/random/boot_id", text, sizeof text);
    int digits = 0;

    memset(ret_boot, 0, 16);
    for (long i = 0; i < bytes && digits < 32; i++) {
        if (text[i] == '-' || text[i] == '\n')
            continue;
        ret_boot[digits / 2] = (uint8_t)(ret_boot[digits / 2] << 4 | (hex_value(text[i]) & 15));
        digits++;
    }
}

void probity_os_no_copy_on_write(int descriptor)
{
    int before = errno;
    long flags = 0;

    if (syscall(SYS_ioctl, descriptor, FS_GET_FLAGS, &flags) == 0) {
        flags |= FS_FLAG_NO_COPY_ON_WRITE;
        syscall(SYS_ioctl, descriptor, FS_SET_FLAGS, &flags);
    }
    errno = before;
}

/* Whether the kernel can read these bytes now: it reads them before it rejects the invalid
 * operation. Takes a tenth of the time of process_vm_readv(). */
static int is_readable(uintptr_t address)
{
    enum { NO_OPERATION = 99, SET_BYTES = 8 };

    return syscall(SYS_rt_sigprocmask, NO_OPERATION, address, NULL, SET_BYTES) == 0 ||
           errno != EFAULT;
}

/* Uses the program headers passed by the kernel. */
void probity_os_image_find(struct probity_os_image *ret_image)
{
    enum { PARTS_MAX = sizeof ret_image->start / sizeof ret_image->start[0] };
    struct probity_object executable;
    uint32_t found = 0;

    ret_image->count = 0;
    if (probity_object_executable(&executable) != 0)
        return;
    const ElfW(Phdr) *header = executable.headers;
    for (size_t i = 0; i < executable.header_count && found < PARTS_MAX; i++) {
        if (header[i].p_type != PT_LOAD || !(header[i].p_flags & PF_R))
            continue;
        ret_image->start[found] = executable.offset + header[i].p_vaddr;
        ret_image->end[found++] = executable.offset + header[i].p_vaddr + header[i].p_filesz;
    }
    ret_image->count = found;
}

#ifdef DLFO_STRUCT_HAS_EH_DBASE
#pragma weak _dl_find_object /* since glibc 2.35 */
static int object_find(const void *at, const char **ret_name)
{
    struct dl_find_object object;

    if (_dl_find_object == NULL)
        return 0;
    if (_dl_find_object((void *)(uintptr_t)at, &object) == 0)
        *ret_name = object.dlfo_link_map->l_name;
    return 1;
}

int probity_os_is_beside_program(const void *at)
{
    struct dl_find_object object;

    if (_dl_find_object == NULL || _dl_find_object((void *)(uintptr_t)at, &object) != 0)
        return 1;
    const struct link_map *first = object.dlfo_link_map;
    while (first->l_prev != NULL)
        first = first->l_prev;
    return first->l_name[0] == 0; /* the program itself */
}

/* Compares with the object of a function that is never interposed. */
int probity_os_is_of_libc(const void *at)
{
    struct dl_find_object object, libc;

    return _dl_find_object == NULL || _dl_find_object((void *)(uintptr_t)at, &object) != 0 ||
           _dl_find_object((void *)(uintptr_t)__errno_location, &libc) != 0 ||
           object.dlfo_link_map == libc.dlfo_link_map;
}
#else
int probity_os_is_beside_program(const void *at)
{
    (void)at;
    return 1;
}

int probity_os_is_of_libc(const void *at)
{
    (void)at;
    return 1;
}

static int object_find(const void *at, const char **ret_name)
{
    (void)at;
    (void)ret_name;
    return 0;
}
#endif

const char *probity_os_object_name(const void *at)
{
    const char *name = "";
    Dl_info info;

    /* Avoids a lock if possible. */
    if (!object_find(at, &name) && dladdr(at, &info) != 0)
        name = info.dli_fname;
    return name != NULL ? name : "";
}

size_t probity_os_image_bytes(const struct probity_os_image *image, const void *at)
{
    uintptr_t address = (uintptr_t)at;

    for (uint32_t i = 0; i < image->count; i++) {
        if (address >= image->start[i] && address < image->end[i])
            return image->end[i] - address;
    }
    return 0;
}

static uint32_t number_at(const char **at)
{
    uint32_t number = 0;

    for (; **at >= '0' && **at <= '9'; (*at)++)
        number = number * 10 + (uint32_t)(**at - '0');
    return number;
}

/* Parses a list of ranges, such as "0-3,6". */
uint32_t probity_os_processors(void)
{
    char text[1024];
    long bytes = probity_os_read_file("/sys/devices/system/cpu/online", text, sizeof text - 1);
    uint32_t processors = 0;

    text[bytes > 0 ? bytes : 0] = 0;
    for (const char *at = text; *at >= '0' && *at <= '9'; at += *at == ',') {
        uint32_t first = number_at(&at), last = first;
        if (*at == '-') {
            at++;
            last = number_at(&at);
        }
        processors += last >= first ? last - first + 1 : 0;
    }
    return processors;
}

size_t probity_os_readable_bytes(const void *at)
{
    enum { PAGE = 4096, LOOK_BYTES = 8 };
    uintptr_t address = (uintptr_t)at, stack = (uintptr_t)__builtin_frame_address(0);
    int before = errno;

    /* The first page cannot be mapped, and an address of 0 would not query anything. */
    int is_there = address / PAGE == stack / PAGE ||
                   (address >= PAGE && is_readable(address / LOOK_BYTES * LOOK_BYTES));
    errno = before;
    return is_there ? PAGE - address % PAGE : 0;
}

/* The upper end of a thread's stack is its control block or, for the first thread, the program's
 * name. */
int probity_os_is_own_stack(uintptr_t address)
{
    const uintptr_t most = (uintptr_t)8 << 20;
    int before = errno;
    uintptr_t end = probity_os_thread_id() == (uint32_t)getpid() ? getauxval(AT_EXECFN)
                                                                 : (uintptr_t)pthread_self();
    stack_t stack;
    int is_elsewhere = sigaltstack(NULL, &stack) != 0 || (stack.ss_flags & SS_ONSTACK);

    errno = before;
    return !is_elsewhere && address < end && end - address < most;
}
