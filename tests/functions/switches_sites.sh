#!/usr/bin/env bash
# `probity level --off` and `--on` for named sites: hits stop and begin again under the same number,
# nothing is derived from the remaining hits, and sites that cannot be switched are named.
# variants: clang asan tsan
. "$(dirname "$0")/../common.bash"
. "$SOURCE/tests/functions/switching.bash"

# Another process, whose sites stay on.
start_other() {
    rm -f go.other out.other other
    mkfifo go.other
    env PROBITY_OUT=other ./switched 0 < go.other > out.other 2>> errors &
    other=$!
    exec {other_gate}> go.other
    wait_until "$other" has_lines out.other 1 || fail "ended early: $(cat errors)"
    other_calls=0
}

call_other() {
    echo "$1 $2" >&"$other_gate"
    other_calls=$((other_calls + 1))
    wait_until "$other" has_lines out.other $other_calls '^done'
}

# The result for the other process is the same with and without the first one. $1 filter of jq, the
# rest: a command of the tool
same_together() {
    "$PROBITY" "${@:2}" other > alone.json 2> both.err && "$PROBITY" "${@:2}" trace other \
        > both.json 2>> both.err || fail "$what: ${*:2}: $(cat both.err)"
    expect "$what: ${*:2}" "$(jq -c --argjson pid "$other" "$1" alone.json)" \
        "$(jq -c --argjson pid "$other" "$1" both.json)"
}

stop() {
    end_job '^$'
    "$PROBITY" list --json trace > list.json 2> list.err || fail "$what: list: $(cat list.err)"
}

