#!/usr/bin/env bash
# `probity diff`: checks its numbers against awk's from `probity report`, its verdicts on a program
# with one slowed function, its error rates on runs of known distribution; limits, output formats,
# usage errors, incomplete traces.
# variants: clang asan
BENCH=$(cd "$(dirname "$0")/../../bench" && pwd)
. "$(dirname "$0")/../common.bash"
VARIED=$PROGRAMS/varied
RUNS=10

# $1 description, $2 status; then arguments of diff. Writes "output" and "errors".
compare() {
    local what=$1 expected=$2 status=0
    shift 2
    "$PROBITY" diff "$@" > output 2> errors || status=$?
    expect "$what: status ($(cat errors))" "$expected" "$status"
}

# Prints column 14 of the CSV (the verdict) or column $3. $1 function, $2 statistic
cell() {
    awk -F , -v name="$1" -v of="$2" -v column="${3:-14}" \
        '$1 == name && $4 == of { print $column }' output
}

# "values" (tab-separated lines SIDE, NAME, STATISTIC, VALUE) and "output" (CSV) must agree. $1
# description, $2 minimum number of comparisons
same_numbers() {
    awk -v runs=$RUNS '
    function ordered(list, n,    i, j, kept) {
        for (i = 2; i <= n; i++) {
            kept = list[i]
            for (j = i - 1; j > 0 && list[j] > kept; j--)
                list[j + 1] = list[j]
            list[j + 1] = kept
        }
    }
    function middle(list, n) { # of a sorted list
        return n % 2 ? list[(n + 1) / 2] : (list[n / 2] + list[n / 2 + 1]) / 2
    }
    function differs(found, expected) {
        return found - expected > 1e-6 * expected || expected - found > 1e-6 * expected
    }
    function check(what, found, expected) {
        checked++
        if (differs(found, expected))
            print $1, $4, what ": expected", expected ", found", found
    }
    # Counts the ways to choose k of the ranks up to n with the sum s: in total, and up to u.
    function probability(u,    n, k, s, ways, all, below) {
        ways[0, 0] = 1
        for (n = 1; n <= 2 * runs; n++)
            for (k = n < runs ? n : runs; k >= 1; k--)
                for (s = 2 * runs * runs; s >= n; s--)
                    ways[k, s] += ways[k - 1, s - n]
        for (s = 0; s <= 2 * runs * runs; s++) {
            all += ways[runs, s]
            below += s - runs * (runs + 1) / 2 <= u ? ways[runs, s] : 0
        }
        return below / all
    }
    FILENAME == "values" { value[$1, $2, $3, ++count[$1, $2, $3]] = $4; next }
    FNR == 1 { split("", seen); next }
    {
        n = count["base", $1, $4]
        if (n != runs || count["new", $1, $4] != runs)
            next
        split("", base); split("", other); split("", ratios)
        pairs = u = ties = 0
        for (i = 1; i <= n; i++) {
            base[i] = value["base", $1, $4, i]
            other[i] = value["new", $1, $4, i]
        }
        for (i = 1; i <= n; i++)
            for (j = 1; j <= n; j++) {
                a = base[i] > 0 ? base[i] : 0.5
                b = other[j] > 0 ? other[j] : 0.5
                ratios[++pairs] = log(b / a)
                u += other[j] > base[i]
                ties += other[j] == base[i] || (i != j && (base[i] == base[j] || \
                    other[i] == other[j]))
            }
        ordered(base, n); ordered(other, n); ordered(ratios, pairs)
        check("base", $7, middle(base, n))
        check("new", $8, middle(other, n))
        check("ratio", $9, exp(middle(ratios, pairs)))
        check("low", $10, exp(ratios[24])) # the critical value for 10 and 10 runs is 23
        check("high", $11, exp(ratios[77]))
        if (ties == 0) {
            u = u < n * n - u ? u : n * n - u
            p = u in known ? known[u] : known[u] = probability(u)
            check("p", $12, 2 * p < 1 ? 2 * p : 1)
        }
    }
    END { print checked + 0 > "checked" }' FS='\t' values FS=, output > faults
    [ ! -s faults ] || fail "$1: $(head -n 5 faults)"
    [ "$(cat checked)" -ge "$2" ] || fail "$1: only $(cat checked) comparisons"
}

