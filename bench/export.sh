#!/usr/bin/env bash
# export.sh BUILD_DIR [MILLIONS]: speed and memory of `probity export` on one CPU with output to
# /dev/null, for a trace of MILLIONS of enters and leaves (default 100) from 8 threads and for one a
# tenth as long. Memory must not depend on the length of the trace. Formats that need a file as
# large as their output are measured with the short trace only.
set -eu
build=$1
millions=${2:-100}
trace=bench.export.$$.probity
output=bench.export.$$.out
trap '[[ $BASHPID != $$ ]] || rm -f "$trace" "$output"' EXIT
export TMPDIR=$PWD

row() { printf 'row\texport\t%s\t%s\t%s\t%s\n' "$@"; }

# A format's minimum speed in millions of records per second; empty if none is guaranteed.
least_of() {
    case $1 in
        chrome | perfetto) echo ">= 3" ;;
        folded | callgrind) echo ">= 10" ;;
    esac
}

# Sets wall_s and peak_kib for the best run. $1 repetitions, then options
measure() {
    local best='' line times=$1
    shift
    for _ in $(seq "$times"); do
        line=$("$build/bench/usage" "$build/bin/probity" export "$@" "$trace" 2> /dev/null)
        best=$(printf '%s\n%s\n' "$best" "$line" | grep . | sort -n | head -n 1)
    done
    read -r wall_s _ peak_kib <<<"$best"
}

formats='chrome perfetto folded callgrind'
declare -A short_kib
"$build/bench/gen_scopes" "$trace" 8 $((millions / 10))
for format in $formats; do
    measure 1 --format "$format"
    short_kib[$format]=$peak_kib
done
for format in speedscope sqlite; do
    measure 1 --format "$format" -f -o "$output"
    row "$format, $((millions / 10)) M records: records by wall time" \
        "$(awk "BEGIN { print $millions / 10 / $wall_s }")" M/s ""
    row "$format, $((millions / 10)) M records: peak memory" \
        "$(awk "BEGIN { print $peak_kib / 1024 }")" MiB "<= 64"
done
rm -f "$output"
"$build/bench/gen_scopes" "$trace" 8 "$millions"
for format in $formats; do
    measure 3 --format "$format"
    row "$format: records by wall time" "$(awk "BEGIN { print $millions / $wall_s }")" M/s \
        "$(least_of "$format")"
    row "$format: peak memory" "$(awk "BEGIN { print $peak_kib / 1024 }")" MiB "<= 64"
    row "$format: memory, $millions M records less $((millions / 10)) M" \
        "$(awk "BEGIN { print ($peak_kib - ${short_kib[$format]}) / 1024 }")" MiB "<= 1"
done
