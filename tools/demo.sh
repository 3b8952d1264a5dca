#!/usr/bin/env bash
# demo.sh BUILD_DIRECTORY: the example web server under full load from wrk, killed by SIGKILL in the
# middle of it, and what its trace then tells; then the instrumented functions of a small program:
# its log and its report. Run by `make demo`, after the build.
#
# How the loss is counted. The server keeps a scoreboard beside the trace: for each thread, how
# often it did what a stage stands for, in a mapped file that Probity knows nothing of and that
# survives the kill (examples/httpd/scoreboard.h). Each count is raised right behind the probe, or
# behind the last one of the request. So for each thread and stage the hits must be equal to the
# count, or one more where the kill came in between: fewer are lost records, more are invented
# ones. What wrk counted is printed beside it: answers on their way when the server died never
# reached wrk.

set -eu

build=${1:?usage: demo.sh BUILD_DIRECTORY}
seconds=${DEMO_SECONDS:-5}
workers=4
demo=$build/demo
trace=$demo/httpd.probity
probity=$build/bin/probity
source_root=$(cd "$(dirname "$0")/.." && pwd)
server_pid=
wrk_pid=

clean_up() {
    [ -z "$wrk_pid" ] || kill -KILL "$wrk_pid" 2>/dev/null || true
    [ -z "$server_pid" ] || kill -KILL "$server_pid" 2>/dev/null || true
}
trap clean_up EXIT

fail() {
    echo "demo: $*" >&2
    exit 1
}

# A document root of real files, and a script for wrk that asks for each of them in turn.
make_root() {
    rm -rf "$demo"
    mkdir -p "$demo/root"
    cp -R "$source_root/doc" "$demo/root/doc"
    [ ! -f "$source_root/README.md" ] || cp "$source_root/README.md" "$demo/root/"
    head -c 102400 /dev/urandom >"$demo/root/100KiB.bin"
    {
        echo 'local paths = {'
        (cd "$demo/root" && find . -type f | sort | sed 's,^\.\(.*\)$,  "\1"\,,')
        echo '}'
        echo 'local turn = 0'
        echo 'function request()'
        echo '  turn = turn % #paths + 1'
        echo '  return wrk.format("GET", paths[turn])'
        echo 'end'
    } >"$demo/paths.lua"
}

start_server() {
    : >"$demo/httpd.out"
    PROBITY_OUT=$trace "$build/examples/httpd" --root "$demo/root" --port 0 --threads $workers \
        --scoreboard "$demo/scoreboard" >"$demo/httpd.out" &
    server_pid=$!
    port=
    for _ in $(seq 100); do
        port=$(sed -n 's/^listening on 127.0.0.1://p' "$demo/httpd.out")
        [ -z "$port" ] || return 0
        sleep 0.05
    done
    fail "the server does not start"
}

load_and_kill() {
    wrk -t2 -c32 -d$((seconds + 5))s -s "$demo/paths.lua" "http://127.0.0.1:$port" \
        >"$demo/wrk.out" 2>&1 &
    wrk_pid=$!
    sleep "$seconds"
    kill -KILL "$server_pid" || fail "the server has ended before the kill"
    wait "$server_pid" 2>/dev/null || true
    server_pid=
    kill -INT "$wrk_pid" # it now counts refused connections only; this makes it report
    wait "$wrk_pid" || fail "wrk failed, see $demo/wrk.out"
    wrk_pid=
    answers=$(awk '$2 == "requests" && $3 == "in" { print $1 }' "$demo/wrk.out")
    [ "${answers:-0}" -gt 0 ] || fail "wrk got no answer, see $demo/wrk.out"
    ! grep 'Non-2xx' "$demo/wrk.out" || fail "the server answered errors"
}

# Reads the scoreboard as text, then the CSV of all hits. Exits with 1 where they disagree.
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
$3 !~ /^[0-9]+$/ { next } # of the lock: how often depends on who waits for whom
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
    invented += rows - seen # of threads or probes that do not exist
    printf "requests served:  %12s   by the count of the server; wrk got %s answers\n",
        grouped(requests), grouped(answers)
    printf "hits expected:    %12s   6 a request, 1 each for accepted, queued, taken, closed\n",
        grouped(expected)
    printf "hits recorded:    %12s   %d of them from requests in hand at the kill\n", grouped(rows),
        rows - expected + lost - invented
    printf "hits of the lock: %12s   taken and given back\n", grouped(NR - rows)
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
        print "demo: wrk got more answers than the server sent"
    exit lost > 0 || invented > 0 || disorder > 0 || requests == 0 || answers > requests + workers
}'
}

# Functions, in the words of the program itself: nothing here is typed by hand but the macros.
functions() {
    local trace=$demo/windows.probity
    echo "\$ PROBITY_OUT=$trace $build/examples/windows"
    PROBITY_OUT=$trace PROBITY_OVERWRITE=1 "$build/examples/windows"
    echo
    echo "\$ probity log $trace | head -n 24"
    "$probity" log "$trace" >"$demo/windows.log"
    head -n 24 "$demo/windows.log"
    echo
    echo "\$ probity report $trace"
    "$probity" report "$trace"
}

[ -x "$probity" ] || fail "there is no $probity: build first (make)"
command -v wrk >/dev/null || fail "wrk is missing (apt-get install wrk)"
make_root
start_server
echo "httpd with $workers workers serves doc/, README.md and a 100 KiB file to wrk (2 threads, 32"
echo "connections) for $seconds s, and is killed by SIGKILL while the load goes on."
load_and_kill
echo
echo "\$ probity recover $trace"
"$probity" recover "$trace"
echo
echo "\$ probity info $trace    (in part)"
"$probity" info "$trace" >"$demo/info.txt"
sed -nE '/^(state|complete|duration|threads|dropped|holes|wall time|CPU time) /p' "$demo/info.txt"
echo
echo "\$ probity csv --header $trace | head -n 6"
"$probity" csv --header "$trace" | head -n 6
echo
compare
echo
echo "\$ probity blocks --limit 8 $trace"
"$probity" blocks --limit 8 "$trace"
echo
echo "\$ probity blocks --by correlation $trace    (requests, from thread to thread)"
"$probity" blocks --by correlation "$trace"
echo
echo "\$ probity model --text $trace    (in part)"
"$probity" model --text "$trace" >"$demo/model.txt"
sed -n '/^queue /,$p' "$demo/model.txt"
echo
functions
echo
echo "\$ probity view -f -o $demo/httpd.html $trace"
"$probity" view -f -o "$demo/httpd.html" "$trace" || true
ls -l "$demo/httpd.html" 2>/dev/null || true
