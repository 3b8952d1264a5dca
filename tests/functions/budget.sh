#!/usr/bin/env bash
# A budget: functions that are called too often are only counted, and their counts are exact: with
# macros and with each hook, in several threads, after a jump, after SIGKILL.
# variants: clang
. "$(dirname "$0")/../common.bash"
P=$PROGRAMS/budget
calls=3000000

# $1 description, $2 the program's own counts, $3 trace
same_counts() {
    "$PROBITY" report --json "$3" > report.json 2> report.err || fail "$1: $(cat report.err)"
    jq -r '.functions[] | select(.calls > 0) | "\(.name) \(.calls)"' report.json | sort > found
    sort "$2" > expected
    diff expected found > difference || fail "$1: actual (<) and found (>): $(cat difference)"
    "$PROBITY" check "$3" > /dev/null 2> errors || fail "$1: $(cat errors)"
}

# $1 description, $2 function: most of its calls were only counted, and every answer marks it
is_marked() {
    local counted=".functions[] | select(.name == \"$2\") | .calls_counted * 2 > .calls"
    expect "$1: counted" true "$(jq "$counted" report.json)"
    "$PROBITY" report trace > report.txt
    grep -q " $2 .*\[[0-9]* only counted\]$" report.txt || fail "$1: report: $(cat report.txt)"
    "$PROBITY" list trace > list.txt
    grep -q " $2 .*\[[0-9]* only counted\]$" list.txt || fail "$1: list: $(cat list.txt)"
    "$PROBITY" list --json trace > list.json
    expect "$1: list --json" true "$(jq "[.. | objects | select(.name? == \"$2\")][0] |
        .counted * 2 > .hits" list.json)"
    "$PROBITY" tree trace | grep -q 'only counted (budget, or switched off)' || fail "$1: tree"
    "$PROBITY" hist "$2" trace | grep -q 'only counted (budget, or switched off)' || fail "$1: hist"
    "$PROBITY" log trace > log.txt
    grep -q "from here on calls of $2 are only counted" log.txt || fail "$1: log"
    "$PROBITY" info --json trace > info.json
    expect "$1: info" true "$(jq '.[0].budget.functions_counted >= 1' info.json)"
    "$PROBITY" report --csv trace > report.csv
    expect "$1: CSV" "calls_counted,calls_are_least,calls_entries" "$(head -n 1 report.csv | rev |
        cut -d, -f1-3 | rev)"
    [ "$(grep "^$2," report.csv | tr ',' '\n' | tail -n 3 | head -n 1)" -gt 0 ] ||
        fail "$1: CSV of $2"
}

# $1 description, $2 function, $3 its calls: its hooks were removed, and every answer reports that.
# If even counting would exceed the budget, they are removed before a call is only counted.
is_removed() {
    "$PROBITY" report --json trace > report.json 2> report.err || fail "$1: $(cat report.err)"
    "$PROBITY" check trace > /dev/null 2> errors || fail "$1: $(cat errors)"
    expect "$1: JSON" true "$(jq ".functions[] | select(.name == \"$2\") |
        .calls_are_least and .calls > 0 and .calls < $3" report.json)"
    "$PROBITY" report trace > report.txt
    grep -q " $2 .*\[at least this many\(; [0-9]* only counted\)\?\]$" report.txt ||
        fail "$1: report: $(cat report.txt)"
    grep -q 'called more often than shown' report.txt || fail "$1: report: $(cat report.txt)"
    "$PROBITY" report --csv trace | grep -q "^$2,.*,1,[0-9]*$" || fail "$1: CSV"
    "$PROBITY" list trace > list.txt
    grep -q " $2 .*\[at least this many\(; [0-9]* only counted\)\?\]$" list.txt ||
        fail "$1: list: $(cat list.txt)"
    "$PROBITY" list --csv trace | grep -q ",$2,.*,1$" || fail "$1: list --csv"
    expect "$1: list --json" true "$("$PROBITY" list --json trace |
        jq "[.. | objects | select(.name? == \"$2\")][0].are_least")"
    "$PROBITY" tree trace | grep -q 'were not even counted' || fail "$1: tree"
    "$PROBITY" hist "$2" trace | grep -q 'were not even counted' || fail "$1: hist"
    "$PROBITY" hist --json "$2" trace | grep -q '"calls_are_least": true' || fail "$1: hist --json"
    "$PROBITY" log trace | grep -q "from here on calls of $2 are not even counted" ||
        fail "$1: log"
    expect "$1: info" true "$("$PROBITY" info --json trace |
        jq '.[0].budget | .functions_removed >= 1 and .functions_removed <= .functions_counted')"
}

# ---- Macros

