#!/usr/bin/env bash
# Compiles each public header alone, and a file that uses every probe macro, as C11 and C++11 to
# C++20, with gcc and clang and the warnings that the project promises to avoid. Exit status 1 if a
# compiler reports anything, or if an unsupported standard or platform is not rejected with one
# message. SHARE=N: only one in N of the compilations that must succeed, chosen at random; by
# default all.
set -eu
directory=$(mktemp -d)
trap '[[ $BASHPID != $$ ]] || rm -rf "$directory"' EXIT
warnings=(-Wall -Wextra -Wpedantic -Wshadow -Werror -Iinclude -fsyntax-only)
failed=0
checked=0

# $1 compiler, $2 language, $3 standard, $4 file, then further flags
compile() {
    local compiler=$1 language=$2 standard=$3 file=$4
    shift 4
    ((RANDOM % ${SHARE:-1} == 0)) || return 0
    checked=$((checked + 1))
    if ! "$compiler" -x "$language" -std="$standard" "${warnings[@]}" "$@" "$file"; then
        echo "headers: $compiler -std=$standard $* refuses $(cat "$file")" >&2
        failed=1
    fi
}

# In the oldest and the newest standards; with flags, each compiler checks C++ in a random one of
# them. $1 file, then flags
compile_everywhere() {
    compile gcc c c11 "$@"
    compile clang c c11 "$@"
    compile_as_cxx "$@"
}

compile_as_cxx() {
    local standards=(c++11 c++20) pair
    if [ $# = 1 ]; then
        for pair in 0 1; do
            compile g++ c++ "${standards[pair]}" "$@"
            compile clang++ c++ "${standards[pair]}" "$@"
        done
    else
        pair=$((RANDOM % 2))
        compile g++ c++ "${standards[pair]}" "$@"
        compile clang++ c++ "${standards[1 - pair]}" "$@"
    fi
}

# In the standards between them. $1 file, then flags
compile_between() {
    compile gcc c gnu11 "$@"
    compile clang c gnu11 "$@"
    compile_as_cxx_between "$@"
}

compile_as_cxx_between() {
    local standard
    for standard in gnu++14 c++17 gnu++17; do
        compile g++ c++ "$standard" "$@"
        compile clang++ c++ "$standard" "$@"
    done
}

# Source that uses every macro.
cp tests/tool/headers/* "$directory"

# In both orders, so that neither header depends on includes of the other.
for header in include/*.h; do
    name=$(basename "$header")
    printf '#include "%s"\n#include "%s"\n' "$name" "$name" > "$directory/alone.c"
    compile_everywhere "$directory/alone.c"
    echo "#include \"$name\"" >> "$directory/forward.c"
done
tac "$directory/forward.c" > "$directory/backward.c"
for file in forward backward; do compile_between "$directory/$file.c"; done

compile_everywhere "$directory/user.c" -Wconversion
compile_everywhere "$directory/user.c" -DPROBITY_DISABLE
compile_everywhere "$directory/user.c" -DPROBITY_USDT

compile_everywhere "$directory/typed.c" -Wconversion
compile_everywhere "$directory/typed.c" -DPROBITY_DISABLE
compile_everywhere "$directory/typed.c" -DPROBITY_USDT

compile_as_cxx "$directory/user.cc"
compile_as_cxx_between "$directory/user.cc"

# Every macro of FnTrace.h, as statements of both languages; with nothing compiled in, too.
{
    echo '#define FN_INSTRUMENT'
    echo '#define FN_USER_TYPES FN_USER_TYPE(struct user_rect *, user_format)'
    cat "$directory/scopes.h"
} > "$directory/scopes.c"
compile_everywhere "$directory/scopes.c"
compile_between "$directory/scopes.c"
compile_everywhere "$directory/scopes.c" -O2 -fexceptions -Wconversion -Wcast-qual -Wundef
compile_everywhere "$directory/scopes.c" -DPROBITY_DISABLE
compile_everywhere "$directory/scopes.c" -DPROBITY_USDT
compile_as_cxx "$directory/scopes.c" -fno-exceptions -fno-rtti
cp "$directory/scopes.h" "$directory/off.c"
compile_everywhere "$directory/off.c"
compile_between "$directory/off.c"

# Macros that programs may define before they include the headers: single letters, except two that
# the C++ library uses for literals ("s", "h"), and other common names.
user_macros=()
for name in {A..Z} {a..g} {i..r} {t..z} min max debug info check assert emit signals slots \
    OK FAIL ERROR NONE EMPTY MIN MAX ABS SIZE LEN COUNT IN OUT BOOL BYTE WORD INT CHAR STR CAT \
    TEST PRINT LOG INFO DEBUG TRACE CHECK ASSERT VERIFY; do
    user_macros+=("-D$name=+*")
done
for header in include/*.h; do
    echo "#include \"$(basename "$header")\""
done > "$directory/named.c"
for language in 'gcc c c11' 'clang c c11' 'g++ c++ c++11' 'g++ c++ c++17' 'clang++ c++ c++17'; do
    read -r compiler name standard <<< "$language"
    compile "$compiler" "$name" "$standard" "$directory/named.c" -DFN_INSTRUMENT "${user_macros[@]}"
done

# With an unsupported standard or platform, the headers give one #error and nothing else: functions
# are not declared, but all macros are defined.
# $1 text of the #error, $2 compiler, $3 language, $4 file, then its flags
refuse() {
    local expected=$1 compiler=$2 language=$3 file=$4 output faults
    shift 4
    checked=$((checked + 1))
    output=$("$compiler" -x "$language" -Iinclude -fsyntax-only "$@" "$file" 2>&1) || true
    faults=$(grep -E '(error|warning):' <<< "$output" || true)
    [[ $file == */macros.c ]] || faults=$(grep '^include/' <<< "$faults" || true)
    if [[ $(wc -l <<< "$faults") != 1 || $faults != *"$expected"* ]]; then
        echo "headers: $compiler $* on $(basename "$file") should report \"$expected\" only:" >&2
        head -n 5 <<< "$faults" >&2
        failed=1
    fi
}

