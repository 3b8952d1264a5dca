/* SPDX-License-Identifier: MIT
 *
 * waiting.c: hits a probe, prints "ready", waits for a byte on stdin, and hits the probe again.
 */
#include <stdio.h>

#include "probity.h"

int main(void)
{
    probity_probe(1);
    puts("ready");
    fflush(stdout);
    int got = getchar();
    probity_probe(1);
    return got == EOF;
}
