#!/usr/bin/env bash
# httpd.sh BUILD_DIR: the example web server under wrk at full load on loopback, with the probes of
# its stages, with ids and locks told too, and with the probes compiled out, in turn. Server and wrk
# share the CPUs, as they would for a user who tries it.
set -eu
build=$(cd "$1" && pwd)
rounds=20
seconds=2
directory=$(mktemp -d ./bench.httpd.XXXXXX)
server=

clean_up() {
    [ -z "$server" ] || kill -TERM "$server" 2>/dev/null || true
    rm -rf "$directory"
}
trap clean_up EXIT

row() { printf 'row\thttpd\t%s\t%s\t%s\t%s\n' "$@"; }

# Starts the program, loads it, stops it; appends requests per second to one file, and the
# microseconds of CPU that all threads of the server took per request to another: those depend less
# on what else the machine does.
load() {
    local program=$1 result=$2 port=''
    shift 2
    : >"$directory/out"
    "$program" --root "$directory/root" --port 0 --threads 4 "$@" >"$directory/out" &
    server=$!
    for _ in $(seq 100); do
        port=$(sed -n 's/^listening on 127.0.0.1://p' "$directory/out")
        [ -z "$port" ] || break
        sleep 0.05
    done
    wrk -t1 -c16 -d${seconds}s "http://127.0.0.1:$port/page.html" >"$directory/wrk"
    local ticks
    ticks=$(awk '{ print $14 + $15 }' "/proc/$server/stat")
    kill -TERM "$server"
    wait "$server" || true
    server=
    awk '/^Requests\/sec:/ { print $2 }' "$directory/wrk" >>"$result"
    awk -v ticks="$ticks" -v hertz="$(getconf CLK_TCK)" \
        '/ requests in / { print ticks / hertz / $1 * 1e6 }' "$directory/wrk" >>"$result.cpu"
}

median() { sort -n "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

mkdir "$directory/root"
head -c 4096 /dev/zero | tr '\0' 'x' >"$directory/root/page.html"
for _ in $(seq "$rounds"); do
    load "$build/examples/httpd-plain" "$directory/plain"
    PROBITY_OUT=$directory/httpd.probity PROBITY_OVERWRITE=1 \
        load "$build/examples/httpd" "$directory/probes" --plain-stages
    PROBITY_OUT=$directory/ids.probity PROBITY_OVERWRITE=1 \
        load "$build/examples/httpd" "$directory/ids"
done
plain=$(median "$directory/plain")
probes=$(median "$directory/probes")
ratio=$(paste "$directory/probes" "$directory/plain" | awk '{ print $1 / $2 }' | sort -n)
row "requests per second, no probes, median" "$plain" 1/s ""
row "requests per second, probes, median" "$probes" 1/s ""
row "with / without, medians" "$(awk "BEGIN { print $probes / $plain }")" x ">= 0.98"
row "with / without, lowest pair" "$(head -n 1 <<<"$ratio")" x ""
row "with / without, median pair" \
    "$(awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }' <<<"$ratio")" x ""
row "with / without, highest pair" "$(tail -n 1 <<<"$ratio")" x ""
row "with ids and locks / without, medians" \
    "$(awk "BEGIN { print $(median "$directory/ids") / $plain }")" x ""
plain=$(median "$directory/plain.cpu")
probes=$(median "$directory/probes.cpu")
row "CPU of the server per request, no probes" "$plain" us ""
row "CPU of the server per request, probes" "$probes" us ""
row "CPU of the server per request, ids and locks" "$(median "$directory/ids.cpu")" us ""
row "CPU without / with, medians" "$(awk "BEGIN { print $plain / $probes }")" x ""

# $1 what, $2 trace of the last run, $3 target
bytes_per_hit() {
    local hits
    hits=$("$build/bin/probity" csv "$2" | wc -l)
    row "$1" "$(awk "BEGIN { print $(stat -c %s "$2") / $hits }")" bytes "$3"
}
bytes_per_hit "trace, per hit" "$directory/httpd.probity" "<= 4"
bytes_per_hit "trace with ids, per hit" "$directory/ids.probity" ""
