#!/usr/bin/env bash
# The rate of cycles is measured in less than a millisecond, and its deviation is at most the error
# that is reported, even if the thread is interrupted meanwhile.
# shellcheck source=tests/windows/common.bash
. "$(dirname "${BASH_SOURCE[0]}")/common.bash"
x86_64-w64-mingw32-gcc "${FLAGS[@]}" "-I$SOURCE/src" \
    -D_WIN32_WINNT=0x0602 -DNO_OLDNAMES -o own_time.exe "$SOURCE/tests/windows/own_time.c" \
    "$SOURCE/src/base/windows/own_time.c" "$SOURCE/src/base/ticks.c"

# $1 description, $2 longest duration in us, $3 largest error in millionths; then arguments
measure() {
    local what=$1 us_max=$2 error_max=$3 us deviation error
    shift 3
    wine_run own_time.exe "$@" > out 2>&1
    expect "$what: status; $(head -n 3 out)" 0 "$status"
    read -r us deviation error < <(tr -d '\r' < out)
    echo "$what: $us us, deviates by $deviation millionths, reported: $error"
    [ "$us" -le "$us_max" ] || fail "$what: took $us us"
    if [ "$error" -eq 0 ] || [ "$error" -gt "$error_max" ]; then
        fail "$what: error $error"
    fi
    [ "$deviation" -le "$error" ] || fail "$what: the error is larger than reported"
}

measure "undisturbed" 700 1000
measure "interrupted once" 700 1000 100 200 1
measure "interrupted briefly" 1000 1000 100 5 1
# No better measurement is possible.
measure "interrupted in every measurement" 2500 110000 1000 100 1000
