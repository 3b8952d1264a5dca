#!/usr/bin/env bash
# Makes a directory like a build directory whose programs run in an emulator, for tests: each is a
# script of the same name that starts the emulator with the program.
#
#   tools/emulated.sh BUILD DIRECTORY EMULATOR [ARGUMENT]...
#
# A program that such a program starts by name is a script as well, which the kernel of this machine
# runs: so nothing has to be registered with it. Libraries and tests of units are linked to.
set -eu
[ $# -ge 3 ] || { echo "usage: tools/emulated.sh BUILD DIRECTORY EMULATOR [ARGUMENT]..." >&2; exit 2; }
build=$(realpath "$1") directory=$2
shift 2
emulator=$(printf '%q ' "$@")
rm -rf "$directory"
mkdir -p "$directory"
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
        printf '#!/bin/sh\nexec %s%q "$@"\n' "$emulator" "$program" > "$to"
        chmod +x "$to"
    done
done
for kind in lib obj generated flags; do
    [ ! -e "$build/$kind" ] || ln -s "$build/$kind" "$directory/$kind"
done
