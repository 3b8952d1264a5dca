#!/usr/bin/env bash
# Start, stop, flush, modes, clocks, names and ids: the counts are exact. UNNAMED, BESIDE, FLUSHES:
# how often a recording is started without a name, started while threads probe, and flushed.
# variants: asan tsan clang
. "$(dirname "$0")/../common.bash"

run() {
    local status=0
    timeout 300 "$PROGRAMS/$1" "$2" "$3" > expected 2> errors || status=$?
    [ "$status" = 0 ] || fail "$1 $2: status $status: $(head -n 2 errors)"
}

ids=2000000 many=3000000
UNNAMED=${UNNAMED:-120} BESIDE=${BESIDE:-30} FLUSHES=${FLUSHES:-300}
[ "${VARIANT:-gcc}" = gcc ] || ids=100000
case ${VARIANT:-gcc} in
    asan | tsan | aarch64) many=300000 ;;
esac
for program in $(forms_of control); do
    fresh
    run $program restart 20
    same_hits "$program restart" trace*
    expect "restart: traces" 20 "$(find . -name 'trace*' | wc -l)"
    no_leftovers restart

    # Every recording is kept, and names that the program has already used cause no message.
    fresh
    run $program restart_unnamed "$UNNAMED"
    same_hits "$program restart unnamed" "$program".*.probity
    expect "restart unnamed: traces" "$UNNAMED" "$(find . -name '*.probity' | wc -l)"
    expect "restart unnamed: stderr" "" "$(cat errors)"
    no_leftovers "restart unnamed"
    # A message on one line gives the replacement for a name that is taken.
    fresh
    touch trace
    PROBITY_OUT=trace run $program restart_unnamed 3
    expect "restart, name taken: stderr" 1 "$(grep -c 'output exists; recording to' errors)"
    same_hits "$program restart, name taken" trace.*
    expect "restart, name taken: traces" 3 "$(find . -name 'trace.*' | wc -l)"

    # Each trace has a gapless part of each stream while two threads keep probing.
    fresh
    run $program restart_beside "$BESIDE"
    for trace in trace*; do
        "$PROBITY" csv "$trace" | "$PROGRAMS/check_hits" -f > found ||
            fail "$program beside: $trace"
    done
    expect "restart beside: traces" "$BESIDE" "$(find . -name 'trace*' | wc -l)"
    no_leftovers "restart beside"

    fresh
    export PROBITY_CHUNK_RECORDS=512 PROBITY_SPOOL_RECORDS=16384
    PROBITY_OUT=$WORK/trace run $program flush_beside "$FLUSHES"
    same_hits "$program flush" trace

    fresh
    PROBITY_OUT=$WORK/trace PROBITY_MODE=drop run $program fast $many
    # A hit after lost hits has no predecessor.
    losses=$("$PROBITY" log trace 2> log.err | grep -c 'records lost here' || true)
    "$PROBITY" csv trace > csv.out 2> csv.err || [ $? = 3 ]
    recorded=$(wc -l < csv.out)
    dropped=$("$PROBITY" info trace | sed -n 's/^dropped *\([0-9]*\).*/\1/p')
    expect "$program drop: recorded + dropped" $many $((recorded + dropped))
    [ "$dropped" = 0 ] || [ "$losses" -gt 0 ] ||
        fail "$program drop: expected a line about lost records"
    expect "$program drop: blocks" $((recorded - 1 - losses)) "$("$PROBITY" blocks --csv trace \
        2> blocks.err | awk -F, 'NR > 1 { calls += $5 } END { print calls }' || true)"
    awk -F, '$3 <= last && NR > 1 && last - $3 < 200000 { bad = 1 } { last = $3 }
        END { exit bad }' csv.out || fail "$program drop: out of order"

    fresh
    PROBITY_OUT=$WORK/trace PROBITY_MODE=ring run $program ring 300000
    dropped=$("$PROBITY" info trace | sed -n 's/^dropped *\([0-9]*\).*/\1/p')
    expect "$program ring: dropped" 0 "$dropped"
    newest=$("$PROBITY" csv trace | tail -n 11 | cut -d, -f3 | tr '\n' ' ')
    expect "$program ring: the newest" "37855 262144 262145 262146 262147 262148 262149 262150 \
262151 262152 262153 " "$newest"
    kept=$("$PROBITY" csv trace | wc -l)
    [ "$kept" -ge 4000 ] || fail "$program ring: only $kept hits kept"
    unset PROBITY_CHUNK_RECORDS PROBITY_SPOOL_RECORDS

    fresh
    PROBITY_OUT=$WORK/trace run $program ids "$ids"
    ids=100000
    "$PROBITY" csv trace | cut -d, -f3 | cmp - expected || fail "$program: ids differ"

    fresh
    PROBITY_OUT=$WORK/trace run $program names 1000
    "$PROBITY" csv --columns name trace | sort | uniq -c | sed 's/^ *//' > found
    printf '4000 "second, with a comma"\n4000 first\n4000 the answer\n' | cmp - found ||
        fail "$program names: $(cat found)"

    fresh
    run $program options 30000
    trace=$(tail -n 1 expected)
    sed -i '$d' expected
    same_hits "$program options" "$trace"
    expect "no CPU time" 30000 \
        "$(awk -F, '$4 == "" && $5 == "" && $6 != "" { n++ } END { print n }' csv.out)"

    fresh
    PROBITY_OUT=$WORK/trace PROBITY_CLOCK=monotonic run $program fast 100000
    same_hits "$program with clock_gettime" trace
    fresh
    PROBITY_OUT=$WORK/trace PROBITY_WALL_TIME=0 run $program fast 1000
    "$PROBITY" csv trace | awk -F, '$6 != "" || $7 != "" || $4 == "" { exit 1 }' ||
        fail "$program: wall time was switched off"
    # Sanitizers read clocks, too, by the counter. qemu cannot forbid reading it.
    case ${VARIANT:-gcc} in
        asan | tsan | aarch64) ;;
        *)
            fresh
            run $program without_counter 100000
            same_hits "$program without the counter" trace
            ;;
    esac
done

# Without PROBITY_OUT and without an explicit start, there is no file, thread or spool.
fresh
"$PROGRAMS/control" fast 1000 > /dev/null
expect "off: files" "" "$(find "$WORK" "$SPOOL" -mindepth 1)"
strace=$(command -v strace || true)
if [ -n "$strace" ] && [ "${VARIANT:-gcc}" = gcc ]; then
    strace -f -o calls "$PROGRAMS/control" fast 1000 > /dev/null
    if grep -E '^[0-9]+ +clone|open.*(probity|shm)' calls; then fail "off: failed, see above"; fi
fi

# The tool is never traced, whatever the environment.
fresh
PROBITY_OUT=$WORK/trace "$PROBITY" --version > /dev/null
expect "the tool itself: files" "" "$(find "$WORK" "$SPOOL" -mindepth 1)"
finish
