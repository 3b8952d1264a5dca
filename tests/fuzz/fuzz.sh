#!/usr/bin/env bash
# Fuzzes the reading commands with libFuzzer for a number of seconds. Built and called by `make
# fuzz`. The corpus is kept in $BUILD-fuzz/corpus for later runs; findings are written to
# $BUILD-fuzz/found. Exit status 1 if there are any.
set -eu
seconds=$1
SOURCE=$(cd "$(dirname "$0")/../.." && pwd)
BUILD=$(cd "$BUILD" && pwd)
fuzz=$BUILD-fuzz
# shellcheck source=tests/fuzz/seeds.bash
. "$SOURCE/tests/fuzz/seeds.bash"

mkdir -p "$fuzz/corpus" "$fuzz/found" "$fuzz/seeds"
rm -f "$fuzz"/found/*
make_seeds "$fuzz/traces"
# Each trace is read in one way, but traces of profile mode in all ways, because only few traces
# have such blocks.
ways=64
number=0
for trace in "$fuzz"/traces/*.probity; do
    first=$((number % ways)) last=$((number % ways))
    [[ $trace != */profile* ]] || first=0 last=$((ways - 1))
    for ((way = first; way <= last; way++)); do
        { printf '%b' "\\x$(printf %x $way)"; cat "$trace"; } > "$fuzz/seeds/$number.$way"
    done
    number=$((number + 1))
done
status=0
ASAN_OPTIONS=log_path=$fuzz/found/asan UBSAN_OPTIONS=print_stacktrace=1 \
    "$fuzz/tests/fuzz_commands" -max_total_time="$seconds" -close_fd_mask=2 -max_len=65536 \
    -timeout=10 -rss_limit_mb=2000 -artifact_prefix="$fuzz/found/" "$fuzz/corpus" "$fuzz/seeds" \
    "$SOURCE/tests/fuzz/corpus/trace" \
    > "$fuzz/log" 2>&1 || status=$?
grep -E '^#[0-9]+.*(DONE|REDUCE|NEW|pulse)|^Done' "$fuzz/log" | tail -n 2
if [ "$status" -ne 0 ]; then
    grep -m 1 -A 12 -E 'ERROR|runtime error' "$fuzz/log" "$fuzz"/found/* >&2 || true
    echo "fuzz: see $fuzz/found and $fuzz/log" >&2
    exit 1
fi
echo "fuzz: nothing found in $seconds s"
