#!/usr/bin/env bash
# `probity report` on known calls: counts, times that are right on any machine, repairs, filters,
# output formats, a killed program, and a damaged trace.
# variants: clang asan
. "$(dirname "$0")/../common.bash"
. "$SOURCE/tests/tool/calls.bash"
TREE=$PROGRAMS/tree

# $1 description, $2 status; then arguments of report. Writes "output" and "errors".
report() {
    local what=$1 expected=$2 status=0
    shift 2
    "$PROBITY" report "$@" > output 2> errors || status=$?
    expect "$what: status ($(cat errors))" "$expected" "$status"
}

# Checks calls and names in the table, line by line.
calls() {
    awk '/^$/ { exit } NR > 2 { printf "%s%s %s", n++ ? ", " : "", $1, $11 }' output
}

# $1 function, $2 member of its JSON
member() {
    grep -F "{\"name\": \"$1\"," output | grep -oE "\"$2\": [0-9]+" | head -n 1 | grep -oE '[0-9]+$'
}

# $1 description, $2 minimum, $3 found, $4 maximum
between() {
    if [ "$3" -lt "$2" ] || [ "$3" -gt "$4" ]; then
        fail "$1: $3 is not in $2 to $4"
    fi
}

PROBITY_OUT=$WORK/trace "$TREE"

scopes=$("$PROBITY" info trace | awk '$1 == "scopes" { print $2 }')
expect "scopes in info" 218 "$scopes"
report "by name" 0 --sort name trace
expect "calls" "5 deferred, 177 fibonacci, 12 jumping, 4 landing, 17 leaf, 1 main, 1 pausing, \
1 thread_main" "$(calls)"
grep -q '^12 calls without times' output || fail "expected a note about calls without profiling"
grep -q '^repaired: 12 ended without' output || fail "expected a note about scopes left by longjmp"
grep -q '^trace: trace: complete: ' output || fail "expected the line about completeness"
report "by calls" 0 --sort calls -n 2 trace
expect "two functions" "177 fibonacci, 17 leaf" "$(calls)"
grep -q '^6 more functions are not shown' output || fail "expected a note about omitted rows"
report "all but one" 0 -n 7 trace
grep -qx '1 more function is not shown' output || fail "plural for a count of one: $(cat output)"

report "JSON" 0 --json --by-thread trace
python3 -c 'import json, sys; json.load(sys.stdin)' < output || fail "invalid JSON"
tid=$(member thread_main tid)
all=1000000000000
between "pause" 30000000 "$(member pausing paused_ns)" $all
between "self time of pausing" 10000000 "$(member pausing self_ns)" $all
# Excludes the pause and the callee, like the log: on a busy machine either may take arbitrarily
# long.
calls_of trace > calls.log
sums_of < calls.log > sums
for name in pausing deferred; do
    expect "self time of $name" "$(member $name self_ns)" \
        "$(awk -v name=$name '$1 == "function" && $2 == name { print $5 }' sums)"
done
between "leaf" 17000000 "$(member leaf self_ns)" $all
between "CPU time of leaf" 1 "$(member leaf cpu_self_ns)" "$(member leaf self_ns)"
between "main around all" \
    $(($(member pausing total_ns) + $(member deferred total_ns) + $(member fibonacci total_ns))) \
    "$(member main total_ns)" $all
expect "untimed" 9 "$(member jumping calls_untimed)"
expect "threads of leaf" 2 "$(grep -F '{"name": "leaf",' output | grep -o '"tid"' | wc -l)"
# A thread's total is the sum of its functions' self times: for main's thread, of all calls but the
# untimed ones.
expect "recursion" "$(member fibonacci total_ns)" "$(member fibonacci self_ns)"

report "function" 0 --function 'f*i' trace
expect "functions f*i" "177 fibonacci" "$(calls)"
report "two functions" 0 --function 'f*i' --sort name --function leaf --function 'le*' trace
expect "functions f*i and leaf" "177 fibonacci, 17 leaf" "$(calls)"
report "two functions, one unknown" 1 --function leaf --function none --function 'f*i' trace
expect "one unknown: the others" "177 fibonacci, 17 leaf" "$(calls | tr ',' '\n' | sed 's/^ //' |
    sort -k 2 | paste -sd, | sed 's/,/, /')"
grep -q "no calls match 'none'" errors || fail "unknown function among others: $(cat errors)"
report "no function" 1 --function none trace
grep -q '^no calls' output || fail "expected a note that there are no calls"
grep -q "no calls match 'none'" errors || fail "expected an error about the pattern: $(cat errors)"
report "no function, CSV" 1 --csv --function none trace
report "thread" 0 --tid "$tid" --sort name trace
expect "functions of thread $tid" "7 leaf, 1 thread_main" "$(calls)"
report "no thread" 1 --tid 1 trace
report "to" 0 --to 0 trace
grep -q '^no calls' output || fail "calls reported before the start"
report "signatures" 0 --signature --sort name trace
grep -q ' int fibonacci(int n)$' output || fail "no signature for fibonacci: $(cat output)"
report "function by signature" 0 --function 'void leaf*' trace
expect "void leaf" "17 leaf" "$(calls)"
report "places" 0 --places trace
grep -qE 'fibonacci  .*tree\.c:[0-9]+$' output || fail "no location for fibonacci"

