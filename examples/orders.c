/* SPDX-License-Identifier: MIT
 *
 * orders.c: a thousand quick calls and one that is slow, for README.md: record it with
 * `probity record --calls sleep --when 'function handle > 200ms'`.
 */
#define FN_INSTRUMENT
#include <FnTrace.h>
#include <unistd.h>

static void fetch(int order)
{
    FN_FUNC_PARAMS(void, FN_VOID, FN_1, 1, order);

    usleep(order == 700 ? 300000 : 100);
}

static void handle(int order)
{
    FN_FUNC_PARAMS(void, FN_VOID, FN_1, 1, order);

    fetch(order);
}

int main(void)
{
    for (int order = 1; order <= 1000; order++)
        handle(order);
    return 0;
}
