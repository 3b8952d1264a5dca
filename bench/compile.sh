#!/usr/bin/env bash
# compile.sh BUILD_DIR: the cost of the macros of FnTrace.h for a compiler: the CPU time that a
# function adds, averaged over 200 functions, compared with a call of printf() with the same values.
# Minimum of 5 runs.
set -eu
tree=$(cd "$(dirname "$0")/.." && pwd)
functions=200
runs=5
work=$(mktemp -d)
trap '[[ $BASHPID != $$ ]] || rm -rf "$work"' EXIT

# $1 the statement, the rest: compiler and flags. Prints CPU milliseconds.
least() {
    local statement=$1 best='' used
    shift
    {
        echo '#define FN_INSTRUMENT'
        echo '#include <FnTrace.h>'
        for ((i = 0; i < functions; i++)); do
            echo "int f$i(int a, int b, int c, int d) { int r = a + b * c - d;"
            echo "$statement; return r; }"
        done
    } > "$work/functions.c"
    for ((i = 0; i < runs; i++)); do
        used=$({ TIMEFORMAT='%U %S'
            time "$@" -O2 -I"$tree/include" -c "$work/functions.c" -o "$work/functions.o"; } 2>&1 |
            awk '{ print ($1 + $2) * 1000 }')
        best=$(printf '%s\n' $best "$used" | sort -g | head -n 1)
    done
    echo "$best"
}

# $1 name, the rest: compiler and flags
rows_of() {
    local name=$1 plain
    shift
    plain=$(least ';' "$@")
    while IFS='|' read -r what statement target; do
        printf 'row\tcompile\t%s, %s\t%s\tms\t%s\n' "$what" "$name" "$(awk \
            "BEGIN { print ($(least "$statement" "$@") - $plain) / $functions }")" "$target"
    done << 'END'
printf() of 4 ints|printf("%d %d %d %d\n", a, b, c, d)|
FN_FUNC|FN_FUNC(int, FN_1)|
with return value, 4 ints|FN_FUNC_PARAMS(int, r, FN_1, 4, a, b, c, d)|
FN_FUNC and FN_OUTPUT of 4 ints|FN_FUNC(int, FN_1); FN_OUTPUT("at ", a, b, c, d)|
END
}

rows_of "gcc, C" gcc
rows_of "g++, C++17" g++ -std=c++17 -x c++
if command -v clang > /dev/null; then
    rows_of "clang, C" clang
    rows_of "clang++, C++17" clang++ -std=c++17 -x c++
fi
