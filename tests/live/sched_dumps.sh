#!/usr/bin/env bash
# Dumps of a recording with --sched have the thread states of their window as soon as they have
# their names: while the program runs, after it was killed, and next to the states of the trace.
# variants: gcc asan tsan
. "$(dirname "$0")/../common.bash"
# shellcheck source=tests/tool/states.bash
. "$SOURCE/tests/tool/states.bash"
stalls=$PROGRAMS/stalls

# The states of each thread of a dump sum to its time, and all are known except before the kernel's
# first report of a thread. $1 description, $2 dump
has_states() {
    "$PROBITY" threads --json "$2" > threads.json 2> errors || fail "$1: $(cat errors)"
    jq -e '.traces[0].states.error_ns' threads.json > said || fail "$1: no states"
    jq -e '[.processes[].threads[]] | length > 0 and all(.lifetime_ns > 0) and
        all((.running_ns + .waiting_ns + .blocked_ns + .unknown_ns - .lifetime_ns | fabs) < 5) and
        all(.running_ns > 0)' threads.json > said ||
        fail "$1: $(jq -c '.processes[].threads[]' threads.json)"
    jq -e '[.processes[].threads[].unknown_ns] | all(. == 0)' threads.json > said ||
        fail "$1: unknown: $(jq -c '.processes[].threads[]' threads.json)"
}

# Prints how long the call that caused a dump was in a state. $1 dump, $2 state
ns_of() {
    "$PROBITY" report --states --json "$1" |
        jq --arg key "total_$2_ns" '[.. | objects | select(.name? == "handle_request") | .[$key]] |
            add // 0'
}

# The trace's default name has the same form as that of its dumps.
"$PROBITY" record --sched --when 'function handle_request > 50ms' --before 100ms --after 20ms \
    --at-most 1000/1s -- "$stalls" 2 3 sleep 150 > out 2> errors || fail "sleep: status $?"
