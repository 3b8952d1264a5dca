#!/usr/bin/env bash
# Levels set by the program, a translation unit, the environment and the tool, as scopes see them
# and as the trace records them; error messages of the tool; a kill in the middle.
# variants: asan tsan clang
. "$(dirname "$0")/../common.bash"

print_levels=$PROGRAMS/print_levels_internal

run() {
    local status=0
    timeout 300 "$PROGRAMS/$program" "$@" > out 2> errors || status=$?
    [ "$status" = 0 ] || fail "$program $*: status $status: $(head -n 2 errors)"
}

# $1 trace, the rest: the expected events as "F P ORIGIN"; other fields are ignored
reports() {
    local trace=$1
    shift
    expect "$program: $trace reports" "$*" \
        "$("$print_levels" "$trace" | cut -d' ' -f1-3 | tr '\n' ' ' | sed 's/ $//')"
}

# Starts a program whose levels are set from outside: $1 level to wait for, $2 how often. It writes
# the levels that it sees to the file "arrivals".
start_waiting() {
    PROBITY_OUT=$WORK/trace "$PROGRAMS/$program" wait "$1" "$2" > arrivals 2> errors &
    waiting=$!
    # Once another thread has recorded, the spool has everything that the tool needs.
    wait_until "$waiting" is_answered || fail "wait: $(cat errors)"
}

# A level set before the first record would become the trace's initial level.
is_answered() {
    has_lines arrivals 1 begun && "$PROBITY" level "$waiting" > before 2> /dev/null
}

