#!/usr/bin/env bash
# The effect of `probity attach`, `probity detach` and dumps on the requests of a loaded web server:
# latencies seen by the client while one of these is in progress, and at other times of the same
# run. Each round has one window of each kind, in turn. A request belongs to each window that it
# overlaps. Functions are compiled with patchable entries, and recorded by `attach --functions`.
#
# A command itself needs CPU time: attaching to a different, idle program shows how much of a delay
# is due to that, and starting a program that does nothing shows the minimum. A window of `attach`
# is longer than the command, so compare it also with that of a recording in which nothing changes.
# Similarly, a dump needs CPU time that the server lacks while all CPUs are busy: a program that
# reads a dump ten times a second needs about as much.
#
#   ROUNDS       of attaching (default 120, about 85 s)
#   DUMP_ROUNDS  of dumps (default 30, about 120 s)
#   CONNECTIONS  that are never idle (default 16)
set -eu
cd "$(dirname "$0")/.."
BUILD=$(realpath "${BUILD:-build}")
source=$PWD
probity=$BUILD/bin/probity
rounds=${ROUNDS:-120} dump_rounds=${DUMP_ROUNDS:-30} connections=${CONNECTIONS:-16}
[ "$(uname -m)" = x86_64 ] || { echo "latency: entries are patched on x86-64 only" >&2; exit 77; }
work=$(mktemp -d)
spool=$(mktemp -d -p /dev/shm) # the directory for spools unless PROBITY_SPOOL_DIR is set
jobs=()
stop() {
    for job in "${jobs[@]}"; do kill "$job" 2> /dev/null || true; done
    rm -rf "$work" "$spool"
}
trap '[[ $BASHPID != $$ ]] || stop' EXIT
cd "$work"
for name in "${!PROBITY_@}"; do unset "$name"; done
export PROBITY_SPOOL_DIR=$spool
mkdir root
head -c 4096 /dev/zero > root/page.html

