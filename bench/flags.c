/* SPDX-License-Identifier: MIT
 *
 * flags.c CALLS: calls a function that takes some 20 ns, and prints the CPU time of this thread
 * that a call takes, in ns. Four chains of work keep the CPU busy, so that a flag's cost cannot
 * hide in the latency of one. Compiled with each flag of probity-functions(7) by flags.sh.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static inline __attribute__((always_inline, no_instrument_function)) uint64_t
mix(uint64_t x)
{
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    __asm__ volatile("" : "+r"(x));
    return x;
}

__attribute__((noinline)) static uint64_t work(uint64_t x)
{
    uint64_t a = x, b = x + 1, c = x + 2, d = x + 3;

    for (int i = 0; i < 10; i++) {
        a = mix(a);
        b = mix(b);
        c = mix(c);
        d = mix(d);
    }
    return a ^ b ^ c ^ d;
}

int main(int argc, char **argv)
{
    long calls = argc > 1 ? strtol(argv[1], NULL, 10) : 1000000;
    uint64_t x = 1;
    double start = now_ns();

    for (long i = 0; i < calls; i++)
        x += work(x);
    printf("%.3f\n", (now_ns() - start) / (double)calls + (x == 0));
    return 0;
}
