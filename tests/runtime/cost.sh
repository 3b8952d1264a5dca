#!/usr/bin/env bash
# The recording cost that a run measures: its place in the trace, the measurements of a killed
# program and of a forked child, and that measuring does not affect the program.
# campaign: tsan
# variants: clang asan
. "$(dirname "$0")/../common.bash"
# The leak checker would wait for threads that a forked child does not have.
export ASAN_OPTIONS=detect_leaks=0

# Prints when the trace's measurements were made, and their kinds: "start:1,2,3 end:1,2,3".
moments() {
    "$PROBITY" info --json "$1" | jq -r '[.[0].overhead // {measurements: []} | .measurements[] |
        "\(.moment):\([.rows[].kind] | unique | map(tostring) | join(","))"] | join(" ")'
}

# Prints all measurements of the inline path.
ALL=1,2,3,4,5,6,9,10,11,12

# Recomputes the ranges printed by `info` from the underlying rows, widened by a tick per window and
# by 1 ns. $1 trace
ranges() {
    "$PROBITY" info --json "$1" | jq -r '.[0] | .times.ns_per_tick as $tick | .overhead as $o |
        def rows($k): [$o.measurements[].rows[] | select(.kind == $k)];
        def wide($least; $most): "\($least) \($most)";
        def range($values): ($tick / $o.measurements[0].rows[0].calls + 1) as $r |
            ($values | min) - $r, ($values | max) + $r;
        {hit: (rows(1) | map(.least_ns, .median_ns)),
         message: (rows(6) | map(.least_ns, .median_ns)),
         scope_own: (rows(3) | map(.least_ns, .median_ns)),
         scope_caller: [rows(2), rows(3)] | transpose |
             map(.[0].least_ns - .[1].least_ns, .[0].median_ns - .[1].median_ns)} | to_entries[] |
        select(.value | length > 0) | [range(.value)] as $r |
        select((($o[.key].least_ns - ([$r[0], 0] | max)) | fabs) > 0.01 or
               (($o[.key].most_ns - $r[1]) | fabs) > 0.01) | .key'
}

# Measured again at the end only if the start is some time ago, unless requested. On a busy machine
# any recording may take that long, so one of several runs must show this.
fresh
for _ in $(seq 50); do
    PROBITY_OUT=$WORK/short PROBITY_OVERWRITE=1 "$PROGRAMS/ends" return 1 10 > /dev/null || true
    [ "$(moments short)" != "start:$ALL" ] || break
done
mkfifo go
PROBITY_OUT=$WORK/long "$PROGRAMS/waiting" < go > ready &
long=$!
exec 3> go
wait_until "$long" test -s ready || fail "a long recording: has ended early"
sleep 0.2 # at least that long
echo >&3
exec 3>&-
wait "$long" || fail "a long recording: status $?"
PROBITY_OUT=$WORK/both PROBITY_COST=1 "$PROGRAMS/tree" > /dev/null
expect "a short recording: moments" "start:$ALL" "$(moments short)"
expect "a short recording, measured twice on request" "start:$ALL end:$ALL" \
    "$(moments both)"
expect "a long recording: moments" "start:$ALL end:$ALL" "$(moments long)"

# The records of a measurement are where its slow path stores them, for each size of a chunk:
# between two ordered readings, time passes.
for records in 512 1024 2048 4096 8192 16384 32768 65536; do
    fresh
    PROBITY_OUT=$WORK/strict PROBITY_ORDER=strict PROBITY_CHUNK_RECORDS=$records \
        "$PROGRAMS/ends" return 1 10 > /dev/null || true
    expect "strict order, chunks of $records: scopes that take no time" 0 \
        "$("$PROBITY" info --json strict | jq '[.[0].overhead.measurements[].rows[] |
            select(.kind == 3 and .least_ns < 1)] | length')"
    expect "strict order, chunks of $records: scopes" true \
        "$("$PROBITY" info --json strict | jq '[.[0].overhead.measurements[].rows[] |
            select(.kind == 3)] | length > 0')"
done

