/* SPDX-License-Identifier: MIT
 *
 * killed_after.c HITS: hits a probe, and kills itself (SIGKILL) right after the last hit.
 */
#include <signal.h>
#include <stdlib.h>

#include "probity.h"

int main(int argc, char **argv)
{
    long hits = argc > 1 ? strtol(argv[1], NULL, 10) : 1;

    for (long i = 0; i < hits; i++)
        probity_probe(1);
    raise(SIGKILL);
    return 1;
}
