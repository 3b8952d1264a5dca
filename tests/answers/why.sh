#!/usr/bin/env bash
# `probity why`: names the known cause of each slow call, and the thread that held the lock; its
# parts sum to the call; the same without states, without recorded calls, with spans, and on damaged
# traces.
# variants: clang
. "$(dirname "$0")/../common.bash"

EACH=8
RIGHT_PERCENT=90

# $1 description, $2 status, then the arguments of `probity why`. Writes "output" and "errors".
why() {
    local what=$1 expected=$2 status=0
    shift 2
    "$PROBITY" why "$@" > output 2> errors || status=$?
    expect "$what: status ($(cat errors))" "$expected" "$status"
}

# $1 trace, then options. Each case listed in "truth" must be explained.
record() {
    local trace=$1
    shift
    "$PROBITY" record -f "$@" -o "$trace" -- "$PROGRAMS/slow_causes.shared" "$EACH" \
        > truth 2> errors || fail "$trace: status $?: $(cat errors)"
    why "$trace" 0 --function handle --slowest 1000 --json "$trace"
}

# Compares "output" with "truth". On a busy machine, a call may be preempted for longer than its
# injected delay. Such calls do not count; no other wrong cause may be named. $1 description, $2
# what to accept instead, as a Python dictionary
compare() {
    python3 - "$1" "$2" "$RIGHT_PERCENT" << 'PYTHON' || failures=$((failures + 1))
import ast, json, sys
what, instead, percent = sys.argv[1], ast.literal_eval(sys.argv[2]), int(sys.argv[3])
holders = {"lock": "refill", "condition": "reply"}
cases = json.load(open("output"))["cases"]
truth = [line.split() for line in open("truth")]
faults, right, taken = [], 0, 0
for case in cases:
    if sum(part["ns"] for part in case["parts"].values()) != case["ns"]:
        faults.append(f"parts of the call at {case['at_ns']} do not sum to it")
for kind, begin, end in truth:
    found = [c for c in cases if int(begin) - 1000 <= c["at_ns"] <= int(end)]
    cause = found[0]["cause"] if found else {"kind": "absent"}
    if cause["kind"] == instead.get(kind, kind):
        right += 1
        if cause["kind"] in holders and cause["culprit_function"] != holders[kind]:
            faults.append(f"{kind}: by {cause['culprit_function']}")
    elif (cause["kind"] in ("descheduled", "off-cpu") and
          found[0]["parts"]["running"]["ns"] < cause["ns"]):
        taken += 1
    else:
        faults.append(f"{kind}: named {cause}")
result = f"{right} of {len(truth)} are right, in {taken} the CPU was taken away"
if right * 100 < percent * (len(truth) - taken) or right < len(truth) / 2:
    faults.append(result)
print(f"{what}: {result}")
for fault in faults[:5]:
    print(f"FAILED: {what}: {fault}", file=sys.stderr)
sys.exit(bool(faults))
PYTHON
}

record full --sched --calls io,locks,sleep
without='{"descheduled": "off-cpu", "blocked": "off-cpu"}'
if [ "$(jq '.traces[0].states == null' output)" = false ]; then
    compare "with states and calls" '{}'
    expect "states" true "$(jq '[.cases[].has_states] | all' output)"
else
    echo "left out: thread states are not recorded here: $(cat errors)"
fi
record calls --calls io,locks,sleep
compare "with calls" "$without"
record plain
compare "without both" '{"descheduled": "off-cpu", "blocked": "off-cpu", "lock": "off-cpu",
    "condition": "off-cpu", "io": "off-cpu", "sleep": "off-cpu"}'

# One screen, which ends with the cause.
why "text" 0 --function handle full
[ "$(wc -l < output)" -le 30 ] || fail "text: $(wc -l < output) lines"
grep -q '^handle: .*, in [0-9]* ' output || fail "text: head: $(head -n 1 output)"
grep -qE '^the slowest of [0-9]+ calls; median .*, p99 ' output || fail "text: $(cat output)"
grep -q '^cause: it ' output || fail "text: no cause: $(cat output)"
why "not slow" 0 --function step --slowest 1 plain
why "no such function" 1 --function nothing full
why "nothing chosen" 2 full
why "two ways" 2 --function handle --from 1 --to 2 full
why "one end" 2 --from 1 full

# Spans between probes.
PROBITY_OUT=$WORK/typed "$PROGRAMS/typed" 300 > /dev/null || fail "typed: status $?"
why "spans" 0 --from items:hold --to items:release --slowest 10 --json typed
expect "spans: parts" true "$(jq '[.cases[] | ([.parts[].ns] | add) == .ns] | all' output)"

# A function that is called once cannot be compared.
PROBITY_OUT=$WORK/tree "$PROGRAMS/tree" > /dev/null || fail "tree: status $?"
why "once" 0 --function main tree
grep -q 'the only one in the trace' output || fail "once: $(cat output)"

# Damaged and truncated traces: no crash, and sums are still right.
size=$(stat -c %s full)
for ((at = 3000; at < size; at += size / 6)); do
    cp full damaged
    printf damage | dd of=damaged bs=1 seek=$at conv=notrunc 2> /dev/null
    "$PROBITY" why --function '*' --slowest 50 --json damaged > output 2> errors || true
    [ ! -s output ] || expect "damaged at $at" true \
        "$(jq '[.cases[] | ([.parts[].ns] | add) == .ns] | all' output)"
    head -c "$at" full > damaged
    "$PROBITY" why --function '*' --slowest 50 --json damaged > output 2> errors || true
    [ ! -s output ] || jq -e .cases output > /dev/null || fail "cut at $at: invalid JSON"
done
finish