# Probes alone work with older standards, too; those are not rejected.
accept() {
    checked=$((checked + 1))
    if ! "$1" -x "$2" -Iinclude -fsyntax-only -Wall -Werror "${@:4}" "$3"; then
        echo "headers: $1 ${*:4} refuses $(basename "$3")" >&2
        failed=1
    fi
}

printf '#include "%s"\n' probity.h probity_typed.h Logger.h FnTrace.h > "$directory/all.c"
{
    echo '#define FN_INSTRUMENT'
    cat "$directory/all.c"
    echo 'void user_macros(int x);'
    echo 'void user_macros(int x) { FN_FUNC_PARAMS(int, x, FN_1, 1, x); FN_INSTRUMENT_THREAD();'
    echo 'FN_OUTPUT("x is ", x); PROBITY_PROBE(7); PROBITY_PROBE_NAMED("named"); }'
} > "$directory/macros.c"

for suite in 'gcc g++' 'clang clang++'; do
    read -r c cxx <<< "$suite"
    for file in macros scopes; do
        refuse 'Probity needs C++11' "$cxx" c++ "$directory/$file.c" -std=c++98
    done
    for file in macros typed user; do
        refuse 'Probity needs C11 or newer' "$c" c "$directory/$file.c" -std=c90
        for machine in -U__linux__ -U__LP64__ '-U__x86_64__ -U__aarch64__'; do
            # shellcheck disable=SC2086 # several flags
            refuse 'Probity runs on Linux' "$c" c "$directory/$file.c" -std=c11 $machine
        done
    done
    for standard in c99 gnu90; do accept "$c" c "$directory/all.c" -std=$standard; done
    for standard in c++11 gnu++14; do accept "$cxx" c++ "$directory/all.c" -std=$standard; done
    accept "$c" c "$directory/all.c" -std=c11 -U__linux__ -DPROBITY_DISABLE
done

[ "$failed" -eq 0 ] && echo "headers: $checked compilations gave the expected result"
exit "$failed"
