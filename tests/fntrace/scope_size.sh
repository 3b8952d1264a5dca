#!/usr/bin/env bash
# The code that FN_FUNC adds to a program, with and without values: two tests, and calls that save
# no register. A program has this cost even when it records nothing.
. "$(dirname "$0")/../common.bash"
FUNCTIONS=8

# Prints the size of the code in bytes, with constants and unwind tables. $1 the scope or nothing,
# then flags
code_bytes() {
    local scope=$1 i
    shift
    {
        echo '#include <FnTrace.h>'
        for i in $(seq $FUNCTIONS); do
            echo "int f$i(int a, int b, int c, int d) { int r = a; $scope
                __asm__ volatile(\"\" : \"+r\"(r), \"+r\"(b), \"+r\"(c), \"+r\"(d)); return r; }"
        done
    } > scopes.c
    "${CC:-gcc}" -std=gnu11 -I"$SOURCE/include" -DFN_INSTRUMENT "$@" -c scopes.c
    size scopes.o | awk 'NR == 2 { print $1 }'
}

# $1 description, $2 maximum number of bytes, $3 the scope, then flags
adds() {
    local what=$1 most=$2 scope=$3 plain bytes
    shift 3
    plain=$(code_bytes "" "$@")
    bytes=$((($(code_bytes "$scope" "$@") - plain) / FUNCTIONS))
    echo "$what, $*: $bytes bytes"
    [ "$plain" -gt 0 ] && [ "$bytes" -gt 0 ] || fail "$what, $*: not compiled"
    [ "$bytes" -le "$most" ] || fail "$what, $*: $bytes bytes, at most $most"
}

for flags in -O2 -Os; do
    # shellcheck disable=SC2086
    adds FN_FUNC 176 "FN_FUNC(int, FN_1);" $flags
    # shellcheck disable=SC2086
    adds "with return value, 4 ints" 280 "FN_FUNC_PARAMS(int, r, FN_1, 4, a, b, c, d);" $flags
done
finish
