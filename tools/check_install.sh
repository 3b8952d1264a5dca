#!/usr/bin/env bash
# Installs into an empty folder and builds a small program against it as a user would: with
# pkg-config (shared and fully static) and with CMake's find_package, in C and in C++; each must
# record and be read by the installed tool. Then uninstall must leave no file. Exit status 1 when
# something does not hold. BUILD names the build directory to install from.
set -eu
cd "$(dirname "$0")/.."
build=${BUILD:-build}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
prefix=$folder/prefix
checked=0

fail() {
    echo "install: $1" >&2
    exit 1
}

# Runs a program that must hit probe 7 five times and reads its trace with the installed tool.
expect_five_hits() {
    local lines
    rm -f "$folder/trace.probity"
    PROBITY_OUT=$folder/trace.probity "$1" || fail "$1 ended with status $?"
    lines=$("$prefix/bin/probity" csv "$folder/trace.probity" | awk -F, '$3 == 7' | wc -l)
    [ "$lines" -eq 5 ] || fail "$1: $lines lines of probe 7 in the CSV, not 5"
    checked=$((checked + 1))
}

# Runs a program that uses FnTrace.h; the installed tool prints its log. The signature is the
# compiler's or the debugging information's, where either is there.
expect_log() {
    local expected
    rm -f "$folder/trace.probity"
    PROBITY_OUT=$folder/trace.probity "$1" || fail "$1 ended with status $?"
    "$prefix/bin/probity" log "$folder/trace.probity" > "$folder/log"
    expected='text = "outside"|total = 42|message 42|return (42)'
    [ "$(grep -oF -f <(tr '|' '\n' <<< "$expected") "$folder/log" | tr '\n' '|')" = \
        "$expected|" ] || fail "$1: the log is $(cat "$folder/log")"
    grep -q 'int add' "$folder/log" || fail "$1: no 'int add' in $(cat "$folder/log")"
    checked=$((checked + 1))
}

expect_man_pages() {
    local page
    for page in man/*.[13]; do
        page=man${page##*.}/$(basename "$page")
        [ -s "$prefix/share/man/$page" ] || fail "no $page"
    done
}

write_program() {
    cat > "$folder/user.c" <<'PROGRAM'
#include <probity.h>
#include <string.h>

int main(void)
{
    for (int i = 0; i < 5; i++)
        PROBITY_PROBE(7);
    return strcmp(probity_version(), VERSION) == 0 ? 0 : 1;
}
PROGRAM
    cp "$folder/user.c" "$folder/user.cc"
    cat > "$folder/scopes.c" <<'PROGRAM'
#define FN_INSTRUMENT
#include <FnTrace.h>

static int add(const char *text, int total)
{
    int result = 0;
    FN_FUNC_PARAMS(int, result, FN_1, 2, text, total);
    FN_OUTPUT("message ", total);
    result = total;
    return result;
}

int main(void)
{
    return add("outside", 42) == 42 ? 0 : 1;
}
PROGRAM
    sed 's/(void)/()/' "$folder/scopes.c" > "$folder/scopes.cc"
}

build_with_pkg_config() {
    local version
    export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
    version=-DVERSION="\"$(pkg-config --modversion probity)\""
    read -ra shared < <(pkg-config --cflags --libs probity)
    read -ra static < <(pkg-config --static --cflags --libs probity)
    gcc "$version" -o "$folder/c-shared" "$folder/user.c" "${shared[@]}"
    g++ "$version" -o "$folder/cc-shared" "$folder/user.cc" "${shared[@]}"
    gcc "$version" -static -o "$folder/c-static" "$folder/user.c" "${static[@]}"
    g++ "$version" -static -o "$folder/cc-static" "$folder/user.cc" "${static[@]}"
    gcc -Wall -Wextra -Werror -o "$folder/scopes-c" "$folder/scopes.c" "${shared[@]}"
    g++ -Wall -Wextra -Werror -o "$folder/scopes-cc" "$folder/scopes.cc" "${static[@]}"
}

build_with_cmake() {
    cat > "$folder/CMakeLists.txt" <<'PROJECT'
cmake_minimum_required(VERSION 3.18)
project(user C CXX)
find_package(Probity 0.1 REQUIRED)
add_definitions(-DVERSION="${Probity_VERSION}")
add_executable(cmake-c user.c)
target_link_libraries(cmake-c Probity::probity)
add_executable(cmake-cc user.cc)
target_link_libraries(cmake-cc Probity::probity)
add_executable(cmake-c-static user.c)
target_link_libraries(cmake-c-static Probity::probity_static)
add_executable(cmake-cc-static user.cc)
target_link_libraries(cmake-cc-static Probity::probity_static)
add_executable(scopes-c scopes.c)
target_link_libraries(scopes-c Probity::probity_static)
add_executable(scopes-cc scopes.cc)
target_link_libraries(scopes-cc Probity::probity)
PROJECT
    cmake -S "$folder" -B "$folder/cmake" -DCMAKE_PREFIX_PATH="$prefix"
    cmake --build "$folder/cmake"
    sed -i 's/Probity 0.1/Probity 0.9/' "$folder/CMakeLists.txt"
    if cmake -S "$folder" -B "$folder/newer" -DCMAKE_PREFIX_PATH="$prefix" > /dev/null 2>&1; then
        fail "CMake takes this version for 0.9"
    fi
}

make -s BUILD="$build" PREFIX="$prefix" install > /dev/null
expect_man_pages
write_program
build_with_pkg_config
build_with_cmake
for program in c-shared cc-shared; do
    readelf -d "$folder/$program" | grep -qF '[libprobity.so.0]' || fail "$program: wrong soname"
    LD_LIBRARY_PATH=$prefix/lib expect_five_hits "$folder/$program"
done
for program in c-static cc-static cmake/cmake-c cmake/cmake-cc cmake/cmake-c-static \
    cmake/cmake-cc-static; do
    expect_five_hits "$folder/$program"
done
for program in scopes-c scopes-cc cmake/scopes-c cmake/scopes-cc; do
    LD_LIBRARY_PATH=$prefix/lib expect_log "$folder/$program"
done
for header in FnTrace.h probity_scope.h probity_typed.h probity_values.h; do
    [ -s "$prefix/include/$header" ] || fail "no $header"
done

make -s BUILD="$build" PREFIX=/usr DESTDIR="$folder/stage" install > /dev/null
[ -x "$folder/stage/usr/bin/probity" ] || fail "DESTDIR: no usr/bin/probity"
grep -qx 'prefix=/usr' "$folder/stage/usr/lib/pkgconfig/probity.pc" ||
    fail "DESTDIR is in probity.pc"

make -s BUILD="$build" PREFIX="$prefix" uninstall > /dev/null
left=$(find "$prefix" ! -type d)
[ -z "$left" ] || fail "uninstall leaves $left"
echo "install: $checked programs built against an installation, recorded and read"