# The runs alternate, as the manual page recommends.
for i in $(seq $RUNS); do
    PROBITY_OUT=$WORK/base.$i "$VARIED" 0 40
    PROBITY_OUT=$WORK/new.$i "$VARIED" 200 40
done

# ---- Numbers: values of all runs from the reports, then medians, ratios and ranks by awk ----

for side in base new; do
    for i in $(seq $RUNS); do
        "$PROBITY" report --json "$side.$i" | awk -v side=$side '
            /"name"/ {
                match($0, /"name": "[^"]*"/)
                name = substr($0, RSTART + 9, RLENGTH - 10)
                split("calls self total cpu median p99", of, " ")
                split("calls self_ns total_ns cpu_self_ns p50_ns p99_ns", key, " ")
                for (k = 1; k <= 6; k++) {
                    match($0, "\"" key[k] "\": [0-9]+")
                    text = substr($0, RSTART, RLENGTH)
                    sub(/.*: /, "", text)
                    print side "\t" name "\t" of[k] "\t" text
                }
            }'
    done
done > values
compare "CSV" 0 --csv --sort name base.* -- new.*
same_numbers "functions" 100

# Benjamini-Hochberg: p times tests over rank, made monotonic from the end.
awk -F , 'NR > 1 && $12 != "" { print $12, $13 }' output | sort -g -r > tests
awk 'NR == FNR { tests++; next }
     { p = $1 * tests / (tests - FNR + 1); least = FNR == 1 || p < least ? p : least
       if (least - $2 > 1e-9 || $2 - least > 1e-9) print $1, $2, least }' tests tests > faults
[ ! -s faults ] || fail "adjusted p: $(head -n 3 faults)"

# ---- Spans: the same from `probity blocks`; functions and spans in one comparison ----

for i in $(seq $RUNS); do
    PROBITY_OUT=$WORK/walk.$i "$PROGRAMS/blocks"
    PROBITY_OUT=$WORK/walked.$i "$PROGRAMS/blocks"
done > /dev/null
for i in $(seq $RUNS); do
    for side in base new; do
        trace=walk.$i
        [ $side = base ] || trace=walked.$i
        "$PROBITY" blocks --json "$trace" | jq -r --arg side $side '.blocks[] |
            (.from + " -> " + .to) as $name | select($name | contains("\"") | not) |
            [["calls", .calls], ["total", .wall_ns], ["cpu", .cpu_ns], ["median", .p50_ns],
             ["p99", .p99_ns]][] | [$side, $name] + . | @tsv'
    done
done > values
compare "blocks" 0 --csv walk.? walk.?? -- walked.? walked.??
mv output all
grep -v '"' all > output
same_numbers "blocks" 200
expect "self times of blocks" 0 "$(cell '1 -> 2' self | wc -l)"
expect "kind" block "$(cell '1 -> 2' calls 16)"
compare "one block" 0 --csv --block '1 -> 2' --statistic p50 walk.? -- walked.?
expect "one block" "1 -> 2,,,median" "$(sed 1d output | cut -d , -f 1-4)"
compare "by name" 0 --csv --block '*(two)' --statistic calls walk.? -- walked.?
expect "blocks that lead to a name" "$(grep -c -- '-> 2"*,,,calls,' all)" "$(sed 1d output | wc -l)"
compare "several kinds at once" 0 --json base.? walk.? -- new.? walked.?
expect "functions, blocks" "5 $(sed 1d all | cut -d , -f 1-3 | sort -u | wc -l)" \
    "$(jq -r '"\(.functions | length) \(.blocks | length)"' output | sed 's/ .*//') $(jq \
        '.blocks | length' output)"
compare "functions only" 0 --csv --function '*' base.? walk.? -- new.? walked.?
expect "functions only" function "$(sed 1d output | sed 's/.*,//' | sort -u)"
compare "block's limit" 0 --fail-on 'block:1 -> 2:calls>0' --json walk.? -- walked.?
expect "block's limit: tests" 1 "$(jq .method.tests_of_limits output)"
# With all runs: on a busy machine, this many tests at once need more runs.
compare "all limits" 4 --fail-on 'function:*:cpu>0' --fail-on 'block:*:total>1000' --json \
    base.* walk.? -- new.* walked.?
