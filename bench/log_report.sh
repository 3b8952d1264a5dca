#!/usr/bin/env bash
# log_report.sh BUILD_DIR [MILLIONS]: speed and memory of `probity log` and `probity report` on one
# CPU, output to /dev/null, for a trace of so many enters and leaves from 8 threads (default 100)
# and one of a tenth. Memory must not depend on the length of the trace.
set -eu
build=$1
millions=${2:-100}
trace=bench.log.$$.probity
trap 'rm -f "$trace"' EXIT

row() { printf 'row\tlog_report\t%s\t%s\t%s\t%s\n' "$@"; }

# $1 how often, then the subcommand; sets wall_s, cpu_s, peak_kib of the best run.
measure() {
    local best='' line times=$1
    shift
    for _ in $(seq "$times"); do
        line=$("$build/bench/usage" "$build/bin/probity" "$@" "$trace")
        best=$(printf '%s\n%s\n' "$best" "$line" | grep . | sort -n | head -n 1)
    done
    read -r wall_s cpu_s peak_kib <<<"$best"
}

# $1 subcommand, $2 peak in KiB of the short trace, $3 least speed
rows_of() {
    row "$1, $((millions / 10)) M records: peak memory" "$(awk "BEGIN { print $2 / 1024 }")" MiB \
        "<= 64"
    row "$1, $millions M records: peak memory" "$(awk "BEGIN { print $peak_kib / 1024 }")" MiB \
        "<= 64"
    row "$1: memory, $millions M records less the other" \
        "$(awk "BEGIN { print ($peak_kib - $2) / 1024 }")" MiB "<= 1"
    row "$1: records by wall time" "$(awk "BEGIN { print $millions / $wall_s }")" M/s ">= $3"
    row "$1: records by CPU time" "$(awk "BEGIN { print $millions / $cpu_s }")" M/s ">= $3"
}

"$build/bench/gen_scopes" "$trace" 8 $((millions / 10))
measure 1 log
log_kib=$peak_kib
measure 1 report
report_kib=$peak_kib
"$build/bench/gen_scopes" "$trace" 8 "$millions"
measure 2 log
rows_of log "$log_kib" 5
measure 3 report
rows_of report "$report_kib" 20
bytes=$(stat -c %s "$trace")
row "trace, per record" "$(awk "BEGIN { print $bytes / $millions / 1e6 }")" bytes "<= 4"
"$build/bench/gen_scopes" "$trace" 8 $((millions / 10)) values
for command in log report; do
    measure 3 $command
    row "$command: records by wall time, a quarter with values" \
        "$(awk "BEGIN { print $millions / 10 / $wall_s }")" M/s ""
done
