#!/usr/bin/env bash
# Installs into an empty directory, moves it elsewhere and builds a small program against it as a
# user would: with pkg-config (shared and fully static) and with CMake's find_package, in C and in
# C++; each must record, and the installed tool must read its trace. Then uninstall must leave no
# file. Exit status 1 if a check fails. BUILD names the build directory to install from.
set -eu
cd "$(dirname "$0")/.."
build=${BUILD:-build}
scratch=$(mktemp -d)
trap '[[ $BASHPID != $$ ]] || rm -rf "$scratch"' EXIT
prefix=$scratch/prefix
checked=0

fail() {
    echo "install: $1" >&2
    exit 1
}

# Runs a program that must hit probe 7 five times and reads its trace with the installed tool.
expect_five_hits() {
    local lines
    rm -f "$scratch/trace.probity"
    PROBITY_OUT=$scratch/trace.probity "$1" || fail "$1 ended with status $?"
    lines=$("$prefix/bin/probity" csv "$scratch/trace.probity" | awk -F, '$3 == 7' | wc -l)
    [ "$lines" -eq 5 ] || fail "$1: $lines lines of probe 7 in the CSV, not 5"
    checked=$((checked + 1))
}

# Runs a program that uses FnTrace.h; the installed tool prints its log. Signatures come from the
# compiler or, if available, from debugging information.
expect_log() {
    local expected
    rm -f "$scratch/trace.probity"
    PROBITY_OUT=$scratch/trace.probity "$1" || fail "$1 ended with status $?"
    "$prefix/bin/probity" log "$scratch/trace.probity" > "$scratch/log"
    expected='text = "outside"|total = 42|message 42|return (42)'
    [ "$(grep -oF -f <(tr '|' '\n' <<< "$expected") "$scratch/log" | tr '\n' '|')" = \
        "$expected|" ] || fail "$1: the log is $(cat "$scratch/log")"
    grep -q 'int add' "$scratch/log" || fail "$1: no 'int add' in $(cat "$scratch/log")"
    checked=$((checked + 1))
}

# Records a program without macros, $1; the rest: options of the installed `probity record`.
expect_functions() {
    local program=$1
    shift
    "$prefix/bin/probity" record -f "$@" -o "$scratch/trace.probity" "$program" ||
        fail "$program ended with status $?"
    "$prefix/bin/probity" report --csv "$scratch/trace.probity" > "$scratch/report"
    grep -q twice "$scratch/report" || fail "$program: no function: $(cat "$scratch/report")"
    checked=$((checked + 1))
}

# Runs an unmodified program that uses Logger.h; it writes a CSV without any setting.
expect_csv() {
    rm -f "$scratch/log.csv"
    (cd "$scratch" && "$1") || fail "$1 ended with status $?"
    [ -f "$scratch/log.csv" ] && [ "$(wc -l < "$scratch/log.csv")" -eq 5 ] || fail "$1: no CSV"
    checked=$((checked + 1))
}

