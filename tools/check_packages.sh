#!/usr/bin/env bash
# Checks the forms in which the tree is distributed: the list of sources that CMake reads, the
# library by FetchContent, the amalgamation, the release tarball and the Debian packages. Programs
# built from them must record, and the tool must read their traces. Exit status 1 if a check fails.
# BUILD names the build directory, CC a compiler in addition to clang.
set -eu
cd "$(dirname "$0")/.."
build=${BUILD:-build}
work=$(mktemp -d)
trap '[[ $BASHPID != $$ ]] || rm -rf "$work"' EXIT
tool=$build/bin/probity
version=$(sed -n 's/^#define PROBITY_VERSION_[A-Z]* //p' include/probity.h | paste -sd .)

fail() {
    echo "packages: $1" >&2
    exit 1
}

# The probes of examples/hello.c, in order.
ids_of() {
    rm -f "$work/hello.probity"
    PROBITY_OUT=$work/hello.probity "$1" > /dev/null || fail "$1 ended with status $?"
    "$tool" csv "$work/hello.probity" | cut -d, -f3 | paste -sd ' '
}

expect_hello() {
    local ids
    ids=$(ids_of "$1")
    [ "$ids" = "$expected" ] || fail "$1: the trace has the probes $ids, not $expected"
}

check_sources() {
    make -s print-lib-sources |
        diff - <(sed -n 's,^  \(src/[^)]*\))*$,\1,p' packaging/sources.cmake) ||
        fail "packaging/sources.cmake is out of date: run make cmake-sources"
}

# Builds a program that uses FetchContent. Most files of the library have not changed since the last
# run, so a compiler cache is used, if there is one (tools/test_one.sh disables it elsewhere). $1
# name, then arguments of cmake
check_fetch_content() {
    local name=$1
    shift
    env -u CCACHE_DISABLE cmake -S "$work/fetch" -B "$work/$name" -DPROBITY_SOURCE="$PWD" "$@" \
        > "$work/cmake.log" &&
        env -u CCACHE_DISABLE cmake --build "$work/$name" -j "$(nproc)" >> "$work/cmake.log" || {
        tail -n 20 "$work/cmake.log" >&2
        fail "FetchContent ($name) does not build"
    }
    expect_hello "$work/$name/hello"
}

write_fetch_project() {
    mkdir "$work/fetch"
    cp examples/hello.c "$work/fetch/"
    cat > "$work/fetch/CMakeLists.txt" <<'PROJECT'
cmake_minimum_required(VERSION 3.14)
project(user C)
include(FetchContent)
FetchContent_Declare(probity SOURCE_DIR ${PROBITY_SOURCE})
FetchContent_MakeAvailable(probity)
add_executable(hello hello.c)
target_link_libraries(hello Probity::probity)
add_executable(hello_static EXCLUDE_FROM_ALL hello.c)
target_link_libraries(hello_static Probity::probity_static)
add_executable(hello_dumps EXCLUDE_FROM_ALL hello.c)
target_link_libraries(hello_dumps Probity::probity_static Probity::dumps_static)
PROJECT
}

check_amalgamation() {
    local compiler optimize here=$work/vendored exported
    make -s BUILD="$work" amalgamation > /dev/null
    mv "$work/amalgamation" "$here"
    make -s BUILD="$work" amalgamation > /dev/null
    diff -r "$here" "$work/amalgamation" || fail "two amalgamations differ"
    for compiler in "${CC:-gcc}" clang; do
        # Only gcc has further warnings when it optimizes.
        [ "$compiler" = clang ] && optimize=-O0 || optimize=-O1
        "$compiler" -std=c11 "$optimize" -Wall -Wextra -Werror -fexceptions -fPIC -c \
            -o "$here/probity.o" "$here/probity.c" || fail "$compiler refuses the amalgamation"
        "$compiler" -std=gnu11 -pthread -I"$here" -o "$here/hello" examples/hello.c \
            "$here/probity.o"
        expect_hello "$here/hello"
        exported=$(readelf -sW "$here/probity.o" |
            awk '$5 == "GLOBAL" && $6 == "DEFAULT" && $7 != "UND" { print $8 }' | sort)
        diff <(sed -n '/^global/,/^local/s/^ *\([a-z_]*\);$/\1/p' src/libprobity.map | sort) \
            - <<< "$exported" || fail "$compiler: the amalgamation's public names differ"
    done
}

join_both() {
    (cd "$work/join" &&
        awk -v version=1 -f "$OLDPWD/tools/amalgamate.awk" src/a/one.c src/a/two.c)
}

