#!/usr/bin/env bash
# states.sh BUILD_DIR: the cost that `record --sched` adds to a context switch and a wakeup: two
# threads on one CPU pass a byte back and forth through two pipes; a round trip has two of each.
# Runs alone and recorded in turn.
set -eu
build=$(cd "$1" && pwd)
source=$(cd "$(dirname "$0")/../../tests/calls" && pwd)
directory=$(mktemp -d /tmp/probity-bench.XXXXXX)
trap '[[ $BASHPID != $$ ]] || rm -rf "$directory"' EXIT
rounds=200000
cd "$directory"
"${CC:-gcc}" -O2 -pthread -o ping "$source/ping.c"
export LC_ALL=C TIMEFORMAT=%R

# Prints ns per round trip, without the start of the program and of its recording. The rest: the
# command that runs the program
measure() {
    local few many
    few=$({ time "$@" taskset -c 0 ./ping 1 > /dev/null 2>&1; } 2>&1)
    many=$({ time "$@" taskset -c 0 ./ping "$rounds" > /dev/null 2>&1; } 2>&1)
    awk -v few="$few" -v many="$many" -v rounds="$rounds" \
        'BEGIN { printf "%.0f\n", (many - few) / rounds * 1e9 }'
}

for ((i = 0; i < 9; i++)); do
    measure env >> alone
    measure "$build/bin/probity" record -f -o trace --sched -- >> recorded
done
least() { sort -n "$1" | head -n 1; }
median() { sort -n "$1" | sed -n 5p; }
row() { printf 'row\tstates\tround trip, two switches and two wakings: %s\t%s\tns\t\n' "$@"; }
row "alone, min" "$(least alone)"
row "adds, min" $(($(least recorded) - $(least alone)))
row "adds, median" $(($(median recorded) - $(median alone)))
# The price of a switch that a budget uses, measured at the start; and the cost of measuring it.
"$build/tests/unit/test_sched_price" 9 > prices
price() {
    sort -n -k "$1,$1" prices | awk -v column="$1" -v line="$2" 'NR == line { print $column }'
}
printf 'row\tstates\tprice of a recorded switch: %s\t%s\tns\t\n' \
    "min" "$(price 1 1)" "median" "$(price 1 5)" "max" "$(price 1 9)"
printf 'row\tstates\tCPU time of measuring it, median\t%s\tns\t<= 1000000\n' "$(price 2 5)"
