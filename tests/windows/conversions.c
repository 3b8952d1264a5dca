/* SPDX-License-Identifier: MIT
 *
 * conversions.c: converts paths and variables between the system's texts and UTF-8. Prints the
 * errors.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <windows.h>

#include "base/windows/posix.h"

char *probity_posix_strerror(int error);
char *probity_posix_getenv(const char *name);

static void expect(const char *what, long long expected, long long found)
{
    if (expected != found)
        printf("%s: expected %lld, found %lld\n", what, expected, found);
}

static void expect_failure(const char *what, int result, int error)
{
    expect(what, -1, result);
    expect(what, error, errno);
    errno = 0;
}

/* "Łó" and U+1F600, in UTF-16 and in UTF-8. */
static const wchar_t wide[] = L"\x141\xf3\xd83d\xde00";
static const char narrow[] = "\xc5\x81\xc3\xb3\xf0\x9f\x98\x80";

static void convert_paths(void)
{
    char path[64];
    wchar_t back[64];

    expect("bytes", 8, probity_posix_narrow(wide, path, sizeof path));
    expect("UTF-8", 0, strcmp(narrow, path));
    expect("units", 4, probity_posix_wide(narrow, back, 64));
    expect("UTF-16", 0, wcscmp(wide, back));
    expect_failure("room for bytes", probity_posix_narrow(wide, path, 8), ENAMETOOLONG);
    expect_failure("room for units", probity_posix_wide(narrow, back, 4), ENAMETOOLONG);
    expect_failure("half of a pair", probity_posix_narrow(L"a\xd83d", path, sizeof path), EILSEQ);
    expect("last error", ERROR_NO_UNICODE_TRANSLATION, GetLastError());
    expect("message", 1, strstr(probity_posix_strerror(EILSEQ), "not valid UTF") != NULL);
    if (GetACP() == 1252) {
        expect("units in the code page", 2, probity_posix_wide("\xf3" "e", back, 64));
        expect("in the code page", 0, wcscmp(L"\xf3" L"e", back));
    }
}

static void read_variables(void)
{
    SetEnvironmentVariableW(L"PROBITY_TEST", wide);
    SetLastError(ERROR_DISK_FULL);
    errno = EDOM;
    const char *value = probity_posix_getenv("PROBITY_TEST");
    expect("a variable", 0, value != NULL ? strcmp(narrow, value) : 1);
    expect("the same text", 1, value == probity_posix_getenv("PROBITY_TEST"));
    SetEnvironmentVariableW(L"PROBITY_TEST", L"other");
    expect("a changed variable", 0, strcmp("other", probity_posix_getenv("PROBITY_TEST")));
    expect("its former value", 0, strcmp(narrow, value));
    SetEnvironmentVariableW(L"PROBITY_TEST", L"");
    SetLastError(ERROR_DISK_FULL);
    value = probity_posix_getenv("PROBITY_TEST");
    expect("an empty variable", 0, value != NULL ? value[0] : 1);
    expect("no variable", 1, probity_posix_getenv("PROBITY_NONE") == NULL);
    expect("errno", EDOM, errno);
    expect("last error", ERROR_DISK_FULL, GetLastError());
    /* Sets one like a program with msvcrt. */
    _putenv("PROBITY_TEST=by msvcrt");
    value = probity_posix_getenv("PROBITY_TEST");
    expect("set by msvcrt", 0, value != NULL ? strcmp("by msvcrt", value) : 1);
}

int main(void)
{
    convert_paths();
    read_variables();
    return 0;
}
