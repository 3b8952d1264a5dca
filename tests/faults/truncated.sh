#!/usr/bin/env bash
# Golden traces truncated at every byte, and with every bit flipped, through every command and
# export: none crashes or reports nothing, and csv shows only records of the whole trace. STRIDE=N:
# one in N damaged traces is tried.
# variants: asan
# timeout: 800
. "$(dirname "$0")/../common.bash"

case ${VARIANT:-gcc} in
    gcc) stride=${STRIDE:-7} ;;
    *) stride=${STRIDE:-61} ;;
esac
seed=$RANDOM
echo "seed $seed"
for name in with_ids sites late listed; do cp "$SOURCE/tests/golden/good/$name.probity" .; done
PROBITY_OUT=scopes.probity PROBITY_CHUNK_RECORDS=512 "$BUILD/examples/windows" > /dev/null
PROBITY_PROFILE=1 PROBITY_OUT=profile.probity "$BUILD/examples/windows" > /dev/null

# $1 cut or flip
sweep() {
    ASAN_OPTIONS=${ASAN_OPTIONS:-}:log_path=$WORK/asan \
        UBSAN_OPTIONS=${UBSAN_OPTIONS:-}:log_path=$WORK/ubsan:print_stacktrace=1 \
        timeout 300 "$BUILD/tests/truncate_bitflip" "$1" 1 $stride $seed ./*.probity > output ||
        fail "$1: status $?: $(tail -n 8 output; head -n 20 asan* ubsan* 2> /dev/null)"
    tail -n 1 output
}

sweep cut
sweep flip
finish
