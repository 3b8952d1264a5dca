#!/usr/bin/env bash
# Processors that differ in features that the library uses, in qemu: one with atomic instructions
# (LSE) and a counter of 24 MHz, and one with a counter of 1 GHz on which these instructions are
# illegal. Probes, scopes and all kinds of hooks count as elsewhere, `info` reports the resolution,
# and times are right.
#
# qemu has one rate, 62.5 MHz, which user code can neither set nor query: programs and libraries are
# assembled with a macro in place of the instruction that reads the counter. The macro multiplies
# the value. The sources are not changed.
. "$(dirname "$0")/../common.bash"
# shellcheck source=tests/functions/functions.bash
. "$SOURCE/tests/functions/functions.bash"
native=${NATIVE:?the build directory of this machine}
sources=$SOURCE/tests/functions

# $1 file, the rest: instructions that multiply `\to`
write_counter() {
    local to=$1
    shift
    {
        for number in {0..30}; do echo ".equ .Lnumber_of_x$number, $number"; done
        printf '.equ .Lread_%s, %s\n' cntvct_el0 0xd53be040 tpidr_el0 0xd53bd040 \
            fpcr 0xd53b4400 fpsr 0xd53b4420 nzcv 0xd53b4200
        echo ".macro mrs to, register"
        echo ".inst .Lread_\\register | .Lnumber_of_\\to"
        echo ".ifc \\register, cntvct_el0"
        printf '%s\n' "$@" ".endif" ".endm"
    } > "$to"
}

# 3/8 · 33/32 · 127/128 · 1025/1024 of 62.5 MHz are 24.0 MHz.
write_counter 24_mhz.s 'add \to, \to, \to, lsr #5' 'sub \to, \to, \to, lsr #7' \
    'add \to, \to, \to, lsr #10' 'add \to, \to, \to, lsl #1' 'lsr \to, \to, #3'
write_counter 1_ghz.s 'lsl \to, \to, #4'

# Settings, --, program and arguments
run() {
    local settings=(-E PROBITY_OUT=trace)
    while [ "$1" != -- ]; do
        settings+=(-E "$1")
        shift
    done
    shift
    rm -f trace
    "${EMULATOR:?}" -L "${EMULATOR_ROOT:?}" -cpu "$cpu" "${settings[@]}" "$@" > out 2> errors ||
        fail "$what: status $?: $(cat out errors)"
}

# Waits in a scope by the system's clock, and prints a lower and an upper bound of the scope's ns.
cat > waits.c << 'END'
#define FN_INSTRUMENT
#include <FnTrace.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000 + time.tv_nsec;
}
static int64_t inside;
static void waits(void)
{
    FN_FUNC(void, FN_1);
    int64_t begin = now();
    do {
        inside = now() - begin;
    } while (inside < 500000000);
}
int main(void)
{
    int64_t begin = now();
    waits();
    printf("%lld %lld\n", (long long)inside, (long long)(now() - begin));
    for (int i = 0; i < 10000; i++)
        PROBITY_PROBE(7);
    return 0;
}
END

# $1 minimum, $2 maximum number of ps in a tick
check_times() {
    local inside outside
    what="$name: times"
    "$compiler" $flags -O2 -D_GNU_SOURCE -pthread -I "$SOURCE/include" -o waits waits.c \
        "$built/lib/libprobity.a" || fail "$what: does not compile"
    run PROBITY_MODE=block -- ./waits
    read -r inside outside < out
    "$native/bin/probity" info --json trace > info || fail "$what: no info"
    jq -e --argjson least "$1" --argjson most "$2" \
        '.[0].times.ns_per_tick * 1000 | . >= $least and . <= $most' info > /dev/null ||
        fail "$what: ns per tick: $(jq '.[0].times.ns_per_tick' info)"
    # The rate is measured while the program runs, to within 1 in 100 at any load.
    "$native/bin/probity" report --json trace | jq -e --argjson inside "$inside" \
        --argjson outside "$outside" '.functions[] | select(.name == "waits") | .total_ns |
            . >= $inside * 0.99 and . <= $outside * 1.01' > /dev/null ||
        fail "$what: $inside to $outside ns: $("$native/bin/probity" report trace)"
    expect "$what: probes" 10000 "$("$native/bin/probity" csv trace | awk -F, '$3 == 7' | wc -l)"
}

check_hooks() {
    what="$name: -finstrument-functions"
    "$compiler" $flags -O1 -g -pthread -finstrument-functions -o calls "$sources/calls.c" -lm ||
        fail "$what: does not compile"
    run "LD_PRELOAD=$library" -- ./calls
    same_counts out trace

    what="$name: patchable entries"
    "$compiler" $flags -O1 -g -pthread -fno-inline -fpatchable-function-entry=1 -o calls \
        "$sources/calls.c" -lm || fail "$what: does not compile"
    run "LD_PRELOAD=$library" -- ./calls
    counts trace "$own" > found
    grep -vE '^fib | 0$' out | LC_ALL=C sort | LC_ALL=C comm -23 - found > difference
    expect "$what" "" "$(cat difference)"

    command -v clang > /dev/null || return 0
    what="$name: sleds"
    # shellcheck disable=SC2086
    { clang --target=aarch64-linux-gnu -march="$march" -O0 -g -pthread $xray -c -o calls.o \
        "$sources/calls.c" && "$compiler" -pthread -o calls calls.o -lm; } ||
        fail "$what: does not compile"
    run "LD_PRELOAD=$library" -- ./calls
    same_counts out trace
    # shellcheck disable=SC2086
    { clang --target=aarch64-linux-gnu -march="$march" -O2 -g -pthread $xray -c -o registers.o \
        "$SOURCE/tests/aarch64/sled_registers.c" &&
        "$compiler" -pthread -o registers registers.o; } ||
        fail "$what: does not compile"
    what="$name: registers at sleds"
    run "LD_PRELOAD=$library" PROBITY_MODE=block -- ./registers 200
    expect "$what" "$(cat out)" "$(counts trace "$own")"
}

shared=$(basename "$(realpath "$native/lib/libprobity-functions.so")") # with its version
# Architecture, processor, whether the library must use ldadd, rate, bounds of a tick in ps
while read -r march cpu has_ldadd rate least most; do
    name="$march, $cpu, $rate"
    built=$WORK/build.$march library=$WORK/build.$march/lib/libprobity-functions.so
    compiler=aarch64-linux-gnu-gcc flags="-march=$march -mno-outline-atomics -Wa,$WORK/$rate.s"
    make -s -C "$SOURCE" SETUP=no BUILD="$built" CC="$compiler $flags" CXX=aarch64-linux-gnu-g++ \
        AR=aarch64-linux-gnu-ar OBJCOPY=aarch64-linux-gnu-objcopy NM=aarch64-linux-gnu-nm \
        "$built/lib/libprobity.a" "$built/lib/$shared" > made 2>&1 ||
        fail "$name: does not build: $(tail -n 5 made)"
    aarch64-linux-gnu-objdump -d --no-show-raw-insn "$built/lib/libprobity.so" > code
    found=$(grep -q '	ldadd' code && echo yes || echo no)
    expect "$name: ldadd in the library" "$has_ldadd" "$found"
    check_times "$least" "$most"
    check_hooks
done << LIST
armv8.1-a max yes 24_mhz 41200 42100
armv8-a cortex-a53 no 1_ghz 990 1010
LIST
finish
