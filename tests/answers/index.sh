#!/usr/bin/env bash
# An index changes how much is read, but not what is printed: checks random windows of traces of
# many kinds, with and without an index. An index that does not belong to its trace is ignored.
# WINDOWS: number of windows of each trace, chosen by SEED; SEEDS: number of random programs.
. "$(dirname "$0")/../common.bash"
command -v python3 > /dev/null || { echo "left out: no python3"; exit 0; }

chosen=${SEED:-$RANDOM}
echo "seed $chosen"

# $1 number that is added to the seed, then traces
compare() {
    local seed=$((chosen + $1)) trace
    shift
    for trace; do
        "$PROBITY" index --force --every 1 "$trace" || { fail "$trace: no index"; return; }
    done
    python3 "$SOURCE/tests/answers/index_windows.py" "$PROBITY" "$seed" "${WINDOWS:-4}" "$@" \
        > reported ||
        fail "$*: $(cat reported)"
    # 'N different outputs of M': some windows are empty.
    [ "$(tail -n 1 reported | cut -d ' ' -f 1)" -ge $((2 * ${WINDOWS:-4})) ] ||
        fail "$*: $(cat reported)"
}

# $1 name of the trace, then program and arguments
record() {
    local trace=$1
    shift
    PROBITY_OUT=$trace PROBITY_CHUNK_RECORDS=512 "$@" > /dev/null || fail "$*: status $?"
}

record typed "$PROGRAMS/typed" 2000
record signals "$PROGRAMS/typed" 2000 signal
record exported "$PROGRAMS/exported" 4 300
record jumps "$PROGRAMS/jumps" loop 2000
record far "$PROGRAMS/jumps" far 500
record coroutines "$PROGRAMS/jumps" turns 500
record varied "$PROGRAMS/varied" 0 20
record scopes "$BUILD/bench/gen_scopes" scopes 4 0.25 values
record hits "$BUILD/bench/gen" hits 4 0.25
PROBITY_CHUNK_RECORDS=512 "$PROBITY" record -o allocations --calls memory -- \
    "$PROGRAMS/heap.shared" 100 2> truth || fail "allocations: $(cat truth)"
indexed=0
for trace in typed signals exported jumps far coroutines varied scopes hits allocations; do
    # Some have late records or deferred scopes.
    "$PROBITY" index --force --every 1 "$trace" 2> reported || { cat reported; continue; }
    indexed=$((indexed + 1))
    compare "$indexed" "$trace"
done
[ "$indexed" -ge 7 ] || fail "only $indexed of the traces have an index"
compare 20 scopes hits

