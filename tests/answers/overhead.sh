#!/usr/bin/env bash
# `probity overhead`: checks its figures against awk's from its own runs; its messages about
# programs that fail; that no file or process is left behind, even after an interrupt.
# variants: clang
# campaign: tsan
. "$(dirname "$0")/../common.bash"
export TMPDIR=$WORK/tmp
mkdir "$TMPDIR"

# $1 description, $2 status; then arguments of overhead. Writes "output" and "errors".
overhead() {
    local what=$1 expected=$2 status=0
    shift 2
    "$PROBITY" overhead "$@" > output 2> errors || status=$?
    expect "$what: status ($(cat errors))" "$expected" "$status"
    [ -z "$(ls "$TMPDIR")" ] || fail "$what: files left over: $(find "$TMPDIR" | tail -n 2)"
    no_leftovers "$what"
}

# $1 description, $2 text of the single line on stderr
reported() {
    [ "$(wc -l < errors)" -eq 1 ] || fail "$1: not one line: $(cat errors)"
    grep -qF -- "$2" errors || fail "$1: '$2' is not in: $(cat errors)"
}

# Computes, from the runs in the JSON, "OFF ON SLOWDOWN LOW HIGH ADDED LOW HIGH" of wall or CPU
# time. With 8 pairs, 4 of the 256 rank sums are below 4 and as many above its mirror image, so the
# interval excludes 3 means at each end. $1 wall or cpu
from_runs() {
    jq -r --arg time "$1" '.pairs[] | [.off, .on] |
        map(if $time == "wall" then .wall_ns else .user_ns + .system_ns end) | @tsv' output | awk '
        function sort(list, n,    i, j, t) {
            for (i = 2; i <= n; i++)
                for (j = i; j > 1 && list[j - 1] > list[j]; j--) {
                    t = list[j]; list[j] = list[j - 1]; list[j - 1] = t
                }
        }
        function median(list, n) {
            sort(list, n)
            return n % 2 ? list[(n + 1) / 2] : (list[n / 2] + list[n / 2 + 1]) / 2
        }
        function walsh(list, n,    i, j) {
            made = 0
            for (i = 1; i <= n; i++)
                for (j = i; j <= n; j++)
                    mean[++made] = (list[i] + list[j]) / 2
            middle = median(mean, made)
        }
        { off[NR] = $1; on[NR] = $2; ratio[NR] = log($2 / $1); added[NR] = $2 - $1 }
        END {
            walsh(ratio, NR)
            rates = sprintf("%.6f %.6f %.6f", exp(middle) - 1, exp(mean[4]) - 1,
                exp(mean[made - 3]) - 1)
            walsh(added, NR)
            printf "%.0f %.0f %s %.0f %.0f %.0f\n", median(off, NR), median(on, NR), rates,
                middle, mean[4], mean[made - 3]
        }'
}

from_answer() {
    jq -r --arg time "$1" '.[$time] | [.off_ns, .on_ns, .slowdown.estimate, .slowdown.low,
        .slowdown.high, .added_ns.estimate, .added_ns.low, .added_ns.high] | @tsv' output |
        awk '{ printf "%.0f %.0f %.6f %.6f %.6f %.0f %.0f %.0f\n", $1, $2, $3, $4, $5, $6, $7, $8 }'
}

# Numbers rounded twice may differ in the last digit.
agree() {
    awk -v expected="$2" -v found="$3" 'BEGIN {
        count = split(expected, one, " ")
        if (split(found, other, " ") != count)
            exit 1
        for (i = 1; i <= count; i++) {
            off = one[i] - other[i]
            size = one[i] < 0 ? -one[i] : one[i]
            if (off > 1e-5 * (size + 1) || -off > 1e-5 * (size + 1))
                exit 1
        }
    }' || fail "$1: expected '$2', found '$3'"
}

# One thread: with several, a thread that starts while the first one records the declarations
# repeats these, so there may be more records.
ENDS=$PROGRAMS/ends
overhead "JSON" 0 --json -n 8 -- "$ENDS" exec 0 15000
agree "wall" "$(from_runs wall)" "$(from_answer wall)"
agree "CPU" "$(from_runs cpu)" "$(from_answer cpu)"
expect "turns" "false true false true false true false true" \
    "$(jq -r '[.pairs[].on_came_first] | map(tostring) | join(" ")' output)"
