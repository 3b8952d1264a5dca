/* SPDX-License-Identifier: MIT
 *
 * sqlite_files.c: how SQLite opens files in probity.exe: they may be renamed and removed meanwhile,
 * like all files of the tool, and may be open elsewhere with these rights. Otherwise the file that
 * an export has created could not be opened. Also maps SQLite's error numbers to errno.
 */
#ifndef PROBITY_WITHOUT_SQLITE

#include <errno.h>
#include <windows.h>

#include "base/windows/posix.h"
#undef sqlite3_system_errno
#include <sqlite3.h>

int probity_sqlite_errno(sqlite3 *database);

int probity_sqlite_errno(sqlite3 *database)
{
    int error = sqlite3_system_errno(database);

    if (error == 0)
        return 0;
    SetLastError((DWORD)error);
    (void)probity_posix_fail();
    return errno;
}

static HANDLE WINAPI open_shared(LPCWSTR path, DWORD access, DWORD share,
                                 LPSECURITY_ATTRIBUTES security, DWORD creation, DWORD attributes,
                                 HANDLE template)
{
    return CreateFileW(path, access, share | FILE_SHARE_DELETE, security, creation, attributes,
                       template);
}

/* Runs before any database is opened. */
__attribute__((constructor)) static void share_files(void)
{
    sqlite3_vfs *files = sqlite3_vfs_find(NULL);

    if (files != NULL && files->iVersion >= 3)
        files->xSetSystemCall(files, "CreateFileW",
                              (sqlite3_syscall_ptr)(void (*)(void))open_shared);
}

#endif