# Two files may have the same static names; sources that cannot be joined are rejected, and the name
# is reported.
check_joining() {
    mkdir -p "$work/join/src/a"
    echo 'struct shared;' > "$work/join/src/a/one.h"
    echo 'struct shared;' > "$work/join/src/a/two.h"
    local name
    for name in one two; do
        printf '%s\n' "#include \"a/$name.h\"" 'struct shared {' '    int same;' '};' \
            'static int same(void)' '{' '    return 0;' '}' > "$work/join/src/a/$name.c"
    done
    if join_both > "$work/joined.c" 2> "$work/refusal"; then
        fail "a struct that two headers share is joined"
    fi
    grep -q 'struct shared is shared by headers' "$work/refusal" || fail "$(cat "$work/refusal")"
    rm "$work/join/src/a/"*.h
    sed -i 's/^#include.*//' "$work/join/src/a/"*.c
    join_both > "$work/joined.c"
    for name in 'static int a_one_same(' 'static int a_two_same(' 'struct a_two_shared {' \
        '    int same;'; do
        grep -qF "$name" "$work/joined.c" || fail "no \"$name\" in what is joined"
    done
}

# From the tarball, without git, the same amalgamation and tarball can be built.
check_dist() {
    local name=probity-$version tarball
    tarball=$work/dist/$name.tar.gz
    make -s BUILD="$build" DIST="$tarball" dist > /dev/null
    tar -C "$work" -xzf "$tarball"
    [ -s "$work/$name/view/dist/page.html" ] || fail "no page in the tarball"
    make -s -C "$work/$name" BUILD="$work/again" amalgamation > /dev/null
    diff -r "$work/amalgamation" "$work/again/amalgamation" || fail "the tarball lacks sources"
    "$work/$name/tools/dist.sh" "$version" view/dist/page.html "$work/again.tar.gz"
    cmp "$tarball" "$work/again.tar.gz" || fail "a tarball made from the tarball differs"
}

check_deb() {
    local package library
    if ! command -v dpkg-deb dpkg-shlibdeps dpkg-architecture > /dev/null; then
        echo "packages: no dpkg-dev here: Debian packages are not checked"
        return 0
    fi
    make -s BUILD="$build" DEB_BUILD="$build" DEB_OUT="$work/deb" deb > "$work/deb.log" 2>&1 ||
        fail "make deb: $(tail -n 5 "$work/deb.log")"
    # Includes the libraries that the tool loads only when it needs them.
    for library in libc6 libjansson4 libsqlite3 libdw1 libelf1; do
        dpkg-deb -f "$work/deb/probity_$version"-*.deb Depends | grep -q "$library" ||
            fail "Debian packages: probity does not depend on $library"
    done
    for package in libprobity0 libprobity-dev probity; do
        dpkg-deb -x "$work/deb/${package}_$version"-*.deb "$work/root"
    done
    check_deb_root "$work/root/usr"
    if command -v lintian > /dev/null; then
        lintian --allow-root --fail-on error,warning "$work/deb"/*.deb || fail "lintian complains"
    else
        echo "packages: no lintian here: the Debian packages are not checked with it"
    fi
}

# $1 usr/ with all three packages unpacked
check_deb_root() {
    local library
    library=$(echo "$1"/lib/*/)
    PKG_CONFIG_PATH=$library/pkgconfig
    export PKG_CONFIG_PATH
    read -ra flags < <(pkg-config --cflags --libs probity)
    "${CC:-gcc}" -o "$work/hello-deb" examples/hello.c "${flags[@]}"
    tool=$1/bin/probity LD_LIBRARY_PATH=$library expect_hello "$work/hello-deb"
    [ "$(find "$1/share/man" -name '*.gz' | wc -l)" = "$(find man -name '*.[137]' | wc -l)" ] ||
        fail "Debian packages: not all manual pages"
    for file in bash-completion/completions/probity zsh/vendor-completions/_probity \
        fish/vendor_completions.d/probity.fish; do
        [ -s "$1/share/$file" ] || fail "Debian packages: no $file"
    done
}

expected=$(ids_of "$build/examples/hello")
check_sources
check_joining
check_amalgamation
check_dist
check_deb
write_fetch_project
check_fetch_content static
(cd "$work/static" && cmake --build . --target hello_static hello_dumps > /dev/null) ||
    fail "no probity_static or no dumps_static"
PROBITY_WHEN='signal USR1' expect_hello "$work/static/hello_dumps"
check_fetch_content shared -DBUILD_SHARED_LIBS=ON
readelf -d "$work/shared/hello" | grep -qF '[libprobity.so.0]' || fail "FetchContent: wrong soname"
echo "packages: sources, amalgamation, tarball, Debian packages and FetchContent of $version"
