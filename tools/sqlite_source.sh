#!/usr/bin/env bash
# Gets the source of SQLite, one C file and its header, for builds for systems whose packages have
# no SQLite:
#
#   tools/sqlite_source.sh DIRECTORY
#
# It is in the package better-sqlite3 of npm, which checks what it downloads; nothing of that
# package is installed or run. The file is compared with the one that was tested. A directory that
# has it stays as it is.
set -eu
[ $# -eq 1 ] || { echo "usage: tools/sqlite_source.sh DIRECTORY" >&2; exit 2; }
directory=$(realpath -m "$1")
package=better-sqlite3@11.10.0
sum=e80215754ac6cfaefe272342efd581b6dbefdbdc21f96bd83fcb698bee9d36a5
[ ! -e "$directory/sqlite3.c" ] || exit 0
if ! command -v npm > /dev/null; then
    echo "sqlite_source: needs npm, which is not here" >&2
    exit 1
fi
mkdir -p "$(dirname "$directory")"
work=$(mktemp -d "$directory.XXXXXX")
trap '[[ $BASHPID != $$ ]] || rm -rf "$work"' EXIT
cd "$work"
npm pack --silent --ignore-scripts "$package" > log 2>&1 < /dev/null || {
    echo "sqlite_source: npm cannot get $package:" >&2
    tail -n 5 log >&2
    exit 1
}
tar -xzf ./*.tgz package/deps/sqlite3/sqlite3.c package/deps/sqlite3/sqlite3.h
if [ "$(sha256sum < package/deps/sqlite3/sqlite3.c)" != "$sum  -" ]; then
    echo "sqlite_source: sqlite3.c of $package is not the expected file" >&2
    exit 1
fi
mkdir made
mv package/deps/sqlite3/sqlite3.[ch] made
touch made/*
mv made "$directory"
