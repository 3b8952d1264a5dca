#!/usr/bin/env bash
# `probity top`: its counts equal those of other commands, for live and ended programs, in all
# modes; the terminal is restored whenever top ends or is suspended.
# variants: clang asan
# timeout: 600
. "$(dirname "$0")/../common.bash"

top="$PROBITY top"

# $1 description, $2 expected status; the rest: arguments of `probity top`
top_is() {
    local what=$1 expected=$2 status=0
    shift 2
    "$PROBITY" top "$@" > output 2> errors < /dev/null || status=$?
    expect "$what: status ($(cat errors))" "$expected" "$status"
}

# $1 command and its jq expression for [name, calls, wall, max]; $2 trace
of_functions() {
    case $1 in
        top) $top --json --limit 0 "$2" | jq -c '[.rows[] | [.name, .all.calls, .all.wall_ns,
            .all.cpu_ns, .all.max_ns]] | sort' ;;
        report) "$PROBITY" report --json "$2" | jq -c '[.functions[] | [.name, .calls, .total_ns,
            .cpu_total_ns, .max_ns]] | sort' ;;
    esac
}

# ---- Ended programs: the same as other commands ----

top_is "nobody records" 1
grep -q "no program is recording" errors || fail "nobody records: $(cat errors)"
for mode in block ring; do
    PROBITY_MODE=$mode "$PROBITY" record -o "$mode" -- "$PROGRAMS/tree" > /dev/null
    expect "$mode: functions" "$(of_functions report "$mode")" "$(of_functions top "$mode")"
done
PROBITY_PROFILE=1 "$PROBITY" record -o profile -- "$PROGRAMS/tree" > /dev/null
calls='[.. | objects | select(has("calls_per_s")) | [.name, .all.calls]] | sort'
expect "profile: calls" "$($top --json block | jq -c "$calls")" \
    "$($top --json profile | jq -c "$calls")"
"$PROBITY" record -o hits -- "$BUILD/examples/hello" > /dev/null
blocks=$("$PROBITY" blocks --json hits | jq -c '[.blocks[] | [.calls, .wall_ns]] | sort')
expect "blocks" "$blocks" \
    "$($top --by blocks --json hits | jq -c '[.rows[] | [.all.calls, .all.wall_ns]] | sort')"
expect "threads" "$("$PROBITY" threads --json block |
    jq -c '[.processes[].threads[].lifetime_ns] | sort')" \
    "$($top --by threads --json block | jq -c '[.rows[].all.wall_ns] | sort')"
waits='[.rows[] | select(.kind == "lock")
    | ["\(.pid) \(.name) \(.object)", .waits, .total_ns, .max_ns]] | sort'
"$PROBITY" record -o locks -- "$PROGRAMS/planted" 100 > /dev/null ||
    fail "locks: status $?"
expect "locks" "$("$PROBITY" waits --by lock --json locks | jq -c "$waits")" \
    "$($top --by locks --json --limit 0 locks | jq -c '[.rows[]
        | ["\(.pid) \(.name)", .all.calls, .all.wall_ns, .all.max_ns]] | sort')"
[ "$($top --by locks --json locks | jq '.rows | length')" -gt 0 ] || fail "locks: no rows"
top_is "no locks" 0 --by locks block
grep -q '^no waits for locks so far$' output || fail "no locks: $(cat output)"
top_is "only probes" 0 hits
grep -qx 'no functions so far, only blocks: --by blocks' output ||
    fail "only probes: $(cat output)"
top_is "only functions" 0 --by blocks block
grep -qx 'no blocks so far, only functions: --by functions' output ||
    fail "only functions: $(cat output)"
top_is "two traces" 0 block block
calls=$("$PROBITY" report --json block | jq '[.functions[].calls] | add')
expect "two traces: calls" "$((2 * calls))" \
    "$($top --json block block | jq '[.rows[].all.calls] | add')"
top_is "a table" 0 block
grep -q ' fibonacci$' output || fail "a table: $(cat output)"
top_is "one row" 0 --limit 1 --sort calls block
expect "one row" 1 "$(grep -cE ' [0-9.]+[mun]s ' output)"
top_is "no such process" 1 "$$"
top_is "no such trace" 1 nothing
top_is "a wrong interval" 2 --interval 1ms block
top_is "a wrong view" 2 --by lock block
head -c 3000 block > cut.probity
top_is "a damaged trace" 0 cut.probity
head -c 4096 /dev/urandom > random
top_is "no trace" 1 random

# ---- Live programs ----

