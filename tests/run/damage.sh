#!/usr/bin/env bash
# Every reading command on traces with bytes changed behind checksums that hold: none crashes, hangs
# or breaks a sanitizer's rule. `make fuzz` goes on where this stops.
# variants: asan
# timeout: 200
. "$(dirname "$0")/common.bash"
# shellcheck source=tests/fuzz/seeds.bash
. "$SOURCE/tests/fuzz/seeds.bash"

make_seeds "$WORK/seeds"
case ${VARIANT:-gcc} in
    gcc) count=100000 ;;
    *) count=30000 ;;
esac
ASAN_OPTIONS=${ASAN_OPTIONS:-}:log_path=$WORK/asan \
    UBSAN_OPTIONS=${UBSAN_OPTIONS:-}:log_path=$WORK/ubsan:print_stacktrace=1 \
    timeout 180 "$BUILD/tests/fuzz_commands" "$count" seeds/*.probity > output 2> errors ||
    fail "status $?: $(tail -n 3 output errors; head -n 20 asan* ubsan* 2> /dev/null)"
cat errors
finish
