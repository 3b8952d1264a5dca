#!/usr/bin/env bash
# Every reading command on traces with bytes changed behind checksums that hold, the reader on them
# and on spools, histories of runs, command lines, settings: none crashes, hangs or breaks a
# sanitizer's rule. `make fuzz` goes on where this stops.
# variants: asan
# timeout: 800
. "$(dirname "$0")/common.bash"
# shellcheck source=tests/fuzz/seeds.bash
. "$SOURCE/tests/fuzz/seeds.bash"

make_seeds "$WORK/seeds"
case ${VARIANT:-gcc} in
    gcc) count=60000 ;;
    *) count=15000 ;;
esac

# $1 door, $2 how many changed inputs; the rest: files to begin with
enter() {
    local door=$1
    ASAN_OPTIONS=${ASAN_OPTIONS:-}:log_path=$WORK/asan \
        UBSAN_OPTIONS=${UBSAN_OPTIONS:-}:log_path=$WORK/ubsan:print_stacktrace=1 \
        timeout 180 "$BUILD/tests/$door" "${@:2}" > output 2> errors ||
        fail "$door: status $?: $(tail -n 3 output errors; head -n 20 asan* ubsan* 2> /dev/null)"
    cat errors
}

# What a fuzzer has found to reach the most code, and what was found to break it.
corpus=$SOURCE/tests/fuzz/corpus
enter fuzz_commands "$count" seeds/*.probity
enter fuzz_commands 0 "$corpus"/trace/*
enter fuzz_reader "$count" "$corpus"/trace/*
enter fuzz_spool 2000 "$corpus"/spool/*
enter fuzz_runs "$((count / 100))" "$corpus"/runs/*
enter fuzz_arguments "$((count / 20))" "$corpus"/arguments/*
enter fuzz_settings "$count" "$corpus"/settings/*
finish
