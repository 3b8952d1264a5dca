#!/usr/bin/env bash
# Builds the library for AArch64, with and without its atomic instructions (the inline record path
# exists only with them), runs an instrumented program of several threads in qemu, and reads its
# trace with the tool of this machine. Exit status 1 when something is missing from it; 77 without a
# cross compiler. BUILD names the build directory whose tool is used.
set -eu
cd "$(dirname "$0")/.."
build=${BUILD:-build}
if ! command -v aarch64-linux-gnu-gcc > /dev/null || ! command -v qemu-aarch64 > /dev/null; then
    echo "needs gcc-aarch64-linux-gnu and qemu-user"
    exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

cat > "$folder/user.c" <<'PROGRAM'
#include "probity.h"
#include <pthread.h>

static void *probe_often(void *unused)
{
    (void)unused;
    for (int i = 0; i < 20000; i++)
        PROBITY_PROBE(7);
    return NULL;
}

int main(void)
{
    pthread_t threads[3];

    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, probe_often, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
PROGRAM

for machine in armv8-a armv8.1-a; do
    out=$build/aarch64-$machine
    make -s BUILD="$out" CC=aarch64-linux-gnu-gcc AR=aarch64-linux-gnu-ar \
        OBJCOPY=aarch64-linux-gnu-objcopy CFLAGS="-march=$machine" lib > /dev/null
    aarch64-linux-gnu-gcc -march="$machine" -O2 -static -pthread -Iinclude -D_GNU_SOURCE \
        -o "$folder/user" "$folder/user.c" "$out/lib/libprobity.a"
    rm -f "$folder/trace.probity"
    PROBITY_OUT=$folder/trace.probity qemu-aarch64 "$folder/user"
    lines=$("$build/bin/probity" csv "$folder/trace.probity" | awk -F, '$3 == 7' | wc -l)
    if [ "$lines" -ne 60000 ]; then
        echo "aarch64: $machine: $lines of 60000 hits in the trace" >&2
        exit 1
    fi
    echo "aarch64: $machine: 60000 hits recorded and read"
done
