#!/usr/bin/env bash
# `probity export --format sqlite`: SQL queries reproduce the tool's reports.
# variants: clang asan
. "$(dirname "$0")/../common.bash"
. "$SOURCE/tests/exports/exported.bash"

# $1 description, $2 SQL; columns are separated by tabs.
sql() {
    sqlite3 -batch -readonly -separator $'\t' out "$2" 2> faults || fail "$1: $(cat faults)"
}

# $1 description; the rest: traces
compare() {
    local what=$1
    shift
    export_to "$what" 0 sqlite "$@"
    expect "$what: sound" "ok" "$(sql "$what" 'PRAGMA integrity_check')"
    expect "$what: references" "" "$(sql "$what" 'PRAGMA foreign_key_check')"
    diff <("$PROBITY" report --json "$@" | jq -r '.functions[] | [.name, .file, .line, .calls,
            .calls_untimed, .calls_repaired, .total_ns, .self_ns, .paused_ns, .cpu_total_ns,
            .cpu_self_ns, .min_ns, .max_ns] | @tsv' | sort) \
        <(sql "$what" 'SELECT * FROM report' | sort) > difference ||
        fail "$what: report (<) and SQL (>): $(head -n 5 difference)"
    # In CSV, some site names are quoted; in the database, they are unquoted and escaped.
    diff <("$PROBITY" blocks --csv "$@" | awk -F , -v OFS='\t' 'NR > 1 {
            print $1, $2, $5, $7, $8, $10, $15 }' | grep -av '["\\]\|^broken' | sort) \
        <(sql "$what" "SELECT \"from\", \"to\", calls, wall_ns, cpu_ns, min_ns, max_ns FROM blocks
            WHERE NOT \"from\" || \"to\" GLOB '*[,\"\\]*'" | sort) > difference ||
        fail "$what: blocks (<) and SQL (>): $(head -n 5 difference)"
    diff <("$PROBITY" csv "$@" | grep -av '[^a-z0-9 ._,:-]' | awk -F , 'NF == 7') \
        <(sqlite3 -separator , out 'SELECT * FROM csv' | grep -av '[^a-z0-9 ._,:-]' |
            awk -F , 'NF == 7') > difference ||
        fail "$what: csv (<) and SQL (>): $(head -n 5 difference)"
    diff <("$PROBITY" tree --csv "$@" | awk -F , -v OFS='\t' 'NR > 1 { name[$1] = $7
            if ($2 > 0) calls[name[$2] "\t" $7] += $10 }
            END { for (pair in calls) print pair, calls[pair] }' | sort) \
        <(sql "$what" 'SELECT caller, callee, calls FROM callees' | sort) > difference ||
        fail "$what: tree (<) and SQL (>): $(head -n 5 difference)"
}

# The comparison above skips quoted CSV lines; make sure that there are others.
record_all
PROBITY_OUT=$WORK/typed "$PROGRAMS/typed" > output
while read -r trace; do
    compare "$trace" "$trace"
