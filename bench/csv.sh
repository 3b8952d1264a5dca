#!/usr/bin/env bash
# csv.sh BUILD_DIR [MILLIONS]: speed and memory of `probity csv` on one CPU, for a trace of MILLIONS
# of hits (default 100) from 8 threads and for one a tenth as long. Memory must not depend on the
# length of the trace.
set -eu
build=$1
millions=${2:-100}
trace=bench.csv.$$.probity
trap '[[ $BASHPID != $$ ]] || rm -f "$trace"' EXIT

row() { printf 'row\tcsv\t%s\t%s\t%s\t%s\n' "$@"; }

# Sets wall_s, cpu_s and peak_kib for the best of three runs.
measure() {
    local best='' line
    "$build/bench/gen" "$trace" 8 "$1"
    for _ in 1 2 3; do
        line=$("$build/bench/usage" "$build/bin/probity" csv "$trace")
        best=$(printf '%s\n%s\n' "$best" "$line" | grep . | sort -n | head -n 1)
    done
    read -r wall_s cpu_s peak_kib <<<"$best"
}

measure $((millions / 10))
small_kib=$peak_kib
row "$((millions / 10)) M hits: peak memory" "$(awk "BEGIN { print $small_kib / 1024 }")" \
    MiB "<= 64"
measure "$millions"
row "$millions M hits: peak memory" "$(awk "BEGIN { print $peak_kib / 1024 }")" MiB "<= 64"
row "memory, $millions M hits less the other" \
    "$(awk "BEGIN { print ($peak_kib - $small_kib) / 1024 }")" MiB "<= 1"
row "lines by wall time" "$(awk "BEGIN { print $millions / $wall_s }")" "M/s" ">= 15"
row "lines by CPU time" "$(awk "BEGIN { print $millions / $cpu_s }")" "M/s" ">= 15"
bytes=$(stat -c %s "$trace")
row "trace, per hit" "$(awk "BEGIN { print $bytes / $millions / 1e6 }")" bytes "<= 4"