# $1 site, $2 hits
has_hits() {
    expect "$what: hits of $1" "$2" \
        "$(jq "[.sites[] | select(.name == \"$1\").hits] | add // 0" list.json)"
}

here=$SOURCE/tests/functions
build switched "$here/switched_sites.c"
build plugin.so -shared -fPIC "$here/switched_plugin.c"

what=hits
start A=1 ./switched 3
call early 10
level '1 of 2 sites hit so far are off' --off early --off 'lat*'
call early 20
call later 7 # first hit while it is off
level '1 of 3 sites' --set on=early
call early 5
for ((i = 0; i < 10; i++)); do
    level '0 of 3' --on '*'
    level '1 of 3' --off busy
done
level '"sites_hit": 3, "sites_off": 2' --json --off later
level '0 of 3' --on '*'
call later 2
stop
has_hits early 15
has_hits later 2
expect "$what: marked" true "$(jq '[.sites[] | select(.name == "early").are_least][0]' list.json)"
all=$(sed -n 's/^busy //p' out)
expect "$what: busy" true \
    "$(jq "[.sites[] | select(.name == \"busy\").hits][0] | . > 0 and . < $all" list.json)"
"$PROBITY" info trace > info || fail "$what: info: status $?"
grep -q 'switched off *3 sites, at some time' info || fail "$what: info: $(cat info)"
"$PROBITY" log --probes trace > log || fail "$what: log: status $?"
grep -q 'hits of early are not recorded from here on' log || fail "$what: log: $(grep hits log)"
grep -q 'hits of later are not recorded from here on' log || fail "$what: log: $(grep hits log)"
grep -q 'hits of early are recorded from here on' log || fail "$what: log: $(grep hits log)"

# No block spans the time while a site was off, no wait lacks its end, and no two requests are
# joined.
what='open at a change'
start A=1 ./switched 0
start_other
call early 2
call lock 3
call begin 1
call put 2
call_other begin 1
call_other put 2
call_other hold 1
level 'are off' --off early --off cache:hold --off request
call early 2
call lock 3
call end 1
call request 3
level 'are off' --on '*'
call end 1
call early 2
call lock 3
call request 2
call get 1
call_other release 1
call_other get 2
call_other end 1
exec {other_gate}>&-
wait "$other" || fail "$what: other process: status $?"
stop
"$PROBITY" blocks --json trace > blocks.json || fail "$what: blocks: status $?"
expect "$what: blocks of early" 2 \
    "$(jq '[.blocks[] | select(.from == "early" and .to == "early").calls] | add' blocks.json)"
"$PROBITY" waits --json trace > waits.json || fail "$what: waits: status $?"
expect "$what: waits" '[6,0]' "$(jq -c '.rows | map(.waits, .open)' waits.json)"
"$PROBITY" model trace --json > model.json || fail "$what: model: status $?"
expect "$what: requests that ended" 2 "$(jq '[.requests[].ends] | add' model.json)"
expect "$what: times between requests" 1 "$(jq '[.requests[].interarrival.count] | add' model.json)"

# One thread made all hits, and another one, the writer, recorded the switches. $1 filter of jq, the
# rest: a command of the tool
same_with_tid() {
    "$PROBITY" "${@:2}" trace > all.json 2> tid.err && "$PROBITY" "${@:2}" --tid "$job" trace \
        > tid.json 2>> tid.err || fail "$what: ${*:2}: $(cat tid.err)"
    expect "$what: ${*:2} --tid" "$(jq -c "$1" all.json)" "$(jq -c "$1" tid.json)"
}
what='one thread'
same_with_tid '[.blocks[] | {from, to, calls, wall_ns}]' blocks --json
same_with_tid '[.blocks[] | {from, to, calls, wall_ns}]' blocks --json --by correlation
same_with_tid '[.requests[] | {ends, interarrival, concurrency}]' model --json
same_with_tid '.histograms' hist --json --start-probe parsed
same_with_tid '[.traceEvents[] | select(.ph == "X" or .ph == "b")]' export --format chrome

# The page draws them, and has its own tables.
what=page
cp trace base
"$PROBITY" view --diff base -o page.html trace > said 2>&1 || fail "$what: status $?: $(cat said)"
python3 "$SOURCE/tests/functions/switches_page.py" page.html blocks.json > said 2>&1 ||
    fail "$what: $(cat said)"

what='two processes'
of_other='.traceEvents[] | select(.pid == $pid)'
same_together "[$of_other | select(.ph | test(\"[Xbe]\")) | {ph, cat, name, end: .args.end}]" \
    export --format chrome
same_together "[$of_other | select(.ph == \"C\") | .args]" export --format chrome
same_together '[.blocks[] | select(.from | startswith("held")) | {from, to, calls}]' \
    blocks --json

# Items may have left a queue while it was off.
"$PROBITY" export --format chrome trace > chrome.json 2> said || fail "$what: export: status $?"
expect "$what: length of the queue" '[1,2,0,0]' "$(jq -c '[.traceEvents[] |
    select(.ph == "C" and (.name | contains("jobs"))).args[]]' chrome.json)"

# A hit that is in no block is exported, too.
what='a hit between changes'
start A=1 ./switched 0
call early 1
call later 1
level 'are off' --off later
call early 1
level 'are off' --on '*'
call early 1
stop
"$PROBITY" export --format otlp-json trace > otlp.json 2> said || fail "$what: status $?"
expect "$what: hits of early" 3 "$(jq -s '[.. | objects | .events? // empty | .[] |
    select(.name == "early")] | length' otlp.json)"

what='stays on'
start PROBITY_RING=10s,16M env PROBITY_WHEN='gap early > 100s' ./switched 0 ./plugin.so
call early 1
call plugin 1
level "site 'plugin' stays on" --off '*'
level '"stays_on": "plugin"' --json --off '*'
call early 1
call plugin 1
if "$PROBITY" level --set 'when=rate later > 9/s' "$job" > said 2>&1; then
    call later 3
fi
stop
has_hits early 2
has_hits plugin 2

what='in a library'
start A=1 ./switched 0 ./plugin.so
level 'are only counted' --off 'plug*'
call plugin 2
level 'are only counted' --on 'plug*'
call plugin 3
stop
has_hits plugin 3

what='older header'
start A=1 ./switched 0
call old 2
level "site 'old' stays on" --off 'o*'
call old 2
level '0 of 1 sites' --on 'o*'
stop
has_hits old 4

what=fork
start A=1 ./switched 0
call early 1
level 'are off' --off 'in*' --off early
call fork 1
level 'are off' --on 'in*'
call fork 1
call early 1
stop
has_hits early 1
# A child inherits the switches.
children=(trace.*)
expect "$what: children" 2 "${#children[@]}"
"$PROBITY" list --json "${children[@]}" > list.json || fail "$what: list of children: status $?"
has_hits 'in child' 1
finish
