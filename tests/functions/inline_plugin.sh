#!/usr/bin/env bash
# The library with an inline function is unloaded after the function's first calls: in a later
# recording, the program's own calls to the function are recorded, and counted, under the same name.
# variants: gcc clang
. "$(dirname "$0")/../common.bash"
CALLS=1000000


# clang does not emit unique symbols, with which a library is never unloaded.
UNIQUE=(-fno-gnu-unique)
[ "$CXX" = g++ ] || UNIQUE=()

# $1 program, then compiler flags
build_one() {
    local program=$1
    shift
    "$CXX" -std=c++17 -O2 -I "$SOURCE/include" "${UNIQUE[@]}" "$@" -o "$program" \
        "$SOURCE/tests/programs/inline_plugin.cc" -L "$BUILD/lib" -Wl,-rpath,"$BUILD/lib" \
        -lprobity || fail "$program does not compile"
}
build_one plugin.so -fPIC -shared -DPLUGIN
build_one host -rdynamic
for mode in PROBITY_PROFILE=0 PROBITY_PROFILE=1 PROBITY_BUDGET=0.1%; do
    rm -rf first* second
    expect "$mode: calls" $((2 * CALLS)) \
        "$(env "$mode" PROBITY_OUT="$WORK/first" ./host ./plugin.so "$CALLS" "$WORK/second")"
    for trace in first*; do
        expect "$mode, $trace" "shared_inline $CALLS" "$("$PROBITY" report --json "$trace" |
            jq -r '.functions[] | "\(.name) \(.calls)"')"
    done
done
finish
