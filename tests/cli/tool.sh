#!/usr/bin/env bash
# Guarantees for all commands: outputs that are not files, names that exist, scripts, several traces
# merged by time, and recordings that ended because the trace could not be written.
# variants: asan
. "$(dirname "$0")/../common.bash"
HELLO=$BUILD/examples/hello

# $1 description, $2 status, $3 word expected in the output or the messages; then the tool's
# arguments
gives() {
    local what=$1 expected=$2 word=$3 status=0
    shift 3
    "$PROBITY" "$@" > output 2> errors || status=$?
    expect "$what: status" "$expected" "$status"
    [ -z "$word" ] || cat output errors | grep -qF -- "$word" ||
        fail "$what: no '$word' in: $(cat output errors)"
}

# The wall times in csv.out never decrease.
in_wall_order() {
    sort -c -s -t, -k6,6n -k7,7n csv.out 2> errors ||
        fail "$1: wall time goes backwards: $(cat errors)"
}

# `info` and `csv` agree on the first and last hit. $1 trace
same_times() {
    "$PROBITY" csv "$1" | awk -F, 'NR == 1 { printf "%d.%09d ", $6, $7 }
        { last = sprintf("%d.%09d", $6, $7) } END { print last }' > csv.times
    "$PROBITY" info --json "$1" | tr -d ' ,"' | awk -F: '
        $1 == "first_ns" || $1 == "last_ns" { $0 = $2; n = length($0) - 9
            printf "%s.%s%s", substr($0, 1, n), substr($0, n + 1), i++ ? "\n" : " " }' > info.times
    expect "times of $1" "$(cat csv.times)" "$(cat info.times)"
}

PROBITY_OUT=$WORK/trace "$PROGRAMS/forks" turns > expected
PROBITY_OUT=$WORK/many "$PROGRAMS/forks" threads > expected
"$PROBITY" csv trace* many* > csv.out
in_wall_order "several traces"
for trace in trace* many*; do
    same_times "$trace"
done
hits=$("$PROBITY" csv trace* | wc -l)
reported=$("$PROBITY" info trace* | awk '$1 == "hits" { n += $2 } END { print n }')
expect "hits in info" "$hits" "$reported"
gives "one trace is missing" 1 '"trace"' info --json none trace

# Outputs of different kinds.
fresh
PROBITY_OUT=$WORK/trace "$HELLO"
ln -s trace link
gives "input as output" 1 "refusing to overwrite input" csv -f -o trace trace
gives "input as output, by a link" 1 "refusing to overwrite input" csv -f -o link trace
mkfifo pipe
gives "record to a pipe" 1 "not a regular file" record -f -o pipe "$HELLO"
[ -p pipe ] || fail "record replaced a pipe"
gives "directory of record" 1 "'none'" record -o none/trace "$HELLO"
# An output that cannot be completed is removed; the file that it would have replaced is kept.
echo old > kept
for command in csv log report tree threads blocks list "export --format chrome"; do
    status=0
    # shellcheck disable=SC2086
    prlimit --fsize=10 "$PROBITY" $command -o half trace > output 2> errors || status=$?
    expect "$command: status at a limit of file size" 1 "$status"
    expect "$command: left at a limit of file size" "" "$(find . -name 'half*')"
    # shellcheck disable=SC2086
    prlimit --fsize=10 "$PROBITY" $command -f -o kept trace > output 2> errors || true
    expect "$command: what was to be replaced" "old kept" \
        "$(cat kept) $(find . -name 'kept*' -printf %f)"
done
for command in info check csv; do
    status=0
    "$PROBITY" $command trace >&- 2> errors || status=$?
    expect "$command: stdout closed" 1 "$status"
done
for command in record csv info check recover; do
    gives "$command: unknown option" 2 "unknown or ambiguous option '--sundial'" $command \
        --sundial trace
    expect "$command: lines" 2 "$(wc -l < errors)"
done

# A name that is taken, and one left by a killed program.
fresh
PROBITY_OUT=$WORK/killed "$PROGRAMS/ends" kill 2 3000 > expected 2> errors || true
gives "check of a killed trace" 0 "more records in the spool" check killed
gives "record over a killed trace" 0 "" record -f -o killed "$HELLO"
no_leftovers "record over a killed trace"

# A script runs several programs, one of which is killed.
fresh
cat > script.sh << END
#!/bin/sh
"$HELLO"
"$PROGRAMS/ends" kill 2 3000 > expected 2> errors
exit 4
END
chmod +x script.sh
gives "script" 4 "" record ./script.sh
grep -q "no trace" errors && fail "script: $(cat errors)"
expect "script: traces" 2 "$(find . -name '*.probity' | wc -l)"
no_leftovers "script"
same_hits "script" ends.*.probity

# In every command that takes several traces, a trace given under several names counts once.
fresh
PROBITY_OUT=$WORK/once.probity "$HELLO"
ln -s once.probity symbolic.probity
ln once.probity hard.probity
cp once.probity copy.probity
for command in csv report threads tree list blocks timeline info; do
    "$PROBITY" $command once.probity > once 2> errors || fail "once: $command: $(cat errors)"
    "$PROBITY" $command once.probity symbolic.probity ./once.probity hard.probity > twice \
        2> errors || fail "twice: $command: $(cat errors)"
    cmp once twice || fail "$command counts a trace twice"
    expect "twice: $command: warnings" 3 "$(grep -c "the same trace as 'once.probity'" errors)"
done
"$PROBITY" csv symbolic.probity "$WORK/missing" hard.probity > twice 2> errors &&
    fail "a missing trace among repeated ones was ignored"