done < traces
compare "two processes" server tree
expect "processes" 2 "$(sql traces 'SELECT count(DISTINCT pid) FROM thread')"
expect "complete" "1 1" "$(sql traces 'SELECT complete FROM trace' | xargs)"
compare server server
[ "$(sql blocks 'SELECT count(*) FROM blocks')" -gt 5 ] || fail "too few blocks from the server"
compare "with ids" typed
diff <("$PROBITY" csv --columns tid,role,correlation,object typed | tr , '\t') \
    <(sql ids "SELECT tid, coalesce(role, ''), coalesce(correlation, ''), coalesce(object, '')
        FROM hit JOIN thread USING(thread) ORDER BY hit") > difference ||
    fail "ids: csv (<) and SQL (>): $(head -n 5 difference)"

export_to "counted" 0 sqlite counted
diff <("$PROBITY" report --json counted | jq -r '.functions[] |
        [.name, .calls, .total_ns, .self_ns, .cpu_total_ns, .cpu_self_ns] | @tsv' | sort) \
    <(sql counted 'SELECT name, calls, total_ns, self_ns, cpu_total_ns, cpu_self_ns
        FROM report' | sort) > difference || fail "counted: $(cat difference)"
[ "$(sql counted 'SELECT count(*) FROM profile')" -gt 3 ] || fail "nothing was counted"

# Callers, including deferred ones: a call lies within its caller's time.
compare tree tree
expect "calls outside of their callers" 0 "$(sql callers 'SELECT count(*) FROM call AS below
    JOIN call AS above ON above.call = below.parent AND above.thread = below.thread
    WHERE below.enter_ns < above.enter_ns
        OR below.enter_ns + below.elapsed_ns > above.enter_ns + above.elapsed_ns')"
expect "calls of leaf() by deferred()" 5 "$(sql callers "SELECT calls FROM callees
    WHERE caller = 'deferred' AND callee = 'leaf'")"
expect "ends" "$("$PROBITY" report --json tree | jq .repairs.unwound)" \
    "$(sql ends "SELECT count(*) FROM call WHERE end = 'unwound'")"

# Calls that an exception ended are not repaired, and have durations.
PROBITY_OUT=$WORK/thrown "$PROGRAMS/ways_out" throw > output
compare "exceptions" thrown
[ "$(sql thrown "SELECT count(*) FROM call WHERE end = 'exception'")" -gt 0 ] ||
    fail "exceptions: no call"
expect "exceptions: repaired" 0 "$(sql thrown 'SELECT sum(calls_repaired) FROM report')"

# Values with their types, and names made of arbitrary bytes as text.
export_to "values" 0 sqlite exported
numbers=$("$PROBITY" log exported | grep -c ' number = ')
expect "numbers" "integer $numbers -9223372036854775808 2" "$(sql numbers \
    "SELECT typeof(value), count(*), min(value), max(value) FROM value
        WHERE name = 'number' GROUP BY 1" | xargs)"
expect "return values of descend()" "0 1 3 6" "$(sql returns "SELECT DISTINCT value FROM value
    JOIN call USING(call) JOIN function USING(function)
    WHERE function.name = 'descend' AND place = 0 ORDER BY value" | xargs)"
expect "markup" '</script>\376\n' "$(sql markup "SELECT DISTINCT value FROM value
    WHERE value LIKE '%/script%'")"
expect "sites" 7 "$(sql sites "SELECT count(*) FROM hit JOIN probe USING(probe)
    WHERE text = '<b onclick=\"alert(''x'')\">&amp;</b>'")"
expect "name of a probe" "42 after" "$(sql probes "SELECT text, name FROM probe
    WHERE name IS NOT NULL" | xargs)"
expect "messages" 2 "$(sql messages "SELECT count(*) FROM event
    WHERE kind = 'message' AND text LIKE 'message <b>\"xxx%'")"
expect "levels" "5 5, 3 4" "$(sql levels "SELECT group_concat(text, ', ') FROM event
    WHERE kind = 'levels'")"
record_lossy
export_to "lossy" 0 sqlite lossy
sql lost "SELECT text FROM event WHERE kind = 'lost' ORDER BY event" > found
cmp -s lost.expected found || fail "lost: $(diff lost.expected found | head -n 4)"

# The output must be readable, because it is read back.
status=0
"$PROBITY" export --format sqlite exported > output 2> errors || status=$?
expect "to standard output: status" 2 "$status"
status=0
"$PROBITY" export --format sqlite -f -o /dev/null exported 2> errors || status=$?
expect "to a device: status" 1 "$status"
check_manners sqlite parallel
# The clocks of a live trace become more precise with time, so only data without times is compared.
start_live
export_to "live" 0 sqlite live
diff <(functions_of live | cut -f 1,2) <(sql live 'SELECT name, calls FROM report' | sort) \
    > difference || fail "live: report (<) and SQL (>): $(head -n 5 difference)"
expect "live: hits" "$("$PROBITY" csv --columns tick live | wc -l)" \
    "$(sql live 'SELECT count(*) FROM hit')"
end_live
finish
