#!/usr/bin/env bash
# Functions without macros, in qemu: -finstrument-functions, linked and preloaded; clang's sleds,
# which are replaced in loaded code, even while threads execute it; arguments and results.
. "$(dirname "$0")/../common.bash"
# shellcheck source=tests/functions/functions.bash
. "$SOURCE/tests/functions/functions.bash"
native=${NATIVE:?the build directory of this machine}
sources=$SOURCE/tests/functions
library=$BUILD/lib/libprobity-functions.so
static="-Wl,-u,__cyg_profile_func_enter $BUILD/lib/libprobity-functions.a $BUILD/lib/libprobity.a"
shared="-L$BUILD/lib -Wl,-rpath,$BUILD/lib -Wl,--no-as-needed -lprobity-functions -lprobity"
has_clang=$(command -v clang || true)

# Settings, --, program and arguments. CPU: the processor's name in qemu
run() {
    local settings=(-E PROBITY_OUT=trace)
    while [ "$1" != -- ]; do
        settings+=(-E "$1")
        shift
    done
    shift
    rm -f trace
    "${EMULATOR:?}" -L "${EMULATOR_ROOT:?}" ${CPU:+-cpu "$CPU"} "${settings[@]}" "$@" > out \
        2> errors || fail "$what: status $?: $(cat out errors)"
}

# $1 program, $2 source, $3 flags, $4 compiler, $5 libraries
build_gcc() {
    # shellcheck disable=SC2086
    "${4:-aarch64-linux-gnu-gcc}" -g -pthread $3 -o "$1" "$2" ${5:-} -lm -ldl ||
        fail "$1, $3: does not compile"
}
build_xray() {
    local link=aarch64-linux-gnu-gcc
    [ "${4:-clang}" = clang ] || link=aarch64-linux-gnu-g++
    # shellcheck disable=SC2086
    { "${4:-clang}" --target=aarch64-linux-gnu -g -pthread $3 $xray -c -o "$1.o" "$2" &&
        $link -pthread -o "$1" "$1.o" ${5:-} -lm -ldl; } || fail "$1, $3: does not compile"
}

# ---- Calls ---------------------------------------------------------------------------------------

for flags in -O0 -O2 "-O2 -fno-omit-frame-pointer" "-O2 -mbranch-protection=standard"; do
    what="-finstrument-functions $flags"
    build_gcc calls "$sources/calls.c" "$flags -finstrument-functions"
    run "LD_PRELOAD=$library" -- ./calls
    same_counts out trace
done
for libraries in "$static" "$shared"; do
    what="-finstrument-functions, linked with $libraries"
    build_gcc calls "$sources/calls.c" "-O1 -finstrument-functions" "" "$libraries"
    run -- ./calls
    same_counts out trace
done

# Patchable entries: the calls to functions that were not inlined, without their ends.
for flags in "-O1 -fpatchable-function-entry=1" \
    "-O2 -fpatchable-function-entry=2 -mbranch-protection=standard"; do
    what="patchable entries, $flags"
    build_gcc calls "$sources/calls.c" "$flags -fno-inline"
    run "LD_PRELOAD=$library" -- ./calls
    counts trace "$own" > found
    grep -vE '^fib | 0$' out | LC_ALL=C sort | LC_ALL=C comm -23 - found > difference
    expect "$what" "" "$(cat difference)"
    [ "$(wc -l < found)" -ge 16 ] || fail "$what: $(cat found)"
done
what="patchable entries: selection"
run "LD_PRELOAD=$library" "PROBITY_SELECT=function handler" -- ./calls
expect "$what" "handler 2" "$(counts trace "$own")"
if [ -z "$has_clang" ]; then
    echo "left out: no clang here, which has XRay"
    finish