# From the start of the second recording on, there are only hits, so the blocks between them are
# exported, although the part that an index skips contains calls.
start=$("$PROBITY" info --json scopes hits | python3 -c 'import json, sys
start, later = [fact["times"]["started_ns"] for fact in json.load(sys.stdin)]
print(later - start)')
for format in callgrind folded pprof; do
    for way in with without; do
        "$PROBITY" export --format "$format" --from="${start}ns" -f -o "$way.$format" scopes hits \
            2> reported || fail "$format of hits: $(cat reported)"
        [ $way = without ] || { mv scopes.index aside.1 && mv hits.index aside.2; }
    done
    mv aside.1 scopes.index && mv aside.2 hits.index
    cmp "with.$format" "without.$format" || fail "$format of hits differs with an index"
done
grep -q -- ' -> ' with.callgrind || fail "no blocks of hits: $(cat with.callgrind)"

# Two runs: both sides are read using their indexes.
for range in "--since 20% --until 21%" "--since 90%" "--until 5%"; do
    for pair in "typed exported" "scopes hits" "typed varied"; do
        base=${pair% *} changed=${pair#* }
        for command in "diff --json $range $base -- $changed" \
            "view -o - $range --diff $base $changed"; do
            for way in with without; do
                # shellcheck disable=SC2086
                "$PROBITY" $command > $way 2> reported || echo "status $?" >> $way
                [ $way = without ] && break
                mv "$base.index" "$base.aside" && mv "$changed.index" "$changed.aside"
            done
            mv "$base.aside" "$base.index" && mv "$changed.aside" "$changed.index"
            cmp with without || fail "$command differs with an index"
        done
    done
done

# Blocks before a range are not read, so that damage there is not detected: status 0, not 3. The
# damage is to a block's header or its payload. The range contains the last records, however long
# they took, and the program flushes, so that there is a mark between them and the damage.
damage() {
    python3 - "$1" "$2" << 'PYTHON'
import sys
with open(sys.argv[1], "r+b") as file:
    trace = file.read()
    at = trace.find(b"PBLK", len(trace) // 4) + int(sys.argv[2])
    file.seek(at)
    file.write(bytes([trace[at] ^ 1]))
PYTHON
}
# $1 trace: when the last records begin
late() {
    "$PROBITY" log --probes --time=relative --color=never "$1" | tail -n 1000 | head -n 1 |
        cut -d ' ' -f 1
}
record flushed "$PROGRAMS/typed" 2000 flush
"$PROBITY" index --every 1 flushed || fail "flushed: no index"
declare -A late=([scopes]=$(late scopes) [flushed]=$(late flushed))
for trace in scopes flushed; do
    for part in header payload; do
        cp "$trace" "$part.$trace"
        cp "$trace.index" "$part.$trace.index"
    done
    damage "header.$trace" 0
    damage "payload.$trace" 100
done
while read -r expected trace command; do
    for part in header payload; do
        status=0
        # shellcheck disable=SC2086
        "$PROBITY" $command --since "${late[$trace]}" "$part.$trace" > output 2> reported ||
            status=$?
        expect "$command of $trace, damaged $part: status ($(cat reported))" "$expected" "$status"
    done
done << 'COMMANDS'
0 scopes report
0 scopes waits
0 scopes path --function=*
0 scopes why --function=*
0 scopes view -f -o page.html
0 scopes view --spans=400 -f -o page.html
0 flushed report
0 flushed waits
0 flushed view -f -o page.html
0 flushed view --spans=400 -f -o page.html
COMMANDS

# For a trace without waits and requests, these commands need no record if the index shows that all
# calls match: damage in the range is not detected. Calls left by a longjmp are counted.
[ -e jumps.index ] || fail "jumps: no index"
cp jumps payload.jumps
cp jumps.index payload.jumps.index
damage payload.jumps 100
while read -r expected trace command; do
    status=0
    # shellcheck disable=SC2086
    "$PROBITY" $command --since 0 --until 99% "payload.$trace" > output 2> reported || status=$?
    expect "$command of $trace, damaged in the range: status ($(cat reported))" "$expected" \
        "$status"
done << 'COMMANDS'
3 scopes report
0 scopes waits
1 scopes path
3 scopes path --function=*
3 jumps waits
COMMANDS

# If only some functions are selected, their calls before a range are known, too: one was called at
# the beginning and at the end, another at the beginning.
cat > early.c << 'PROGRAM'
#define FN_INSTRUMENT
#include <FnTrace.h>
static void early(void) { FN_FUNC(void, FN_1); }
static void once(void) { FN_FUNC(void, FN_1); }
static void late(void) { FN_FUNC(void, FN_1); }
int main(void)
{
    early();
    once();
    for (int i = 0; i < 100000; i++)
        late();
    early();
    return 0;
}
PROGRAM
# shellcheck disable=SC2086
$CC -O1 -w $SANITIZE_FLAG -I"$SOURCE/include" -o early early.c "$BUILD/lib/libprobity.a" -lpthread \
    -lm || fail "early: status $?"
record called ./early
for command in "timeline --json --function=early" "timeline --function=once" \
    "export --format folded -o - --function=once" "report --json --function=once"; do
    rm -f called.index
    before=0 after=0
    # shellcheck disable=SC2086
    "$PROBITY" $command --since 50% called > expected 2>&1 || before=$?
    "$PROBITY" index called
    # shellcheck disable=SC2086
    "$PROBITY" $command --since 50% called > found 2>&1 || after=$?
    expect "$command: status" "$before" "$after"
    cmp expected found || fail "$command: $(diff expected found | head -n 5)"
done

# Random programs that leave functions by longjmp.
for seed in $(seq "${SEEDS:-3}"); do
    python3 "$SOURCE/tests/fntrace/random_jumps.py" "$((chosen + seed))" > program.c
    # shellcheck disable=SC2086
    $CC -O1 -w $SANITIZE_FLAG -I"$SOURCE/include" -o program program.c \
        "$BUILD/lib/libprobity.a" -lpthread -lm || { fail "seed $seed"; continue; }
    record "random$seed" ./program
    "$PROBITY" index --force --every 1 "random$seed" 2> reported || { cat reported; continue; }
    compare "$seed" "random$seed"
done

# An index of another trace, a damaged index, and one of an older state of the file are ignored.
"$PROBITY" report --json --since 40% --until 60% scopes > expected
for other in hits typed; do
    cp "$other.index" scopes.index
    "$PROBITY" report --json --since 40% --until 60% scopes > found || fail "the index of $other"
    cmp expected found || fail "the index of $other is used"
done
"$PROBITY" index --force scopes
head -c 3000 scopes.index > short && mv short scopes.index
"$PROBITY" report --json --since 40% --until 60% scopes > found || fail "a cut index"
cmp expected found || fail "a cut index is used"
status=0
"$PROBITY" index scopes 2> reported || status=$?
expect "an index that exists" 1 "$status"
grep -q "already exists" reported || fail "$(cat reported)"

# Golden traces, valid and invalid: those that can have an index give the same output with and
# without it.
indexed=0
for golden in "$SOURCE"/tests/golden/{good,bad}/*.probity; do
    trace=$(basename "$golden")
    cp "$golden" "$trace"
    "$PROBITY" index --every 1 "$trace" 2> reported || continue
    indexed=$((indexed + 1))
    for command in csv log "report --json" "tree --json" "waits --json" "path --csv"; do
        for range in "--since 20% --until 70%" "--since 50%"; do
            for way in with without; do
                # shellcheck disable=SC2086
                "$PROBITY" $command $range "$trace" > $way 2>&1 || echo "status $?" >> $way
                [ $way = without ] || mv "$trace.index" aside
            done
            cmp with without || fail "golden $trace: $command $range"
            mv aside "$trace.index"
        done
    done
done
[ "$indexed" -ge 10 ] || fail "only $indexed golden traces have an index"
[ ! -e last_tick_wrong.probity.index ] || fail "an index though a block's last tick is wrong"

# A killed program's trace has no index, and is read as a whole.
PROBITY_OUT=killed "$PROGRAMS/tree" kill > out 2> reported && fail "it was not killed"
status=0
"$PROBITY" index killed 2> reported || status=$?
expect "the index of a killed program's trace" 1 "$status"
grep -q 'cannot have an index' reported || fail "$(cat reported)"
"$PROBITY" report --since 0 killed > out || fail "a killed program's trace with a range"
finish
