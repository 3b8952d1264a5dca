#!/usr/bin/env bash
# Gets the source of a library, one C file and its header, for builds for systems whose packages do
# not have it:
#
#   tools/library_source.sh sqlite|protobuf-c DIRECTORY
#
# SQLite is in the npm package better-sqlite3, protobuf-c in Debian's archive. npm and apt verify
# their downloads; nothing is installed or run. The C file is compared with the tested version. If
# the source is already in the directory, it is not changed.
set -eu
usage() {
    echo "usage: tools/library_source.sh sqlite|protobuf-c DIRECTORY" >&2
    exit 2
}
fail() {
    echo "library_source: $*" >&2
    exit 1
}

[ $# -eq 2 ] || usage
directory=$(realpath -m "$2")
case $1 in
    sqlite)
        package=better-sqlite3@11.10.0
        inside=package/deps/sqlite3
        files=(sqlite3.c sqlite3.h)
        sum=e80215754ac6cfaefe272342efd581b6dbefdbdc21f96bd83fcb698bee9d36a5
        ;;
    protobuf-c)
        package=protobuf-c_1.4.1.orig.tar.gz
        package_sum=4cc4facd508172f3e0a4d3a8736225d472418aee35b4ad053384b137b220339f
        inside=protobuf-c-1.4.1
        files=(protobuf-c/protobuf-c.c protobuf-c/protobuf-c.h)
        sum=5af483efb77b6c60afce921ff361cff5320b2a80698f6e7fb0356c49b48933a7
        ;;
    *) usage ;;
esac
[ ! -e "$directory/${files[0]}" ] || exit 0

# $1 program, the rest: a command that downloads the package to this directory.
download() {
    local program=$1
    shift
    command -v "$1" > /dev/null || fail "$program is required"
    "$@" > log 2>&1 < /dev/null || {
        tail -n 5 log >&2
        fail "$program cannot get $package"
    }
}

mkdir -p "$(dirname "$directory")"
work=$(mktemp -d "$directory.XXXXXX")
trap '[[ $BASHPID != $$ ]] || rm -rf "$work"' EXIT
cd "$work"
case $1 in
    sqlite) download npm npm pack --loglevel=error --ignore-scripts "$package" ;;
    protobuf-c)
        # Source packages come from the same place as this machine's binary packages.
        place=$(apt-get download --print-uris libprotobuf-c1 2> log |
            sed -n "s/^'\(.*\)\/[^/]*'.*/\1/p")
        [ -n "$place" ] || fail "apt does not have libprotobuf-c1: $(tail -n 1 log)"
        download apt /usr/lib/apt/apt-helper -o APT::Sandbox::User= download-file \
            "$place/$package" "$work/package.tgz" "SHA256:$package_sum"
        ;;
esac
tar -xzf ./*.tgz "${files[@]/#/$inside/}"
[ "$(sha256sum < "$inside/${files[0]}")" = "$sum  -" ] ||
    fail "${files[0]} of $package is not the expected file"
find "$inside" -type f -exec touch {} +
mv "$inside" "$directory"
