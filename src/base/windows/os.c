/* SPDX-License-Identifier: MIT
 *
 * windows/os.c: os.h on Windows 8 and later, and on Wine.
 */
#include "base/os.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <windows.h>
#include <winternl.h>

#include "base/assert.h"
#include "base/windows/posix.h"
#include "base/windows/slots.h"

/* In ntdll, but not in the headers. */
BOOLEAN NTAPI RtlDllShutdownInProgress(void);
BOOLEAN NTAPI SystemFunction036(PVOID bytes, ULONG count); /* RtlGenRandom */

uint32_t probity_os_thread_id(void)
{
    return GetCurrentThreadId();
}

int probity_os_threads_are_gone(void)
{
    return RtlDllShutdownInProgress();
}

static void (*at_exit)(void);

/* Called by the loader. When the process ends, all other threads have been terminated, unless the
 * program has returned from main() or called exit(), which run the destructors first. */
static void NTAPI loader_says(PVOID image, DWORD reason, PVOID is_exit)
{
    (void)image;
    if (reason == DLL_PROCESS_DETACH && is_exit != NULL && at_exit != NULL)
        at_exit();
}

/* The list of functions called by the loader, between its ends in the C library. */
__attribute__((section(".CRT$XLM"), used)) const PIMAGE_TLS_CALLBACK probity_os_loader_says =
    loader_says;

/* Prevents the library from being unloaded: threads that end later, and probes, would find no
 * code. */
void probity_os_at_exit(void (*function)(void))
{
    HMODULE own;

    at_exit = function;
    GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_PIN | GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS,
                       (const wchar_t *)(const void *)&at_exit, &own);
}

/* Also runs for the thread that ends the process. Wine calls the function above only for
 * libraries. */
void probity_os_thread_ends(void)
{
    if (PROBITY_OS_THREADS_ARE_GONE() && at_exit != NULL)
        at_exit();
    probity_slots_thread_ends();
}

/* The loader lock is at the same place in the process environment block in all versions. A thread
 * that is created while this thread holds the lock starts only after its release. */
int probity_posix_has_loader_lock(void)
{
    enum { LOADER_LOCK_AT = 0x110 };
    const TEB *thread = (const TEB *)(void *)probity_thread_environment();
    const char *environment = (const char *)thread->ProcessEnvironmentBlock;
    const CRITICAL_SECTION *lock = *(CRITICAL_SECTION *const *)(environment + LOADER_LOCK_AT);

    return lock != NULL && (DWORD)(uintptr_t)lock->OwningThread == GetCurrentThreadId();
}

int probity_os_may_start_thread(void)
{
    return !probity_os_threads_are_gone() && !probity_posix_has_loader_lock();
}

const char *probity_os_descriptors(void)
{
    return "";
}

void probity_os_unwatched_begin(void)
{
}

void probity_os_unwatched_end(void)
{
}

/* Signals do not exist: nothing interrupts a thread and runs in it. Between these calls, functions
 * of the system are called, which may change the thread's last error: it is restored like errno. */
void probity_os_signals_block(struct probity_os_signals *ret_before)
{
    *ret_before = (struct probity_os_signals){GetLastError(), 0};
}

void probity_os_signals_restore(const struct probity_os_signals *before)
{
    SetLastError((DWORD)before->set);
}

/* Waiters are in lists of the system in this process's memory, whose locks a thread may have held
 * when the exit terminated it. Then no thread is left to change the word either. */
void probity_os_wait(const uint32_t *word, uint32_t value, int64_t timeout_ns)
{
    if (probity_os_threads_are_gone())
        return;
    DWORD error = GetLastError();
    int64_t ms = timeout_ns < 0 ? INFINITE : (timeout_ns + 999999) / 1000000;

    WaitOnAddress((volatile void *)(uintptr_t)word, &value, sizeof value,
                  ms > INT32_MAX ? INFINITE : (DWORD)ms);
    SetLastError(error);
}

void probity_os_wake(const uint32_t *word, int threads)
{
    if (probity_os_threads_are_gone())
        return;
    if (threads == 1)
        WakeByAddressSingle((void *)(uintptr_t)word);
    else
        WakeByAddressAll((void *)(uintptr_t)word);
}

/* Wake-ups do not reach other processes: a process that waits for one checks once a second. Another
 * process may change the word even while this one exits. */
void probity_os_wait_shared(const uint32_t *word, uint32_t value, int64_t timeout_ns)
{
    const int64_t most = 1000000000;

    if (probity_os_threads_are_gone()) {
        if (__atomic_load_n(word, __ATOMIC_RELAXED) == value)
            Sleep(1);
        return;
    }
    probity_os_wait(word, value, timeout_ns < 0 || timeout_ns > most ? most : timeout_ns);
}

