#!/usr/bin/env bash
# answers.sh BUILD_DIR [MILLIONS]: speed and memory of `probity log`, `report`, `tree`, `hist`,
# `blocks` and `model` on one CPU with output to /dev/null, for traces of MILLIONS of records
# (default 100) from 8 threads and for traces a tenth as long. The records are enters and leaves, or
# hits for the last two commands. Memory must not depend on the length of the trace. Then the same
# on all CPUs, where a second thread reads ahead.
set -eu
build=$1
cpus=()
millions=${2:-100}
trace=bench.answers.$$.probity
trap '[[ $BASHPID != $$ ]] || rm -f "$trace"' EXIT

row() { printf 'row\tanswers\t%s\t%s\t%s\t%s\n' "$@"; }

# Sets wall_s, cpu_s, peak_kib for the best run. $1 repetitions, then the subcommand with its
# options
measure() {
    local best='' line times=$1
    shift
    for _ in $(seq "$times"); do
        line=$("$build/bench/usage" "${cpus[@]}" "$build/bin/probity" "$@" "$trace")
        best=$(printf '%s\n%s\n' "$best" "$line" | grep . | sort -n | head -n 1)
    done
    read -r wall_s cpu_s peak_kib <<<"$best"
}

# $1 subcommand, $2 peak in KiB for the short trace, $3 minimum speed
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

# $1 generator; stdin has lines "TIMES LEAST_SPEED COMMAND ARGUMENTS".
answers() {
    local generator=$1 line command=() commands=() short=()
    mapfile -t commands
    "$build/bench/$generator" "$trace" 8 $((millions / 10))
    for line in "${commands[@]}"; do
        read -r -a command <<<"$line"
        measure 1 "${command[@]:2}"
        short+=("$peak_kib")
    done
    "$build/bench/$generator" "$trace" 8 "$millions"
    for line in "${commands[@]}"; do
        read -r -a command <<<"$line"
        measure "${command[0]}" "${command[@]:2}"
        rows_of "${command[2]}" "${short[0]}" "${command[1]}"
        short=("${short[@]:1}")
        cpus=(--all-cpus)
        measure "${command[0]}" "${command[@]:2}"
        cpus=()
        row "${command[2]}: records by wall time, two threads" \
            "$(awk "BEGIN { print $millions / $wall_s }")" M/s ""
        row "${command[2]}, $millions M records: peak memory, two threads" \
            "$(awk "BEGIN { print $peak_kib / 1024 }")" MiB "<= 64"
    done
    row "trace of $generator, per record" \
        "$(awk "BEGIN { print $(stat -c %s "$trace") / $millions / 1e6 }")" bytes "<= 4"
}

answers gen_scopes <<'END'
2 5 log
3 20 report
3 20 tree
3 20 hist inner
END
answers gen <<'END'
3 20 blocks
3 20 model
END
"$build/bench/gen_scopes" "$trace" 8 $((millions / 10)) values
for command in log report; do
    measure 3 $command
    row "$command: records by wall time, a quarter with values" \
        "$(awk "BEGIN { print $millions / 10 / $wall_s }")" M/s ""
done
