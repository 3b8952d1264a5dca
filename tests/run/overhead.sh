#!/usr/bin/env bash
# `probity overhead`: its figures against those of an awk program over its own runs, what it says of
# programs that fail, and that it leaves nothing behind, also when it is interrupted.
# variants: clang
# campaign: tsan
. "$(dirname "$0")/common.bash"
export TMPDIR=$WORK/tmp
mkdir "$TMPDIR"

# $1 what, $2 status; then arguments of overhead. Leaves "output" and "errors".
overhead() {
    local what=$1 expected=$2 status=0
    shift 2
    "$PROBITY" overhead "$@" > output 2> errors || status=$?
    expect "$what: status ($(cat errors))" "$expected" "$status"
    [ -z "$(ls "$TMPDIR")" ] || fail "$what: left behind: $(find "$TMPDIR" | tail -n 2)"
    no_leftovers "$what"
}

# $1 what, $2 text of the one line on stderr
told() {
    [ "$(wc -l < errors)" -eq 1 ] || fail "$1: not one line: $(cat errors)"
    grep -qF -- "$2" errors || fail "$1: '$2' is not in: $(cat errors)"
}

# From the JSON's runs: "OFF ON SLOWDOWN LOW HIGH ADDED LOW HIGH" of wall or CPU time. Of 8 pairs,
# 4 of the 256 sums of ranks are below 4 or above its mirror image: the interval leaves out 3 means
# at each end. $1 wall or cpu
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

ENDS=$PROGRAMS/ends
overhead "JSON" 0 --json -n 8 -- "$ENDS" exec 2 5000
expect "wall" "$(from_runs wall)" "$(from_answer wall)"
expect "CPU" "$(from_runs cpu)" "$(from_answer cpu)"
expect "turns" "false true false true false true false true" \
    "$(jq -r '[.pairs[].on_came_first] | map(tostring) | join(" ")' output)"
# Of the program and of the one behind exec, as one run by hand has them.
PROBITY_OUT=$WORK/by_hand.%p "$ENDS" exec 2 5000 > /dev/null 2>&1
records=$("$PROBITY" info by_hand.* | awk '$1 == "records" { n += $2 + $6 } END { print n }')
rm -rf "${SPOOL:?}"/*
expect "records" "$records $records 2 0 0" "$(jq -r '[.records.least, .records.most,
    (.records.traces / 8), .records.lost, .records.incomplete] | map(tostring) | join(" ")' output)"
expect "nothing is recorded without" "0 0" \
    "$(jq -r '[([.pairs[].off.traces] | add), ([.pairs[].off.records] | add)] | map(tostring) |
        join(" ")' output)"

overhead "CSV" 0 --csv -n 1 "$PROGRAMS/tree"
expect "lines" "pair,recording 1,0 1,1" \
    "$(cut -d, -f1,2 output | paste -sd' ')"
overhead "text" 0 -n 1 "$PROGRAMS/tree"
grep -q 'too few pairs for an interval' output || fail "no word of too few pairs"
grep -qx 'records lost: 0; traces: 1, not complete: 0' output || fail "no word of losses"

overhead "profile mode" 0 --profile --json -n 1 "$PROGRAMS/tree"
expect "calls" 218 "$(jq .records.median output)"

# Another program without recording: it is told by what it does not do.
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
[ ! -e none ] || fail "a trace outside of our folder"

overhead "failing program" 1 -n 2 -- "$ENDS" exit
told "failing program" "without recording, failed with status 7"
overhead "ignored status" 0 -n 2 -i -- "$ENDS" exit
overhead "killed program" 1 -n 2 -- "$ENDS" kill
told "killed program" "without recording, was ended by signal 9 (Killed)"
overhead "killed program, ignored" 0 -n 2 -i --json -- "$ENDS" kill 2 100
{ PROBITY_OUT=$WORK/killed "$ENDS" kill 2 100; } > /dev/null 2>&1 || true
records=$("$PROBITY" info killed | awk '$1 == "records" { n += $2 + $6 } END { print n }')
rm -rf "${SPOOL:?}"/*
expect "its records" "$records" "$(jq .records.least output)"
overhead "no probes" 1 -n 2 true
told "no probes" "'true' made no trace"
overhead "no program" 1 ./none
told "no program" "cannot run './none': No such file or directory"
overhead "no base" 1 --base ./none -- "$PROGRAMS/tree"
told "no base" "cannot run './none': No such file or directory"
overhead "no operand" 2
overhead "no number" 2 -n 0 true
overhead "no time" 2 --min-time x true
overhead "both" 2 --json --csv true
touch there
overhead "existing output" 1 -o there true
told "existing output" "'there' exists"
TMPDIR=/dev/null "$PROBITY" overhead true 2> errors && fail "no folder: status 0"
told "no folder" "cannot make a folder in '/dev/null'"

# Interrupted while a program runs that does not end by itself: the program ends too, and nothing
# of it is left.
truncate -s 65536 truth
cat > endless << END
#!/bin/sh
[ -z "\$PROBITY_OUT" ] || exec "$PROGRAMS/victim" truth 1 0 1000
END
chmod +x endless
for signal in INT TERM HUP; do
    # A job in the background ignores SIGINT unless it is told otherwise.
    env --default-signal=INT "$PROBITY" overhead -n 1 ./endless > output 2> errors &
    tool=$!
    until [ -n "$(ls "$SPOOL")" ]; do :; done
    kill -s $signal $tool
    status=0
    { wait $tool; } 2> /dev/null || status=$?
    expect "$signal: status" "$((128 + $(kill -l $signal)))" "$status"
    [ -z "$(ls "$TMPDIR")" ] || fail "$signal: left behind: $(find "$TMPDIR")"
    no_leftovers "$signal"
done
finish
