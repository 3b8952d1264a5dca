/* SPDX-License-Identifier: MIT
 *
 * plugin.c: a library that calls loads; -DNAME=... tells one from the other. Both have a static
 * function same_name(), as the program has.
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
