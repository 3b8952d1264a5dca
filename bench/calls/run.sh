#!/usr/bin/env bash
# run.sh BUILD_DIR: what libprobity-calls adds to pairs of calls to libc: recorded, and while
# nothing is recorded. Runs of the same program alone, off and recorded alternate; medians of 15
# differences between the minimum times, and between the medians.
set -eu
build=$1
bench=$(cd "$(dirname "$0")" && pwd)
directory=$(mktemp -d /tmp/probity-bench.XXXXXX)
trap '[[ $BASHPID != $$ ]] || rm -rf "$directory"' EXIT
"${CC:-gcc}" -O2 -o "$directory/pairs" "$bench/pairs.c"
cd "$directory"

for ((i = 0; i < 15; i++)); do
    ./pairs | sed 's/^/alone /'
    LD_PRELOAD=$build/lib/libprobity-calls.so.0 ./pairs | sed 's/^/off /'
    "$build/bin/probity" record -f -o trace --calls io,memory -- ./pairs | sed 's/^/recorded /'
done > "$directory/times"

# Median of the differences from the run alone. $1 off or recorded, $2 kind of pair, $3 column
added() {
    awk -v how="$1" -v kind="$2" -v column="$3" '$2 != kind { next }
        $1 == "alone" { alone = $column }
        $1 == how { print $column - alone }' "$directory/times" | sort -g | sed -n 8p
}

# $1 description, $2 value, $3 target
row() { printf 'row\tcalls\t%s\t%s\tns\t%s\n' "$1" "$2" "$3"; }

while read -r kind target_ns what; do
    row "$what, recorded: adds, min" "$(added recorded "$kind" 3)" "<= $target_ns"
    row "$what, recorded: adds, median" "$(added recorded "$kind" 4)" ""
    row "$what, off: adds, median" "$(added off "$kind" 4)" "<= 3"
done <<'ROWS'
transfer 60 write and read of 1 byte over a pipe
memory 40 malloc and free of 64 bytes
ROWS
