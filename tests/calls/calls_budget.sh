#!/usr/bin/env bash
# A budget with --calls: operations on free locks, on conditions, and allocations are only counted
# if too frequent; the counts and the records before them sum to the program's own counts. Waits for
# locks are still recorded, with their holders.
# variants: gcc clang
. "$(dirname "$0")/../common.bash"
"$CC" -D_GNU_SOURCE -O1 -g -pthread -o often "$SOURCE/tests/calls/often.c"

# Whether the log of a trace has this many lines of operations that are only counted later. $1
# trace, $2 lines, $3 regular expression
are_counted() {
    "$PROBITY" log "$1" > lines 2> errors.log && has_lines lines "$2" "$3"
}

# Records a program until calls are only counted, and then lets it end: how soon depends on the CPU
# time that the program gets. $1 lines of the log, $2 regular expression, $3 trace, the rest:
# arguments of record
record_counted() {
    local lines=$1 expression=$2 trace=$3 job
    shift 3
    "$PROBITY" record --budget 1% -o "$trace" "$@" > printed 2> errors &
    job=$!
    wait_until "$job" are_counted "$trace" "$lines" "$expression" || true
    : > counted
    wait "$job" || fail "record: $(cat errors)"
    rm counted
}
record_counted 4 'hits such as .* are only counted' b.probity --calls locks,memory,threads -- \
    ./often counted
"$PROBITY" check b.probity > output 2>&1 || fail "check: $(cat output)"
"$PROBITY" log b.probity > lines
"$PROBITY" csv --columns name,correlation b.probity > hits 2> errors
of_program() { awk -v name="$1" '$1 == name { print $2 }' printed; }
counted() {
    awk -v kind="$1" '/: counted / && $5 == kind { sum += $3 } END { print sum + 0 }' lines
}
recorded() { grep -c "^$1," hits || true; }

# Of a kind that the program reaches only after the budget's decision, nothing is recorded.
# $1 name, $2 name of its hits
before=0
same_count() {
    [ "$(counted "$1")" -gt 0 ] || fail "$1: nothing was counted"
    before=$((before + $(recorded "$2")))
    expect "$1: counted $(counted "$1") and recorded $(recorded "$2")" "$(of_program "$1")" \
        $(($(counted "$1") + $(recorded "$2")))
}
same_count mutex mutex:hold
same_count semaphore semaphore:hold
same_count condition condition:wait
same_count notify condition:notify
expect "ends of waits for conditions" "$(recorded condition:wait)" "$(recorded condition:woken)"
# libc frees nothing here, but it allocates: for threads, and for printing.
same_count free free:free
[ "$before" -gt 0 ] || fail "nothing was recorded"
more=$(($(counted allocation) + $(recorded malloc:allocate) - $(of_program allocation)))
((more >= 0 && more <= 16)) || fail "allocations: $more more than the program's"

expect "waits" "$(of_program wait)" "$(grep -c "^mutex:wait,$(of_program main)\$" hits)"
"$PROBITY" waits --json b.probity > waits.json 2> errors || fail "waits: $(cat errors)"
expect "waits with their holder" "$(of_program wait) $(of_program main)" "$(jq -r '[.rows[] |
    select(.kind == "lock")] | "\(map(.waits) | add) \([.[].worst[].culprit_tid] | unique |
        join(","))"' waits.json)"

for name in 'mutex:[a-z]*' 'semaphore:[a-z]*' '[a-z]*:\(allocate\|free\)'; do
    grep -q "from here on hits such as $name are only counted ([0-9]* a second)" lines ||
        fail "no word of $name in the log: $(grep 'only counted' lines)"
done
# Counting takes more than the budget by itself, in a program that does little else.
expect "the budget" false "$("$PROBITY" info --json b.probity | jq '.[0].budget.held')"
expect "info" true "$("$PROBITY" info --json b.probity | jq '.[0].budget.hits_counted == 4')"
"$PROBITY" info b.probity | grep -q '4 kinds of free locks, conditions or allocations, from' ||
    fail "info: no word of it"
"$PROBITY" waits b.probity | grep -q 'locks, conditions or allocations are only counted' ||
    fail "waits: no word of it"
"$PROBITY" memory b.probity | grep -q 'frees were only counted from [0-9.]* s after the first on' ||
    fail "memory: no word of it"
expect "memory" true "$("$PROBITY" memory --json b.probity | jq '.only_counted_from_ns > 0')"

# Calls of read() are only counted, but those that wait are still recorded, except for a few before
# the thread is found to wait.
"$CC" -D_GNU_SOURCE -O1 -g -pthread -o rare_waits "$SOURCE/tests/calls/rare_waits.c"
record_counted 1 'calls of read are only counted' r.probity --calls io -- ./rare_waits 400 counted
"$PROBITY" report --json r.probity > report.json
of_reads() { jq "[.functions[] | select(.name == \"read\")][0].$1" report.json; }
expect "calls of read" $(($(of_program quick) + $(of_program waits))) "$(of_reads calls)"
[ "$(of_reads calls_counted)" -gt "$(($(of_program later) / 2))" ] ||
    fail "only $(of_reads calls_counted) of $(of_program later) calls were counted"
"$PROBITY" waits --json r.probity > waits.json
found=$(jq '[.rows[] | select(.kind == "peer" and .name == "pipe") | .waits] | add + 0' waits.json)
((found >= $(of_program waits) / 2)) ||
    fail "$found of $(of_program waits) waits for a pipe: $(cat waits.json)"

"$PROBITY" waits r.probity | grep -q '^[0-9]* calls to libc were only counted' ||
    fail "waits: no word of calls that were only counted"
"$PROBITY" report --states r.probity | grep -q '^[0-9]* calls were only counted .* not shown' ||
    fail "report --states: no word of calls that were only counted"
expect "waits: JSON" true \
    "$(jq --argjson counted "$(of_reads calls_counted)" '.calls_counted >= $counted' waits.json)"
"$PROBITY" report --states --json r.probity > states.json
expect "report --states: JSON" "$(jq .calls_counted waits.json)" "$(jq .calls_counted states.json)"
# The estimate does not use the mean of recorded calls, which spend most of their time waiting.
hidden=$("$PROBITY" report r.probity |
    sed -n 's/.* include about \([0-9.e+-]*\) s for them, .* that did not wait)$/\1/p')
limit=$(of_reads 'calls_counted * 0.000005')
expect "time of counted calls, $hidden s, 0 to $limit s" true \
    "$(jq -n "${hidden:-null} > 0 and ${hidden:-null} < $limit")"

# Without a budget, everything is recorded.
"$PROBITY" record --calls locks -o all.probity -- ./often > printed 2> errors ||
    fail "record: $(cat errors)"
"$PROBITY" csv --columns name,correlation all.probity > hits
expect "without a budget" "$(of_program mutex)" "$(recorded mutex:hold)"
finish