export PROBITY_COST=1
for program in costs costs.shared; do
    fresh
    "$PROGRAMS/$program" trace > output 2> errors || fail "$program: status $?"
    expect "$program: what has changed" "" "$(cat output errors)"
    expect "$program: moments" "start:$ALL end:$ALL" "$(moments trace)"
    "$PROBITY" check trace > /dev/null || fail "$program: check"
    expect "$program: records" "62" "$("$PROBITY" csv trace | wc -l)"
    PROBITY_PROFILE=1 "$PROGRAMS/$program" trace > output 2> errors || fail "$program: status $?"
    expect "$program, profile mode: what has changed" "" "$(cat output errors)"
    expect "$program, profile mode: moments" \
        "start:7,8,9,10,11,12 end:7,8,9,10,11,12" "$(moments trace)"
    PROBITY_CLOCK=monotonic "$PROGRAMS/$program" trace > output 2> errors || fail "status $?"
    expect "$program, other clock: what has changed" "" "$(cat output errors)"
    expect "$program, other clock: moments" "start:1,2,3 end:1,2,3" "$(moments trace)"
    PROBITY_COST=0 "$PROGRAMS/$program" trace > output || fail "$program: status $?"
    expect "$program, switched off: moments" "" "$(moments trace)"
    "$PROBITY" info trace | grep -qx 'overhead      not measured' ||
        fail "expected a note that overhead was not measured"
    # In a mode other than that of the previous recording or of the parent process.
    "$PROGRAMS/$program" trace modes > output 2> errors || fail "$program, modes: status $?"
    expect "$program, modes: what has changed" "" "$(cat output errors)"
    for trace in trace trace.child; do
        expect "$program, modes, $trace: moments" "start:$ALL end:$ALL" \
            "$(moments "$trace")"
        expect "$program, modes, $trace: figures that overflow" "0" \
            "$("$PROBITY" info --json "$trace" | jq '[.[0].overhead.measurements[].rows[] |
                .least_ns, .median_ns | select(. >= 16777215)] | length')"
    done
done
"$PROGRAMS/tree" > /dev/null
PROBITY_OUT=$WORK/ranges "$PROGRAMS/tree" > /dev/null
expect "ranges that differ from the rows" "" "$(ranges ranges)"

# The measurements are the first block after INFO, before the list of sites and the SYNC that marks
# the start of recording, and the last one before END.
types() {
    od -A n -v -t u1 -w1 "$1" | awk '
        { byte[n++] = $1 }
        function u32(at) {
            return byte[at] + 256 * (byte[at + 1] + 256 * (byte[at + 2] + 256 * byte[at + 3]))
        }
        END { for (at = 16; at < n; at += 24 + u32(at + 4)) printf "%d ", byte[at + 12] }'
}
case $(types ranges) in
    "1 7 6 3 2 "*" 7 4 ") ;;
    *) fail "blocks: $(types ranges)" ;;
esac

# A killed program has the first measurement; `recover` adds none.
fresh
{ PROBITY_OUT=$WORK/killed "$PROGRAMS/ends" kill > expected; } 2> errors || true
expect "killed" "start:$ALL" "$(moments killed)"
same_hits "killed" killed
"$PROBITY" recover killed > /dev/null || fail "recover"
expect "recovered" "start:$ALL" "$(moments killed)"
same_hits "recovered" killed

# Children inherit the measurements and measure again when they end.
fresh
PROBITY_OUT=$WORK/trace "$PROGRAMS/forks" plain > expected
same_hits "children" trace*
for trace in trace.*; do
    case $(moments "$trace") in
        "parent:$ALL end:$ALL" | "parent:$ALL") ;;
        *) fail "child: $(moments "$trace")" ;;
    esac
done
expect "a child's figures are its parent's" \
    "$("$PROBITY" info --json trace | jq -c '.[0].overhead.measurements[0].rows')" \
    "$("$PROBITY" info --json "$(find . -name 'trace.*' | head -n 1)" |
        jq -c '.[0].overhead.measurements[0].rows')"
finish
