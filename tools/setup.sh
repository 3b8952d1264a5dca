#!/usr/bin/env bash
# Installs with apt what building, testing and the demonstration need and the machine does not have.
# Does nothing, and quickly, when all is there. Written for Debian 12; needs root or sudo only to
# install.
set -eu

# Each line: what it is for, then the packages.
wanted() {
    cat <<'LIST'
build        gcc g++ libc6-dev binutils libjansson-dev libdw-dev libsqlite3-dev libprotobuf-c-dev
             protobuf-c-compiler zlib1g-dev libcurl4-openssl-dev
variants     clang libclang-rt-14-dev
tests        libcmocka-dev jq pkg-config cmake mandoc shellcheck strace procps valgrind chromium
             python3 spin
consumers    sqlite3 graphviz babeltrace2 golang-go protobuf-compiler
refusals     e2fsprogs xfsprogs btrfs-progs faketime libcap2-bin
fuzzing      afl++
aarch64      gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user
libcs        musl-tools
demo         wrk curl
bench        uftrace lttng-tools liblttng-ust-dev
LIST
}

if ! command -v dpkg-query > /dev/null || ! command -v apt-get > /dev/null; then
    echo "setup: this is not a Debian system; these packages, under its own names, are needed:" >&2
    wanted >&2
    exit 0
fi

missing=()
for package in $(wanted | sed 's/^[a-z0-9]* *//'); do
    if [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null)" != installed ]; then
        missing+=("$package")
    fi
done
# Where there is a node of another origin, Debian's does not go beside it.
if ! command -v npm > /dev/null; then
    missing+=(nodejs npm)
fi
[ ${#missing[@]} -gt 0 ] || exit 0

echo "setup: installing ${missing[*]}"
as_root=()
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo > /dev/null; then
        echo "setup: neither root nor sudo; as root run: apt-get install ${missing[*]}" >&2
        exit 1
    fi
    as_root=(sudo)
fi
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -q
"${as_root[@]}" apt-get install -q -y --no-install-recommends "${missing[@]}"
