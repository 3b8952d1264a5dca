/* SPDX-License-Identifier: MIT
 *
 * tool/posix_tool.c: functions of posix/ that only the tool uses: directories, the console, other
 * processes.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <windows.h>

#include "base/windows/posix.h"

/* Many entries are read at a time, with the numbers of their files. */
struct probity_posix_directory {
    int descriptor;
    const FILE_ID_BOTH_DIR_INFO *next; /* NULL: to be read */
    struct dirent entry;
    _Alignas(8) char entries[16384];
};

DIR *fdopendir(int descriptor)
{
    DIR *directory = malloc(sizeof *directory);

    if (directory != NULL) {
        directory->descriptor = descriptor;
        directory->next = NULL;
    }
    return directory;
}

DIR *opendir(const char *path)
{
    int descriptor = open(path, O_RDONLY | O_DIRECTORY);
    DIR *directory = descriptor >= 0 ? fdopendir(descriptor) : NULL;

    if (directory == NULL && descriptor >= 0)
        close(descriptor);
    return directory;
}

int dirfd(DIR *directory)
{
    return directory->descriptor;
}

struct dirent *readdir(DIR *directory)
{
    const FILE_ID_BOTH_DIR_INFO *found = directory->next;
    struct dirent *entry = &directory->entry;

    if (found == NULL) {
        if (!GetFileInformationByHandleEx(probity_posix_handle(directory->descriptor),
                                          FileIdBothDirectoryInfo, directory->entries,
                                          sizeof directory->entries))
            return NULL;
        found = (const FILE_ID_BOTH_DIR_INFO *)(void *)directory->entries;
    }
    directory->next = found->NextEntryOffset == 0
                          ? NULL
                          : (const void *)((const char *)found + found->NextEntryOffset);
    /* Invalid UTF-16 becomes U+FFFD, so such a file is not found. */
    int length = WideCharToMultiByte(CP_UTF8, 0, found->FileName,
                                     (int)(found->FileNameLength / sizeof(wchar_t)), entry->d_name,
                                     sizeof entry->d_name - 1, NULL, NULL);
    entry->d_name[length] = 0;
    entry->d_type = found->FileAttributes & FILE_ATTRIBUTE_DIRECTORY ? DT_DIR : DT_REG;
    entry->d_ino = (uint64_t)found->FileId.QuadPart;
    return entry;
}

int closedir(DIR *directory)
{
    int result = close(directory->descriptor);

    free(directory);
    return result;
}

char *mkdtemp(char *path)
{
    char *number = path + strlen(path) - 6;

    for (unsigned i = 0, start = GetCurrentProcessId() << 8 ^ GetTickCount(); i < 256; i++) {
        snprintf(number, 7, "%06x", (start + i) & 0xffffff);
        if (mkdir(path, 0700) == 0)
            return path;
        if (errno != EEXIST)
            break;
    }
    return NULL;
}

int ioctl(int descriptor, unsigned long request, struct winsize *ret_size)
{
    CONSOLE_SCREEN_BUFFER_INFO console;

    (void)request;
    if (!GetConsoleScreenBufferInfo(probity_posix_handle(descriptor), &console))
        return probity_posix_fail();
    ret_size->ws_col = (unsigned short)(console.srWindow.Right - console.srWindow.Left + 1);
    ret_size->ws_row = (unsigned short)(console.srWindow.Bottom - console.srWindow.Top + 1);
    return 0;
}

int sched_getaffinity(int pid, size_t bytes, cpu_set_t *ret_set)
{
    DWORD_PTR own, all;

    (void)pid;
    (void)bytes;
    if (!GetProcessAffinityMask(GetCurrentProcess(), &own, &all))
        return probity_posix_fail();
    ret_set->processors = own;
    return 0;
}

int kill(int pid, int number)
{
    HANDLE process = OpenProcess(SYNCHRONIZE, FALSE, (DWORD)pid);
    int exists = process != NULL ? WaitForSingleObject(process, 0) == WAIT_TIMEOUT
                                 : GetLastError() != ERROR_INVALID_PARAMETER;

    (void)number;
    if (process != NULL)
        CloseHandle(process);
    errno = ESRCH;
    return exists ? 0 : -1;
}
