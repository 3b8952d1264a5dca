/* SPDX-License-Identifier: MIT
 *
 * plugin.c: a library that calls.c loads; -DNAME=... distinguishes two of them. Like the program,
 * each has a static function same_name().
 */
#define CALL_(name) in_##name
#define CALL(name) CALL_(name)

extern void run_plugin(void);

__attribute__((noinline)) static int same_name(int x)
{
    return x + 1;
}

extern int CALL(NAME)(int x);
__attribute__((noinline)) int CALL(NAME)(int x)
{
    return same_name(x);
}

void run_plugin(void)
{
    static volatile int sink;

    for (int i = 0; i < 3; i++)
        sink = CALL(NAME)(i);
}
