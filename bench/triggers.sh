#!/usr/bin/env bash
# The cost of a ring, its conditions and its dumps (bench/triggers.c). Rounds of all variants in
# turn; minima and medians over the rounds.
#
#   ROUNDS    default 5
#   MILLIONS  of scopes in each (default 40)
#   SECONDS_EACH  of requests (default 5)
set -eu
cd "$(dirname "$0")/.."
BUILD=$(realpath "${BUILD:-build}")
program=$BUILD/bench/triggers
probity=$BUILD/bin/probity
rounds=${ROUNDS:-5} millions=${MILLIONS:-40} seconds=${SECONDS_EACH:-5}
work=$(mktemp -d)
trap '[[ $BASHPID != $$ ]] || rm -rf "$work"' EXIT
cd "$work"
for name in "${!PROBITY_@}"; do unset "$name"; done

# $1 file of numbers, $2 column: prints minimum and median
least_median() {
    awk -v column="$2" '{ print $column }' "$1" | sort -g |
        awk '{ value[NR] = $1 } END { printf "%s %s", value[1], value[int((NR + 1) / 2)] }'
}

echo "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) CPUs," \
    "load $(cut -d' ' -f1-3 /proc/loadavg), $rounds rounds"

# Name, and the environment.
to="PROBITY_OUT=t.probity PROBITY_OVERWRITE=1"
variants=(
    "nothing recorded|PROBITY_NONE=1"
    "mode block|$to"
    "ring|$to PROBITY_RING=2s"
    "ring, another function has a condition|$to PROBITY_WHEN=function_other>10s"
    "ring, this function has a condition|$to PROBITY_WHEN=function_subject>10s"
    "ring, the writer compares another's rate|$to PROBITY_WHEN=rate_7>1/s"
)
for ((round = 0; round < rounds; round++)); do
    for i in "${!variants[@]}"; do
        settings=()
        for word in ${variants[$i]#*|}; do settings+=("${word/function_/function }"); done
        settings=("${settings[@]/rate_/rate }")
        env "${settings[@]}" "$program" scopes "$millions" >> "scopes.$i"
        rm -f t*.probity
    done
done
printf '%-42s %18s %18s\n' "" "ns a scope: min," "CPU of all threads:"
printf '%-42s %18s %18s\n' "" "median of windows" "min, median"
for i in "${!variants[@]}"; do
    printf '%-42s %8.2f %9.2f %8.2f %9.2f\n' "${variants[$i]%%|*}" \
        "$(least_median "scopes.$i" 1 | cut -d' ' -f1)" "$(least_median "scopes.$i" 2 |
            cut -d' ' -f2)" "$(least_median "scopes.$i" 3 | cut -d' ' -f1)" \
        "$(least_median "scopes.$i" 3 | cut -d' ' -f2)"
done

# One thread leaves the second CPU to the writer; two compete with it.
for threads in 1 2; do
    lost=0 stalls=0
    for ((round = 0; round < rounds; round++)); do
        for each in 0 100; do
            PROBITY_OUT=t.probity PROBITY_RING=1s PROBITY_DUMPS=before=200ms \
                "$program" requests "$seconds" $threads $each >> "requests.$threads.$each"
            read -r count more < <("$probity" info --json t.probity | jq -r '.[0].counts |
                "\(.dropped_no_free_chunk + .dropped_no_memory_or_limit + .dropped_not_writable)" +
                " \(.stalls)"')
            lost=$((lost + count)) stalls=$((stalls + more))
            rm -f t*.probity
        done
    done
    echo "requests, $threads thread(s): p50, p99, p99.9 in us (medians of rounds)"
    for each in 0 100; do
        printf '  %-40s' "$([ $each = 0 ] && echo "without dumps" ||
            echo "with a dump every $each ms")"
        for column in 3 4 5; do
            printf ' %9.2f' "$(least_median "requests.$threads.$each" $column | cut -d' ' -f2)"
        done
        echo
    done
    echo "  records dropped: $lost, stalls: $stalls"
done

for ((round = 0; round < rounds; round++)); do
    PROBITY_OUT=t.probity PROBITY_RING=64M "$program" dump t-1.probity >> written
    bytes=$(wc -c < t-1.probity)
    rm -f t*.probity
done
echo "dump of 16 MiB of records, $bytes bytes (min, median):"
echo "  CPU time of the writer $(least_median written 1) ms, until it has its name" \
    "$(least_median written 2) ms"