expect "limits: tests" "$(jq '(.functions | length) + (.blocks | length)' output)" \
    "$(jq .method.tests_of_limits output)"

# ---- Requests: the same from `probity model` ----

for i in $(seq $RUNS); do
    PROBITY_OUT=$WORK/asked.$i "$PROGRAMS/typed" 300
    PROBITY_OUT=$WORK/more.$i "$PROGRAMS/typed" 400
done > /dev/null
for i in $(seq $RUNS); do
    for side in base new; do
        trace=asked.$i
        [ $side = base ] || trace=more.$i
        "$PROBITY" model --json "$trace" | jq -r --arg side $side '.requests[] | .name as $name |
            [["calls", .ends], ["total", .response.total_ns], ["median", .response.p50_ns],
             ["p99", .response.p99_ns]][] | [$side, $name] + . | @tsv'
    done
done > values
compare "requests" 0 --csv --request '*' asked.* -- more.*
same_numbers "requests" 20
expect "statistics of requests" "calls mean median p99 total" \
    "$(sed 1d output | cut -d , -f 4 | sort | paste -sd ' ')"
expect "kind and verdict" "request more" \
    "$(cell request calls 16) $(cell request calls)"
compare "limit of requests" 4 --fail-on 'request:request:calls>0' asked.* -- more.*
grep -q '^limit request:request:calls>0: exceeded by request (+33.3%)$' output ||
    fail "limit of requests: $(tail -n 1 output)"
compare "requests, JSON" 0 --json asked.1 -- more.1
expect "requests, JSON" "request request true 300" "$(jq -r '.requests[] |
    "\(.name) \(.named) \(.is_site) \(.statistics.calls.base[0])"' output)"
compare "requests, text" 0 asked.1 -- more.1
grep -q 'verdict .* of      block or request$' output || fail "title: $(sed -n 4p output)"
compare "no requests" 1 --request '*' base.1 -- new.1
grep -q "no requests match '\*'" errors || fail "no requests: $(cat errors)"
for of in self cpu; do
    compare "requests: $of" 2 --fail-on "request:*:$of>5" asked.1 -- more.1
    grep -q "requests have no $of time; use total" errors || fail "requests: $(cat errors)"
done
# The results from a history are the same.
"$PROBITY" runs --project "$WORK" init > /dev/null
"$PROBITY" runs --project "$WORK" add --label old asked.* > /dev/null
"$PROBITY" runs --project "$WORK" add --label new more.* > /dev/null
compare "requests of traces" 0 --csv --request '*' asked.* -- more.*
mv output traces
for sides in "@old -- @new" "@old -- more.*" "asked.* -- @new"; do
    # shellcheck disable=SC2086
    compare "requests: $sides" 0 --csv --request '*' --project "$WORK" $sides
    cmp -s traces output || fail "requests: $sides: $(diff traces output | head -n 4)"
done
# Unknown requests: without this rule, the change would appear to have added them.
sqlite3 "$WORK/.probity/runs.db" 'UPDATE run SET requests = 0 WHERE number = 3;
    DELETE FROM request WHERE run = 3'
compare "unknown" 0 --project "$WORK" @old -- more.*
reason="1 of $((2 * RUNS)) runs was stored without them (@old, run 3)"
grep -q "^requests are not compared: $reason\$" output || fail "unknown: $(tail -n 5 output)"
! grep -q ' request$' output || fail "unknown requests: $(grep ' request$' output)"
compare "unknown, CSV" 0 --csv --project "$WORK" @old -- more.*
grep -q 'requests are not compared' errors || fail "unknown, CSV: $(cat errors)"
compare "unknown requests" 1 --request '*' --project "$WORK" @old -- more.*
grep -q 'requests are not compared' errors || fail "unknown requests: $(cat errors)"

# ---- Verdicts on the real program ----