compile=("${CC:-gcc}" -O2 -pthread -DFN_INSTRUMENT -I"$source/include" "$source"/examples/httpd/*.c
    -L"$BUILD/lib" "-Wl,-rpath,$BUILD/lib" '-Wl,--no-as-needed' -lprobity)
"${compile[@]}" -o httpd
"${compile[@]}" -fpatchable-function-entry=5 -o httpd_patchable -lprobity-functions

# Sets "server" and "port". Arguments: settings and the program
start_server() {
    port=
    : > listening
    env "$@" --root root --port 0 --threads 4 > listening &
    server=$!
    jobs+=("$server")
    until [ -n "$port" ]; do
        sleep 0.05
        port=$(sed -n 's/^listening on 127.0.0.1://p' listening)
    done
}

# $1 file of times
start_load() {
    "$BUILD/examples/httpd_load" --connections "$connections" --seconds 3600 --times "$1" \
        "$port" /page.html > answers &
    load=$!
    jobs+=("$load")
    sleep 1 # until its connections are established
}

# The trace is closed when the server ends, which is not measured.
end_run() {
    kill "$load"
    wait "$load"
    grep -q '^errors: 0' answers || { echo "latency: $(grep '^errors' answers)" >&2; exit 1; }
    kill "$server"
    wait "$server" || true
    jobs=()
}

# Runs a command, and waits until the window has at least $2 seconds. $1 kind, the rest: the command
window() {
    local kind=$1 seconds=$2 begin=${EPOCHREALTIME/./}
    shift 2
    sleep "$seconds" &
    "$@" > said
    wait "$!"
    echo "$kind ${begin}000 ${EPOCHREALTIME/./}000" >> windows
}

# Prints one line for each kind in the order of the arguments: requests, percentiles in us, and how
# many of 1,000 took longer than the first kind's p99.9. $1 file of times; the rest: kind=text
table() {
    local times=$1 kind usual=0
    shift
    sort -n "$times" | awk '
        NR == FNR { kind[++count] = $1; begin[count] = $2; end[count] = $3; next }
        {
            while (first < count && end[first + 1] < $1) first++
            for (i = first + 1; i <= count && begin[i] <= $1 + $2; i++)
                if (end[i] >= $1) print $2 / 1000 > ("of." kind[i])
        }' windows -
    printf '%-46s %8s %8s %8s %8s %8s %9s\n' "" requests "p50 us" "p99 us" "p99.9 us" "max us" \
        "> p99.9"
    for kind in "$@"; do
        if [ ! -e "of.${kind%%=*}" ]; then
            echo "${kind#*=}: no requests"
            continue
        fi
        sort -g "of.${kind%%=*}" > sorted
        [ "$usual" != 0 ] ||
            usual=$(awk '{ v[NR] = $1 } END { print v[int(NR * 0.999) + 1] }' sorted)
        awk -v what="${kind#*=}" -v usual="$usual" '{ v[NR] = $1; above += $1 > usual }
            END {
                printf "%-46s %8d %8.0f %8.0f %8.0f %8.0f %8.2f%%\n", what, NR,
                    v[int(NR * 0.5) + 1], v[int(NR * 0.99) + 1], v[int(NR * 0.999) + 1], v[NR],
                    above / NR * 100
            }' sorted
    done
    rm -f of.* windows
}

echo "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) CPUs," \
    "load before: $(cut -d' ' -f1-3 /proc/loadavg); $connections connections"

# ---- Attach and detach ----

start_server ./httpd_patchable
PROBITY_CONTROL=1 LD_PRELOAD=$BUILD/lib/libprobity.so.0 sleep 3600 &
idle=$!
jobs+=("$idle")
start_load times
for ((i = 0; i < rounds; i++)); do
    window usual 0.08 true
    sleep 0.02
    window nothing 0.08 "$(type -P true)"
    sleep 0.02
    window other 0.08 "$probity" attach -o other.probity "$idle"
    sleep 0.02
    window attach 0.08 "$probity" attach --functions --mode drop -o server.probity "$server"
    sleep 0.02
    window recorded 0.08 true
    sleep 0.02
    window detach 0.08 "$probity" detach "$server"
    "$probity" detach "$idle" > said
    rm other.probity server.probity
    sleep 0.05
done
end_run
kill "$idle"
echo "attach and detach, $rounds times:"
table times usual="usual (dormant)" nothing="another program starts and ends" \
    other="attach to another program" attach="attach to the server" \
    recorded="recorded, nothing changes" detach="detach from the server"

# ---- Dumps ----

dumped=0
start_server PROBITY_OUT=ring.probity PROBITY_RING=1s PROBITY_WHEN="signal USR2" \
    PROBITY_DUMPS=before=200ms,at-most=1/1ms PROBITY_DUMP=dump-%i.probity ./httpd
start_load times
ten_times() {
    for ((j = 0; j < 10; j++)); do
        "$@"
        sleep 0.1
    done
}
for ((i = 0; i < dump_rounds; i++)); do
    window usual 1 true
    window nothing 1 ten_times true
    window dumps 1 ten_times kill -USR2 "$server"
    mapfile -t dumps < <(compgen -G 'dump-*.probity')
    dumped=$((dumped + ${#dumps[@]}))
    if [ "${#dumps[@]}" -gt 0 ]; then
        window other 1 ten_times "$probity" report "${dumps[0]}"
        rm -f "${dumps[@]}"
    else
        echo "round $((i + 1)): no dump was written, so none was read"
    fi
done
dropped=$("$probity" info --json ring.probity | jq '.[0].counts |
    .dropped_no_free_chunk + .dropped_no_memory_or_limit + .dropped_not_writable')
end_run
echo "recording to a ring, $dumped dumps, ten a second; records dropped: $dropped"
table times usual="without dumps" nothing="the same commands, no signal" \
    other="another program reads such a dump" dumps="while dumps are written"
