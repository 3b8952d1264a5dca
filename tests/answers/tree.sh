#!/usr/bin/env bash
# `probity tree`, `threads`, and the totals over all threads in `report`: checks every number
# against awk's result from `probity log` and `probity csv`; filters, output formats, limits.
# variants: clang asan
# campaign: tsan
. "$(dirname "$0")/../common.bash"
. "$SOURCE/tests/tool/calls.bash"

# The paths in the CSV of a tree, in the same format.
paths_of_csv() {
    awk -F , 'NR > 1 { path[$1] = ($2 > 0 ? path[$2] ";" : "") $7
                       print "path", path[$1], $10, $13 + 0, $14 + 0 }' | sort
}

# Leaves out scopes that were ended by longjmp(), and the self times of their callers, which other
# tests cover.
without_jumps() {
    awk '$2 ~ /landing|jumping/ { print $1, $2, $3; next } { print }'
}

# $1 trace, $2 description
compare_with_log() {
    calls_of "$1" > calls
    sums_of < calls > expected
    [ "$(grep -c '^path' expected)" -gt 3 ] || fail "$2: nothing in the log"
    tool "$2: csv" 0 tree --csv "$1"
    diff <(grep '^path' expected | without_jumps) \
        <(paths_of_csv < output | without_jumps) > difference ||
        fail "$2: paths, awk (<) and tree (>): $(head -n 6 difference)"
    tool "$2: folded" 0 tree --folded "$1"
    diff <(awk '$1 == "path" && $5 > 0 && !/landing/ { print $2, $5 }' expected) \
        <(grep -v landing output | sort) > difference ||
        fail "$2: folded: $(head -n 6 difference)"
    tool "$2: folded calls" 0 tree --folded --value calls "$1"
    diff <(awk '$1 == "path" { print $2, $3 }' expected) <(sort output) > difference ||
        fail "$2: folded calls: $(head -n 6 difference)"
    tool "$2: report" 0 report --csv "$1"
    sed 's/"[^"]*"//g' output | awk -F , 'NR > 1 {
        print "function", $1, $8, $11 + 0, $12 + 0, $18 + 0
        if ($18 > 0 && ($11 / $18 - $19 > 0.0006 || $19 - $11 / $18 > 0.0006))
            print "parallelism of", $1, "is not", $19 }' | sort > found
    diff <(grep '^function' expected | without_jumps) <(without_jumps < found) > difference ||
        fail "$2: functions, awk (<) and report (>): $(head -n 6 difference)"
    tool "$2: callers" 0 tree --csv --callers '*' --depth 1 "$1"
    diff <(awk '$1 == "function" { print "root", $2, $3, $4, $5 }' expected | without_jumps) \
        <(awk -F , 'NR > 1 { print "root", $7, $10, $13 + 0, $14 + 0 }' output | sort |
            without_jumps) > difference ||
        fail "$2: roots of callers, awk (<): $(head -n 6 difference)"
}

PROBITY_OUT=$WORK/shapes "$PROGRAMS/tree"
PROBITY_OUT=$WORK/parallel "$PROGRAMS/parallel"
compare_with_log shapes "calls of all shapes"
compare_with_log parallel "threads"
work=$(awk '$1 == "function" && $2 == "work" { print ($4 > 1.2 * $6) }' expected)
expect "threads are in work() at once" 1 "$work"

# On-CPU and off-CPU times add up, and the threads sum to the whole.
tool "by thread" 0 tree --csv --by-thread parallel
awk -F , 'NR > 1 { path[$1] = ($2 > 0 ? path[$2] ";" : "") $7
    calls[path[$1]] += $10; total[path[$1]] += $13; self[path[$1]] += $14
    if ($16 <= $13 && $16 + $18 != $13) print "off the CPU: " $0 > "wrong" }
    END { for (i in calls) print "path", i, calls[i], total[i], self[i] }' output | sort > found