trace=$(find . -name 'stalls.*.probity' ! -name '*-*')
dumps=("${trace%.probity}"-*.probity)
[ ${#dumps[@]} -ge 3 ] || fail "sleep: ${#dumps[@]} dumps"
most=0
for dump in "${dumps[@]}"; do
    [ -e "$dump.sched" ] || { fail "sleep: no $dump.sched"; continue; }
    has_states "sleep: $dump" "$dump"
    blocked=$(ns_of "$dump" blocked)
    [ "${blocked%.*}" -le "$most" ] || most=${blocked%.*}
    "$PROBITY" why "$dump" > why.out || fail "sleep: why: status $?"
    grep -q '^states: from the scheduler' why.out || fail "sleep: why: no states"
done
[ "$most" -ge 150000000 ] || fail "sleep: blocked for $most ns of 150 ms"
has_states "sleep: the trace" "$trace"
expect "sleep: files of states" $((${#dumps[@]} + 1)) "$(find . -name 'stalls*.sched' | wc -l)"

# The slow call uses the CPU, or waits for it.
fresh
"$PROBITY" record --sched --when 'function handle_request > 50ms' --before 100ms \
    --at-most 1000/1s -o 'slow-%i.probity' -- "$stalls" 0 1 spin 100 > out 2> errors ||
    fail "spin: status $?"
most=0
for dump in slow-*.probity; do
    has_states "spin: $dump" "$dump"
    running=$(ns_of "$dump" running) waiting=$(ns_of "$dump" waiting)
    ns=$((${running%.*} + ${waiting%.*}))
    [ "$ns" -le "$most" ] || most=$ns
done
[ "$most" -ge 90000000 ] || fail "spin: ran and waited for a CPU for $most ns of 100 ms"

# While the program runs. A dump with a wrong states file counts as one without states.
fresh
mkdir 'in-stalls-%'
"$PROBITY" record --sched --ring 200ms,8M -o 'in-%n-%%/%p-%i.probity' -- "$stalls" 2 0 dumping \
    > out 2> errors &
recorder=$!
has_files() {
    [ "$(find . -name "$1" | wc -l)" -ge "$2" ]
}
wait_until "$recorder" has_files '*.probity.sched' 5
is_running "$recorder" || fail "running: ended early: $(cat errors)"
first=$(find 'in-stalls-%' -name '*-1.probity')
has_states running "$first"
"$PROBITY" check "$first" > said || fail "running: $(cat said)"
pid=${first##*/}
kill -KILL "${pid%-*}"
wait "$recorder" || true
for dump in in-*/*.probity; do
    [ -e "$dump.sched" ] || fail "killed: no states of $dump"
done
last=$(find 'in-stalls-%' -name '*.probity' | sort -V | tail -n 1)
has_states "killed" "$last"
expect "killed: other files" "" \
    "$(find 'in-stalls-%' -type f ! -name '*.probity' ! -name '*.probity.sched')"

# With the records of --calls, too: `waits` names the holder of the lock that delayed the request,
# and the parts of its critical path add up to its time. Not with a sanitizer, with which
# libprobity-calls cannot be loaded into another program.
dump_of_waits() {
    fresh
    mkdir root
    : > root/page.html
    "$CC" -O2 -g -pthread -DFN_INSTRUMENT -I"$SOURCE/include" -o httpd \
        "$SOURCE"/examples/httpd/*.c -L"$BUILD/lib" "-Wl,-rpath,$BUILD/lib" -lprobity
    "$PROBITY" record -f --sched --calls locks,io --when 'function worker_serve_request > 15ms' \
        --before 100ms --after 20ms -o 'slow-%i.probity' -- \
        ./httpd --root root --port 0 --threads 4 --plant > server.out 2> errors &
    recorder=$!
    await_port "$recorder"
    # shellcheck disable=SC2154 # await_port sets it
    "$BUILD/examples/httpd_load" --connections 4 --requests 400 "$port" \
        /page.html /stall/lock/20 /page.html > answers
    wait_until "$recorder" has_files 'slow-1.probity.sched' 1
    pkill -TERM -P "$recorder" httpd
    wait "$recorder" || fail "waits: record: status $?: $(cat errors)"
    dump=$(find . -name 'slow-1.probity')
    "$PROBITY" waits --json "$dump" > waits.json || fail "waits: status $?"
    jq -e '[.rows[] | select(.name == "mutex cache") | .held_by[] |
        select(.function == "cache_refill" and .ns > 5000000)] | length > 0' waits.json > said ||
        fail "waits: $(jq -c '[.rows[] | [.name, .total_ns, .held_by[0].function?]]' waits.json)"
    jq -e '[.rows[] | select(.name == "mutex cache") | .blocked_ns] | add > 5000000' \
        waits.json > said || fail "waits: no states"
    "$PROBITY" path --json "$dump" > path.json || fail "path: status $?"
    jq -e '.spans[0] as $span | $span.ns > 15000000 and
        (([$span.parts[].ns] | add) - $span.ns | fabs) < 5 and
        ([$span.parts[] | select(.function == "cache_refill")] | length > 0) and
        ($span.running_ns + $span.waiting_ns + $span.blocked_ns + $span.unknown_ns - $span.ns
            | fabs) < 5' path.json > said || fail "path: $(jq -c '.spans[0]' path.json)"
}
case ${VARIANT:-gcc} in
    gcc | clang) dump_of_waits ;;
esac

# Other files with such names, and dumps of other programs, get no states.
fresh
mkdir in
PROBITY_OUT=other.probity PROBITY_RING=1s "$stalls" 1 1 snapshot > out || fail "other: status $?"
# shellcheck disable=SC2016 # for the inner shell
"$PROBITY" record --sched --ring 1s -o 'in/%i.probity' -- \
    sh -c 'cp other-1.probity in/7.probity; ln -s ../other-1.probity in/8.probity
        head -c 300 other-1.probity > in/9.probity; mkfifo in/10.probity; exec "$0" 1 1 snapshot' \
    "$stalls" > out 2> errors || fail "other: status $?: $(cat errors)"
expect "other: states" in/1.probity.sched "$(find in -name '*.sched')"

# A full directory: one line, and the program's exit status.
if [ "$(id -u)" = 0 ] && unshare -m true 2> /dev/null; then
    fresh
    mkdir disk
    status=0
    # shellcheck disable=SC2016 # for the inner shell
    unshare -m sh -c 'mount -t tmpfs -o size=64k none disk || exit 77
        "$0" record --sched --ring 200ms,8M --before 1ms -o "disk/%i.probity" -- "$1" 2 8 snapshot
        status=$?
        find disk -name ".*" -type f
        exit $status' "$PROBITY" "$stalls" > out 2> errors || status=$?
    [ "$status" = 77 ] || expect "full: status" 0 "$status"
    [ "$status" = 77 ] || grep -q 'No space left on device' errors || fail "full: $(cat errors)"
    [ "$(grep -c '\.sched' errors)" -le 1 ] || fail "full: $(cat errors)"
    expect "full: temporary files" "" "$(grep '^disk' out || true)"
fi
finish
