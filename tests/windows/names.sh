#!/usr/bin/env bash
# Threads have the name that SetThreadDescription() gave them before their first record, as UTF-8.
# shellcheck source=tests/windows/common.bash
. "$(dirname "${BASH_SOURCE[0]}")/common.bash"
x86_64-w64-mingw32-gcc "${FLAGS[@]}" -Wno-cast-function-type -o names.exe \
    "$SOURCE/tests/windows/names.c" "${STATIC[@]}"
PROBITY_OUT=trace.probity wine_run names.exe > out 2>&1
expect "names.exe: status; $(head -n 3 out)" 0 "$status"
names=$("$PROBITY" threads --json trace.probity |
    jq -c '[.. | objects | select(has("tid")) | .name]')
expect "names" '[null,"early é"]' "$names"