compare "CSV" 0 --csv --sort name base.* -- new.*
expect "calls of slowed" same "$(cell slowed calls)"
expect "median of slowed" slower "$(cell slowed median)"
expect "CPU time of slowed" slower "$(cell slowed cpu)"
expect "added" added "$(cell added calls)"
expect "calls of brief" "160" "$(cell brief calls 7)"
compare "text" 0 --sort impact base.* -- new.*
grep -q '^base: 10 runs, new: 10 runs;' output || fail "expected the line about the runs"
! grep -q '^runs differ in build id\|^runs of the' output || fail "differences: $(tail -n 9 output)"
grep -q "^runs differ in command line: '.*varied 0 40' in base.1, '.*varied 200 40' in new.1" \
    output || fail "expected a note about the different command line: $(tail -n 3 output)"
grep -q '^traces: 20 of 20 complete' output || fail "expected the line about completeness"
! grep -q $'\033' output || fail "color in a file"
compare "gone" 0 --csv new.* -- base.*
expect "gone" gone "$(cell added self)"
expect "faster" faster "$(cell slowed median)"

# ---- Limits ----

compare "limit that is exceeded" 4 --fail-on 'cpu>+5%' --statistic cpu base.* -- new.*
grep -q '^limit cpu>+5%: exceeded by slowed (+' output || fail "expected the line about the limit"
compare "limit that is not" 0 --fail-on 'median>+500%' base.* -- new.*
compare "below" 4 --fail-on 'cpu<-5%' --function slowed new.* -- base.*
compare "of several, one" 4 --fail-on 'calls>0%' --fail-on 'p99>1000' --fail-on 'cpu>+5' \
    --function slowed --json base.* -- new.*
grep -q '{"limit": "calls>0%", "exceeded_by": \[\]}' output || fail "limits in JSON"
compare "not the slow one" 0 --fail-on 'calls>+5%' base.* -- new.*
compare "too few runs" 0 --fail-on 'median>+5%' base.1 base.2 -- new.1 new.2
grep -q 'need at least' errors || fail "no warning that a limit cannot be verified"
for idle in "function:slowd:cpu>5" "block:*:cpu>5"; do
    compare "about nothing: $idle" 1 --fail-on "$idle" base.* -- new.*
    grep -qF "limit $idle: nothing compared matches" output || fail "$idle: $(tail -n 1 output)"
    grep -qF -- "--fail-on $idle: nothing compared matches" errors || fail "$(cat errors)"
done
# A function that an earlier --function already selected is checked against the limit, too.
compare "two functions" 4 --fail-on 'function:slowed:cpu>5' --function slowed --function steady \
    base.* -- new.*
compare "two functions, CSV" 0 --csv --function slowed --function steady base.* -- new.*
expect "two functions" "slowed steady" "$(awk -F , 'NR > 1 && !seen[$1]++ { print $1 }' output |
    sort | paste -sd ' ')"
compare "two functions, one unknown" 1 --function slowed --function none base.* -- new.*
grep -q "match 'none'" errors || fail "unknown function among others: $(cat errors)"
compare "filtered away" 1 --fail-on 'function:slowed:cpu>5' --function steady base.* -- new.*
compare "about nothing, and another exceeded" 4 --fail-on 'function:slowd:cpu>5' \
    --fail-on 'cpu>+5%' base.* -- new.*

# ---- One run per side ----

compare "one run" 0 base.1 -- new.1
grep -q '^too few runs for a significant result; need at least 4 per side' output ||
    fail "expected a note about too few runs"
! grep -qE ' (slower|faster|same) ' output || fail "a verdict from a single run"
grep -qE 'inconclusive: ~[0-9]+ runs +cpu +slowed' output || fail "no number of runs"

# ---- Error rates, short version; bench/diff.sh has more repetitions ----

if [ "${RATES:-yes}" = yes ]; then
    bash "$BENCH/diff.sh" "$BUILD" 20 > rates
    awk -F '\t' '{ split($6, target, " ") }
        target[1] == "<=" && $4 > 2 * target[2] || target[1] == ">=" && $4 < target[2] {
            print $3, $4 }
        END { if (NR != 8) print NR " rows" }' rates > faults
    [ ! -s faults ] || fail "error rates: $(cat faults)"
fi

# ---- Output formats and usage errors ----

