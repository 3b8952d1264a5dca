/* SPDX-License-Identifier: MIT
 *
 * code_page.c: converts the path of a directory that does not exist, and so has no short name, to
 * the system's code page, which lacks one of its letters. Prints what is wrong.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <windows.h>

#include "base/windows/posix.h"

char *probity_posix_strerror(int error);

static void expect(const char *what, long long expected, long long found)
{
    if (expected != found)
        printf("%s: expected %lld, found %lld\n", what, expected, found);
}

int main(void)
{
    char path[64];

    SetLastError(ERROR_DISK_FULL);
    errno = 0;
    expect("length", -1, probity_posix_narrow(L"Z:\\missing\\\x141\xf3", path, sizeof path));
    expect("errno", EILSEQ, errno);
    expect("last error", ERROR_NO_UNICODE_TRANSLATION, GetLastError());
    expect("message", 1, strstr(probity_posix_strerror(errno), "code page") != NULL);
    expect("length", 12, probity_posix_narrow(L"Z:\\missing\\\xf3", path, sizeof path));
    expect("room", -1, probity_posix_narrow(L"Z:\\missing\\\xf3", path, 12));
    expect("errno", ENAMETOOLONG, errno);
    expect("bytes", 2, probity_posix_to_code_page(L"\x141\xf3", 2, path, sizeof path));
    expect("no similar letter", '?', path[0]);
    return 0;
}