# Calls work() until its input ends, and prints how often.
cat > busy.c << 'PROGRAM'
#define FN_INSTRUMENT
#include <FnTrace.h>
#include <poll.h>
#include <stdio.h>
static unsigned work(unsigned rounds)
{
    FN_FUNC(unsigned, FN_1);
    unsigned sum = 0;
    for (unsigned i = 0; i < rounds; i++)
        sum = sum * 31 + i;
    return sum;
}
int main(void)
{
    struct pollfd end = {.fd = 0, .events = POLLIN};
    unsigned long calls = 0;
    volatile unsigned sum = 0;
    puts("ready");
    fflush(stdout);
    while (poll(&end, 1, 1) == 0)
        for (unsigned i = 0; i < 100; i++, calls++)
            sum += work(100);
    printf("%lu\n", calls);
    return 0;
}
PROGRAM
"$CC" -O2 -I"$SOURCE/include" ${SANITIZE_FLAG:+"$SANITIZE_FLAG"} busy.c "$BUILD/lib/libprobity.a" \
    -pthread -o busy

# $1 name; the rest: its environment. Sets busy and gate.
start_busy() {
    local name=$1
    shift
    mkfifo "$name.go"
    env PROBITY_OUT="$WORK/$name.probity" "$@" ./busy < "$name.go" > "$name.out" &
    busy=$!
    exec {gate}> "$name.go"
    wait_until "$busy" test -s "$name.out" || fail "$name has ended early"
}

for mode in block ring; do
    start_busy "$mode" PROBITY_MODE=$mode
    mkfifo lines
    $top --interval 100ms --json "$busy" > lines 2> errors &
    watcher=$!
    exec {lines}< lines
    rows='.rows[] | select(.name == "work")'
    seen=0 before=0
    while [ "$seen" -lt 3 ] && read -r line <&"$lines"; do
        calls=$(jq "$rows | .interval.calls" <<< "$line")
        all=$(jq "$rows | .all.calls" <<< "$line")
        [ "${all:-0}" -ge "$before" ] || fail "$mode: from $before to $all calls"
        before=${all:-0}
        [ "${calls:-0}" -eq 0 ] || seen=$((seen + 1))
    done
    expect "$mode: intervals with calls" 3 "$seen"
    echo >&"$gate"
    wait "$busy" || fail "$mode: status $?"
    # The last table is printed after the program's end. Calls may drop out of a ring between two
    # tables.
    while read -r line <&"$lines"; do last=$line; done
    exec {lines}<&-
    wait "$watcher" || fail "$mode: top: status $?: $(cat errors)"
    [ "$mode" = ring ] || expect "$mode: all calls" "$(tail -n 1 "$mode.out")" \
        "$(jq "$rows | .all.calls" <<< "$last")"
    rm lines
done

# ---- A terminal ----

start_busy screen
screen() {
    python3 "$SOURCE/tests/tool/screen.py" "$@"
}
screen 100 12 '=work,b,=no blocks,p,=busy,f,=work,q' "$PROBITY" top "$busy" > output 2> errors ||
    fail "keys: $(cat errors)"
grep -qF $'\033[1m' output || fail "no colors"
NO_COLOR=1 screen 100 12 'q' "$PROBITY" top > output 2> errors || fail "no colors: $(cat errors)"
if grep -qF $'\033[1m' output; then fail "NO_COLOR is ignored"; fi
for way in int term hup stop,q; do
    screen 40 3 "=work,$way" "$PROBITY" top "$busy" > output 2> errors ||
        fail "$way: $(cat errors)"
done
# A frame has as many lines as fit, and the last one is a row.
for rows in 1 2 3 4 5 6; do
    screen 60 "$rows" '=work,q' "$PROBITY" top "$busy" > output 2> errors ||
        fail "$rows rows: $(cat errors)"
    python3 - "$rows" << 'END' || fail "$rows rows"
import sys
frames = open("output", "rb").read().split(b"\033[H")[1:]
heights = [frame.count(b"\n") + 1 for frame in frames]
assert max(heights) <= int(sys.argv[1]), heights
assert any(b"work" in frame for frame in frames), frames[-1:]
END
done
# The key that ends top is shown, even on a narrow terminal.
for columns in 200 80 40 20; do
    screen "$columns" 24 '=q quit,q' "$PROBITY" top "$busy" > output 2> errors ||
        fail "$columns columns: $(cat errors)"
done
for size in "1 1" "2 500" "500 2"; do
    # shellcheck disable=SC2086
    python3 "$SOURCE/tests/tool/screen.py" $size 'q' "$PROBITY" top "$busy" > output 2> errors ||
        fail "$size: $(cat errors)"
done
echo >&"$gate"
wait "$busy" || fail "screen: status $?"
screen 80 24 '=work,q' "$PROBITY" top screen.probity > output 2> errors ||
    fail "an ended program: $(cat errors)"
finish
