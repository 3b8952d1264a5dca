#!/usr/bin/env bash
# Programs compiled with MSVC's rules (clang-cl) and linked with libprobity.dll record the same as
# those of gcc: every hit of four threads, and values, messages, checkpoints and results of scopes.
# shellcheck source=tests/windows/common.bash
. "$(dirname "${BASH_SOURCE[0]}")/common.bash"
. "$SOURCE/tests/windows/msvc.bash"
command -v clang > /dev/null || { echo "skipped: no clang"; exit 0; }

# $1 standard, $2 source, $3 object, the rest: options. Without functions of MSVC's own library.
compile() {
    local standard=$1 source=$2 object=$3
    shift 3
    msvc "$standard" /c /O2 /GS- /EHs-c- /GR- /Zc:threadSafeInit- "/Fo$object" "$@" \
        -- "$source" > errors 2>&1 || fail "$source: $(head -n 20 errors)"
}

# $1 name of the object and of the program
link() {
    x86_64-w64-mingw32-g++ -o "$1.exe" "$1.obj" "${SHARED[@]}" > errors 2>&1 || fail "$(cat errors)"
}

# $1 program
run() {
    rm -f trace.probity
    PROBITY_OUT=trace.probity wine_run "$1" > out 2>&1
    expect "$1: status; $(head -n 3 out)" 0 "$status"
    "$PROBITY" check trace.probity > checked || fail "$1: $(cat checked)"
}

compile c11 "$SOURCE/tests/windows/msvc.c" msvc_c.obj
link msvc_c
run msvc_c.exe
"$PROBITY" list --csv trace.probity > listed
for name in "7," "8," "9," ",named"; do
    expect "hits of $name; $(cat listed)" 200000 "$(grep "^[a-z]*,$name" listed | cut -d , -f 12)"
done

# Removes what differs from run to run, and between the two compilers' names of functions.
plain() {
    "$PROBITY" log trace.probity | sed -E -e '/^[0-9]+: \[(thread .*|levels: .*)\]$/d' \
        -e 's/^[0-9]+: //' -e 's/(elapsed:\t).*/\1TIME/' \
        -e 's/__cdecl //; s/long int/long/; s/\(void\)/()/; s/ \*/*/; s/virtual //'
}

x86_64-w64-mingw32-g++ -std=gnu++17 "${FLAGS[@]}" -w -o gcc.exe \
    "$SOURCE/tests/windows/msvc.cc" -static-libgcc -static-libstdc++ "${SHARED[@]}"
run gcc.exe
plain > expected
for preprocessor in "${PREPROCESSORS[@]}"; do
    compile c++17 "$SOURCE/tests/windows/msvc.cc" msvc.obj "/clang:$preprocessor" -w
    link msvc
    run msvc.exe
    plain > found
    cmp -s expected found || fail "$preprocessor: gcc (<), MSVC (>): $(diff expected found)"
done
[ "$(wc -l < expected)" -gt 40 ] || fail "a log of $(wc -l < expected) lines"
