#!/usr/bin/env bash
# A compiler that is compatible with MSVC gets one error from each header, and none from what uses
# it: GNU's extensions are hidden from it. No SDK is needed: the headers include nothing before.
# shellcheck source=tests/windows/common.bash
. "$(dirname "${BASH_SOURCE[0]}")/common.bash"
command -v clang > /dev/null || { echo "skipped: no clang"; exit 0; }
mkdir sdk
for header in stddef stdint stdio stdlib string time wchar math errno; do
    : > "sdk/$header.h"
done

# $1 language, $2 header, $3 uses of it
refused() {
    printf '#define FN_INSTRUMENT\n#include "%s"\nint function(void) {\n%s\nreturn 0; }\n' \
        "$2" "$3" > use.c
    ! clang -x "$1" --target=x86_64-pc-windows-msvc -fsyntax-only -nostdlibinc -isystem sdk \
        "-I$SOURCE/include" use.c 2> errors || fail "$2: accepted"
    expect "$2 in $1: errors: $(cat errors)" 1 "$(grep -c 'error:' errors)"
    grep -q 'error: "Probity needs gcc or clang' errors || fail "$2 in $1: $(cat errors)"
}

for language in c c++; do
    for header in "$SOURCE"/include/*.h; do
        refused "$language" "$(basename "$header")" ''
    done
    refused "$language" probity.h 'PROBITY_PROBE(1); PROBITY_PROBE_NAMED("parse");'
done
refused c FnTrace.h 'FN_FUNC(int, FN_2); FN_PARAM(2);'
