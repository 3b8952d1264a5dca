#!/usr/bin/env bash
# Scopes change no register, and no memory below the stack of their functions, however these are
# compiled: recorded, in profile mode, only counted, and off.
. "$(dirname "$0")/../common.bash"
# Small chunks change often.
MODES=("PROBITY_CHUNK_RECORDS=64" "PROBITY_PROFILE=1" "PROBITY_BUDGET=0.1%" "PROBITY_LEVEL=0"
    "PROBITY_ORDER=strict")

# $1 what was compiled, $2 calls that the program compares, $3 functions
run_modes() {
    local mode
    for mode in "${MODES[@]}"; do
        rm -f trace
        expect "$1, $mode" "$2" "$(env PROBITY_OUT="$WORK/trace" "$mode" ./program)"
        [ "$mode" = PROBITY_CHUNK_RECORDS=64 ] || continue
        "$PROBITY" report --json trace > report.json
        expect "$1: calls" $(($2 / $3)) \
            "$(jq '.functions[] | select(.name == "scoped").calls' report.json)"
    done
    expect "$1, not recorded" "$2" "$(./program)"
}

# $1 program, $2 compiler flags
build_with() {
    # shellcheck disable=SC2086
    if ! "$CC" -D_GNU_SOURCE -I"$SOURCE/include" $2 -o program "$SOURCE/tests/programs/$1.c" \
        -Wl,--start-group "$BUILD/lib/libprobity-functions.a" "$BUILD/lib/libprobity.a" \
        -Wl,--end-group -pthread 2> messages; then
        fail "$1, $2: $(head -n 3 messages)"
        return 1
    fi
}

flags_of_all=(-O0 -O1 -O2 -O3 "-O2 -fomit-frame-pointer" "-O2 -fno-omit-frame-pointer"
    "-O2 -fPIE -pie")
avx512_flags=()
if [[ $("$CC" -dumpmachine) == x86_64* ]]; then
    flags_of_all+=("-O2 -fcf-protection=full" "-O2 -masm=intel" "-O2 -march=native"
        "-O0 -DPROBITY_PATCHABLE" "-O2 -DPROBITY_PATCHABLE"
        "-O2 -march=native -DPROBITY_PATCHABLE")
    avx512_flags=(-O1 -O2 -O3 "-O2 -DPROBITY_PATCHABLE")
else
    flags_of_all+=("-O2 -march=armv8.1-a")
fi
for flags in "${flags_of_all[@]}"; do
    build_with registers "$flags" && run_modes "$flags" 60000 3
done
# Only some functions are for AVX-512: the compiler assumes that scopes do not change its registers.
for flags in ${avx512_flags[@]+"${avx512_flags[@]}"}; do
    build_with registers_avx512 "$flags" || continue
    if [ "$(./program)" = "no AVX-512" ]; then
        echo "this CPU has no AVX-512: its registers were not compared" >&2
        break
    fi
    run_modes "AVX-512, $flags" 8000 2
done
finish