compare "JSON" 0 --json base.* -- new.*
python3 - << 'END' || fail "unexpected JSON"
import json
d = json.load(open("output"))
assert len(d["base"]) == len(d["new"]) == 10 and d["base"][0]["complete"]
assert d["differences"][0]["what"] == "command line"
one = [f for f in d["functions"] if f["name"] == "slowed"][0]["statistics"]
assert one["calls"]["base"] == [40] * 10 and len(one["self"]["new"]) == 10
END
compare "file" 0 -o table base.* -- new.*
grep -q slowed table || fail "no table in the output file"
compare "file that exists" 1 -o table base.* -- new.*
compare "file, replaced" 0 -f -o table base.* -- new.*
compare "input as output" 1 -f -o base.1 base.1 -- new.1
compare "function, statistics, limit" 0 --csv --function 's*' --statistic self,p50 -n 1 \
    --sort name base.* -- new.*
expect "lines" "slowed self slowed median " \
    "$(awk -F , 'NR > 1 { printf "%s %s ", $1, $4 }' output)"
compare "changes only" 0 --csv --changed --function steady --statistic calls base.* -- new.*
expect "no change" 1 "$(wc -l < output)"
compare "times" 0 --csv --from 100s base.* -- new.*
expect "no calls" 1 "$(wc -l < output)"
compare "options behind operands" 0 base.1 --csv -- new.1
compare "the same on both sides" 0 base.1 -- base.1
compare "twice on one side" 2 base.1 base.1 -- new.1
compare "no such trace" 1 base.1 -- none
status=0
"$PROBITY" diff base.1 -- new.1 > /dev/full 2> errors || status=$?
expect "full disk: status" 1 "$status"
for wrong in "--sort none" "--limit x" "--from x" "--nothing" "--statistic none" "--statistic ," \
    "--tolerance 0" "--tolerance x" "--fail-on p99" "--fail-on x>5" "--fail-on p99>x" \
    "--fail-on p99<-100" "--from 5 --to 3"; do
    # shellcheck disable=SC2086
    compare "wrong: $wrong" 2 $wrong base.1 -- new.1
done
compare "no separator" 2 base.1 new.1
compare "no base" 2 -- new.1
compare "no new" 2 base.1 --

# ---- Truncated traces: the rest is compared and reported as incomplete ----

bytes=$(stat -c %s new.1)
head -c $((bytes * 2 / 3)) new.1 > part
compare "cut" 3 base.1 -- part
grep -q '^trace: part: INCOMPLETE: ' output || fail "a truncated trace is reported as complete"
grep -q '^traces: 1 of 2 complete' output || fail "no count of complete traces"
PROBITY_OUT=$WORK/plain "$BUILD/examples/hello"
compare "no scopes" 1 --function '*' plain -- plain
grep -q '^no calls' output || fail "calls reported for a program without scopes"
compare "no such function" 1 --function none base.1 -- new.1
grep -q "no calls match 'none'" errors || fail "expected an error: $(cat errors)"
compare "no such block" 1 --block none base.1 -- new.1
grep -q "no blocks match 'none'" errors || fail "expected an error: $(cat errors)"

# ---- Runs that do not repeat each other ----

PROBITY_MODE=drop PROBITY_LEVEL=2 PROBITY_OUT=$WORK/other "$VARIED" 0 40
PROBITY_OUT=$WORK/build "$PROGRAMS/varied.shared" 0 40
compare "within a side" 0 --json base.1 other -- build new.1
jq -r '.differences[] | .where + " " + .what + ": " + (.values | join("|"))' output > found
for line in 'base mode: block|drop' 'base levels: ' 'between build id: ' 'new build id: ' \
    'new command line: '; do
    grep -q "^$line" found || fail "expected '$line', found: $(cat found)"
done
compare "within a side" 0 base.1 other -- build new.1
grep -q "^runs of the base side differ in mode: 'block' in base.1, 'drop' in other\$" output ||
    fail "expected a note about the different mode: $(tail -n 8 output)"
cp base.1 copy
compare "a copy" 2 base.1 copy -- new.1
grep -q "'base.1' and 'copy' are the same run" errors || fail "copy: $(cat errors)"
finish