report "file" 0 -o table trace
report "file that exists" 1 -o table trace
report "file, replaced" 0 -f -o table trace
expect "stdout with -o" "" "$(cat output)"
grep -q fibonacci table || fail "no table in the output file"
report "input as output" 1 -f -o trace trace
status=0
"$PROBITY" report trace > /dev/full 2> errors || status=$?
expect "full disk: status" 1 "$status"
status=0
"$PROBITY" report -f -o /dev/full trace 2> errors || status=$?
expect "full disk, -o: status" 1 "$status"
for wrong in "--sort none" "--limit -1" "--limit 1x" "--from x" "--nothing" \
    "--from 5 --to 3" "--from 5 --to 5" "--to @0" "--columns calls --csv" \
    "--columns calls --json" ""; do
    # shellcheck disable=SC2086
    report "wrong: $wrong" 2 $wrong ${wrong:+trace}
done
# All keys listed in the message about an invalid key are accepted, and the list is complete.
for option in --columns --sort; do
    report "wrong key of $option" 2 "$option" wrong trace
    keys=$(sed -n 's/.*(valid: \(.*\))$/\1/p' errors)
    expect "keys of $option" 21 "$(tr , '\n' <<< "$keys" | wc -l)"
    for key in ${keys//,/}; do
        report "$option $key" 0 "$option" "$key" trace
    done
done
if command -v script > /dev/null; then
    script -qc "TERM=xterm '$PROBITY' report trace" /dev/null > output < /dev/null
    grep -q $'\033' output || fail "no color on a terminal"
    NO_COLOR=1 script -qc "TERM=xterm '$PROBITY' report trace" /dev/null > output < /dev/null
    ! grep -q $'\033' output || fail "color despite NO_COLOR"
fi

# Two processes in one report.
python3 "$SOURCE/tests/tool/another_session.py" trace other
report "two traces" 0 --sort name trace other
expect "calls of two traces" "10 deferred, 354 fibonacci, 24 jumping, 8 landing, 34 leaf, 2 main, \
2 pausing, 2 thread_main" "$(calls)"

# Killed ten calls deep: the report has all ten calls, as open.
status=0
{ PROBITY_OUT=$WORK/killed "$TREE" kill || status=$?; } 2> /dev/null
expect "kill: status" 137 "$status"
report "killed" 0 --sort name killed
expect "calls of the killed" "10 deep, 1 main" "$(calls)"
grep -q '^repaired: 11 still open at' output || fail "expected a note about open scopes"

# Truncated: the remaining part is reported, with a note that it is incomplete.
bytes=$(stat -c %s trace)
head -c $((bytes * 2 / 3)) trace > "$WORK/part"
report "cut" 3 part
grep -q 'INCOMPLETE' output || fail "a truncated trace is reported as complete"
# A trace without scopes.
PROBITY_OUT=$WORK/plain "$BUILD/examples/hello"
report "plain" 0 plain
grep -q '^no calls' output || fail "calls reported for a program without scopes"

# C++: names with their classes, each part of which can be selected.
PROBITY_OUT=$WORK/classes "$BUILD/examples/windows_cxx" > /dev/null
for pattern in 'Window::~Window' '~Window' 'Window::~*'; do
    report "function $pattern" 0 --function "$pattern" classes
    expect "function $pattern" "1 Window::~Window" "$(calls)"
done

# A range cannot restrict the totals of profile mode.
PROBITY_PROFILE=1 PROBITY_OUT=$WORK/counted "$BUILD/examples/windows_cxx" > /dev/null
report "range in profile mode" 0 --from 1000 counted
grep -q 'do not apply to it' errors || fail "expected a note about --from in profile mode"
grep -q ' Window::~Window$' output || fail "no counts in profile mode: $(cat output)"

# Misleading names: a field stays one field, and bidirectional text does not affect the text next to
# it.
PROBITY_OUT=$WORK/odd "$PROGRAMS/odd_names"
"$PROBITY" report --csv odd > odd.csv 2> errors || [ $? = 3 ]
python3 - odd.csv <<'END' || fail "wrong quoting of names in CSV"
import csv, sys
rows = list(csv.reader(open(sys.argv[1], newline='', errors='surrogateescape')))
assert len(rows) > 10 and all(len(row) == len(rows[0]) for row in rows)
names = [row[0] for row in rows]
assert '"quotes" and \'quotes\' and `these` \\\\' in names
assert 'two\\nlines\\r\\nand\\ta\\ttab' in names
assert not any(ord(letter) < 32 for name in names for letter in name)
END
for command in report log tree list; do
    "$PROBITY" $command odd > odd.out 2> errors || [ $? = 3 ]
    ! grep -aq "$(printf '\342\200\256')" odd.out ||
        fail "$command: unescaped bidirectional control character"
    grep -q 202e odd.out || fail "$command: no escape for bidirectional control characters"
done
finish
