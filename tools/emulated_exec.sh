#!/usr/bin/env bash
# For tests, runs a command that may start AArch64 programs by name, on a machine of another kind:
#
#   tools/emulated_exec.sh EMULATOR ROOT COMMAND [ARGUMENT]...
#
# EMULATOR is qemu in user mode, ROOT the directory with the programs' libraries. The kernel starts
# the emulator for such programs, but only in a user namespace that ends with the command, so the
# machine stays as it is. This takes Linux 6.7; with an older kernel, exit status 77.
set -eu
if [ $# -lt 3 ]; then
    echo "usage: tools/emulated_exec.sh EMULATOR ROOT COMMAND [ARGUMENT]..." >&2
    exit 2
fi
EMULATOR=$(command -v "$1") QEMU_LD_PREFIX=$2
export EMULATOR QEMU_LD_PREFIX
shift 2
binfmt=/proc/sys/fs/binfmt_misc
if ! unshare --user --map-root-user --mount mount -t binfmt_misc none $binfmt 2> /dev/null; then
    echo "needs binfmt_misc in user namespaces (Linux 6.7)"
    exit 77
fi
# The first 20 bytes of an executable or a position-independent one. F: the emulator is opened now,
# so that programs in another root find it, too. P: programs get the name that they were started by.
# shellcheck disable=SC2016 # for that shell
exec unshare --user --map-root-user --mount sh -euc 'mount -t binfmt_misc none "$1"
    printf "%s" ":probity-aarch64:M::\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00"`
        `"\x02\x00\xb7\x00:\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff"`
        `"\xfe\xff\xff\xff:$EMULATOR:FP" > "$1/register"
    shift
    exec "$@"' sh $binfmt "$@"
