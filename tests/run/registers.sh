#!/usr/bin/env bash
# Scopes change no register and nothing below the stack of the functions that they are in, however
# these are compiled: recorded, in profile mode, only counted, and off.
. "$(dirname "$0")/common.bash"
# Small chunks change often.
MODES=("PROBITY_CHUNK_RECORDS=64" "PROBITY_PROFILE=1" "PROBITY_BUDGET=0.1%" "PROBITY_LEVEL=0"
    "PROBITY_ORDER=strict")

# $1 what was compiled
run_modes() {
    local mode
    for mode in "${MODES[@]}"; do
        rm -f trace
        expect "$1, $mode" 40000 "$(env PROBITY_OUT="$WORK/trace" "$mode" ./program)"
        [ "$mode" = PROBITY_CHUNK_RECORDS=64 ] || continue
        "$PROBITY" report --json trace > report.json
        expect "$1: calls" 20000 \
            "$(jq '.functions[] | select(.name == "scoped").calls' report.json)"
    done
    expect "$1, not recorded" 40000 "$(./program)"
}

for flags in -O0 -O1 -O2 -O3 "-O2 -fomit-frame-pointer" "-O2 -fno-omit-frame-pointer" \
    "-O2 -fPIE -pie" "-O2 -fcf-protection=full" "-O2 -masm=intel" "-O2 -march=native"; do
    # shellcheck disable=SC2086
    if ! "$CC" -D_GNU_SOURCE -I"$SOURCE/include" $flags -o program \
        "$SOURCE/tests/programs/registers.c" "$BUILD/lib/libprobity.a" -pthread 2> messages; then
        fail "$flags: $(head -n 3 messages)"
        continue
    fi
    run_modes "$flags"
done
finish
