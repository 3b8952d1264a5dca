#!/usr/bin/env bash
# Makes a directory with the libraries of another architecture, for cross builds and for qemu:
#
#   tools/sysroot.sh ARCHITECTURE DIRECTORY PACKAGE...
#
# ARCHITECTURE is Debian's name (arm64). apt-get downloads the packages and their dependencies from
# this machine's sources and verifies their signatures; they are unpacked, not installed: root is
# not needed, and dpkg does not see the architecture. libc's headers are omitted, as the cross
# compiler has its own. If the directory already contains the packages, it is not changed.
set -eu
[ $# -ge 3 ] || { echo "usage: tools/sysroot.sh ARCHITECTURE DIRECTORY PACKAGE..." >&2; exit 2; }
architecture=$1 directory=$(realpath -m "$2")
shift 2
wanted="$architecture $*"
if [ "$(cat "$directory/.packages" 2> /dev/null || true)" = "$wanted" ]; then
    exit 0
fi
if ! command -v apt-get > /dev/null || ! command -v dpkg-deb > /dev/null; then
    echo "sysroot: apt-get and dpkg-deb are required" >&2
    exit 1
fi
mkdir -p "$(dirname "$directory")"
work=$(mktemp -d "$directory.XXXXXX")
trap '[[ $BASHPID != $$ ]] || rm -rf "$work"' EXIT
mkdir -p "$work"/state/lists/partial "$work"/cache/archives/partial "$work/root"
: > "$work/status"
cat > "$work/apt.conf" <<CONF
APT::Architecture "$architecture";
APT::Architectures { "$architecture"; };
APT::Install-Recommends "false";
APT::Sandbox::User "";
Acquire::Languages "none";
Debug::NoLocking "true";
Dir::State "$work/state";
Dir::State::status "$work/status";
Dir::Cache "$work/cache";
CONF
# $1 description, then a command whose output is shown only if it fails
step() {
    local what=$1
    shift
    APT_CONFIG=$work/apt.conf "$@" > "$work/log" 2>&1 < /dev/null || {
        echo "sysroot: $what failed:" >&2
        tail -n 20 "$work/log" >&2
        exit 1
    }
}
step "apt-get update for $architecture" apt-get update -q
step "the download of $*" apt-get install -q -y --download-only "$@"
for package in "$work"/cache/archives/*.deb; do
    case ${package##*/} in
        libc6-dev_* | linux-libc-dev_* | libc-dev-bin_* | libcrypt-dev_* | libnsl-dev_* | \
            libtirpc-dev_* | rpcsvc-proto_*) continue ;;
    esac
    step "unpacking ${package##*/}" dpkg-deb --extract "$package" "$work/root"
done
# Only files for linking and including: qemu looks for all other files in the directory first.
find "$work/root" -mindepth 1 -maxdepth 1 ! -name usr ! -name lib -exec rm -rf {} +
find "$work/root/usr" -mindepth 1 -maxdepth 1 ! -name include ! -name lib -exec rm -rf {} +
# Absolute links refer to places on a system of that architecture.
find "$work/root" -type l -lname '/*' | while read -r link; do
    ln -snf "$(realpath -m -s --relative-to="${link%/*}" "$work/root$(readlink "$link")")" "$link"
done
echo "$wanted" > "$work/root/.packages"
rm -rf "$directory"
mv "$work/root" "$directory"
