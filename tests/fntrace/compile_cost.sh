#!/usr/bin/env bash
# The cost of the macros of FnTrace.h for the compiler. Their expansion must be short, and must be
# scanned once: a macro that is scanned again for each value takes the preprocessor's time and
# memory, so expanding 100 functions with 8 values each must take no more than 400 MiB.
# variants: gcc
. "$(dirname "$0")/../common.bash"
FUNCTIONS=100

# $1 the statement
functions() {
    local i
    echo '#define FN_INSTRUMENT'
    echo '#include <FnTrace.h>'
    for ((i = 0; i < FUNCTIONS; i++)); do
        echo "int f$i(int a, int b, int c, int d) { int r = a + b + c + d; $1; return r; }"
    done
}

# $1 description, $2 maximum number of bytes that a function adds, $3 the statement
expands_to() {
    local what=$1 most=$2 plain bytes
    functions ';' > plain.c
    functions "$3" > functions.c
    for compiler in "gcc -std=gnu11 -x c" "g++ -std=c++17 -x c++"; do
        # shellcheck disable=SC2086 # a command with flags
        plain=$($compiler -E -I"$SOURCE/include" plain.c | wc -c)
        # shellcheck disable=SC2086
        bytes=$(ulimit -v 409600
            $compiler -E -I"$SOURCE/include" functions.c 2> errors | wc -c)
        [ ! -s errors ] || fail "$what, $compiler: $(head -n 3 errors)"
        bytes=$(((bytes - plain) / FUNCTIONS))
        echo "$what, $compiler: $bytes bytes"
        [ "$bytes" -gt 100 ] || fail "$what, $compiler: not expanded"
        [ "$bytes" -le "$most" ] || fail "$what, $compiler: $bytes bytes, at most $most"
    done
}

expands_to FN_FUNC 2600 "FN_FUNC(int, FN_1)"
expands_to "with return value" 9000 "FN_FUNC_RETVAL(int, r, FN_1)"
expands_to "with return value, 8 ints" 50000 \
    "FN_FUNC_PARAMS(int, r, FN_1, 8, a, b, c, d, a, b, c, d)"
expands_to "a message of 8 ints" 50000 "FN_FUNC(int, FN_1); FN_OUTPUT(a, b, c, d, a, b, c, d)"
finish
