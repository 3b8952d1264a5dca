# Sourced by the scripts in this directory, which `make windows-test` runs: PROBITY is the tool on
# Linux, WINDOWS the directory of the build for Windows (absolute). Each script works in a separate
# directory; Windows programs see the file system as drive Z.
# shellcheck shell=bash
set -eu
export LC_ALL=C WINEDEBUG=-all WINEDLLOVERRIDES='mscoree,mshtml='
SOURCE=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
WORK=$(mktemp -d)
[ -d "$WORK" ]

# Kills the processes that a script has started if it ends early. Programs under Wine may not be its
# children, and a signal to `timeout` may not end them. They are recognized by the script's
# directory for spools.
end_programs() {
    local pid
    unset PROBITY_SPOOL_DIR
    for pid in $(grep -lsaF "PROBITY_SPOOL_DIR=$WORK/" /proc/[0-9]*/environ | cut -d / -f 3); do
        kill -s KILL "$pid" || true
    done 2> /dev/null
}
trap '[[ $BASHPID != $$ ]] || { end_programs; rm -rf "$WORK"; }' EXIT
export WINEPREFIX=${WINEPREFIX:-$WINDOWS/wine}
status=0
SPOOLS=$WORK/spools
mkdir "$SPOOLS"
# Programs and the tool keep spools here.
export PROBITY_SPOOL_DIR=$SPOOLS
# shellcheck disable=SC2034 # used by what sources this
FLAGS=(-O2 -g -Wall -Wextra -Werror "-I$SOURCE/include")
# shellcheck disable=SC2034
STATIC=("$WINDOWS/lib/libprobity.a" -lsynchronization -ladvapi32 -lntdll)
# shellcheck disable=SC2034
SHARED=("$WINDOWS/lib/libprobity.dll.a")
cp "$WINDOWS/bin/libprobity.dll" "$WORK"
cd "$WORK"
# The first program in a new prefix would print that the prefix was created.
[ -e "$WINEPREFIX/system.reg" ] ||
    env -u PROBITY_SPOOL_DIR -u TEST_MARK wine wineboot -i > /dev/null 2>&1 < /dev/null || true

# Wine's server and services start with the first program, and end some seconds after the last one.
# They inherit that program's descriptors, and may print that one of them crashed. So they are
# started here, and run for a minute. Without these variables, they are not considered programs of
# the test (tools/test_one.sh and above).
start_wine() {
    local plain=(env -u PROBITY_SPOOL_DIR -u TEST_MARK)
    { "${plain[@]}" "$SERVER" -p60 && "${plain[@]}" wine cmd /c exit; } > /dev/null 2>&1 \
        < /dev/null || true
}
SERVER=$(command -v wineserver || echo /usr/lib/wine/wineserver)
start_wine

fail() {
    echo "$*" >&2
    exit 1
}

# $1 description, $2 expected, $3 found
expect() {
    [ "$2" = "$3" ] || fail "$1: expected '$2', found '$3'"
}

# Runs a program for Windows, for at most LIMIT seconds. Sets $status.
wine_run() {
    status=0
    # shellcheck disable=SC2034 # for the caller
    timeout "${LIMIT:-300}" wine "$@" || status=$?
}

# Starts a program, whose output is the file "out". The file is empty before the program has opened
# it, so that nobody waits for what an earlier program has written.
begin() {
    : > out
    "$@" > out 2>&1 &
}

# Waits until a program, job $1, has written "running" to the file "out".
await_running() {
    until grep -q running out; do
        kill -0 "$1" 2> /dev/null || fail "ended early: $(cat out)"
        sleep 0.1
    done
}

# Compiles programs of this directory with the static library. $@ names
compile_programs() {
    local program
    for program; do
        x86_64-w64-mingw32-gcc "${FLAGS[@]}" -Wno-infinite-recursion -o "$program.exe" \
            "$SOURCE/tests/windows/$program.c" "${STATIC[@]}"
    done
}