diff <(grep '^path' expected) found > difference || fail "by thread: $(head -n 5 difference)"
[ ! -s wrong ] || fail "$(head -n 3 wrong)"
expect "threads with trees" 5 "$(awk -F , 'NR > 1 && !seen[$5]++ { n++ } END { print n }' output)"

# Views. work() calls itself once in rounds 0, 5, 10 and 15 (in 4 threads), and calls nap() in 7 of
# 20 rounds and in the call that round 5 makes.
tool "below" 0 tree --csv --function work parallel
expect "below work" "work 80;work;nap 28;work;work 16;work;work;nap 4" "$(paths_of_csv < output |
    awk '{ printf "%s%s %s", n++ ? ";" : "", $2, $3 }')"
# A selected function below another selected one appears only once.
tool "below two" 0 tree --csv --function nap --function work parallel
expect "below nap and work" "nap 4;work 80;work;nap 28;work;work 16;work;work;nap 4" \
    "$(paths_of_csv < output | awk '{ print $2, $3 }' | sort | paste -sd ';')"
tool "callees of two" 0 tree --csv --callees work --callees thread_main parallel
expect "callees of two" "nap;thread_main;work" "$(awk -F , 'NR > 1 { print $7 }' output | sort -u |
    paste -sd ';')"
tool "two views" 2 tree --csv --function work --callees work parallel
tool "below two, one unknown" 1 tree --csv --function work --function nobody parallel
# In the view by callers, there are more nodes than in that by calls.
tool "one row of callers" 0 tree --csv --callers '*' --limit 1 parallel
expect "one row of callers" 2 "$(wc -l < output)"
tool "callers" 0 tree --csv --callers nap parallel
expect "callers of nap" "nap 36;nap;thread_main 4;nap;work 32;nap;work;thread_main 28;\
nap;work;work 4;nap;work;work;thread_main 4" \
    "$(paths_of_csv < output | awk '{ printf "%s%s %s", n++ ? ";" : "", $2, $3 }')"
expect "total of callers" "$(awk '$1 == "function" && $2 == "nap" { print $4 }' expected)" \
    "$(awk -F , '$7 == "nap" { print $13 }' output)"
tool "callees" 0 tree --csv --callees work parallel
expect "callees of work" "work 96;work;nap 32;work;work 16" "$(paths_of_csv < output |
    awk '{ printf "%s%s %s", n++ ? ";" : "", $2, $3 }')"
tool "folded recursion" 0 tree --csv --fold-recursion --function work parallel
expect "one node of work" "work 96;work;nap 32" "$(paths_of_csv < output |
    awk '{ printf "%s%s %s", n++ ? ";" : "", $2, $3 }')"
expect "its total" "$(awk '$1 == "function" && $2 == "work" { print $4 }' expected)" \
    "$(awk -F , '$7 == "work" { print $13 }' output)"
tool "depth" 0 tree --depth 2 --folded parallel
expect "time of what is cut stays" "$(awk '$1 == "path" && $2 == "thread_main" { print $4 }' \
    expected)" "$(awk '$1 ~ /^thread_main/ { sum += $2 } END { print sum }' output)"
tool "percent" 0 tree --min-percent 99.9 parallel
grep -q ' nodes are not shown$' output || fail "expected a note about omitted rows"
tool "text" 0 tree --sort calls parallel
grep -qE '^ +80 .* (├─|\|-|`-|└─) work$' output || fail "no work in: $(cat output)"
grep -q '^trace: parallel: complete: ' output || fail "expected the line about completeness"
for command in tree threads report; do
    tool "$command: JSON" 0 "$command" --json shapes
    python3 -c 'import json, sys; json.load(sys.stdin)' < output || fail "$command: invalid JSON"
    rm -f table
    tool "$command: file" 0 "$command" -o table shapes
    tool "$command: file that exists" 1 "$command" -o table shapes
    tool "$command: replaced" 0 "$command" -f -o table shapes
    tool "$command: input as output" 1 "$command" -f -o shapes shapes
    status=0
    "$PROBITY" "$command" shapes > /dev/full 2> errors || status=$?
    expect "$command: full disk" 1 "$status"
    tool "$command: no thread" 1 "$command" --tid 1 shapes
    tool "$command: before all" 0 "$command" --to 0 shapes
    tool "$command: no trace" 2 "$command"
    tool "$command: two forms" 2 "$command" --json --csv shapes
    head -c $(($(stat -c %s parallel) * 2 / 3)) parallel > part
    tool "$command: cut" 3 "$command" part
    grep -q 'INCOMPLETE' output || fail "$command: a truncated trace is reported as complete"
