#!/usr/bin/env bash
# For tests, makes a directory like a build directory whose programs run in an emulator: each is a
# script of the same name that starts the emulator with the program.
#
#   tools/emulated.sh BUILD DIRECTORY EMULATOR [ARGUMENT]...
#
# A program that such a program starts by name is a script, too, so no emulator has to be registered
# with the kernel. EMULATOR is qemu in user mode, started through a link with the program's name, so
# that the main thread has that name. The other files are links.
set -eu
if [ $# -lt 3 ]; then
    echo "usage: tools/emulated.sh BUILD DIRECTORY EMULATOR [ARGUMENT]..." >&2
    exit 2
fi
build=$(realpath "$1") directory=$2 emulator=$(command -v "$3")
shift 3
arguments=$(printf '%q ' "$@")
rm -rf "$directory"
mkdir -p "$directory/emulator"
directory=$(realpath "$directory")
for kind in bin examples bench tests tests/programs tests/unit; do
    mkdir -p "$directory/$kind"
    for program in "$build/$kind"/*; do
        [ -f "$program" ] || continue
        to=$directory/$kind/${program##*/}
        if [ ! -x "$program" ] || [[ $program == *.so ]]; then
            ln -s "$program" "$to"
            continue
        fi
        ln -sf "$emulator" "$directory/emulator/${program##*/}"
        # shellcheck disable=SC2016 # for that shell
        printf '#!/bin/sh\nexec %q %s-0 "$0" %q "$@"\n' \
            "$directory/emulator/${program##*/}" "$arguments" "$program" > "$to"
        chmod +x "$to"
    done
done
for kind in lib obj generated flags; do
    [ ! -e "$build/$kind" ] || ln -s "$build/$kind" "$directory/$kind"
done
