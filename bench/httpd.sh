#!/usr/bin/env bash
# httpd.sh BUILD_DIR: the example web server at full load on loopback, alternately with probes in
# its stages, with additional ids and locks, and without compiled-in probes. The load comes from
# wrk, or from examples/httpd_load if wrk is missing. Server and client share the CPUs, as they
# would for a user who tries this.
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
trap '[[ $BASHPID != $$ ]] || clean_up' EXIT

row() { printf 'row\thttpd\t%s\t%s\t%s\t%s\n' "$@"; }

# Prints the numbers of responses in total and per second. $1 port
request_page() {
    if command -v wrk >/dev/null; then
        wrk -t1 -c16 -d${seconds}s "http://127.0.0.1:$1/page.html" |
            awk '/ requests in / { all = $1 } /^Requests\/sec:/ { print all, $2 }'
    else
        "$build/examples/httpd_load" --connections 16 --seconds $seconds "$1" /page.html |
            awk '/^answers: / { all = $2 } /^answers per second: / { print all, $4 }'
    fi
}

# Starts the program, loads it, and stops it. Appends requests per second to one file, and to
# another one the CPU time per request of all server threads in microseconds, which depends less on
# other load.
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
    request_page "$port" >"$directory/answers"
    local ticks
    ticks=$(awk '{ print $14 + $15 }' "/proc/$server/stat")
    kill -TERM "$server"
    wait "$server" || true
    server=
    awk '{ print $2 }' "$directory/answers" >>"$result"
    awk -v ticks="$ticks" -v hertz="$(getconf CLK_TCK)" \
        '{ print ticks / hertz / $1 * 1e6 }' "$directory/answers" >>"$result.cpu"
}

median() { sort -n "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

command -v wrk >/dev/null || echo "httpd: no wrk here: load by examples/httpd_load" >&2
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

# $1 description, $2 trace of the last run, $3 target
bytes_per_hit() {
    local hits
    hits=$("$build/bin/probity" csv "$2" | wc -l)
    row "$1" "$(awk "BEGIN { print $(stat -c %s "$2") / $hits }")" bytes "$3"
}
bytes_per_hit "trace, per hit" "$directory/httpd.probity" "<= 4"
bytes_per_hit "trace with ids, per hit" "$directory/ids.probity" ""