done
tool "no such function" 1 tree --function nobody shapes
for wrong in "--sort none" "--depth x" "--min-percent 101" "--value none" \
    "--callers a --callees b" "--value cpu" "--value cpu --json"; do
    # shellcheck disable=SC2086
    tool "wrong: $wrong" 2 tree $wrong shapes
done
tool "all columns" 0 report --wide parallel
grep -q ' elapsed at once ' output || fail "no elapsed time in: $(head -n 2 output)"
tool "columns" 0 report --columns calls,parallelism,p99 --sort parallelism parallel
expect "names of columns" "calls at once p99 function" "$(sed -n 2p output | xargs)"
tool "wrong column" 2 report --columns calls,name parallel

# Threads: hits and CPU time are from the CSV, scopes from the log.
tool "threads" 0 threads --csv parallel
cp output threads
"$PROBITY" csv --columns tid,wall_ns,cpu_ns parallel | awk -F , '
    { hits[$1]++ } END { for (tid in hits) print tid, hits[tid] }' | sort > expected
awk -F , 'NR > 1 && $12 > 0 { print $2, $12 }' threads | sort > found
cmp -s expected found || fail "hits: $(diff expected found)"
calls_of parallel | awk '{ scopes[$1]++
        if (!($1 in first) || $2 < first[$1]) first[$1] = $2
        if ($3 > last[$1]) last[$1] = $3 }
    END { for (tid in scopes) printf "%d %d %.0f %d\n", tid, scopes[tid], last[tid] - first[tid],
        2 * scopes[tid] }' | sort > expected
awk -F , 'NR > 1 { print $2, $13, $6, $11 - $12 }' threads | sort > found
cmp -s expected found || fail "scopes, time, records, awk (<): $(diff expected found)"
awk -F , 'NR > 1 { sum += $10; if ($8 + $9 != $6 && $8 < $6) print "time: " $0
    if ($7 != $6) print "outermost scope: " $0 }
    END { if (sum < 0.99999 || sum > 1.00001) print "shares: " sum }' threads > wrong
[ ! -s wrong ] || fail "$(head -n 3 wrong)"
# In a program with only hits, CPU time runs from the first hit to the last.
PROBITY_OUT=$WORK/hits "$BUILD/examples/hello" > /dev/null
tool "threads of hits" 0 threads --csv hits
cp output threads
"$PROBITY" csv --columns tid,wall_ns,cpu_ns hits | awk -F , '
    !($1 in n) { wall[$1] = $2; cpu[$1] = $3 }
    { n[$1]++; end[$1] = $2; cpu_end[$1] = $3 }
    END { for (tid in n) printf "%d %d %.0f %d\n", tid, n[tid], cpu_end[tid] - cpu[tid],
        n[tid] }' | sort > expected
awk -F , 'NR > 1 { print $2, $12, $8, $11 }' threads | sort > found
cmp -s expected found || fail "CPU of hits, awk (<): $(diff expected found)"
tool "order" 0 threads --sort cpu --csv parallel
awk -F , 'NR > 2 && $8 > last { print } NR > 1 { last = $8 }' output > wrong
[ ! -s wrong ] || fail "not sorted by CPU time"
finish