fi
for flags in -O0 "-O2 -fno-inline" "-O3 -fno-inline -fomit-frame-pointer" \
    "-O1 -fno-inline -mbranch-protection=standard"; do
    what="sleds, $flags"
    build_xray calls "$sources/calls.c" "$flags"
    run "LD_PRELOAD=$library" -- ./calls
    # An optimizing compiler turns one of the two calls in fib() into a loop.
    if [ "$flags" = -O0 ]; then same_counts out trace; else same_counts out trace fib; fi
done
for libraries in "$static" "$shared"; do
    what="sleds, linked with $libraries"
    build_xray calls "$sources/calls.c" -O0 "" "$libraries"
    run -- ./calls
    same_counts out trace
done

# Only selected functions are changed: a sled begins with a branch over its other instructions.
write_code '"\x08\0\0\x14"'
what=selection
build_xray code code.c -O1
run "LD_PRELOAD=$library" "PROBITY_SELECT=function get_*" -- ./code
expect "$what" "110 get_one 4 get_two 2" "$(cat out) $(counts trace "$own" | xargs)"

# Registers, with and without SVE, on the common path and on all others.
what="registers: compile"
build_xray registers "$SOURCE/tests/aarch64/sled_registers.c" -O2
for CPU in cortex-a53 max max,sve-default-vector-length=32; do
    for settings in PROBITY_MODE=block "PROBITY_CHUNK_RECORDS=64 PROBITY_CPU_GAP_NS=200" \
        PROBITY_PROFILE=1 PROBITY_LEVEL=4 "PROBITY_CHUNK_RECORDS=64 PROBITY_ORDER=strict"; do
        what="registers, $CPU, $settings"
        # shellcheck disable=SC2086 # several
        run "LD_PRELOAD=$library" $settings -- ./registers 400
        [ "$settings" = PROBITY_LEVEL=4 ] || expect "$what" "$(cat out)" "$(counts trace "$own")"
    done
done
CPU=

# Changes code while threads execute it.
what="while it runs"
build_xray running.so "$sources/patched_running.c" "-O2 -fPIC" "" -shared
cat > running.c << 'END'
#include <dlfcn.h>
#include <stdio.h>
int main(void)
{
    void *library = dlopen("./running.so", RTLD_NOW);
    if (library == 0)
        return 1;
    printf("%lu\n", ((unsigned long (*)(void))dlsym(library, "finish"))());
    return 0;
}
END
build_gcc running running.c -O1
run "LD_PRELOAD=$library" -- ./running
"$native/bin/probity" report --json trace | jq -r '.functions[] | "\(.name) \(.calls)"' > found
for name in called jumping; do
    calls=$(sed -n "s/^$name //p" found)
    [ "${calls:-0}" -ge 60000 ] && [ "$calls" -le "$(cat out)" ] ||
        fail "$what: $name: $calls of $(cat out)"
done
"$native/bin/probity" check trace > checked 2>&1 || fail "$what: $(cat checked)"

# A signal at each instruction from the sled to the common path of the library; its handler is
# recorded, too.
build_xray signals "$SOURCE/tests/aarch64/stub_signals.c" -O1
build_gcc signals.entry "$SOURCE/tests/aarch64/stub_signals.c" "-O1 -fpatchable-function-entry=1"
# Program, sleds, the minimum number of instructions, settings
for case in "signals 2 300 PROBITY_MODE=block" "signals 2 150 PROBITY_PROFILE=1" \
    "signals.entry 1 90 PROBITY_MODE=block"; do
    what="signals, $case"
    read -r name sleds least settings <<< "$case"
    run "LD_PRELOAD=$library" "$settings" -- "./$name" "$sleds"
    same_counts out trace
    [ "$(sed -n 's/^inner //p' out)" -ge "$least" ] || fail "$what: $(cat out)"
done