# Counts the records of the program and of the program that it execs, like a manual run.
PROBITY_OUT=$WORK/by_hand.%p "$ENDS" exec 0 15000 > /dev/null 2>&1
records=$("$PROBITY" info by_hand.* | awk '$1 == "records" { n += $2 + $6 } END { print n }')
rm -rf "${SPOOL:?}"/*
expect "records" "$records $records 2 0 0" "$(jq -r '[.records.least, .records.most,
    (.records.traces / 8), .records.lost, .records.incomplete] | map(tostring) | join(" ")' output)"
expect "nothing is recorded without" "0 0" \
    "$(jq -r '[([.pairs[].off.traces] | add), ([.pairs[].off.records] | add)] | map(tostring) |
        join(" ")' output)"

overhead "CSV" 0 --csv -n 1 "$PROGRAMS/tree"
expect "lines" "pair,recording 1,0 1,1 1,2" \
    "$(cut -d, -f1,2 output | paste -sd' ')"
overhead "text" 0 -n 1 "$PROGRAMS/tree"
grep -q 'too few pairs for an interval' output || fail "expected a note about too few pairs"
grep -qx 'records lost: 0; traces: 1, incomplete: 0' output || fail "expected the line about losses"

overhead "profile mode" 0 --profile --json -n 1 "$PROGRAMS/tree"
expect "calls" 218 "$(jq .records.median output)"

# The cost of start and end is separate from the cost of records; seven records are too few to
# measure.
overhead "few records" 0 -n 6 -- "$PROGRAMS/tree"
grep -q '^start and exit add to each process: CPU time .* wall time ' output ||
    fail "few records: no start: $(cat output)"
grep -qx 'cost per record: unknown (fewer than 100000 per process)' output ||
    fail "few records: $(cat output)"
! grep -q '^a record adds' output || fail "few records: $(cat output)"
overhead "few records, JSON" 0 -n 6 --json -- "$PROGRAMS/tree"
expect "few records: one" null "$(jq -c .record.cpu_ns output)"
overhead "many records" 0 -n 7 -i --json -- "$PROGRAMS/refused" hits 100000
# The runs that measure the start record nothing.
expect "idle runs" "0 0 7" "$(jq -r '[.pairs[].idle] |
    [(map(.records) | add), (map(.calls) | add), (map(.traces) | add)] | map(tostring) |
        join(" ")' output)"
# Medians of all pairwise means: of what the idle runs add, and of the remaining time per record.
jq -r '.pairs[] | [.off, .on, .idle] | map(.user_ns + .system_ns) + [.[1].records] | @tsv' \
    output | awk '
        function median(list, n,    i, j, t) {
            for (i = 2; i <= n; i++)
                for (j = i; j > 1 && list[j - 1] > list[j]; j--) {
                    t = list[j]; list[j] = list[j - 1]; list[j - 1] = t
                }
            return n % 2 ? list[(n + 1) / 2] : (list[n / 2] + list[n / 2 + 1]) / 2
        }
        function walsh(list, n,    i, j, made) {
            for (i = 1; i <= n; i++)
                for (j = i; j <= n; j++)
                    mean[++made] = (list[i] + list[j]) / 2
            return median(mean, made)
        }
        { start[NR] = $3 - $1; record[NR] = ($2 - $3) / $4 }
        END { printf "%.0f %.4f\n", walsh(start, NR), walsh(record, NR) }' > from_runs
agree "start and record" "$(cat from_runs)" "$(jq -r '[.start.cpu_ns.estimate,
    .record.cpu_ns.estimate] | @tsv' output | awk '{ printf "%.0f %.4f\n", $1, $2 }')"
expect "processes" 1 "$(jq .start.processes output)"

# The base is a different program, run without recording; its output shows that it ran.
cat > plain << 'END'
#!/bin/sh
echo ran "$1" ${PROBITY_OUT:+recording} >> ran
END
cat > probing << END
#!/bin/sh
exec "$PROGRAMS/tree"
END
chmod +x plain probing
PROBITY_OUT=$WORK/none PROBITY_LOG=stderr overhead "base" 0 -n 2 --base ./plain -- ./probing word \
    2>> errors
expect "the base runs" "ran word ran word ran word" "$(paste -sd' ' ran)"
[ ! -e none ] || fail "a trace outside of the temporary directory"

overhead "failing program" 1 -n 2 -- "$ENDS" exit
reported "failing program" "without recording, failed with status 7"
overhead "ignored status" 0 -n 2 -i -- "$ENDS" exit
overhead "killed program" 1 -n 2 -- "$ENDS" kill
reported "killed program" "without recording, was terminated by signal 9 (Killed)"
overhead "killed program, ignored" 0 -n 2 -i --json -- "$ENDS" kill 0 300
{ PROBITY_OUT=$WORK/killed "$ENDS" kill 0 300; } > /dev/null 2>&1 || true
records=$("$PROBITY" info killed | awk '$1 == "records" { n += $2 + $6 } END { print n }')
rm -rf "${SPOOL:?}"/*
expect "its records" "$records" "$(jq .records.least output)"
overhead "no probes" 1 -n 2 true
reported "no probes" "'true' wrote no trace"
overhead "no program" 1 ./none
reported "no program" "cannot run './none': No such file or directory"
overhead "no base" 1 --base ./none -- "$PROGRAMS/tree"
reported "no base" "cannot run './none': No such file or directory"
overhead "no operand" 2
overhead "no number" 2 -n 0 true
overhead "no time" 2 --min-time x true
overhead "both" 2 --json --csv true
touch there
overhead "existing output" 1 -o there true
reported "existing output" "'there' already exists"
TMPDIR=/dev/null "$PROBITY" overhead true 2> errors && fail "no directory: exit status 0"
reported "no directory" "cannot create a directory in '/dev/null'"

# Interrupted while it runs a program that does not end by itself: the program ends, too, and leaves
# nothing behind.
truncate -s 65536 truth
cat > endless << END
#!/bin/sh
[ -z "\$PROBITY_OUT" ] || exec "$PROGRAMS/victim" truth 1 0 1000
END
chmod +x endless
has_spool() {
    [ -n "$(ls "$SPOOL")" ]
}
for signal in INT TERM HUP; do
    # A background job ignores SIGINT by default.
    env --default-signal=INT "$PROBITY" overhead -n 1 ./endless > output 2> errors &
    tool=$!
    wait_until $tool has_spool || fail "$signal: no spool: $(cat errors)"
    signal_job $signal $tool || fail "$signal: the tool has ended early"
    status=0
    { wait $tool; } 2> /dev/null || status=$?
    expect "$signal: status" "$((128 + $(kill -l $signal)))" "$status"
    [ -z "$(ls "$TMPDIR")" ] || fail "$signal: files left over: $(find "$TMPDIR")"
    no_leftovers "$signal"
done
finish
