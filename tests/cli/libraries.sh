#!/usr/bin/env bash
# Libraries that only some commands need are loaded on first use: short commands start without them,
# and a message names a library that is missing or lacks a function.
# variants: gcc
. "$(dirname "$0")/../common.bash"
LAZY='libsqlite3[.]so|libdw[.]so|libelf[.]so'

# Lists the optional libraries that a command loads, as reported by the dynamic linker. $@: the
# tool's arguments
loaded() {
    LD_DEBUG=files "$PROBITY" "$@" 2>&1 > output < /dev/null |
        sed -nE "s,.*calling init: .*/($LAZY)[.0-9]*$,\\1,p" | sort -u | xargs
}

# $1 description, $2 expected message; then the tool's arguments. All of them fail.
misses() {
    local what=$1 message=$2 status=0
    shift 2
    LD_LIBRARY_PATH=$WORK/broken "$PROBITY" "$@" > output 2> errors || status=$?
    expect "$what: status" 1 "$status"
    grep -qE -- "^probity: cannot load $message" errors || fail "$what: $(cat errors)"
}

PROBITY_OUT=$WORK/trace "$PROGRAMS/tree" > output
LD_DEBUG=files "$PROBITY" --version 2>&1 > output | grep -q 'calling init' || {
    echo "skipped: the dynamic linker does not report what it loads"
    exit 77
}
for command in --version ps top\ --count\ 1 spools info\ trace csv\ trace report\ trace; do
    # shellcheck disable=SC2086 # words
    expect "libraries of $command" "" "$(loaded $command)"
done
mkdir project
expect "libraries of runs" "libsqlite3.so" "$(loaded runs init --project project)"
expect "libraries of an export" "libsqlite3.so" \
    "$(loaded export --format sqlite -o database trace)"
expect "libraries of signatures" "libdw.so libelf.so" "$(loaded report --signature trace)"

# A file that is not a library.
mkdir broken
for library in libsqlite3.so.0 libdw.so.1 libelf.so.1; do
    echo "not a library" > broken/$library
done
misses "SQLite" "libsqlite3.so.0; install the library of SQLite: .*broken" \
    export --format sqlite -o out trace
[ ! -e out ] || fail "an export without SQLite left a file"
misses "history" "libsqlite3.so.0; install" runs add --project project trace
misses "libelf" "libelf.so.1; install the library of elfutils" report --signature trace
rm broken/libelf.so.1
misses "libdw" "libdw.so.1; install the library of elfutils" report --signature trace

# A library without the required functions.
echo 'int probity_unrelated;' > empty.c
"$CC" -shared -fPIC -o broken/libdw.so.1 empty.c
misses "libdw without functions" "libdw.so.1; install .*dw" report --signature trace

finish
