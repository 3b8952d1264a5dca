#!/usr/bin/env bash
# Fuzzes every reading command and its options on traces with changed bytes and fields and corrected
# checksums; ranges of time with indexes of the traces, changed and unchanged; the reader on traces
# and on spools; histories of runs, command lines, settings. Nothing may crash, hang or trigger a
# sanitizer. `make fuzz` runs longer. INPUTS: number of changed inputs of each kind.
# variants: asan
# timeout: 800
. "$(dirname "$0")/../common.bash"
# shellcheck source=tests/fuzz/seeds.bash
. "$SOURCE/tests/fuzz/seeds.bash"

make_seeds "$WORK/seeds"
case ${VARIANT:-gcc} in
    gcc) count=${INPUTS:-60000} ;;
    *) count=${INPUTS:-15000} ;;
esac

# $1 target, $2 number of mutated inputs; the rest: seed inputs
enter() {
    local target=$1
    ASAN_OPTIONS=${ASAN_OPTIONS:-}:log_path=$WORK/asan \
        UBSAN_OPTIONS=${UBSAN_OPTIONS:-}:log_path=$WORK/ubsan:print_stacktrace=1 \
        timeout 300 "$BUILD/tests/$target" "${@:2}" > output 2> errors ||
        fail "$target: status $?: $(tail -n 3 output errors; head -n 20 asan* ubsan* 2> /dev/null)"
    cat errors
}

# The inputs with the highest coverage so far, and those that once failed.
corpus=$SOURCE/tests/fuzz/corpus
enter fuzz_commands "$count" seeds/*.probity
enter fuzz_commands 0 "$corpus"/trace/*
enter fuzz_index "$count" seeds/*.probity
enter fuzz_reader "$count" "$corpus"/trace/*
enter fuzz_spool 2000 "$corpus"/spool/*
enter fuzz_runs "$((count / 100))" "$corpus"/runs/*
enter fuzz_arguments "$((count / 20))" "$corpus"/arguments/*
enter fuzz_settings "$count" "$corpus"/settings/*
finish
