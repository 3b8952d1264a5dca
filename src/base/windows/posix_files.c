/* SPDX-License-Identifier: MIT
 *
 * windows/posix_files.c: files of posix/, with the system's own functions: those of msvcrt use a
 * table with a lock, which a thread that was terminated at exit may hold. Handles are not
 * inherited, and other processes may open, rename and remove the files.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <windows.h>

#include "base/windows/posix.h"

enum { SHARE_ALL = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE };
/* Offset of locks, in bytes: beyond the end of any file. */
#define LOCKS_AT (UINT64_C(1) << 62)

int probity_posix_fail(void)
{
    static const struct {
        DWORD error;
        int number;
    } table[] = {
        {ERROR_FILE_NOT_FOUND, ENOENT},      {ERROR_PATH_NOT_FOUND, ENOENT},
        {ERROR_INVALID_NAME, ENOENT},        {ERROR_BAD_PATHNAME, ENOENT},
        {ERROR_ACCESS_DENIED, EACCES},       {ERROR_SHARING_VIOLATION, EACCES},
        {ERROR_LOCK_VIOLATION, EAGAIN},      {ERROR_IO_PENDING, EAGAIN},
        {ERROR_FILE_EXISTS, EEXIST},         {ERROR_ALREADY_EXISTS, EEXIST},
        {ERROR_DISK_FULL, ENOSPC},           {ERROR_HANDLE_DISK_FULL, ENOSPC},
        {ERROR_NOT_ENOUGH_MEMORY, ENOMEM},   {ERROR_COMMITMENT_LIMIT, ENOMEM},
        {ERROR_INVALID_HANDLE, EBADF},       {ERROR_BROKEN_PIPE, EPIPE},
        {ERROR_NO_DATA, EPIPE},              {ERROR_FILENAME_EXCED_RANGE, ENAMETOOLONG},
        {ERROR_TOO_MANY_OPEN_FILES, EMFILE}, {ERROR_DIR_NOT_EMPTY, ENOTEMPTY},
        {ERROR_USER_MAPPED_FILE, EBUSY},     {ERROR_INVALID_PARAMETER, EINVAL},
        {ERROR_CALL_NOT_IMPLEMENTED, ENOSYS}, {ERROR_INSUFFICIENT_BUFFER, ENAMETOOLONG},
        {ERROR_NO_UNICODE_TRANSLATION, EILSEQ}};
    DWORD error = GetLastError();

    errno = EIO;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (table[i].error == error)
            errno = table[i].number;
    }
    return -1;
}

char *probity_posix_strerror(int error)
{
    static char inexpressible[] = "its name is not valid UTF-8 or UTF-16";

    return error == EILSEQ ? inexpressible : (strerror)(error);
}

HANDLE probity_posix_handle(int descriptor)
{
    switch (descriptor) {
    case STDIN_FILENO: return GetStdHandle(STD_INPUT_HANDLE);
    case STDOUT_FILENO: return GetStdHandle(STD_OUTPUT_HANDLE);
    case STDERR_FILENO: return GetStdHandle(STD_ERROR_HANDLE);
    default: return descriptor > 0 ? (HANDLE)(intptr_t)descriptor : INVALID_HANDLE_VALUE;
    }
}

/* Handles are multiples of four that fit in 32 bits. */
static int descriptor_of(HANDLE handle)
{
    return handle != INVALID_HANDLE_VALUE && handle != NULL ? (int)(intptr_t)handle
                                                            : probity_posix_fail();
}

static DWORD access_of(int flags)
{
    if (flags & O_APPEND)
        return FILE_APPEND_DATA | FILE_READ_ATTRIBUTES | SYNCHRONIZE;
    switch (flags & O_ACCMODE) {
    case O_WRONLY: return GENERIC_WRITE | FILE_READ_ATTRIBUTES | DELETE;
    case O_RDWR: return GENERIC_READ | GENERIC_WRITE | DELETE;
    default: return GENERIC_READ;
    }
}

