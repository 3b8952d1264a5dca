#!/usr/bin/env bash
# PLANTED (10000) waits with known holders on mutexes, conditions, read-write locks and semaphores,
# recorded by typed probes, by --calls locks, and with thread states; the critical paths of REQUESTS
# (1000) requests of the web server under load; the times that threads ran and waited, compared with
# /proc.
# shellcheck source=tests/campaign/campaign.bash
. "$(dirname "$0")/campaign.bash"
# shellcheck source=tests/tool/waits.bash
. "$SOURCE/tests/tool/waits.bash"
planted=${PLANTED:-10000}
requests=${REQUESTS:-1000}
tracefs=()
[ -e /sys/kernel/tracing/events ] ||
    tracefs=(unshare -m sh -c 'mount -t tracefs none /sys/kernel/tracing && exec "$@"' sh)
server=

stop_server() {
    [ -z "$server" ] || kill -KILL "$server" 2> /dev/null || true
}
trap '[[ $BASHPID != $$ ]] || stop_server' EXIT

# $1 name, the rest: options of record
judge_calls() {
    local name=$1 before=$failures
    shift
    "${tracefs[@]}" "$PROBITY" record -f "$@" --calls locks -o "$name" -- \
        ./planted_calls "$planted" > "$name.truth" || fail "$name: status $?"
    same_causes "$name" 0 "$name" "$name.truth" $((planted * 999 / 1000)) others
    rm -f "$name" "$name.sched"
    [ "$failures" = "$before" ]
}

judge_typed() {
    local before=$failures
    PROBITY_OUT=$WORK/typed "$PROGRAMS/planted" "$planted" > typed.truth || fail "typed: status $?"
    same_causes typed 0 typed typed.truth $((planted * 999 / 1000))
    rm -f typed
    [ "$failures" = "$before" ]
}

# Each path begins and ends at hits of its request, and its parts sum to the time between them.
judge_paths() {
    local before=$failures port
    mkdir -p root
    head -c 4096 /dev/zero > root/page.html
    rm -f server.out
    "${tracefs[@]}" "$PROBITY" record -f --sched -o httpd -- "$BUILD/examples/httpd" --root root \
        --port 0 --threads 4 > server.out 2> errors &
    server=$!
    await_port "$server"
    "$BUILD/examples/httpd_load" --connections 16 --seconds 2 "$port" /page.html > load.out ||
        fail "load: $(cat load.out errors)"
    kill -TERM "$("$PROBITY" info --json httpd 2> /dev/null | jq '.[0].program.pid')"
    wait "$server" || true
    server=
    "$PROBITY" path --slowest "$requests" --json httpd > paths.json || fail "path: status $?"
    "$PROBITY" csv --columns correlation,role,wall_s,wall_ns httpd > hits.csv
    "$PYTHON" - "$requests" << 'EOF' || fail "paths of requests"
import csv, json, sys
ends = {"request-begin": set(), "request-end": set()}
for id, role, seconds, ns in csv.reader(open("hits.csv")):
    if role in ends:
        ends[role].add((int(id), int(seconds) * 10**9 + int(ns)))
spans = json.load(open("paths.json"))["spans"]
assert len(spans) == int(sys.argv[1]), len(spans)
worst = 0
for span in spans:
    assert (span["id"], span["at_ns"]) in ends["request-begin"], span["id"]
    assert (span["id"], span["at_ns"] + span["ns"]) in ends["request-end"], span["id"]
    parts = sum(part["ns"] for part in span["parts"])
    states = sum(span[name + "_ns"] for name in ("running", "waiting", "blocked", "unknown"))
    worst = max(worst, abs(parts - span["ns"]) / span["ns"], abs(states - span["ns"]) / span["ns"])
assert worst <= 0.01, worst
total = sum(span["ns"] for span in spans)
shares = [100 * sum(span[name + "_ns"] for span in spans) / total
          for name in ("running", "waiting", "blocked", "unknown")]
print("%.2f %.1f %.1f %.1f %.1f" % (100 * worst, *shares))
EOF
    [ "$failures" = "$before" ]
}

# Threads that run, wait for a lock, sleep and compete for one CPU.
judge_states() {
    local before=$failures
    "${tracefs[@]}" "$PROBITY" record -f --sched -o states -- "$PROGRAMS/thread_states" 4 600 \
        > printed || fail "states: status $?"
    "$PROBITY" threads --json states > threads.json || fail "threads: status $?"
    "$PYTHON" - << 'EOF' || fail "states against /proc"
import json
threads = {t["tid"]: t for p in json.load(open("threads.json"))["processes"] for t in p["threads"]}
worst = [0, 0, 0]
for line in open("printed"):
    tid, life, ran, waited, slack = map(int, line.split())
    t = threads[tid]
    parts = [t[name + "_ns"] for name in ("running", "waiting", "blocked", "unknown")]
    errors = [parts[0] - ran, parts[1] - waited, sum(parts) - life]
    worst = [max(w, abs(e) / life) for w, e in zip(worst, errors)]
print("%.3f %.3f %.3f" % tuple(100 * w for w in worst))
assert max(worst) <= 0.01, worst
EOF
    [ "$failures" = "$before" ]
}

PYTHON=${PYTHON:-python3}
build_planted_calls
step typed judge_typed || true
step calls judge_calls calls || true
step sched judge_calls sched --sched || true
step paths judge_paths || true
step states judge_states || true

# $1 step, $2 how the waits were recorded. A step with a wrong cause fails.
row_of_planted() {
    [ -e "$STATE/$1.out" ] || return 0
    row "Planted waits, $2: right, unknown, wrong" "≥ 99.9 %, 0 wrong" \
        "$(sed -n 's/.*: \([0-9]* of [0-9]*\) right, \([0-9]*\) unknown/\1, \2, 0/p' \
            "$STATE/$1.out")"
}
row_of_planted typed "typed probes"
row_of_planted calls "\`--calls locks\`"
row_of_planted sched "\`--calls locks --sched\`"
if [ -e "$STATE/paths.out" ]; then
    read -r worst running waiting blocked unknown < "$STATE/paths.out"
    row "Paths of $requests requests: largest difference between the sum of parts and the time" \
        "≤ 1 %" "$worst %"
    row "Of their time: running, waiting for a CPU, blocked, unknown" "" \
        "$running %, $waiting %, $blocked %, $unknown %"
fi
if [ -e "$STATE/states.out" ]; then
    read -r running waiting all < "$STATE/states.out"
    row "Difference from \`/proc/…/schedstat\`: running, waiting for a CPU; sum, of the time" \
        "≤ 1 % each" "$running %, $waiting %, $all %"
fi
finish
