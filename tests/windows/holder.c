/* SPDX-License-Identifier: MIT
 *
 * holder.c: maps files, without permission for others to remove them, until the file "release"
 * exists.
 * Usage: holder FILE...
 */
#include <stdio.h>
#include <windows.h>

static int hold(const char *path)
{
    HANDLE file = CreateFileA(path, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE, NULL,
                              OPEN_EXISTING, 0, NULL);
    HANDLE map = file != INVALID_HANDLE_VALUE
                     ? CreateFileMappingA(file, NULL, PAGE_READONLY, 0, 0, NULL)
                     : NULL;

    return map != NULL && MapViewOfFile(map, FILE_MAP_READ, 0, 0, 0) != NULL;
}

int main(int count, char **arguments)
{
    for (int i = 1; i < count; i++)
        if (!hold(arguments[i])) {
            printf("cannot map %s\n", arguments[i]);
            return 1;
        }
    puts("running");
    fflush(stdout);
    while (GetFileAttributesA("release") == INVALID_FILE_ATTRIBUTES)
        Sleep(10);
    return 0;
}
