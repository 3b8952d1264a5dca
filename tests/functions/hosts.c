// A library for programs in Rust and Go (hosts.sh): functions that call one another, and functions
// of the program. With FN_INSTRUMENT, they have scopes.

#include <FnTrace.h>

static long leaf(long n) {
    FN_FUNC(long, FN_5);
    __asm__ volatile("");
    return n & 1;
}

long nested(long depth) {
    FN_FUNC(long, FN_5);
    return depth == 0 ? leaf(1) : leaf(depth) + nested(depth - 1);
}

// Calls the program's function n times.
long visit(long n, long (*visitor)(long)) {
    FN_FUNC(long, FN_5);
    long sum = 0;
    for (long i = 0; i < n; i++)
        sum += visitor(i) + leaf(i);
    return sum;
}