grep -q missing errors || fail "a missing trace: $(cat errors)"
# A copy, too; of an incomplete copy and the complete trace, the latter counts.
head -c -200 once.probity > part.probity
for command in csv report threads tree list blocks timeline info; do
    "$PROBITY" $command once.probity > once
    "$PROBITY" $command once.probity copy.probity symbolic.probity > twice 2> errors ||
        fail "a copy: $command: $(cat errors)"
    cmp once twice || fail "$command counts a copy"
    grep -q "^probity $command: 'copy.probity' is a copy of 'once.probity'; counted once" errors ||
        fail "a copy: $command: $(cat errors)"
    "$PROBITY" $command part.probity once.probity > twice 2> errors ||
        fail "an incomplete copy: $command: $(cat errors)"
    cmp once twice || fail "$command counts an incomplete copy"
    expect "an incomplete copy: $command: warnings" \
        "probity $command: 'part.probity' is a copy of 'once.probity'; counted once" \
        "$(grep -v 'no function calls' errors)"
done

# Not copies: overlapping dumps of a recording, other recordings of the process, and those of its
# children.
cat > several.c << 'END'
#include <probity.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
    PROBITY_PROBE(1);
    probity_snapshot("first");
    /* Otherwise one dump would serve both. */
    while (access("dump-1.probity", F_OK) != 0)
        usleep(1000);
    PROBITY_PROBE(2);
    probity_snapshot("second");
    pid_t child = fork();
    PROBITY_PROBE(3);
    if (child == 0)
        exit(0);
    waitpid(child, NULL, 0);
    probity_stop();
    unsetenv("PROBITY_OUT");
    probity_start(&(struct probity_options){.out = "again.probity"});
    PROBITY_PROBE(4);
    return 0;
}
END
# shellcheck disable=SC2086 # flags
"${CC:-gcc}" $SANITIZE_FLAG -I "$SOURCE/include" -o several several.c "$BUILD/lib/libprobity.a" \
    -pthread || fail "several.c does not build"
PROBITY_RING=10s PROBITY_DUMP="$WORK/dump-%i.probity" PROBITY_OUT="$WORK/several.%p.probity" \
    ./several || fail "several: status $?"
"$PROBITY" info --json dump-*.probity several.*.probity again.probity > info.json 2> errors ||
    fail "several: $(cat errors)"
expect "several recordings: warnings" "" "$(cat errors)"
expect "several recordings" 5 "$(jq length info.json)"

# A thread with only a name has recorded nothing: info counts the threads that `threads` shows.
PROBITY_OUT=$WORK/blocks.probity "$PROGRAMS/blocks" > output
expect "threads" "4 4" "$("$PROBITY" info --json blocks.probity | jq '.[0].counts.threads') $(
    "$PROBITY" threads --json blocks.probity | jq '[.processes[].threads | length] | add')"

# A complete CSV, and the files that a later run leaves next to it. LD_LIBRARY_PATH is needed
# because a sanitizer's dlopen() ignores the program's RUNPATH.
fresh
LD_LIBRARY_PATH=$BUILD/lib PROBITY_OUT=$WORK/run.csv "$HELLO"
gives "finished CSV" 0 "a finished CSV; there is no trace" recover run.csv
gives "finished CSV is not a trace" 1 "is a finished CSV" info run.csv
PROBITY_OUT=$WORK/run.csv "$PROGRAMS/ends" kill 2 3000 > expected 2> errors || true
gives "CSV with a sibling" 1 ".csv.probity' exists as well" recover run.csv

# The status is the program's, so only the message reports the incomplete trace.
fresh
PROBITY_SPOOL_RECORDS=65536 PROBITY_CHUNK_RECORDS=1024 "$PROBITY" record -o failed \
    prlimit --fsize=3000000 "$PROGRAMS/hostile" go_on 4000000 > output 2> errors || true
grep -q "'.*failed' is incomplete" errors || fail "record: expected a message: $(cat errors)"
gives "record of what failed" 3 "recording stopped" info failed
no_leftovers "record of what failed"

# A trace that could not be completed is never reported as complete, and contains every record that
# its facts count.
incomplete() {
    local command
    for command in info check csv; do
        gives "$1: $command" 3 "recording stopped after a write error" $command failed
    done
    "$PROBITY" info --json failed > output || true
    grep -q '"complete": false' output || fail "$1: reported as complete in JSON"
    "$PROBITY" csv failed > csv.out 2> errors || true
    expect "$1: hits" "$("$PROBITY" info failed | awk '$1 == "hits" { print $2 }')" \
        "$(wc -l < csv.out)"
    [ "$(wc -l < csv.out)" -lt 12000000 ] ||
        fail "$1: all hits were recorded: the limit is too high"
    "$PROGRAMS/check_hits" < csv.out > found || fail "$1: what is left is not a prefix of the hits"
}

fresh
PROBITY_OUT=$WORK/failed PROBITY_SPOOL_RECORDS=65536 PROBITY_CHUNK_RECORDS=1024 \
    prlimit --fsize=3000000 "$PROGRAMS/hostile" go_on 4000000 > output 2> errors || true
incomplete "failed"
before=$(wc -l < csv.out)
gives "failed: recover" 3 "recording stopped" recover failed
incomplete "failed and recovered"
expect "failed: hits after recover" "$before" "$(wc -l < csv.out)"

# Control characters are printed as escapes.
PROBITY_OUT=$WORK/named "$BUILD/examples/hello" $'\033[31m\302\233\377 x' > /dev/null
"$PROBITY" info named > out || fail "info: status $?"
grep -qF 'hello \033[31m\u009b\377 x' out || fail "command line: $(grep ^command out | od -An -c)"
rm -f named out

no_leftovers "failed and recovered"
finish
