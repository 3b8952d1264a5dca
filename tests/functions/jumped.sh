#!/usr/bin/env bash
# A function called after longjmp() is a callee of the function to which the jump returned, with
# each kind of hook that has the address of the return address: FN_FUNC, its patched sites, -mfentry
# and sleds. (Hooks of -finstrument-functions have less information: functions.sh.)
. "$(dirname "$0")/../common.bash"
[ "$(uname -m)" = x86_64 ] || { echo "skipped: written for x86-64"; exit 77; }
source=$SOURCE/tests/functions/jumped.c
cat > expected << 'END'
main;after
main;by_library;after
main;by_pointer;after
main;in_callee;after
main;jump_eight;after
main;jump_four;after_with
main;jump_one;after_with
main;jump_two;after
main;jump_wide;after
main;recurses;recurses;recurses;after
main;twice;after
END

# Functions excluded by no_instrument_function have sleds, too. $1 description, $2 the expected
# stacks, the rest: a compiler and flags
stacks() {
    local what=$1 expected=$2
    shift 2
    # shellcheck disable=SC2086
    "$@" -g -pthread -I"$SOURCE/include" $SANITIZE_FLAG -o program "$source" $libraries \
        2> errors || { fail "$what: $(head -n 3 errors)"; return; }
    rm -rf trace*
    "$PROBITY" record --functions -o trace -- ./program > out 2> errors ||
        fail "$what: status $?: $(cat errors)"
    "$PROBITY" export --format folded trace 2> errors |
        sed -E 's/ [0-9]*$//; s/;(call|compare);/;/' | grep ';after' | LC_ALL=C sort -u > found
    diff "$expected" found > difference ||
        fail "$what: expected (<), found (>): $(cat difference)"
}

shared="-L$BUILD/lib -Wl,-rpath,$BUILD/lib -lprobity-functions -lprobity"
archives="-Wl,--start-group $BUILD/lib/libprobity-functions.a $BUILD/lib/libprobity.a
    -Wl,--end-group -lm"
for level in -O0 -O1 -O2; do
    for compiler in gcc clang; do
        libraries=$archives
        stacks "FN_FUNC, $compiler $level" expected $compiler $level -DFN
        stacks "patched, $compiler $level" expected $compiler $level -DFN -DPROBITY_PATCHABLE
    done
    libraries=$shared
    stacks "-mfentry, gcc $level" expected gcc $level -pg -mfentry -minstrument-return=call
    stacks "sleds, clang $level" expected clang $level -fxray-instrument \
        -fxray-instruction-threshold=1
done

# Scopes and hooks in one program.
libraries=$shared
for level in -O0 -O2; do
    what="mixed, $level"
    # shellcheck disable=SC2086
    gcc $level -g -pg -mfentry -minstrument-return=call -I"$SOURCE/include" $SANITIZE_FLAG \
        -o program "$SOURCE/tests/functions/jumped_mixed.c" $libraries 2> errors ||
        { fail "$what: $(head -n 3 errors)"; continue; }
    rm -rf trace*
    "$PROBITY" record --functions -o trace -- ./program > out 2> errors ||
        fail "$what: status $?: $(cat errors)"
    expect "$what: stacks" "main main;first main;first;second main;first;second;last main;wide" \
        "$("$PROBITY" export --format folded trace 2> errors | sed 's/ [0-9]*$//' |
            LC_ALL=C sort -u | xargs)"
    expect "$what: left by jumps, ends without a call" "2 0" \
        "$("$PROBITY" report --json trace | jq -r '.repairs | "\(.unwound) \(.orphans)"')"
done
finish