expect_man_pages() {
    local page
    for page in man/*.[137]; do
        page=man${page##*.}/$(basename "$page")
        [ -s "$prefix/share/man/$page" ] || fail "no $page"
    done
}

write_program() {
    cat > "$scratch/user.c" <<'PROGRAM'
#include <probity.h>
#include <string.h>

int main(void)
{
    for (int i = 0; i < 5; i++)
        PROBITY_PROBE(7);
    return strcmp(probity_version(), VERSION) == 0 ? 0 : 1;
}
PROGRAM
    cp "$scratch/user.c" "$scratch/user.cc"
    cat > "$scratch/scopes.c" <<'PROGRAM'
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
    sed 's/(void)/()/' "$scratch/scopes.c" > "$scratch/scopes.cc"
    cat > "$scratch/functions.c" <<'PROGRAM'
static int twice(int x)
{
    return x + x;
}

int main(int argc, char **argv)
{
    (void)argv;
    return twice(argc) == 2 ? 0 : 1;
}
PROGRAM
    cat > "$scratch/logger.c" <<'PROGRAM'
#include <Logger.h>

int main(void)
{
    alexta_Initialize();
    for (int i = 0; i < 5; i++)
        alexta_LogEvent(7);
    return 0;
}
PROGRAM
}

build_with_pkg_config() {
    local version
    export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
    version=-DVERSION="\"$(pkg-config --modversion probity)\""
    read -ra shared < <(pkg-config --cflags --libs probity)
    read -ra static < <(pkg-config --static --cflags --libs probity)
    gcc "$version" -o "$scratch/c-shared" "$scratch/user.c" "${shared[@]}"
    g++ "$version" -o "$scratch/cc-shared" "$scratch/user.cc" "${shared[@]}"
    gcc "$version" -static -o "$scratch/c-static" "$scratch/user.c" "${static[@]}"
    g++ "$version" -static -o "$scratch/cc-static" "$scratch/user.cc" "${static[@]}"
    read -ra dumps < <(pkg-config --static --cflags --libs probity-dumps)
    gcc "$version" -static -o "$scratch/c-dumps" "$scratch/user.c" "${dumps[@]}"
    read -ra print < <(pkg-config --static --cflags --libs probity-print)
    gcc -o "$scratch/logger-shared" "$scratch/logger.c" "${shared[@]}"
    gcc -static -o "$scratch/logger-static" "$scratch/logger.c" "${print[@]}"
    read -ra print < <(pkg-config --cflags --libs probity-print)
    gcc -o "$scratch/logger-both" "$scratch/logger.c" "${print[@]}"
    read -ra functions < <(pkg-config --cflags --libs probity-functions)
    gcc -o "$scratch/functions" "$scratch/functions.c" "${functions[@]}"
    gcc -finstrument-functions -o "$scratch/preloaded" "$scratch/functions.c"
    gcc -Wall -Wextra -Werror -o "$scratch/scopes-c" "$scratch/scopes.c" "${shared[@]}"
    g++ -Wall -Wextra -Werror -o "$scratch/scopes-cc" "$scratch/scopes.cc" "${static[@]}"
}

build_with_cmake() {
    cat > "$scratch/CMakeLists.txt" <<'PROJECT'
cmake_minimum_required(VERSION 3.18)
project(user C CXX)
find_package(Probity 0.2 REQUIRED)
add_definitions(-DVERSION="${Probity_VERSION}")
add_executable(cmake-c user.c)
target_link_libraries(cmake-c Probity::probity)
add_executable(cmake-cc user.cc)
target_link_libraries(cmake-cc Probity::probity)
add_executable(cmake-c-static user.c)
target_link_libraries(cmake-c-static Probity::probity_static)
add_executable(cmake-c-dumps user.c)
target_link_libraries(cmake-c-dumps Probity::probity_static Probity::dumps_static)
add_executable(cmake-cc-static user.cc)
target_link_libraries(cmake-cc-static Probity::probity_static)
add_executable(scopes-c scopes.c)
target_link_libraries(scopes-c Probity::probity_static)
add_executable(scopes-cc scopes.cc)
target_link_libraries(scopes-cc Probity::probity)
add_executable(cmake-logger logger.c)
target_link_libraries(cmake-logger Probity::probity_static Probity::print_static)
add_executable(cmake-functions functions.c)
target_link_libraries(cmake-functions Probity::functions)
PROJECT
    cmake -S "$scratch" -B "$scratch/cmake" -DCMAKE_PREFIX_PATH="$prefix"
    cmake --build "$scratch/cmake"
    sed -i 's/Probity 0.2/Probity 0.9/' "$scratch/CMakeLists.txt"
    if cmake -S "$scratch" -B "$scratch/newer" -DCMAKE_PREFIX_PATH="$prefix" > /dev/null 2>&1; then
        fail "CMake accepts this version as 0.9"
    fi
}

# $1 an installed tree
expect_stripped() {
    local file
    for file in bin/probity lib/libprobity.so lib/libprobity.a \
        lib/libprobity-functions.so lib/libprobity-calls.so; do
        if readelf -SW "$1/$file" | grep -q '\.debug_info'; then
            fail "install-strip leaves debugging information in $file"
        fi
    done
}

make -s BUILD="$build" PREFIX="$scratch/before" install > /dev/null
mv "$scratch/before" "$prefix"
if grep -rlF "$scratch" "$prefix/lib/pkgconfig" "$prefix/lib/cmake"; then
    fail "these contain the path of the installation"
fi
expect_man_pages
write_program
build_with_pkg_config
build_with_cmake
for program in c-shared cc-shared; do
    readelf -d "$scratch/$program" | grep -qF '[libprobity.so.0]' || fail "$program: wrong soname"
    LD_LIBRARY_PATH=$prefix/lib expect_five_hits "$scratch/$program"
done
for program in c-static cc-static cmake/cmake-c cmake/cmake-cc cmake/cmake-c-static \
    cmake/cmake-cc-static; do
    expect_five_hits "$scratch/$program"
done
for program in c-dumps cmake/cmake-c-dumps; do
    PROBITY_WHEN='signal USR1' expect_five_hits "$scratch/$program"
done
for program in scopes-c scopes-cc cmake/scopes-c cmake/scopes-cc; do
    LD_LIBRARY_PATH=$prefix/lib expect_log "$scratch/$program"
done
readelf -d "$scratch/logger-both" | grep -qF '[libprobity-print.so.0]' ||
    fail "logger-both: libprobity-print is not linked with it"
for program in logger-shared logger-static logger-both cmake/cmake-logger; do
    LD_LIBRARY_PATH=$prefix/lib expect_csv "$scratch/$program"
done
for program in functions cmake/cmake-functions; do
    LD_LIBRARY_PATH=$prefix/lib expect_functions "$scratch/$program"
done
expect_functions "$scratch/preloaded" --functions
for header in FnTrace.h probity_scope.h probity_typed.h probity_values.h; do
    [ -s "$prefix/include/probity/$header" ] || fail "no $header"
done

make -s BUILD="$build" PREFIX=/usr LIBDIR=/usr/lib/machine DESTDIR="$scratch/stage" install \
    > /dev/null
[ -x "$scratch/stage/usr/bin/probity" ] || fail "DESTDIR: no usr/bin/probity"
if grep -rlF "$scratch" "$scratch/stage/usr/lib"/*/pkgconfig "$scratch/stage/usr/lib"/*/cmake; then
    fail "these contain DESTDIR"
fi
export PKG_CONFIG_PATH=$scratch/stage/usr/lib/machine/pkgconfig
for variable in libdir includedir; do
    directory=$(pkg-config --variable=$variable probity)
    [ -e "$directory/probity.h" ] || [ -e "$directory/libprobity.so" ] ||
        fail "LIBDIR=/usr/lib/machine: $variable is $directory"
done

make -s BUILD="$build" PREFIX="$prefix" install-strip > /dev/null
expect_stripped "$prefix"
LD_LIBRARY_PATH=$prefix/lib expect_five_hits "$scratch/c-shared"
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
read -ra static < <(pkg-config --static --cflags --libs probity)
gcc -DVERSION="\"$(pkg-config --modversion probity)\"" -static -o "$scratch/c-static" \
    "$scratch/user.c" "${static[@]}"
expect_five_hits "$scratch/c-static"
make -s BUILD="$build" PREFIX="$prefix" uninstall > /dev/null
left=$(find "$prefix" ! -type d)
[ -z "$left" ] || fail "uninstall leaves $left"
[ ! -e "$prefix/include/probity" ] || fail "uninstall leaves include/probity"
echo "install: $checked programs built against an installation, recorded and read"
