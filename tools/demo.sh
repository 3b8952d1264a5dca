#!/usr/bin/env bash
# demo.sh BUILD_DIRECTORY: kills the example web server with SIGKILL under full load and shows its
# trace; then shows the log and the report of a small program with instrumented functions, and a
# dump of a slow request. Run by `make demo`, after the build.
#
# How losses are counted: The server keeps a scoreboard next to the trace: for each thread, how
# often it passed each stage, in a mapped file that is independent of Probity and survives the kill
# (examples/httpd/scoreboard.h). Each count is incremented right after the probe, or after the last
# one of the request. So for each thread and stage the number of hits must equal the count, or
# exceed it by one if it was killed in between: fewer hits mean lost records, more mean invented
# ones. The load generator's count is printed, too; it lacks the responses that were in flight when
# the server died.

set -eu

build=${1:?usage: demo.sh BUILD_DIRECTORY}
seconds=${DEMO_SECONDS:-5}
workers=4
connections=32
demo=$build/demo
trace=$demo/httpd.probity
probity=$build/bin/probity
source_root=$(cd "$(dirname "$0")/.." && pwd)
server_pid=
load_pid=

clean_up() {
    [ -z "$load_pid" ] || kill -KILL "$load_pid" 2>/dev/null || true
    [ -z "$server_pid" ] || kill -KILL "$server_pid" 2>/dev/null || true
}
trap '[[ $BASHPID != $$ ]] || clean_up' EXIT

fail() {
    echo "demo: $*" >&2
    exit 1
}

# $1 title, $2 explanation of the output
section() {
    printf '\n==== %s\n%s\n\n' "$1" "$2"
}

# Shows a command as a user would type it, and its output.
show() {
    echo "\$ $*"
    "$@"
}

# The same, with only the first lines of the output. $1 number of lines, then the command
show_head() {
    local lines=$1
    shift
    echo "\$ $* | head -n $lines"
    "$@" >"$demo/output"
    head -n "$lines" "$demo/output"
}

# A document root of real files. Sets paths, which are requested in turn.
make_root() {
    rm -rf "$demo"
    mkdir -p "$demo/root"
    cp -R "$source_root/doc" "$demo/root/doc"
    [ ! -f "$source_root/README.md" ] || cp "$source_root/README.md" "$demo/root/"
    head -c 102400 /dev/urandom >"$demo/root/100KiB.bin"
    mapfile -t paths < <(cd "$demo/root" && find . -type f | sort | sed 's,^\.,,')
}

start_server() {
    : >"$demo/httpd.out"
    PROBITY_OUT=$trace "$build/examples/httpd" --root "$demo/root" --port 0 --threads $workers \
        --scoreboard "$demo/scoreboard" >"$demo/httpd.out" &
    server_pid=$!
    await_port
}

# Sets port, from the server's output.
await_port() {
    port=
    for _ in $(seq 100); do
        port=$(sed -n 's/^listening on 127.0.0.1://p' "$demo/httpd.out")
        [ -z "$port" ] || return 0
        sleep 0.05
    done
    fail "the server does not start"
}

load_and_kill() {
    "$build/examples/httpd_load" --connections $connections --seconds $((seconds + 10)) "$port" \
        "${paths[@]}" >"$demo/load.out" 2>&1 &
    load_pid=$!
    sleep "$seconds"
    kill -KILL "$server_pid" || fail "the server has ended before the kill"
    wait "$server_pid" 2>/dev/null || true
    server_pid=
    wait "$load_pid" || fail "no answer from the server, see $demo/load.out"
    load_pid=
    answers=$(sed -n 's/^answers: //p' "$demo/load.out")
    grep -qx 'errors: 0' "$demo/load.out" || fail "the server answered errors, see $demo/load.out"
}