# Prints the serial number of the last request, from the header of the spool.
request_serial() {
    od -An -t u4 -j 496 -N 4 "$SPOOL"/*.0 | tr -d ' '
}

request_is_made() {
    [ "$(request_serial)" != "$1" ]
}

# $1 expected line, the rest: arguments of `probity level`
asked() {
    local line=$1
    shift
    expect "level $*" "$line" "$("$PROBITY" level "$@" 2>&1)"
}

# $1 status, $2 part of the message, the rest: arguments
refused() {
    local status=0 wanted=$1 text=$2
    shift 2
    "$PROBITY" level "$@" > out 2> errors || status=$?
    expect "level $*: status" "$wanted" "$status"
    grep -qF -- "$text" errors || fail "level $*: expected '$text', found '$(cat errors)'"
}

for program in $(forms_of levels); do
    fresh
    run api
    reports trace 5 5 1 5 5 2 0 0 2 3 3 2 3 4 2 2 4 2
    reports second 1 2 1

    fresh
    for levels in 0 5 2,4 4,1; do
        parameters=${levels#*,}
        [ "$levels" != "$parameters" ] || parameters=5
        [ "$parameters" -ge "${levels%,*}" ] || parameters=${levels%,*}
        PROBITY_OUT=$WORK/trace$levels PROBITY_LEVEL=$levels run show
        pair="${levels%,*} $parameters"
        printf '%s in force %s\nin force -1 -1\n' "$pair" "$pair" | diff - out > found ||
            fail "$program PROBITY_LEVEL=$levels: $(cat found)"
        reports "trace$levels" "$pair 1"
    done
    PROBITY_LEVEL=1,2 run show
    expect "$program, not recording" "1 2 in force -1 -1" "$(head -n 1 out)"

    fresh
    PROBITY_OUT=$WORK/trace run default
    expect "$program default" "2 3 in force 2 3" "$(head -n 1 out)"
    reports trace 2 3 1
    PROBITY_OUT=$WORK/other PROBITY_LEVEL=1 run default
    expect "$program default and environment" "1 5 in force 1 5" "$(head -n 1 out)"

    fresh
    PROBITY_OUT=$WORK/trace run fork
    reports trace 5 5 1 3 4 2
    reports "$(find . -name 'trace.*')" 3 4 1 1 1 2
    expect "$program fork: traces" 2 "$(find . -name 'trace*' | wc -l)"

    fresh
    PROBITY_OUT=$WORK/trace run flight 2000
    expect "$program flight" "$(($(cat out) + 1))" "$("$print_levels" trace | wc -l)"
    "$PROBITY" check trace > /dev/null || fail "$program flight: damaged"
    no_leftovers "$program flight"
done

# One of the two threads is announced.
for program in $(forms_of levels); do
    fresh
    PROBITY_OUT=$WORK/trace PROBITY_THREADS=announced run announced 1000
    expect "$program announced" "1000 1" \
        "$("$PROBITY" csv --columns probe trace | sort | uniq -c | sed 's/^ *//')"
    PROBITY_OUT=$WORK/other PROBITY_THREADS=all run announced 1000
    expect "$program all" "2000" "$("$PROBITY" csv other | wc -l)"
done

# A hit's id is the level that its thread saw; it must equal the level in the trace at that time.
program=levels
fresh
start_waiting 1 3
asked "$waiting: levels 5, 5" "$waiting"
asked "$waiting: levels 2, 3" "$waiting" 2 3
asked "$waiting: levels 4, 4" trace 4
asked "{\"pid\": $waiting, \"functions\": 4, \"parameters\": 5}" --json "$waiting" - 5
asked "$waiting: levels 1, 5" "$waiting" 1
wait_until "$waiting" has_lines arrivals 1 arrived || fail "level 1: $(cat errors)"
asked "$waiting: levels 0, 5" "$waiting" 0 -
wait_until "$waiting" has_lines arrivals 1 left || fail "level 0: $(cat errors)"
refused 2 "invalid level '6'" "$waiting" 6
refused 2 "invalid level 'x'" "$waiting" 1 x
refused 2 "expected a process id or a trace"
refused 2 "too many arguments" "$waiting" 1 2 3
asked "$waiting: levels 1, 5" "$waiting" 1
wait_until "$waiting" has_lines arrivals 2 arrived || fail "level 1 again: $(cat errors)"
asked "$waiting: levels 3, 5" "$waiting" 3
wait_until "$waiting" has_lines arrivals 2 left || fail "level 3: $(cat errors)"

# Concurrent tools wait for each other. When a tool prints, the levels of a later one may already
# be in effect.
for i in 1 2 3 4 5; do
    "$PROBITY" level "$waiting" 3 "$((3 + i % 3))" > "asked$i" 2>&1 &
    askers="${askers:-} $!"
done
# shellcheck disable=SC2086
wait $askers
for i in 1 2 3 4 5; do
    grep -qx "$waiting: levels 3, [345]" "asked$i" || fail "tool $i: $(cat "asked$i")"
done
asked "$waiting: levels 1, 4" "$waiting" 1 4
wait "$waiting" || fail "the program: $(cat errors)"
"$print_levels" trace > found
expect "the writer's last event" "1 4 3 writer" "$(tail -n 1 found | cut -d' ' -f1-4)"
expect "events" 14 "$(wc -l < found)"
# A thread may read the level before a change and probe after the next one, or after it has itself
# seen the new level, once per change; its clock may be read early. The same is true of the first
# hit.
others=$("$print_levels" trace x | sed -n 's/^other \([0-9]*\) .*/\1/p')
[ "$others" -le 27 ] || fail "$others hits at levels that differ from the trace"
"$PROBITY" check trace > /dev/null || fail "damaged: $("$PROBITY" check trace 2>&1)"
refused 1 "no process $waiting" "$waiting" 1
refused 1 "is closed" trace 1
refused 1 "cannot open 'nowhere'" nowhere 1
refused 1 "is not recording" $$ 1
no_leftovers "after the tool"

# Killed between a change and the next drain: the file has the change, the spool has the hits.
fresh
start_waiting 0 1
asked "$waiting: levels 2, 5" "$waiting" 2
kill -9 "$waiting"
wait "$waiting" 2> /dev/null || true
"$print_levels" trace | cut -d' ' -f1-3 > found
printf '5 5 1\n2 5 3\n' | cmp - found || fail "killed: $(cat found)"
refused 1 "no process $waiting" "$waiting" 1
refused 1 "no longer recording" trace 1
"$PROBITY" recover trace > /dev/null
expect "recovered" "2 5 3" "$("$print_levels" trace | tail -n 1 | cut -d' ' -f1-3)"

# Killed before it replies.
fresh
start_waiting 0 1
stop_process "$waiting"
serial=$(request_serial)
"$PROBITY" level "$waiting" 2 > out 2> errors &
asker=$!
wait_until "$asker" request_is_made "$serial" || fail "killed during a request: $(cat errors)"
kill -9 "$waiting"
status=0
wait "$asker" || status=$?
expect "killed during a request" 1 "$status"
grep -q "ended, or stopped recording" errors || fail "killed during a request: $(cat errors)"
wait "$waiting" 2> /dev/null || true

# A stopped program does not reply in time. Once continued, it applies the request.
fresh
start_waiting 2 1
stop_process "$waiting"
refused 1 "did not reply within 5 s" "$waiting" 2
refused 1 "has not answered an earlier request yet: nothing was changed" "$waiting" 3
kill -CONT "$waiting"
wait "$waiting" || fail "continued: $(cat errors)"
expect "continued" "2 5 3" "$("$print_levels" trace | tail -n 1 | cut -d' ' -f1-3)"
finish
