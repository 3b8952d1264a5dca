#!/usr/bin/env bash
# The headers compile with MSVC's rules (clang-cl), with every macro, in C11 to C++20, with both of
# its preprocessors, and contain no GNU extensions then. On unsupported processors they cause a
# single error.
# shellcheck source=tests/windows/common.bash
. "$(dirname "${BASH_SOURCE[0]}")/common.bash"
. "$SOURCE/tests/windows/msvc.bash"
command -v clang > /dev/null || { echo "skipped: no clang"; exit 0; }
cp "$SOURCE"/tests/tool/headers/* .
for header in "$SOURCE"/include/*.h; do
    printf '#include "%s"\n' "${header##*/}"
done > all.c
# Every macro.
{
    printf '#define FN_INSTRUMENT\n'
    cat all.c scopes.h user.c typed.c
    printf '#ifdef __cplusplus\n#include "user.cc"\n#endif\n'
} > every.c

# $1 standard, $2 file, the rest: options
accept() {
    local standard=$1 file=$2 language=/TC
    shift 2
    [[ $standard != c++* ]] || language=/TP
    msvc "$standard" "$language" /Zs "$@" "$file" > errors 2>&1 ||
        fail "$standard $* refuses $file: $(head -n 20 errors)"
}

for preprocessor in "${PREPROCESSORS[@]}"; do
    for standard in c11 c17 c++14 c++17 c++20; do
        accept $standard every.c "/clang:$preprocessor" '-Wno-#pragma-messages'
    done
done
for standard in c11 c++17; do
    accept $standard every.c /DPROBITY_DISABLE '-Wno-#pragma-messages'
    accept $standard scopes.h
done

# In C, a message reports that scopes record nothing.
msvc c11 /TC /Zs every.c > out 2>&1
grep -q 'FnTrace.h records nothing in C with this compiler' out || fail "message: $(cat out)"

# Prints lines of the headers, and of the files that use them, after preprocessing.
for standard in c11 c++17; do
    language=/TC
    [ $standard = c11 ] || language=/TP
    msvc $standard $language /E every.c 2> /dev/null | awk '
        /^#/ { ours = /include\/(FnTrace|Logger|probity)|"every[.]c"/; next }
        ours' > seen
    [ "$(wc -l < seen)" -gt 300 ] || fail "$standard: $(wc -l < seen) lines"
    ! grep -nE '__attribute__|__asm|__builtin_|__extension__|__atomic_|__typeof__|\(\{' seen ||
        fail "$standard: GNU's extensions"
done

# $1 file
refused() {
    ! clang -x c --target=aarch64-pc-windows-msvc -fsyntax-only -ffreestanding -nostdlibinc \
        "-I$SOURCE/include" "$1" 2> errors || fail "$1: accepted"
    expect "$1: errors: $(cat errors)" 1 "$(grep -c 'error:' errors)"
    grep -q 'error: "Probity runs on Linux and Windows' errors || fail "$1: $(cat errors)"
}
echo '#include "probity.h"' > use.c
echo 'void f(void) { PROBITY_PROBE(1); PROBITY_PROBE_NAMED("a"); }' >> use.c
refused use.c
