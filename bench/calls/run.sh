#!/usr/bin/env bash
# run.sh BUILD_DIR: the cost that libprobity-calls adds to pairs of calls to libc, while they are
# recorded and while nothing is. Runs of a program without the library, with it while nothing is
# recorded, and recorded alternate; medians of 15 differences between the minimum times, and between
# the medians. Then the web server (httpd.sh), and the parts of one request (request.sh).
set -eu
build=$(cd "$1" && pwd)
bench=$(cd "$(dirname "$0")" && pwd)
directory=$(mktemp -d /tmp/probity-bench.XXXXXX)
trap '[[ $BASHPID != $$ ]] || rm -rf "$directory"' EXIT
"${CC:-gcc}" -O2 -pthread -o "$directory/pairs" "$bench/pairs.c"
"${CC:-gcc}" -O2 -pthread -DPROBITY_SCOPES -I "$bench/../../include" -o "$directory/scopes" \
    "$bench/pairs.c" -L"$build/lib" -Wl,-rpath,"$build/lib" -lprobity

# $1 families, then the program
record() {
    "$build/bin/probity" record -f -o "$directory/trace" --calls "$1" -- "${@:2}"
}

# In a subshell, because of its files. Only allocations: heaptrack records their call paths.
under_heaptrack() {
    (cd "$directory" && heaptrack -o tracked ./pairs deep | grep '^deep ' && rm -f tracked*)
}

cd "$directory"
for ((i = 0; i < 15; i++)); do
    ./pairs | sed 's/^/alone /'
    LD_PRELOAD=$build/lib/libprobity-calls.so.0 ./pairs | sed 's/^/off /'
    record io,memory,locks ./pairs | sed 's/^/recorded /'
    record locks=waits ./pairs | sed 's/^/counted /'
    record memory ./scopes deep | sed 's/^/scopes /'
    ! command -v heaptrack > /dev/null || under_heaptrack | sed 's/^/heaptrack /'
done > "$directory/times"

# Prints the median of the differences from the run alone. $1 how, $2 kind of pair, $3 column
added() {
    awk -v how="$1" -v kind="$2" -v column="$3" '$2 != kind { next }
        $1 == "alone" { alone = $column }
        $1 == how { print $column - alone }' "$directory/times" | sort -g | sed -n 8p
}

# $1 description, $2 value, $3 target
row() { printf 'row\tcalls\t%s\t%s\tns\t%s\n' "$1" "$2" "$3"; }

# Column 3 has minima, 4 medians. While off, a pair is two calls of at most 1.5 ns each.
while read -r how kind target_ns what; do
    row "$what: adds, min" "$(added "$how" "$kind" 3)" "${target_ns:+<= $target_ns}"
    row "$what: adds, median" "$(added "$how" "$kind" 4)" ""
done << 'ROWS'
recorded transfer 60 write and read of 1 byte over a pipe
off transfer 3 write and read of 1 byte, off
recorded memory 40 malloc and free of 64 bytes
off memory 3 malloc and free, off
scopes deep 40 malloc and free, 4 scopes deep, with call path
recorded mutex 30 lock and unlock of a free mutex
counted mutex 8 lock and unlock, only counted
off mutex 3 lock and unlock, off
ROWS
if command -v heaptrack > /dev/null; then
    row "malloc and free, 4 calls deep, heaptrack: adds, min" "$(added heaptrack deep 3)" ""
    row "malloc and free, 4 calls deep, heaptrack: adds, median" "$(added heaptrack deep 4)" ""
else
    printf 'note\tcalls\theaptrack left out: it is not installed\n'
fi
"$bench/httpd.sh" "$build"
if [ "$(uname -m)" = x86_64 ]; then
    "$bench/request.sh" "$build"
else
    printf 'note\tcalls\tparts of a request left out: they are for x86-64 only\n'
fi
