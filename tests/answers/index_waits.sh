#!/usr/bin/env bash
# Waits in a range: if read from the state of locks, descriptors and waits at a mark of an index,
# they are the same as those of the whole trace, with thread states, too. WINDOWS: number of ranges,
# chosen by SEED.
. "$(dirname "$0")/../common.bash"
command -v python3 > /dev/null || { echo "left out: no python3"; exit 0; }

chosen=${SEED:-$RANDOM}
echo "seed $chosen"

# $1 name of the trace, $2 distance between marks, then a command that records it
record() {
    local trace=$1 every=$2
    shift 2
    PROBITY_OUT=$trace PROBITY_CHUNK_RECORDS=512 "$@" > /dev/null || fail "$*: status $?"
    "$PROBITY" index --every "$every" "$trace" || fail "$trace: no index"
}

# Prints how many states of waits the index of the trace $1 has, if it has the block after them
states() {
    python3 - "$1.index" << 'PYTHON'
import struct, sys
data = open(sys.argv[1], 'rb').read()
at, types = 16, []
while at < len(data):
    size, _, kind = struct.unpack_from('<IIH', data, at + 4)
    types.append(kind)
    at += 24 + size
print(types.count(38) if types[-1] in (39, 42) else 0)
PYTHON
}

# $@: traces, read alone or together, with and without their indexes
compare() {
    python3 "$SOURCE/tests/answers/index_windows.py" "$PROBITY" "$chosen" "${WINDOWS:-3}" --waits \
        "$@" > reported || fail "$*: $(cat reported)"
    [ "$(tail -n 1 reported | cut -d ' ' -f 1)" -ge 8 ] || fail "$*: $(cat reported)"
}

contended=$PROGRAMS/contended
record typed 2 "$contended" 4 400
record alone 4 "$PROGRAMS/typed" 2000
record called 1 "$PROBITY" record -o called --calls locks,threads -- "$contended.shared" 5 200
# Records are dropped, so that the locks that are held are unknown.
PROBITY_SPOOL_RECORDS=16384 PROBITY_MODE=drop record dropped 1 "$contended" 8 1000
for trace in typed alone called dropped; do
    [ "$(states "$trace")" -ge 3 ] || fail "$trace: $(states "$trace") states"
    compare "$trace"
done

# Several traces with a common clock, each of which continues from a state in its index.
for trace in left right; do
    PROBITY_CHUNK_RECORDS=512 "$PROBITY" record -o $trace --calls locks,threads -- \
        "$contended.shared" 4 400 > /dev/null &
done
wait
for trace in left right; do
    "$PROBITY" index --every 1 "$trace" || fail "$trace: no index"
    [ "$(states "$trace")" -ge 3 ] || fail "$trace: $(states "$trace") states"
done
compare left right

# Descriptors are named by calls before the range; states of threads show who ended a wait.
for trace in talk chat; do
    PROBITY_CHUNK_RECORDS=512 "$PROBITY" record --sched -o $trace \
        --calls io,locks,threads,sleep -- "$PROGRAMS/talking.shared" 4 300 > /dev/null \
        2> $trace.reported || fail "$trace: $(cat $trace.reported)"
    "$PROBITY" index --every 1 $trace || fail "$trace: no index"
    [ "$(states $trace)" -ge 5 ] || fail "$trace: $(states $trace) states"
    compare $trace
done
compare talk chat
"$PROBITY" waits --by=file --csv --since=90% talk > out
grep -q kept out || fail "no name of a file that was opened before the range: $(cat out)"

# Records before the state are not read, so that damage there is not detected: status 0, not 3. The
# last records are of threads that started after those of the first records had ended.
damage() {
    python3 - "$1" << 'PYTHON'
import struct, sys
with open(sys.argv[1], 'r+b') as file:
    data, at = file.read(), 16
    while struct.unpack_from('<H', data, at + 12)[0] != 2:  # the first block of records
        at += 24 + struct.unpack_from('<I', data, at + 4)[0]
    file.seek(at + 100)
    file.write(bytes([data[at + 100] ^ 1]))
PYTHON
}
late=@$("$PROBITY" csv --columns=wall typed | tail -n 200 | head -n 1)
damage typed
for command in waits "path --function=turn" "why --function=turn"; do
    for range in "0 --since=$late" "3 "; do
        status=0
        # shellcheck disable=SC2086
        "$PROBITY" $command ${range#* } typed > out 2> reported || status=$?
        expect "$command ${range#* }: $(cat reported)" "${range%% *}" "$status"
    done
done
damage left
for command in waits "path --function=*" "why --function=*" "view -o -"; do
    for range in "0 --since=90%" "3 "; do
        status=0
        # shellcheck disable=SC2086
        "$PROBITY" $command ${range#* } left right > out 2> reported || status=$?
        expect "$command ${range#* } of two: $(cat reported)" "${range%% *}" "$status"
    done
done
# The same for calls for input and output, and for thread states, all of which are otherwise hidden
# by damage to the first ones.
damage talk
for command in waits "path --function=turn" "why --function=turn" "view -o -"; do
    for range in "0 --since=90%" "3 "; do
        status=0
        # shellcheck disable=SC2086
        "$PROBITY" $command ${range#* } talk > out 2> reported || status=$?
        expect "$command ${range#* } of calls: $(cat reported)" "${range%% *}" "$status"
    done
done
# $@: options
states_of() {
    "$PROBITY" threads --json "$@" chat 2> reported | jq '.processes[0].running_ns // 0'
}
if [ -e chat.sched ]; then
    expected=$(states_of --since=90%)
    [ "$expected" -gt 0 ] || fail "no thread states"
    damage chat.sched
    expect "thread states of a range" "$expected" "$(states_of --since=90%)"
    expect "thread states that are damaged" 0 "$(states_of)"
    # Not the file that the index lists: nothing is known, with or without an index.
    printf x >> chat.sched
    expect "thread states that have changed" 0 "$(states_of --since=90%)"
    "$PROBITY" waits --json --since=90% chat > with || fail "waits without states"
    mv chat.index aside
    "$PROBITY" waits --json --since=90% chat > without || fail "waits without states and index"
    cmp with without || fail "waits differ without the states that the index lists"
else
    grep -q 'thread states are not recorded' chat.reported ||
        fail "no thread states: $(cat chat.reported)"
    echo "left out: thread states at marks: $(cat chat.reported)"
fi
# All threads are followed, so that the waits of one thread have their holders.
tid=$("$PROBITY" threads --json typed 2> /dev/null | jq '.processes[0].threads[-1].tid')
for range in "0 --since=$late" "3 "; do
    status=0
    # shellcheck disable=SC2086
    "$PROBITY" view -o - --tid "$tid" ${range#* } typed > out 2> reported || status=$?
    expect "view --tid ${range#* }: $(cat reported)" "${range%% *}" "$status"
done
finish
