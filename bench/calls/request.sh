#!/usr/bin/env bash
# request.sh BUILD_DIR: what recording calls costs a request of a web server in its own thread,
# by parts: request.c alone, with libraries that do only a part of the work (stub.c), and
# recorded with and without each part. ROUNDS of all in turn. Each row is the median of the lower
# half of the rounds' minima, less the same without a library: other programs only add to a window.
# x86-64 only.
set -eu
build=$(cd "$1" && pwd)
bench=$(cd "$(dirname "$0")" && pwd)
rounds=${ROUNDS:-8}
directory=$(mktemp -d /tmp/probity-bench.XXXXXX)
trap '[[ $BASHPID != $$ ]] || rm -rf "$directory"' EXIT
cd "$directory"
mkdir root
head -c 4096 /dev/zero | tr '\0' 'x' > root/page.html
"${CC:-gcc}" -O2 -pthread -o request "$bench/request.c"

# $1 name, $2 words of a record, $3 words of a buffer
stub() {
    "${CC:-gcc}" -O2 -fPIC -shared -DRECORD_WORDS="$2" -DBUFFER_WORDS="$3" -o "$1.so" \
        "$bench/stub.c" -ldl
}
stub passing 0 8
stub small 2 4096
stub records 6 4096
stub spool 6 524288

# $1 file for the result, the rest: the command that runs the program
run() { "${@:2}" ./request root >> "$1" 2> errors; }
for ((i = 0; i < rounds; i++)); do
    run alone env
    run off env LD_PRELOAD="$build/lib/libprobity-calls.so.0"
    for stub in passing small records spool; do
        run "$stub" env LD_PRELOAD="$directory/$stub.so"
    done
    recorded=("$build/bin/probity" record -f -o trace)
    export PROBITY_CPU_TIME=0
    run locks "${recorded[@]}" --calls locks --
    run io "${recorded[@]}" --calls io --
    run wall "${recorded[@]}" --calls locks,io,threads --
    export PROBITY_CPU_TIME=1
    run all "${recorded[@]}" --calls locks,io,threads --
    run ring "${recorded[@]}" --calls locks,io,threads --ring 64M --
    run budget "${recorded[@]}" --calls locks,io,threads --budget 3% --
done

# Of the lower half of the minima
low() {
    awk '{ print $1 }' "$1" | sort -g |
        awk '{ v[NR] = $1 } END { print v[int((int((NR + 1) / 2) + 1) / 2)] }'
}
alone=$(low alone)
row() { printf 'row\trequest\t%s\t%s\tns\t\n' "$1" "$2"; }
row "one request, alone" "$alone"
while read -r name what; do
    row "adds: $what" $(($(low "$name") - alone))
done << 'ROWS'
off the library, nothing recorded
passing a stub that only calls libc's functions
small a stub that stores 23 records of 16 bytes in 32 KiB
records a stub that stores 23 records of 48 bytes in 32 KiB
spool a stub that stores 23 records of 48 bytes in 4 MiB
locks locks recorded, without CPU time
io io recorded, without CPU time
wall locks, io, threads recorded, without CPU time
all locks, io, threads recorded
ring locks, io, threads in a ring, which nothing reads
budget locks, io, threads with a budget of 3 %
ROWS