# If all memory within reach of a branch is in use, the program is left unchanged, and a message
# says so.
aarch64-linux-gnu-gcc -O1 -shared -fPIC -o occupied.so "$SOURCE/tests/aarch64/occupied.c"
far="-no-pie -Wl,-Ttext-segment=0x40000000"
build_xray near "$sources/calls.c" "-O1 -fno-pie" "" "$far"
build_gcc near.entry "$sources/calls.c" "-O1 -fno-pie -fpatchable-function-entry=1" "" "$far"
for name in near near.entry; do
    what="no free memory near the program, $name"
    run "LD_PRELOAD=$library:$PWD/occupied.so" CODE=0x40000000 -- "./$name"
    grep -qE '^probity: .* in 1 object; cannot change their code: Cannot allocate memory$' errors ||
        fail "$what: $(cat errors)"
    expect "$what: calls" "" "$(counts trace)"
    grep -qx 'main 1' out || fail "$what: the program has printed: $(cat out)"
done

# A budget removes the hooks while the program runs: a sled begins with the compiler's branch again.
what=budget
cat > hot.c << 'END'
#include <stdio.h>
#include <string.h>
__attribute__((noinline)) int hot(int x)
{
    __asm__ volatile("" : "+r"(x));
    return x + 1;
}
__attribute__((xray_never_instrument)) int main(void)
{
    unsigned first, calls = 0;
    int sum = 0;
    do {
        sum = hot(sum);
        calls++;
        memcpy(&first, (const void *)hot, sizeof first);
    } while (first != 0x14000008);
    printf("%u\n", calls);
    return sum == 0;
}
END
build_xray hot hot.c -O1
run "LD_PRELOAD=$library" PROBITY_BUDGET=1% -- ./hot
calls=$(counts trace "$own" | sed 's/^hot //')
[ "${calls:-0}" -ge 1 ] && [ "$calls" -le "$(cat out)" ] || fail "$what: $calls of $(cat out)"

# ---- Arguments -----------------------------------------------------------------------------------

# The tool starts a script, which runs the program in the emulator.
record_values() {
    printf '#!/bin/sh\nexec %q -L %q -0 "$0" %q "$@"\n' "$EMULATOR" "$EMULATOR_ROOT" \
        "$PWD/values" > started
    chmod +x started
    rm -f trace truth
    "$PROBITY" record --functions -o trace --function '*do_*' --args '*do_*' --returns '*do_*' \
        --args-in values -- ./started truth > out 2> errors || fail "$what: $(cat errors)"
    "$native/bin/probity" log --time none trace > log 2> messages || fail "$what: $(cat messages)"
}

# $1 regular expression of functions that are not compared, $2 minimum number of lines
same_values() {
    record_values
    python3 "$sources/arguments.py" do_ < log | grep -vE "$1" > found
    true_values "$1" > wanted
    diff wanted found > difference || fail "$what: $(cut -c1-300 difference)"
    [ "$(wc -l < wanted)" -ge "$2" ] || fail "$what: the program has printed: $(cat wanted)"
}
# On x86-64, the result of do_long_double() is not shown, so the program does not print it.
result='^do_long_double returns'
structs='^do_(mixed|point|wide|triple|outer|many|split|classes|int128)\('
for flags in -O0 -O2 "-O0 -gdwarf-4"; do
    without="$structs|$result"
    [[ $flags != -O0* ]] || without=$result
    what="arguments, $flags"
    build_xray values "$sources/arguments.c" "$flags"
    same_values "$without" 40
    what="arguments, C++, $flags"
    build_xray values "$sources/arguments_cxx.cc" "$flags -std=c++17" clang++
    # DWARF describes an optimized bool by an expression, which the library does not evaluate.
    [[ $flags = -O0* ]] || without="$without|flag = "
    same_values "$without" 20
done

# At a patchable entry, arguments are known, too.
for flags in -O0 -O2; do
    what="arguments at patchable entries, $flags"
    build_gcc values "$sources/arguments.c" "$flags -fpatchable-function-entry=1"
    record_values
    same_entries
done
finish
