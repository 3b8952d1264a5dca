#!/usr/bin/env bash
# Runs each command listed by `probity --help` once on a small trace, as text and, where supported,
# with --json and --csv. Checks the status, and looks for a part of the output that only a correct
# output has. For `make check`; other scripts test the commands in detail.
# variants: asan
. "$(dirname "$0")/../common.bash"

# The commands run so far; at the end, --help must list no others.
tried=' '

# $1 expected status, $2 extended regular expression for a line of the output, then the command
runs() {
    local expected=$1 pattern=$2 status=0
    shift 2
    "$PROBITY" "$@" > output 2> errors < /dev/null || status=$?
    expect "probity $*: status ($(cat errors))" "$expected" "$status"
    [ -z "$pattern" ] || grep -qE -- "$pattern" output ||
        fail "probity $*: no line matches '$pattern': $(head -n 5 output | cut -c 1-200)"
    tried+="$1 "
}

# Same as above for output that must be JSON.
runs_json() {
    runs "$@"
    jq -e . output > /dev/null || fail "probity ${*:3}: invalid JSON: $(head -n 5 output)"
}

# $1 command, $2 regular expressions for its text, $3 for its JSON, $4 for its CSV, then arguments
all_forms() {
    local command=$1 text=$2 json=$3 csv=$4
    shift 4
    runs 0 "$text" "$command" "$@"
    runs_json 0 "$json" "$command" --json "$@"
    [ -z "$csv" ] || runs 0 "$csv" "$command" --csv "$@"
}

# A trace of scopes and one of hits. The programs' own output is not checked.
runs 0 '' record -o scopes -- "$PROGRAMS/tree"
runs 0 '' record -o again -- "$PROGRAMS/tree"
runs 0 '' record -o hits -- "$BUILD/examples/hello"

runs 0 '^[0-9]+,[0-9]+,done,' csv hits
expect "hits" 7 "$(wc -l < output)"
runs 0 'int fibonacci\(' log scopes
all_forms report '^ +177 .* fibonacci$' '"name": "fibonacci".* "calls": 177,' \
    '^fibonacci,.*,177,' scopes
all_forms info '^hits +7$' '"hits": 7[,}]' '' hits
runs 0 '^hits: ok: 0 faults' check hits
runs 0 '^scopes: already closed' recover scopes
all_forms tree ' fibonacci$' '"name": "fibonacci"' ',fibonacci,' scopes
all_forms threads ' 218 .* tree' '"scopes": 218[,}]' '^[^,]*,' scopes
all_forms blocks '^ +3 .*1 -> 2' '"calls": 3[,}]' '^"?1"?,"?2"?,' hits
all_forms hist '^fibonacci' '"name": "fibonacci"' '^fibonacci,' fibonacci scopes
all_forms diff 'fibonacci' '"name": "fibonacci"' 'fibonacci,' scopes -- again
all_forms list '^ .* fibonacci' '"name": "fibonacci"' 'fibonacci' scopes
runs_json 0 '"hits": 7,' model hits
all_forms timeline '^tree ' '"threads": \[' '' scopes
all_forms overhead '^wall ' '"wall": ' '^' -n 1 -- "$BUILD/examples/hello"
runs 0 '<title>' view -o - scopes

# The hits in these roles show what allocated memory. Sanitized programs have their own allocator.
if [ -z "${SANITIZE:-}" ]; then
    runs 0 '' record -o heap --calls memory -- "$PROGRAMS/heap.shared" 10
    all_forms memory '^ .* main > load > add > copy > malloc' '"call": "malloc"' 'copy > malloc' \
        heap
else
    runs 0 '' memory scopes
fi

# Requests, and locks that threads wait for.
runs 0 '' record -o typed -- "$PROGRAMS/typed" 50
runs 0 '' record -o planted -- "$PROGRAMS/planted" 20
all_forms waits '^ +1 .* lock mutex 0x' '"kind": "lock", "name": "mutex"' '^lock,mutex,0x' planted
all_forms why '^cause: it waited .* for (lock|condition) ' '"kind": "lock"' '' --function want \
    --slowest 20 planted
all_forms path '^request [0-9]+: ' '"what": "request"' '^1,[0-9]+,[a-z-]+,' typed

# Every format; two are binary, and two contain no names.
while read -r format; do
    runs 0 '' export --format "$format" -o "exported.$format" scopes
    grep -rqa fibonacci "exported.$format" || fail "export --format $format: no 'fibonacci'"
done < <("$PROBITY" export --help | sed -n 's/^          \([a-z-][a-z-]*\)  .*/\1/p')
[ "$(find . -maxdepth 1 -name 'exported.*' | wc -l)" -ge 10 ] || fail "too few formats"

runs 0 '' index hits
runs 0 '' merge -o both scopes hits
runs 0 '^both/hits: ok: 0 faults' check both
[ -s hits.index ] || fail "index: no file"
rm hits.index

runs 0 '' runs init
runs 0 '' runs add --label before scopes
all_forms runs '@before|before' '"label": "before"' 'before' list

# Without a server: tests/fleet/fleet.sh has one.
runs 0 'CREATE TABLE IF NOT EXISTS probity_calls' ship --print-schema
runs 1 '' ship --to http://127.0.0.1:1/probity --retry 0 scopes
runs 1 '' fleet --from-fleet http://127.0.0.1:1/probity
runs 1 '' fetch --from-fleet http://127.0.0.1:1/probity 0123456789abcdef

# Starts a program that runs until end_live. $1 writer of its trace: thread or external
runs_live() {
    rm -f ready
    mkfifo go
    PROBITY_WRITER=$1 PROBITY_OUT=$WORK/live "$PROGRAMS/waiting" < go > ready &
    live=$!
    exec 3> go
    wait_until "$live" test -s ready || fail "live: has ended early"
}

ends_live() {
    echo >&3
    exec 3>&-
    wait "$live" || fail "live: status $?"
    rm go
}

# The header of the spool has the number of a drainer's passes.
is_draining() {
    [ "$(od -An -t u4 -j 552 -N 4 "$SPOOL"/*.0 | tr -d ' ')" -gt 0 ]
}

runs_live thread
all_forms spools '/live' '/live"' ''
all_forms ps '/live$' '/live"' '/live,'
all_forms top '1 program recording' '"programs": 1,' '' -n 1
runs 0 "^$live: levels 5, 5" level live
runs_json 0 "\"pid\": $live," level --json live
runs 1 '' snapshot "$live"
runs_json 0 "\"pid\": $live," detach --json "$live"
runs 1 '' attach --wait 1ms "$live"
ends_live
rm live
runs_live external
"$PROBITY" drain live 2> errors &
drainer=$!
wait_until "$drainer" is_draining || fail "drain: $(cat errors)"
ends_live
wait "$drainer" || fail "drain: status $?: $(cat errors)"
tried+="drain "
runs 0 '^hits +2$' info live
no_leftovers "at the end"

commands=$("$PROBITY" --help | sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p')
[ "$(wc -w <<< "$commands")" -ge 20 ] || fail "--help lists too few commands: $commands"
for command in $commands; do
    [[ $tried == *" $command "* ]] || fail "no smoke test of probity $command"
done
finish
