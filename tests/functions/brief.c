/* SPDX-License-Identifier: MIT
 *
 * brief.c: a short function without macros that is called often.
 */
static volatile unsigned sink;

__attribute__((noinline)) void brief(void)
{
    for (unsigned i = 0; i < 10; i++)
        sink += i;
}

int main(void)
{
    for (int i = 0; i < 20000; i++)
        brief();
    return 0;
}
