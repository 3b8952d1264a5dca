#!/usr/bin/env bash
# Thread states in `path`, `waits` and `tree`: each part of a path is running, waiting for a CPU or
# blocked, and the parts sum to it; the path moves to the thread that woke another one, although
# nothing else about their pipe is recorded; damaged and missing states.
# variants: gcc
. "$(dirname "$0")/../common.bash"

# shellcheck source=tests/tool/states.bash
. "$SOURCE/tests/tool/states.bash"

# $1 description, $2 command; then its arguments. Writes "output" and "errors".
tool() {
    local what=$1
    shift
    "$PROBITY" "$@" > output 2> errors || fail "$what: status $?: $(head -n 3 errors)"
}

# $1 description; the rest: python that finds the answer as `a`, the rows of "printed" as `rows`.
holds() {
    local what=$1
    shift
    python3 - "$what" "$@" <<'EOF' || fail "$what"
import json, sys
a = json.load(open("output"))
rows = [list(map(int, line.split())) for line in open("printed")]
for check in sys.argv[2:]:
    if not eval(check, globals()):
        print(f"FAILED: {sys.argv[1]}: not so: {check}", file=sys.stderr)
        sys.exit(1)
EOF
}

parts_sum='all(sum(p["ns"] for p in s["parts"]) == s["ns"] and
    all(x["offset_ns"] + x["ns"] == y["offset_ns"] for x, y in zip(s["parts"], s["parts"][1:]))
    for s in a["spans"])'
split_sums='all(s["running_ns"] + s["waiting_ns"] + s["blocked_ns"] + s["unknown_ns"] == s["ns"]
    for s in a["spans"])'
# Returns the time of a part by thread (index of the printed ids), function and state.
time_of='lambda who, function, state: sum(p["ns"] for p in a["spans"][0]["parts"]
    if p["tid"] == rows[0][who] and p["function"] == function and p["state"] == state)'

for how in plain exact; do
    [ "$how" = plain ] || [ ${#with_tracefs[@]} -gt 0 ] || continue
    run=("${without_tracefs[@]}")
    [ "$how" = plain ] || run=("${with_tracefs[@]}")
    "${run[@]}" "$PROBITY" record --sched -o "$how" -- "$PROGRAMS/wakings" > printed 2> errors ||
        fail "$how: status $?: $(cat errors)"
    tool "$how: path" path --function request --json "$how"
    holds "$how: path" "$parts_sum" "$split_sums" 'len(a["spans"]) == 1' \
        'not {p["state"] for p in a["spans"][0]["parts"]} & {"off-cpu", "waiting"}' \
        'a["spans"][0]["unknown_ns"] == 0' \
        "($time_of)(0, 'nap', 'blocked') >= 4500000" \
        "($time_of)(0, 'compete', 'running') >= 8000000" \
        "($time_of)(0, 'compete', 'runnable') >= 1000000" \
        "($time_of)(1, 'keep', 'blocked') >= 4500000"
    # Without wakeups, nothing shows that the pipe was written to.
    if [ "$how" = exact ]; then
        # The thread may lose its CPU to the writer before it waits.
        holds "exact: continues in the writer" "($time_of)(1, 'answer', 'running') > 0" \
            "($time_of)(1, 'answer', 'running') + ($time_of)(0, 'ask', 'runnable') >= 4000000" \
            'any(p["waits"][0]["kind"] == "block" and p["function"] == "answer"
                for p in a["spans"][0]["parts"] if p["waits"])'
    else
        holds "plain: stays" "($time_of)(0, 'ask', 'blocked') >= 1000000"
    fi
    tool "$how: text" path --function request "$how"
    grep -q '^  running .*, waiting for a CPU .*, blocked ' output || fail "$how: no sums"
    grep -q '^states: from the scheduler' output ||
        fail "$how: the output does not state how exact it is"
    grep -q ' runnable .* in compete ([0-9]* times)$' output || grep -q ' runnable .* in compete$' \
        output || fail "$how: no wait for a CPU: $(cat output)"
    tool "$how: CSV" path --function request --csv "$how"
    python3 -c '
import csv
rows = list(csv.DictReader(open("output")))
assert {r["state"] for r in rows} >= {"running", "runnable", "blocked"}
assert abs(sum(float(r["share"]) for r in rows) - 1) < 1e-3' || fail "$how: CSV"
done

# Waits: the parts of each sum to it; the writer to a pipe ended the wait of its reader.
"${with_tracefs[@]}" "$PROBITY" record --sched --calls io,locks,sleep,threads -o calls -- \
    "$PROGRAMS/wakings.shared" 3 > printed 2> errors || fail "calls: status $?: $(cat errors)"
row='lambda kind, name: next(r for r in a["rows"] if (r["kind"], r["name"]) == (kind, name))'
sums='lambda x, ns: x["running_ns"] + x["waiting_ns"] + x["blocked_ns"] + x["unknown_ns"] == x[ns]'
tool "waits" waits --json calls
holds "waits" "all(($sums)(r, 'total_ns') for r in a['rows'])" \
    "all(($sums)(h, 'ns') for r in a['rows'] for h in r['held_by'])" \
    "all(($sums)(w, 'ns') for r in a['rows'] for w in r['worst'])" \
    "($row)('cpu', 'CPU')['waits'] >= 3" \
    "($row)('cpu', 'CPU')['waiting_ns'] == ($row)('cpu', 'CPU')['total_ns']" \
    "($row)('sleep', 'nanosleep')['blocked_ns'] > 25000000" \
    "[(h['tid'], h['function']) for r in a['rows'] if r['kind'] == 'lock'
        for h in r['held_by'][:1]] == [(rows[0][1], 'keep')]" \
    "[h['blocked_ns'] >= 13500000 for r in a['rows'] if r['kind'] == 'lock'
        for h in r['held_by'][:1]] == [True]"
