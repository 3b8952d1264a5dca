#!/usr/bin/env bash
# Measures how well budgets are kept: 12 workloads from 10^3 to 10^8 calls per second, each with
# three budgets. A pair is a run that records nothing followed by one with a budget; the slow-down
# is the ratio of their CPU times, including the writer thread. Prints the minimum and median over
# the pairs. With macros, the program that records nothing is compiled without them; with a
# compiler's flag, it is the same program, so that the cost of the flag itself is excluded.
#
#   HOOKS     "macros" (default), "instrument-functions", "fentry" or "xray"
#   PAIRS     pairs of each (default 5)
#   SECONDS_EACH  CPU time of a run (default 1)
#   BUDGETS   default "1 3 10"
#   RATES     calls per second
set -eu
cd "$(dirname "$0")/.."
BUILD=$(realpath "${BUILD:-build}")
CC=${CC:-gcc}
hooks=${HOOKS:-macros}
pairs=${PAIRS:-5}
seconds=${SECONDS_EACH:-1}
work=$(mktemp -d)
trap '[[ $BASHPID != $$ ]] || rm -rf "$work"' EXIT
preload=
link="-L$BUILD/lib -Wl,-rpath,$BUILD/lib -lprobity-functions"
case $hooks in
macros)
    "$CC" -O2 -Iinclude -DPLAIN -o "$work/plain" bench/budget.c
    "$CC" -O2 -Iinclude -o "$work/full" bench/budget.c "$BUILD/lib/libprobity.a" -lpthread
    ;;
instrument-functions)
    "$CC" -O2 -DPLAIN -finstrument-functions -o "$work/full" bench/budget.c
    preload=$BUILD/lib/libprobity-functions.so.0
    ;;
fentry)
    gcc -O2 -DPLAIN -pg -mfentry -minstrument-return=call -c -o "$work/full.o" bench/budget.c
    # shellcheck disable=SC2086
    gcc -o "$work/full" "$work/full.o" $link
    ;;
xray)
    clang -O2 -DPLAIN -fxray-instrument -fxray-instruction-threshold=1 -o "$work/full" \
        bench/budget.c
    preload=$BUILD/lib/libprobity-functions.so.0
    ;;
*) echo "budget.sh: invalid HOOKS '$hooks'" >&2 && exit 2 ;;
esac
[[ -e $work/plain ]] || ln "$work/full" "$work/plain"

# ns of one round of work and of a call, from two runs of the program that records nothing
round_ns=$("$work/plain" 1000000 300 | awk '{ printf "%.4f", $1 / 300 / 1000000 * 1e9 }')
call_ns=$("$work/plain" 0 100000000 | awk '{ printf "%.4f", $1 / 100000000 * 1e9 }')
cpu=$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1)
echo "$hooks; load average $(cut -d' ' -f1-3 /proc/loadavg); $cpu; a round" \
    "$round_ns ns, a call $call_ns ns; pairs: $pairs of $seconds s"
printf '%12s %10s' "calls/s" "only"
for budget in ${BUDGETS:-1 3 10}; do printf ' %22s' "$budget %: least median"; done
echo
for rate in ${RATES:-1e3 3e3 1e4 3e4 1e5 3e5 1e6 3e6 1e7 3e7 6e7 1e8}; do
    rounds=$(awk -v rate="$rate" -v round="$round_ns" -v call="$call_ns" \
        'BEGIN { n = (1e9 / rate - call) / round; printf "%d", (n > 0 ? n : 0) }')
    calls=$(awk -v rate="$rate" -v s="$seconds" \
        'BEGIN { n = rate * s; printf "%d", (n < 100 ? 100 : n) }')
    line=""
    counted=""
    for budget in ${BUDGETS:-1 3 10}; do
        for ((i = 0; i < pairs; i++)); do
            plain=$("$work/plain" "$rounds" "$calls")
            full=$(LD_PRELOAD=$preload PROBITY_OUT=$work/trace PROBITY_OVERWRITE=1 \
                PROBITY_BUDGET=$budget "$work/full" "$rounds" "$calls")
            awk -v a="$plain" -v b="$full" 'BEGIN { print (b / a - 1) * 100 }'
        done | sort -g > "$work/percent"
        line+=$(awk '{ v[NR] = $1 }
            END { printf " %13.2f %8.2f", v[1], v[int((NR + 1) / 2)] }' "$work/percent")
        counted+=$("$BUILD/bin/probity" info --json "$work/trace" | jq -r '.[0].budget |
            "\(.functions_counted)\("-" * .functions_removed // "")" +
            "\(if .held then "" else "!" end) "')
    done
    printf '%12s %10s%s\n' "$rate" "$counted" "$line"
done
echo "only: number of functions that are only counted, for each budget; - for each one that is" \
    "not even counted; !: the trace reports that the budget was exceeded"