# Reads the scoreboard as text, then the CSV of all hits. Exits with 1 if they disagree.
compare() {
    od -An -v -w64 -tu8 "$demo/scoreboard" >"$demo/scoreboard.txt"
    "$probity" csv "$trace" | awk -F '[, ]+' -v answers="$answers" -v workers=$workers \
        -v trace_bytes="$(wc -c <"$trace")" -v board="$demo/scoreboard.txt" '
function grouped(number,    text, result) {
    text = sprintf("%.0f", number)
    while (length(text) > 3) {
        result = "," substr(text, length(text) - 2) result
        text = substr(text, 1, length(text) - 3)
    }
    return text result
}
function compare(thread, stage, count,    recorded) {
    recorded = hits[thread, stage]
    due[stage] += count
    expected += count
    if (recorded < count)
        lost += count - recorded
    if (recorded > count + 1)
        invented += recorded - count - 1
    seen += recorded
}
function pair(from, to, what,    n) {
    n = times[from, to]
    if (n)
        printf "  %-20s %10s %12.2f %12.2f   %s\n", name[from] " > " name[to], grouped(n),
            wall[from, to] / n / 1000, cpu[from, to] / n / 1000, what
}
BEGIN {
    split("accepted queued taken read parsed resolved header body done cgi_started cgi_done closed",
        name, " ")
    while ((getline line < board) > 0) {
        split(line, field, " ")
        threads++
        for (i = 1; i <= 7; i++)
            score[threads, i] = field[i]
        requests += field[5]
    }
}
{
    wall_seconds = $6 - wall_last_seconds
    if (NR > 1 && (wall_seconds < 0 || (wall_seconds == 0 && $7 + 0 < wall_last_ns)))
        disorder++
    wall_last_seconds = $6
    wall_last_ns = $7 + 0
}
$3 !~ /^[0-9]+$/ { next } # hits of the lock, whose number depends on which thread waits
{
    hits[$2, $3]++
    rows++
    if ($2 in stage_before) {
        key = stage_before[$2] SUBSEP $3
        times[key]++
        cpu[key] += ($4 - cpu_s[$2]) * 1e9 + $5 - cpu_ns[$2]
        wall[key] += ($6 - wall_s[$2]) * 1e9 + $7 - wall_ns[$2]
    }
    stage_before[$2] = $3
    cpu_s[$2] = $4
    cpu_ns[$2] = $5
    wall_s[$2] = $6
    wall_ns[$2] = $7
}
END {
    for (i = 1; i <= threads; i++) {
        thread = score[i, 1]
        compare(thread, 1, score[i, 2])
        compare(thread, 2, score[i, 3])
        compare(thread, 3, score[i, 4])
        for (stage = 4; stage <= 9; stage++)
            compare(thread, stage, score[i, 5])
        compare(thread, 10, score[i, 6])
        compare(thread, 11, score[i, 6])
        compare(thread, 12, score[i, 7])
    }
    invented += rows - seen # hits of threads or probes that do not exist
    printf "requests served:  %12s   as the server counted; %s answers arrived\n",
        grouped(requests), grouped(answers)
    printf "hits expected:    %12s   6 a request, 1 each for accepted, queued, taken, closed\n",
        grouped(expected)
    printf "hits recorded:    %12s   %d of them from requests in flight at the kill\n",
        grouped(rows), rows - expected + lost - invented
    printf "hits of the lock: %12s   acquired and released\n", grouped(NR - rows)
    printf "bytes per hit:    %12.2f   trace of %s bytes, ids included\n",
        trace_bytes / NR, grouped(trace_bytes)
    printf "out of order:     %12d\n", disorder
    printf "invented:         %12d\n", invented
    printf "lost: %d\n", lost
    printf "\n  %-20s %10s %12s %12s\n", "stages", "times", "wall us", "CPU us   (mean)"
    pair(3, 4, "receive")
    pair(4, 5, "parse")
    pair(5, 6, "find and open the file")
    pair(6, 7, "send the header")
    pair(7, 8, "send the body")
    pair(8, 9, "clean up")
    pair(9, 3, "hand back, wait for the next")
    if (answers > requests + workers)
        print "demo: more answers arrived than the server sent"
    exit lost > 0 || invented > 0 || disorder > 0 || requests == 0 || answers > requests + workers
}'
}

# $1 name of a file in the demo's directory
size_of() {
    awk -v bytes="$(wc -c <"$demo/$1")" 'BEGIN { printf "%.1f MB", bytes / 1e6 }'
}

web_server() {
    section "A web server under load, killed" "With $workers workers it serves doc/, README.md and \
a 100 KiB file to $connections connections
for $seconds s, and is killed by SIGKILL while the load continues."
    echo "\$ PROBITY_OUT=$trace $build/examples/httpd --root $demo/root"
    start_server
    load_and_kill
    echo "\$ kill -KILL \$server"
    show "$probity" recover "$trace"
    echo "\$ $probity info $trace    (in part)"
    "$probity" info "$trace" >"$demo/info.txt"
    sed -nE '/^(state|complete|duration|threads|dropped|holes|wall time|CPU time) /p' \
        "$demo/info.txt"
}