for threads in 1 2; do
    rm -rf trace
    "$PROBITY" record --budget 1% -o trace "$P" $threads $calls > out || fail "record: $?"
    same_counts "$threads threads" out trace
    is_marked "$threads threads" often
done
grep -q '\[budget 1.00 %: recording takes .* of the whole run\]' log.txt || fail "no sum in log"

# Parameters and pauses of calls that are only counted are not recorded.
records=$(jq '.[0].counts.records' info.json)
[ "$records" -lt $((2 * calls)) ] || fail "$records records"

# Nothing is demoted if recording has an unlimited budget: there is too little data for a decision.
rm -rf trace
PROBITY_OUT=trace PROBITY_BUDGET=100 "$P" 1 1000 > out
same_counts "a budget that suffices" out trace
expect "a budget that suffices" 0 "$(jq '[.functions[].calls_counted] | add' report.json)"

rm -rf trace
PROBITY_OUT=trace PROBITY_BUDGET=1% "$P" kill 2 $calls > out || true
expect "killed" killed "$("$PROBITY" info --json trace | jq -r '.[0].state')"
same_counts "killed" out trace
"$PROBITY" recover trace > /dev/null
same_counts "recovered" out trace
is_marked "recovered" often

# ---- Hooks

# $1 description, $2 compiler, $3 flags of the compilation, $4 of the link: -pg there would add
# start code that writes gmon.out.
hooked() {
    local what=$1 compiler=$2
    # shellcheck disable=SC2086
    "$compiler" -g -O2 $3 -c -o hooked.o "$SOURCE/tests/functions/budget.c" &&
        "$compiler" -o hooked hooked.o $4 || fail "$what: build"
    rm -rf trace
    "$PROBITY" record --functions --budget "${budget:-1%}" -o trace ./hooked "$calls" \
        "${times:-4}" > out 2> errors ||
        fail "$what: $(cat errors)"
    same_counts "$what" out trace
    is_marked "$what" often
}

hooked -finstrument-functions "$CC" -finstrument-functions ""
if [ "$(uname -m)" != x86_64 ]; then
    echo "skipped: -mfentry and XRay, which are for x86-64 only"
else
    if gcc --version > gcc.out 2>&1; then
        hooked -mfentry gcc "-pg -mfentry -minstrument-return=call" \
            "-L$BUILD/lib -Wl,-rpath,$BUILD/lib -lprobity-functions"
    else
        echo "skipped: -mfentry, because there is no gcc"
    fi
    if clang --version > clang.out 2>&1; then
        # Two budgets: one that counting stays within, because calls take long, and one that it
        # exceeds.
        flags="-fxray-instrument -fxray-instruction-threshold=1"
        budget=3% times=200 calls=300000 hooked XRay clang "$flags" -fxray-instrument
        rm -rf trace
        "$PROBITY" record --functions --budget 0.01% -o trace ./hooked $((20 * calls)) > out
        is_removed XRay often $((20 * calls))
        for compiler in gcc clang; do
            "$compiler" -g -O2 -fpatchable-function-entry=5 -o hooked \
                "$SOURCE/tests/functions/budget.c" || continue
            rm -rf trace
            "$PROBITY" record --functions --budget 0.01% -o trace ./hooked $((20 * calls)) > out
            is_removed "patchable entries, $compiler" often $((20 * calls))
        done
        expect "XRay: what the program computed" "often $((20 * calls))" "$(grep often out)"
    else
        echo "skipped: XRay, because there is no clang"
    fi
fi

# ---- Errors

for value in 0 0% 101% -1 x 1x 1%% '%' 1. 0.00001 1e2; do
    status=0
    "$PROBITY" record --budget "$value" -f -o trace "$P" 1 1000 > out 2> errors || status=$?
    expect "--budget $value: status" 2 $status
    grep -q "invalid --budget '$value'" errors || fail "--budget $value: $(cat errors)"
    rm -f trace
    PROBITY_OUT=trace PROBITY_BUDGET=$value "$P" 1 1000 > out 2> errors
    grep -q "PROBITY_BUDGET=$value: invalid" errors || fail "PROBITY_BUDGET=$value: $(cat errors)"
    [ ! -e trace ] || fail "PROBITY_BUDGET=$value: recorded"
done
status=0
"$PROBITY" record --budget 1% --writer external -f -o trace "$P" 1 1000 > out 2> errors ||
    status=$?
expect "with an external writer: status" 2 $status
grep -q -- '--budget and --writer external are mutually exclusive' errors || fail "$(cat errors)"
PROBITY_OUT=trace PROBITY_PROFILE=1 PROBITY_BUDGET=1 "$P" 1 1000 > out 2> errors
grep -q 'PROBITY_BUDGET with PROBITY_PROFILE' errors || fail "in profile mode: $(cat errors)"
finish