if [ ${#with_tracefs[@]} -gt 0 ]; then
    holds "waits: writers" "any(h['tid'] == rows[0][1] and h['function'] == 'answer' and
        h['culprit_of'] == 3 and h['running_ns'] > 10000000
        for h in ($row)('peer', 'pipe')['held_by'])"
fi
tool "waits: by thread" waits --by thread --json calls
holds "waits: by thread" "all(($sums)(r, 'total_ns') for r in a['rows'])" \
    'not any(r["kind"] == "cpu" for r in a["rows"])'
tool "waits: CSV" waits --csv calls
head -n 1 output | grep -q ',running_ns,waiting_ns,blocked_ns,unknown_ns,holder_running_ns,' ||
    fail "waits: CSV: $(head -n 1 output)"
awk -F, '{ print NF }' output | sort -u | wc -l | grep -qx 1 || fail "waits: CSV: ragged"
tool "waits: text" waits calls
grep -qE '^  states   .*[0-9][mun]?s blocked$' output || fail "waits: no states: $(head output)"
grep -qE ' +[0-9]+ .* CPU$' output || fail "waits: no row of the CPU: $(head output)"

# The model: conditions, I/O calls and waits for a CPU of a program without typed queues.
# Sanitized builds record no calls of libc.
model_of_calls() {
    "$CC" -O1 -D_GNU_SOURCE -pthread -o planted "$SOURCE/tests/calls/planted.c"
    "$PROBITY" record --sched --calls io,locks,threads -o model -- ./planted > planted.out \
        2> errors || fail "model: status $?: $(cat errors)"
    tool "model: text" model --text model
    grep -q 'waits for a CPU$' output || fail "model: no waits for a CPU in text"
    tool "model" model --json model
    expect "model: conditions with a lock" 1 \
        "$(jq '[.conditions[] | select(.mutex != null and .waits > 0 and .wakings == .waits and
            .waiting.count == .waits)] | length' output)"
    [ "$(jq '[.groups[].run_queue.count] | add' output)" -gt 0 ] || fail "model: no waits for a CPU"
    "$PROBITY" csv --columns role,name model > hits
    expect "model: condition waits" "$(grep -c '^condition-wait,' hits)" \
        "$(jq '[.conditions[].waits] | add' output)"
    expect "model: notifies" "$(grep -c '^notify,' hits)" \
        "$(jq '[.conditions[].notifies] | add' output)"
    jq -e '[.groups[].calls[] | .count == .wall.count and (.off_cpu.count <= .count)] | all and
        length > 0' output > /dev/null || fail "model: calls: $(jq -c '[.groups[].calls]' output)"
}
[ "${VARIANT:-gcc}" = asan ] || model_of_calls

# The tree: the same nodes as without states, and parts that sum to each time.
tool "tree: CSV" tree --states --csv plain
mv output with.csv
"$PROBITY" tree --csv plain > without.csv
"$PROBITY" tree --states --json --by-thread plain > with.json || fail "tree: JSON: status $?"
python3 - <<'EOF' || fail "tree"
import csv, json
parts = ("running", "waiting", "blocked", "unknown")
rows, plain = (list(csv.DictReader(open(name))) for name in ("with.csv", "without.csv"))
shared = [name for name in rows[0] if name in plain[0]]
assert {"node", "caller", "function", "calls", "total_ns", "self_ns", "share"} <= set(shared)
assert not [name for name in rows[0] if "cpu" in name or "corrected" in name]
assert [[r[name] for name in shared] for r in rows] == \
    [[r[name] for name in shared] for r in plain]
for row in rows:
    for of in "total", "self":
        assert int(row[of + "_ns"]) == sum(int(row[f"{of}_{part}_ns"]) for part in parts), row

def check(node):
    for of in "total", "self":
        if node.get(of + "_ns") is not None:
            assert node[of + "_ns"] == sum(node[f"{of}_{part}_ns"] for part in parts), node
    return 1 + sum(map(check, node["children"]))

tree = json.load(open("with.json"))["tree"]
assert all("tid" in thread for thread in tree)
assert sum(map(check, tree)) == len(rows) + len(tree), (len(rows), len(tree))
EOF
status=0
"$PROBITY" tree --states --folded plain > output 2> errors || status=$?
expect "tree: folded" 2 "$status"

# Without the file: the same as without --sched.
mv calls.sched away
tool "waits without" waits --csv calls
head -n 1 output | grep -q running_ns && fail "waits: states without a file"
grep -q '^cpu,' output && fail "waits: a CPU without a file"
mv plain.sched away
tool "without" path --function request --json plain
holds "without" "$parts_sum" '"running_ns" not in a["spans"][0]' \
    'not {p["state"] for p in a["spans"][0]["parts"]} & {"runnable", "blocked"}'
mv away plain.sched

# Whichever part of the states remains, the parts still add up.
mkdir lost
# shellcheck disable=SC2016
"$PROBITY" record --sched --sched-ring 4 -o "$WORK/lost/trace" -- sh -c '
    kill -STOP $PPID
    "$0" 3 > printed
    kill -CONT $PPID' "$PROGRAMS/wakings" 2> errors || fail "lost: status $?"
tool "lost" path --function request --slowest 9 --json lost/trace
holds "lost" "$parts_sum" 'len(a["spans"]) == 3'
finish