void probity_os_wake_shared(const uint32_t *word, int threads)
{
    probity_os_wake(word, threads);
}

/* 0 free, 1 locked, 2 locked with waiters. Acquire pairs with the release in probity_os_unlock.
 * While the process exits, the owner may have been terminated. */
void probity_os_lock(uint32_t *word)
{
    uint32_t expected = 0;

    if (__atomic_compare_exchange_n(word, &expected, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return;
    while (__atomic_exchange_n(word, 2, __ATOMIC_ACQUIRE) != 0 && !PROBITY_OS_THREADS_ARE_GONE())
        probity_os_wait(word, 2, -1);
}

void probity_os_unlock(uint32_t *word)
{
    if (__atomic_exchange_n(word, 0, __ATOMIC_RELEASE) == 2)
        probity_os_wake(word, 1);
}

int probity_os_thread_exists(uint32_t pid, uint32_t tid)
{
    HANDLE thread = OpenThread(SYNCHRONIZE, FALSE, tid);
    int exists = thread != NULL ? WaitForSingleObject(thread, 0) == WAIT_TIMEOUT
                                : GetLastError() != ERROR_INVALID_PARAMETER;

    (void)pid;
    if (thread != NULL)
        CloseHandle(thread);
    return exists;
}

void probity_os_threads_open(struct probity_os_threads *ret_threads)
{
    *ret_threads = (struct probity_os_threads){-1};
}

void probity_os_threads_close(struct probity_os_threads *threads)
{
    (void)threads;
}

/* Returns 0: a process ends with its first thread. */
int probity_os_is_last_thread(const struct probity_os_threads *threads, uint32_t others)
{
    (void)threads;
    (void)others;
    return 0;
}

_Noreturn void probity_os_exit_thread(void)
{
    for (;;)
        ExitThread(0);
}

int probity_os_is_in_parents_memory(void)
{
    return 0;
}

int probity_os_barrier_ready(void)
{
    return 0;
}

int probity_os_barrier(void)
{
    FlushProcessWriteBuffers();
    return 0;
}

int probity_os_code_barrier(void)
{
    return -1;
}

int probity_os_short_turns(void)
{
    return -1;
}

void probity_os_yield(void)
{
    SwitchToThread();
}

int probity_os_is_single_threaded(void)
{
    return 0;
}

void probity_os_say(const char *line, size_t length)
{
    DWORD written;

    WriteFile(GetStdHandle(STD_ERROR_HANDLE), line, (DWORD)length, &written, NULL);
}

int probity_os_debugger(void)
{
    return PROBITY_POSIX_DEBUGGER;
}

/* Does nothing: handles belong to the process. */
int probity_os_own_descriptors(unsigned first)
{
    (void)first;
    return 0;
}

void probity_os_use_slashes(char *path)
{
    probity_posix_slashes(path);
}

int probity_os_is_absolute(const char *path)
{
    return path[0] == '/' || path[0] == '\\' || (path[0] != 0 && path[1] == ':');
}

/* fstat() uses GetFileInformationByHandle(), which also reports the volume, for which Wine queries
 * its mount manager. If a thread is terminated while it waits for the reply, the thread that ends
 * the process may hang in Wine (doc/reliability.md). The writer calls this before each write. */
int probity_os_file_extent(int descriptor, struct stat *ret_status)
{
    FILE_STANDARD_INFO file;

    if (!GetFileInformationByHandleEx(probity_posix_handle(descriptor), FileStandardInfo, &file,
                                      sizeof file))
        return probity_posix_fail();
    ret_status->st_size = file.EndOfFile.QuadPart;
    ret_status->st_nlink = file.DeletePending ? 0 : file.NumberOfLinks;
    return 0;
}

/* In the directory for temporary files, which belongs to the user. */
int probity_os_spool_directory(uint32_t user, char *ret_path, size_t room)
{
    (void)user;
    char temporary[PROBITY_POSIX_TEMPORARY_BYTES];

    if (probity_posix_temporary_directory(temporary, sizeof temporary) < 0) {
        snprintf(ret_path, room, "%%TMP%%/probity"); /* for the message */
        return -1;
    }
    int whole = snprintf(ret_path, room, "%sprobity", temporary);
    return whole > 0 && (size_t)whole < room ? whole : -1;
}

int probity_os_create_spool(const char *path)
{
    return probity_posix_open_temporary(path);
}

/* No file in a directory is a device or a pipe. */
int probity_os_open_regular(int directory, const char *path, int flags)
{
    int file = openat(directory, path, flags | O_CLOEXEC);
    struct stat status;

    if (file >= 0 && (fstat(file, &status) != 0 || !S_ISREG(status.st_mode))) {
        close(file);
        errno = EINVAL;
        file = -1;
    }
    return file;
}

int probity_os_open_again(int descriptor)
{
    int again = probity_posix_open_again(descriptor);

    return again >= 0 ? again : descriptor;
}

/* A lock belongs to the open file, and ends with its last handle, whatever is mapped. So the handle
 * stays open. */
void probity_os_close_locked(int descriptor)
{
    (void)descriptor;
}

/* Setting the size allocates space. */
int probity_os_can_extend(int descriptor)
{
    (void)descriptor;
    return 1;
}

int probity_os_populate(void *at, size_t bytes)
{
    probity_assert(bytes > 0);
    for (size_t offset = 0; offset < bytes; offset += 4096)
        (void)((volatile char *)at)[offset];
    return 0;
}

int probity_os_is_privileged(void)
{
    return 0;
}

/* Returns 1, or 0 if the address is not in a program. Preserves the thread's last error. */
static int query(const void *at, MEMORY_BASIC_INFORMATION *ret_region)
{
    DWORD error = GetLastError();
    int is_known = VirtualQuery(at, ret_region, sizeof *ret_region) != 0;

    SetLastError(error);
    return is_known;
}

size_t probity_os_readable_bytes(const void *at)
{
    MEMORY_BASIC_INFORMATION region;
    const DWORD readable = PAGE_READONLY | PAGE_READWRITE | PAGE_WRITECOPY | PAGE_EXECUTE_READ |
                           PAGE_EXECUTE_READWRITE | PAGE_EXECUTE_WRITECOPY;

    if (!query(at, &region) || region.State != MEM_COMMIT || (region.Protect & readable) == 0 ||
        (region.Protect & PAGE_GUARD) != 0)
        return 0;
    return (size_t)((char *)region.BaseAddress + region.RegionSize - (const char *)at);
}

int probity_os_is_own_stack(uintptr_t address)
{
    const NT_TIB *block = (const NT_TIB *)(void *)probity_thread_environment();
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    uintptr_t low = (uintptr_t)block->StackLimit, high = (uintptr_t)block->StackBase;

    return here >= low && here < high && address >= low && address < high;
}

/* The sections in the executable's headers. */
void probity_os_image_find(struct probity_os_image *ret_image)
{
    enum { PARTS_MAX = sizeof ret_image->start / sizeof ret_image->start[0] };
    uintptr_t base = (uintptr_t)GetModuleHandleW(NULL);
    const IMAGE_NT_HEADERS *header =
        (const IMAGE_NT_HEADERS *)(base + (uintptr_t)((const IMAGE_DOS_HEADER *)base)->e_lfanew);
    const IMAGE_SECTION_HEADER *section = IMAGE_FIRST_SECTION(header);
    uint32_t found = 0;

    for (unsigned i = 0; i < header->FileHeader.NumberOfSections && found < PARTS_MAX; i++) {
        if (!(section[i].Characteristics & IMAGE_SCN_MEM_READ) ||
            (section[i].Characteristics & IMAGE_SCN_MEM_DISCARDABLE))
            continue;
        ret_image->start[found] = base + section[i].VirtualAddress;
        ret_image->end[found++] =
            base + section[i].VirtualAddress + section[i].Misc.VirtualSize;
    }
    ret_image->count = found;
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

int probity_os_counter_is_forbidden(void)
{
    return 0;
}

uint32_t probity_os_processors(void)
{
    return GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
}

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

/* Unsupported: the name would need memory that stays valid. */
const char *probity_os_object_name(const void *at)
{
    (void)at;
    return "";
}

int probity_os_random(void *bytes, size_t count)
{
    return SystemFunction036(bytes, (ULONG)count) ? 0 : -1;
}

void probity_os_memory_take(void *memory)
{
    (void)memory;
}

void probity_os_memory_give(void *memory)
{
    (void)memory;
}

/* There are no such files here. */
long probity_os_read_file(const char *path, void *bytes, size_t room)
{
    (void)path;
    (void)bytes;
    (void)room;
    return -1;
}

uint64_t probity_os_process_start(uint32_t pid)
{
    FILETIME created, ended, system, user;
    HANDLE process = OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, pid);
    uint64_t start = 0;

    if (process == NULL)
        return 0;
    if (GetProcessTimes(process, &created, &ended, &system, &user))
        start = (uint64_t)created.dwHighDateTime << 32 | created.dwLowDateTime;
    CloseHandle(process);
    return start;
}

/* Zeros: a spool is a file, which survives a reboot. */
void probity_os_boot_id(uint8_t ret_boot[16])
{
    memset(ret_boot, 0, 16);
}

void probity_os_no_copy_on_write(int descriptor)
{
    (void)descriptor;
}