static int open_with(const char *path, int flags, DWORD attributes)
{
    DWORD creation = flags & O_CREAT ? flags & O_EXCL ? CREATE_NEW : OPEN_ALWAYS : OPEN_EXISTING;
    DWORD access = flags & O_PATH        ? FILE_READ_ATTRIBUTES
                   : flags & O_DIRECTORY ? FILE_READ_ATTRIBUTES | FILE_LIST_DIRECTORY
                                         : access_of(flags);
    wchar_t wide[PATH_MAX];

    if (flags & O_TMPFILE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    if (probity_posix_wide(path, wide, PATH_MAX) < 0)
        return -1;
    if (flags & (O_DIRECTORY | O_PATH))
        attributes |= FILE_FLAG_BACKUP_SEMANTICS;
    /* The right to remove the file may be missing, for example because another program has it
     * open. */
    HANDLE handle = CreateFileW(wide, access, SHARE_ALL, NULL, creation, attributes, NULL);
    if (handle == INVALID_HANDLE_VALUE && (access & DELETE) != 0 &&
        (GetLastError() == ERROR_ACCESS_DENIED || GetLastError() == ERROR_SHARING_VIOLATION))
        handle = CreateFileW(wide, access & ~(DWORD)DELETE, SHARE_ALL, NULL, creation, attributes,
                             NULL);
    if (handle != INVALID_HANDLE_VALUE && (flags & O_TRUNC) != 0 && !SetEndOfFile(handle)) {
        probity_posix_fail();
        CloseHandle(handle);
        return -1;
    }
    return descriptor_of(handle);
}

/* Supports two Linux paths: /dev/null, and an open file by descriptor. */
int open(const char *path, int flags, ...)
{
    static const char descriptors[] = "/proc/self/fd/";

    if (strncmp(path, descriptors, sizeof descriptors - 1) == 0)
        return probity_posix_open_again(atoi(path + sizeof descriptors - 1));
    return open_with(strcmp(path, "/dev/null") == 0 ? "NUL" : path, flags,
                     FILE_ATTRIBUTE_NORMAL);
}

int memfd_create(const char *name, unsigned flags)
{
    char directory[PROBITY_POSIX_TEMPORARY_BYTES], path[PATH_MAX];

    (void)flags;
    if (probity_posix_temporary_directory(directory, sizeof directory) < 0)
        return probity_posix_fail();
    snprintf(path, sizeof path, "%s%s.%lx.%llx", directory, name, GetCurrentProcessId(),
             GetTickCount64());
    return open_with(path, O_RDWR | O_CREAT | O_EXCL,
                     FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE);
}

int probity_posix_open_temporary(const char *path)
{
    return open_with(path, O_RDWR | O_CREAT | O_EXCL, FILE_ATTRIBUTE_TEMPORARY);
}

int probity_posix_open_again(int descriptor)
{
    HANDLE handle = NULL, self = GetCurrentProcess();

    if (!DuplicateHandle(self, probity_posix_handle(descriptor), self, &handle, 0, FALSE,
                         DUPLICATE_SAME_ACCESS))
        return probity_posix_fail();
    return descriptor_of(handle);
}

int probity_posix_path_in(int directory, const char *name, char *ret_path)
{
    if (directory == AT_FDCWD || name[0] == '/' || name[0] == '\\' ||
        (name[0] != 0 && name[1] == ':')) {
        if (snprintf(ret_path, PATH_MAX, "%s", name) >= PATH_MAX) {
            errno = ENAMETOOLONG;
            return -1;
        }
        return 0;
    }
    wchar_t path[PATH_MAX];
    DWORD got = GetFinalPathNameByHandleW(probity_posix_handle(directory), path, PATH_MAX,
                                          FILE_NAME_NORMALIZED);
    if (got == 0)
        return probity_posix_fail();
    if (got >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int length = probity_posix_narrow(path, ret_path, PATH_MAX);
    if (length < 0 || strcmp(name, ".") == 0)
        return length < 0 ? -1 : 0;
    if (length + 1 + strlen(name) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    ret_path[length] = '\\'; /* paths with the prefix \\?\ have no other separators */
    memcpy(ret_path + length + 1, name, strlen(name) + 1);
    if (!PROBITY_OS_CONVERT_TEXT(ret_path + length + 1, PATH_MAX - (size_t)length - 1)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return 0;
}

int openat(int directory, const char *path, int flags, ...)
{
    char whole[PATH_MAX];

    return probity_posix_path_in(directory, path, whole) == 0 ? open(whole, flags) : -1;
}

int close(int descriptor)
{
    if (descriptor <= PROBITY_POSIX_DEBUGGER)
        return 0;
    return CloseHandle(probity_posix_handle(descriptor)) ? 0 : probity_posix_fail();
}

/* Returns the number of bytes for one call. */
static DWORD portion(size_t count)
{
    const size_t most = 1 << 30;

    return (DWORD)(count < most ? count : most);
}

ssize_t read(int descriptor, void *bytes, size_t count)
{
    DWORD got = 0;

    if (ReadFile(probity_posix_handle(descriptor), bytes, portion(count), &got, NULL))
        return (ssize_t)got;
    return GetLastError() == ERROR_BROKEN_PIPE || GetLastError() == ERROR_HANDLE_EOF
               ? 0
               : probity_posix_fail();
}

/* Returns the number of bytes of a text that fit in the limit, without a part of a UTF-8
 * character. */
static size_t whole_characters(const char *at, size_t length, size_t limit)
{
    size_t whole = limit;

    if (length <= limit)
        return length;
    while (whole > limit - 4 && (at[whole] & 0xc0) == 0x80)
        whole--;
    return whole;
}

enum { DEBUGGER_BYTES = 2000 };

/* One call per line: debuggers show calls separately, and truncate long texts. The text is in the
 * system's code page, as debuggers expect: OutputDebugStringW() also converts to it, but allocates,
 * and another thread may have been terminated with the heap locked. */
static ssize_t to_debugger(const char *at, size_t count)
{
    wchar_t wide[DEBUGGER_BYTES];
    char text[2 * DEBUGGER_BYTES + 1];

    for (size_t done = 0, length; done < count; done += length) {
        const char *end = memchr(at + done, '\n', count - done);
        length = end != NULL ? (size_t)(end - at) + 1 - done : count - done;
        length = whole_characters(at + done, length, DEBUGGER_BYTES);
        int units = MultiByteToWideChar(CP_UTF8, 0, at + done, (int)length, wide, DEBUGGER_BYTES);
        int bytes = WideCharToMultiByte(CP_ACP, 0, wide, units, text, sizeof text - 1, NULL, NULL);
        text[bytes] = 0;
        OutputDebugStringA(text);
    }
    return (ssize_t)count;
}

ssize_t write(int descriptor, const void *bytes, size_t count)
{
    DWORD put = 0;

    if (descriptor == PROBITY_POSIX_DEBUGGER)
        return to_debugger(bytes, count);
    return WriteFile(probity_posix_handle(descriptor), bytes, portion(count), &put, NULL)
               ? (ssize_t)put
               : probity_posix_fail();
}

ssize_t writev(int descriptor, const struct iovec *parts, int count)
{
    ssize_t done = 0;

    for (int i = 0; i < count; i++) {
        ssize_t put = write(descriptor, parts[i].iov_base, parts[i].iov_len);
        if (put < 0)
            return done > 0 ? done : -1;
        done += put;
        if ((size_t)put < parts[i].iov_len)
            break;
    }
    return done;
}

static OVERLAPPED place(uint64_t at)
{
    OVERLAPPED where = {0};

    where.Offset = (DWORD)at;
    where.OffsetHigh = (DWORD)(at >> 32);
    return where;
}

ssize_t pread(int descriptor, void *bytes, size_t count, off_t at)
{
    OVERLAPPED where = place((uint64_t)at);
    DWORD got = 0;

    if (ReadFile(probity_posix_handle(descriptor), bytes, portion(count), &got, &where))
        return (ssize_t)got;
    return GetLastError() == ERROR_HANDLE_EOF ? 0 : probity_posix_fail();
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t at)
{
    OVERLAPPED where = place((uint64_t)at);
    DWORD put = 0;

    return WriteFile(probity_posix_handle(descriptor), bytes, portion(count), &put, &where)
               ? (ssize_t)put
               : probity_posix_fail();
}

off_t lseek(int descriptor, off_t offset, int whence)
{
    LARGE_INTEGER distance = {.QuadPart = offset}, now;
    DWORD how = whence == SEEK_SET ? FILE_BEGIN : whence == SEEK_CUR ? FILE_CURRENT : FILE_END;

    return SetFilePointerEx(probity_posix_handle(descriptor), distance, &now, how)
               ? now.QuadPart
               : probity_posix_fail();
}

int ftruncate(int descriptor, off_t bytes)
{
    FILE_END_OF_FILE_INFO end = {.EndOfFile = {.QuadPart = bytes}};

    return SetFileInformationByHandle(probity_posix_handle(descriptor), FileEndOfFileInfo, &end,
                                      sizeof end)
               ? 0
               : probity_posix_fail();
}

int fallocate(int descriptor, int mode, off_t offset, off_t bytes)
{
    struct stat status;

    (void)mode;
    if (fstat(descriptor, &status) != 0)
        return -1;
    return status.st_size >= offset + bytes ? 0 : ftruncate(descriptor, offset + bytes);
}

int posix_fallocate(int descriptor, off_t offset, off_t bytes)
{
    return fallocate(descriptor, 0, offset, bytes) == 0 ? 0 : errno;
}

int fsync(int descriptor)
{
    return FlushFileBuffers(probity_posix_handle(descriptor)) ? 0 : probity_posix_fail();
}

int isatty(int descriptor)
{
    DWORD mode;

    return GetConsoleMode(probity_posix_handle(descriptor), &mode) != 0;
}

int dup(int descriptor)
{
    return probity_posix_open_again(descriptor);
}

/* ---- Locks -------------------------------------------------------------------------------------
 */

static int lock_set(HANDLE handle, const struct flock *lock)
{
    OVERLAPPED where = place(LOCKS_AT + (uint64_t)lock->l_start);
    DWORD bytes = lock->l_len > 0 ? (DWORD)lock->l_len : 1;
    DWORD how = LOCKFILE_FAIL_IMMEDIATELY |
                (lock->l_type == F_WRLCK ? LOCKFILE_EXCLUSIVE_LOCK : 0);

    if (lock->l_type == F_UNLCK)
        return UnlockFileEx(handle, 0, bytes, 0, &where) ? 0 : probity_posix_fail();
    return LockFileEx(handle, how, 0, bytes, 0, &where) ? 0 : probity_posix_fail();
}

/* Takes a free or shared lock for a moment. */
static int lock_get(HANDLE handle, struct flock *lock)
{
    struct flock wanted = *lock, released = *lock;

    released.l_type = F_UNLCK;
    for (int type = F_WRLCK; type >= F_RDLCK; type--) {
        wanted.l_type = (short)type;
        if (lock_set(handle, &wanted) == 0) {
            lock_set(handle, &released);
            lock->l_type = type == F_WRLCK ? F_UNLCK : F_RDLCK;
            return 0;
        }
        if (errno != EAGAIN)
            return -1;
    }
    lock->l_type = F_WRLCK;
    return 0;
}

int fcntl(int descriptor, int command, ...)
{
    va_list arguments;
    struct flock *lock;

    if (command == F_DUPFD_CLOEXEC || command == F_DUPFD)
        return probity_posix_open_again(descriptor);
    if (command != F_OFD_SETLK && command != F_OFD_GETLK)
        return 0;
    va_start(arguments, command);
    lock = va_arg(arguments, struct flock *);
    va_end(arguments);
    HANDLE handle = probity_posix_handle(descriptor);
    return command == F_OFD_SETLK ? lock_set(handle, lock) : lock_get(handle, lock);
}

/* ---- Names -------------------------------------------------------------------------------------
 */

int mkostemp(char *path, int flags)
{
    char *number = path + strlen(path) - 6;

    (void)flags;
    snprintf(number, 7, "%06x",
             (unsigned)(GetTickCount64() ^ GetCurrentThreadId() << 12) & 0xffffff);
    return open(path, O_RDWR | O_CREAT | O_EXCL);
}

int access(const char *path, int mode)
{
    wchar_t wide[PATH_MAX];
    DWORD attributes = probity_posix_wide(path, wide, PATH_MAX) > 0 ? GetFileAttributesW(wide)
                                                                    : INVALID_FILE_ATTRIBUTES;

    if (attributes == INVALID_FILE_ATTRIBUTES) {
        errno = ENOENT;
        return -1;
    }
    if ((mode & W_OK) != 0 && (attributes & FILE_ATTRIBUTE_READONLY) != 0) {
        errno = EACCES;
        return -1;
    }
    return 0;
}

/* A file that is mapped, or open in other processes, keeps its name until it is last closed. */
int unlink(const char *path)
{
    wchar_t wide[PATH_MAX];

    if (probity_posix_wide(path, wide, PATH_MAX) < 0)
        return -1;
    return DeleteFileW(wide) ? 0 : probity_posix_fail();
}

int rmdir(const char *path)
{
    wchar_t wide[PATH_MAX];

    if (probity_posix_wide(path, wide, PATH_MAX) < 0)
        return -1;
    return RemoveDirectoryW(wide) ? 0 : probity_posix_fail();
}

int unlinkat(int directory, const char *path, int flags)
{
    char whole[PATH_MAX];

    (void)flags;
    return probity_posix_path_in(directory, path, whole) == 0 ? unlink(whole) : -1;
}

static int move(int from, const char *path, int to, const char *name, DWORD flags)
{
    char narrow[PATH_MAX];
    wchar_t whole[PATH_MAX], renamed[PATH_MAX];

    if (probity_posix_path_in(from, path, narrow) != 0 ||
        probity_posix_wide(narrow, whole, PATH_MAX) < 0 ||
        probity_posix_path_in(to, name, narrow) != 0 ||
        probity_posix_wide(narrow, renamed, PATH_MAX) < 0)
        return -1;
    return MoveFileExW(whole, renamed, flags) ? 0 : probity_posix_fail();
}

/* Fails if the new name exists. Renames the file, since not all file systems have links, and
 * callers remove the old name afterwards. */
int linkat(int from, const char *path, int to, const char *link, int flags)
{
    if (flags & AT_EMPTY_PATH) {
        errno = EINVAL;
        return -1;
    }
    return move(from, path, to, link, 0);
}

int renameat2(int from, const char *path, int to, const char *name, unsigned flags)
{
    if (flags & RENAME_EXCHANGE) {
        errno = EINVAL;
        return -1;
    }
    return move(from, path, to, name, flags & RENAME_NOREPLACE ? 0 : MOVEFILE_REPLACE_EXISTING);
}

int renameat(int from, const char *path, int to, const char *name)
{
    return renameat2(from, path, to, name, 0);
}

int rename(const char *from, const char *to)
{
    return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

ssize_t readlink(const char *path, char *text, size_t room)
{
    (void)path;
    (void)text;
    (void)room;
    errno = EINVAL;
    return -1;
}

void probity_posix_slashes(char *path)
{
    for (; *path != 0; path++)
        *path = *path == '\\' ? '/' : *path;
}

int probity_posix_temporary_directory(char *ret_path, size_t room)
{
    wchar_t path[MAX_PATH + 1];
    DWORD got = GetTempPathW(MAX_PATH + 1, path);

    if (got > MAX_PATH)
        SetLastError(ERROR_FILENAME_EXCED_RANGE);
    if (got == 0 || got > MAX_PATH)
        return probity_posix_fail();
    int length = probity_posix_narrow(path, ret_path, room);
    if (length > 0)
        probity_posix_slashes(ret_path);
    return length;
}

char *getcwd(char *text, size_t room)
{
    wchar_t path[PATH_MAX];
    DWORD got = GetCurrentDirectoryW(PATH_MAX, path);

    if (got == 0 || got >= PATH_MAX) {
        errno = got == 0 ? ENOENT : ERANGE;
        return NULL;
    }
    if (probity_posix_narrow(path, text, room) < 0) {
        errno = errno == ENAMETOOLONG ? ERANGE : errno;
        return NULL;
    }
    probity_posix_slashes(text);
    return text;
}

char *realpath(const char *path, char *text)
{
    wchar_t wide[PATH_MAX], full[PATH_MAX];
    char *whole = text != NULL ? text : malloc(PATH_MAX);
    int got = probity_posix_wide(path, wide, PATH_MAX);
    DWORD length = whole != NULL && got > 0 ? GetFullPathNameW(wide, PATH_MAX, full, NULL) : 0;

    errno = ENOENT;
    if (length > 0 && length < PATH_MAX && probity_posix_narrow(full, whole, PATH_MAX) > 0 &&
        access(whole, F_OK) == 0) {
        probity_posix_slashes(whole);
        return whole;
    }
    if (whole != text)
        free(whole);
    return NULL;
}

int mkdir(const char *path, mode_t mode)
{
    wchar_t wide[PATH_MAX];

    (void)mode;
    if (probity_posix_wide(path, wide, PATH_MAX) < 0)
        return -1;
    return CreateDirectoryW(wide, NULL) ? 0 : probity_posix_fail();
}

int fchmod(int descriptor, mode_t mode)
{
    (void)descriptor;
    (void)mode;
    return 0;
}

mode_t umask(mode_t mode)
{
    (void)mode;
    return 0;
}

/* ---- Status of a file --------------------------------------------------------------------------
 */

static void time_of(const FILETIME *time, struct timespec *ret_time)
{
    const uint64_t epoch = UINT64_C(116444736000000000);
    uint64_t units = ((uint64_t)time->dwHighDateTime << 32 | time->dwLowDateTime) - epoch;

    ret_time->tv_sec = (time_t)(units / 10000000);
    ret_time->tv_nsec = (long)(units % 10000000 * 100);
}

int fstat(int descriptor, struct stat *ret_status)
{
    HANDLE handle = probity_posix_handle(descriptor);
    BY_HANDLE_FILE_INFORMATION file;

    memset(ret_status, 0, sizeof *ret_status);
    if (descriptor == PROBITY_POSIX_DEBUGGER) {
        ret_status->st_mode = S_IFCHR | 0600;
        return 0;
    }
    switch (GetFileType(handle)) {
    case FILE_TYPE_CHAR: ret_status->st_mode = S_IFCHR | 0600; return 0;
    case FILE_TYPE_PIPE: ret_status->st_mode = S_IFIFO | 0600; return 0;
    default: break;
    }
    if (!GetFileInformationByHandle(handle, &file))
        return probity_posix_fail();
    ret_status->st_dev = file.dwVolumeSerialNumber;
    ret_status->st_ino = (uint64_t)file.nFileIndexHigh << 32 | file.nFileIndexLow;
    ret_status->st_mode = file.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY ? S_IFDIR | 0700
                                                                           : S_IFREG | 0600;
    ret_status->st_nlink = file.nNumberOfLinks;
    ret_status->st_size = (int64_t)((uint64_t)file.nFileSizeHigh << 32 | file.nFileSizeLow);
    ret_status->st_blocks = (ret_status->st_size + 511) / 512;
    time_of(&file.ftLastWriteTime, &ret_status->st_mtim);
    return 0;
}

int fstatat(int directory, const char *path, struct stat *ret_status, int flags)
{
    char whole[PATH_MAX];

    (void)flags;
    if (probity_posix_path_in(directory, path, whole) != 0)
        return -1;
    int file = open(whole, O_PATH);
    int result = file >= 0 ? fstat(file, ret_status) : -1, error = errno;
    if (file >= 0)
        close(file);
    errno = error;
    return result;
}

int stat(const char *path, struct stat *ret_status)
{
    return fstatat(AT_FDCWD, path, ret_status, 0);
}

int statfs(const char *path, struct statfs *ret_status)
{
    ULARGE_INTEGER available, total, left;
    wchar_t wide[PATH_MAX];

    if (probity_posix_wide(path, wide, PATH_MAX) < 0)
        return -1;
    if (!GetDiskFreeSpaceExW(wide, &available, &total, &left))
        return probity_posix_fail();
    ret_status->f_bsize = 4096;
    ret_status->f_blocks = total.QuadPart / 4096;
    ret_status->f_bfree = left.QuadPart / 4096;
    ret_status->f_bavail = available.QuadPart / 4096;
    ret_status->f_type = 0;
    return 0;
}
