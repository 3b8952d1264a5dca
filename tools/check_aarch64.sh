#!/usr/bin/env bash
# Builds the library for AArch64 with and without atomic instructions, runs an instrumented program
# with several threads in qemu, and reads its trace with the tool of this machine. Without the
# instructions, words are reserved by exclusive pairs, qemu emulates a processor that lacks them,
# and what `make aarch64` has built is used if it exists. Exit status 1 if the trace is incomplete;
# 77 without a cross compiler. BUILD names the build directory whose tool is used.
set -eu
cd "$(dirname "$0")/.."
build=${BUILD:-build}
if ! command -v aarch64-linux-gnu-gcc > /dev/null || ! command -v qemu-aarch64 > /dev/null; then
    echo "needs gcc-aarch64-linux-gnu and qemu-user"
    exit 77
fi
directory=$(mktemp -d)
trap '[[ $BASHPID != $$ ]] || rm -rf "$directory"' EXIT

cat > "$directory/user.c" <<'PROGRAM'
#define FN_INSTRUMENT
#include "FnTrace.h"
#include <pthread.h>

static void *probe_often(void *unused)
{
    (void)unused;
    for (int i = 0; i < 20000; i++)
        PROBITY_PROBE(7);
    return NULL;
}

/* Values that lie at odd places in a record. */
static int scope(int a, char b, long c, double d, const char *text)
{
    char result = b;
    FN_FUNC_PARAMS(int, result, FN_1, 4, b, a, c, d);
    FN_OUTPUT("text ", b, text);
    return result;
}

static void *enter_often(void *unused)
{
    for (int i = 0; i < 5000; i++)
        scope(i, 'x', -i, i / 4.0, i % 2 != 0 ? "good" : (const char *)16);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[3];

    (void)argv;
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, argc > 1 ? enter_often : probe_often, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
PROGRAM

for machine in armv8-a armv8.1-a; do
    cpu=$([ "$machine" = armv8-a ] && echo cortex-a53 || echo max)
    out=$build/aarch64-$machine
    if [ $machine = armv8-a ] && [ -e "$build/aarch64/lib/libprobity.a" ]; then
        out=$build/aarch64
    else
        make -s BUILD="$out" CC=aarch64-linux-gnu-gcc AR=aarch64-linux-gnu-ar \
            OBJCOPY=aarch64-linux-gnu-objcopy CFLAGS="-march=$machine" \
            "$out/lib/libprobity.a" > /dev/null
    fi
    aarch64-linux-gnu-gcc -march="$machine" -O2 -static -pthread -Iinclude -D_GNU_SOURCE \
        -o "$directory/user" "$directory/user.c" "$out/lib/libprobity.a"
    rm -f "$directory/trace.probity"
    PROBITY_OUT=$directory/trace.probity qemu-aarch64 -cpu "$cpu" "$directory/user"
    lines=$("$build/bin/probity" csv "$directory/trace.probity" | awk -F, '$3 == 7' | wc -l)
    if [ "$lines" -ne 60000 ]; then
        echo "aarch64: $machine: $lines of 60000 hits in the trace" >&2
        exit 1
    fi
    rm -f "$directory/trace.probity"
    PROBITY_OUT=$directory/trace.probity qemu-aarch64 -cpu "$cpu" "$directory/user" scopes
    "$build/bin/probity" log "$directory/trace.probity" > "$directory/log"
    returns=$(grep -cF "return ('x')" "$directory/log" || true)
    texts=$(grep -cE 'text x(good|unreadable 0x10)' "$directory/log" || true)
    values=$(grep -cE '(c = -4999|d = 1249\.75)$' "$directory/log" || true)
    PROBITY_PROFILE=1 PROBITY_OUT=$directory/profile.probity \
        qemu-aarch64 -cpu "$cpu" "$directory/user" scopes
    calls=$("$build/bin/probity" report "$directory/profile.probity" |
        awk '$NF == "scope" { print $1 }')
    if [ "$returns $texts $values $calls" != "15000 15000 6 15000" ]; then
        echo "aarch64: $machine: scopes: $returns returns, $texts texts, $values values," \
            "$calls calls" >&2
        exit 1
    fi
    rm -f "$directory/profile.probity"
    echo "aarch64: $machine: 60000 hits and 15000 scopes recorded and read"
done