answers_of_trace() {
    section "Was anything lost?" "The records of the trace, against what the server itself counted:"
    show_head 6 "$probity" csv --header "$trace"
    echo
    compare
    section "Where does the time go?" "From each probe to the next on the same thread:"
    show "$probity" blocks --limit 8 "$trace"
    section "And for each request?" "The same, followed from thread to thread by the ids in the \
probes:"
    show "$probity" blocks --by correlation "$trace"
    section "What is the workload?" "Queues, locks and arrivals:"
    echo "\$ $probity model --text $trace    (in part)"
    "$probity" model --text "$trace" >"$demo/model.txt"
    sed -n '/^queue /,$p' "$demo/model.txt"
}

functions() {
    section "Functions" "examples/windows.c, whose functions are instrumented by macros: its log \
and its report."
    PROBITY_OUT=$demo/windows.probity PROBITY_OVERWRITE=1 "$build/examples/windows" \
        >"$demo/windows.out"
    echo "\$ PROBITY_OUT=$demo/windows.probity $build/examples/windows"
    show_head 24 "$probity" log "$demo/windows.probity"
    echo
    show "$probity" report "$demo/windows.probity"
}

# The server again, with its functions as scopes, and one request that waits too long for a lock.
catch_the_slow_one() {
    section "Catch the slow one" "The server keeps the last seconds in memory. Under the same \
load, one request is planted that
waits 150 ms for a lock. Only the worst dump is kept."
    "${CC:-cc}" -O2 -g -pthread -DFN_INSTRUMENT -I"$source_root/include" -o "$demo/httpd-scopes" \
        "$source_root"/examples/httpd/*.c -L"$build/lib" -Wl,-rpath,"$(cd "$build/lib" && pwd)" \
        -lprobity || fail "the server with scopes was not built"
    local condition='function worker_serve_request > 30ms'
    echo "\$ probity record --ring 10s --when '$condition' --keep worst=1 -o slow-%i.probity \\"
    echo "    -- httpd --plant"
    : >"$demo/httpd.out"
    # In that directory, in which the trace of the whole run is stored, too.
    (
        directory=$(cd "$demo" && pwd) tool=$(cd "$build/bin" && pwd)/probity
        cd "$demo"
        exec "$tool" record -f --ring 10s --when "$condition" --before 200ms --keep worst=1 \
            -o 'slow-%i.probity' -- "$directory/httpd-scopes" --root "$directory/root" --port 0 \
            --threads $workers --plant >httpd.out
    ) &
    server_pid=$!
    await_port
    "$build/examples/httpd_load" --connections $connections --seconds 60 "$port" "${paths[@]}" \
        >"$demo/load.out" 2>&1 &
    load_pid=$!
    sleep 0.5
    "$build/examples/httpd_load" --connections 1 --seconds 10 --requests 1 \
        "$port" /stall/lock/150 >"$demo/planted.out" || fail "the planted request was not answered"
    kill -TERM "$load_pid" "$server_pid"
    wait "$load_pid" "$server_pid" || true
    server_pid=
    load_pid=
    ls "$demo"/slow-*.probity > /dev/null || fail "no dump was made"
    show "$probity" why "$demo"/slow-*.probity
}

what_next() {
    section "What to open next" "All of it is in $demo/."
    cat <<END
  $demo/httpd.html ($(size_of httpd.html))
      in a browser: timeline, flame graph, functions and blocks of the web server, in one file
  $probity timeline $trace
      the same threads, drawn in the terminal
  $probity hist --from header --to body $trace
      a histogram of the time that sending the body takes
  $probity tree $demo/windows.probity
      who called whom, with times along each path
  $probity --help
      all commands
  examples/hello.c
      ten lines to start from
END
}

[ -x "$probity" ] || fail "there is no $probity: build first (make)"
make_root
web_server
answers_of_trace
catch_the_slow_one
functions
"$probity" view -f -o "$demo/httpd.html" "$trace" >"$demo/view.out"
rm -f "$demo/output"
what_next
