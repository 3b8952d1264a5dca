#!/usr/bin/env bash
# `probity export --format ctf`, read by babeltrace2: events, names, values and times equal those of
# `probity csv` and `probity report`.
# variants: clang asan
. "$(dirname "$0")/../common.bash"
. "$SOURCE/tests/exports/exported.bash"

# Writes the events of the directory "out" to "events": lines "NS TYPE { CONTEXT }, { FIELDS }".
read_back() {
    babeltrace2 --no-delta --clock-seconds --clock-gmt out > events.raw 2> faults ||
        fail "$1: babeltrace2: $(head -n 5 faults)"
    [ ! -s faults ] || fail "$1: babeltrace2: $(head -n 5 faults)"
    sed -E 's/^\[([0-9]+)\.([0-9]+)\] ([^ ]+ )?probity:([a-z_]+): /\1\2 \4 /' events.raw > events
}

# Lines "TID NAME WALL CPU" of the hits with plain names.
hits_read() {
    local head='^([0-9]+) hit(_with)? .*vtid = ([0-9]+), cpu_ns = ([-0-9]+), late_ns = 0 \}, '
    sed -nE "s/$head"'\{ name = "([a-z0-9 ._-]+)".*/\3\t\5\t\1\t\4/p' events | sort
}

# Lines "NAME CALLS SELF CPU_SELF".
functions_read() {
    local times='.* self_ns = ([0-9]+), .*cpu_self_ns = ([0-9]+),.*'
    sed -nE 's/^[0-9]+ leave .* name = "([^"]*)", .*untimed = ([01]),'"$times/\1 \2 \3 \4/p" \
        events |
        awk -v OFS='\t' '{ calls[$1]++; if (!$2) { self[$1] += $3; cpu[$1] += $4 } }
            END { for (name in calls) print name, calls[name], self[name] + 0, cpu[name] + 0 }' |
        sort
}

# $1 description; the rest: traces
compare() {
    local what=$1 columns=1-4
    shift
    [ "$what" != live ] || columns=1-2
    export_to "$what" 0 ctf "$@"
    read_back "$what"
    diff <(functions_of "$@" | cut -f $columns) <(functions_read | cut -f $columns) > difference ||
        fail "$what: functions, report (<) and babeltrace2 (>): $(head -n 5 difference)"
    diff <(hits_of "$@" | cut -f $columns) <(hits_read | cut -f $columns) > difference ||
        fail "$what: hits, csv (<) and babeltrace2 (>): $(head -n 5 difference)"
    expect "$what: all hits" "$("$PROBITY" csv --columns tick "$@" 2> /dev/null | wc -l)" \
        "$(grep -cE '^[0-9]+ hit(_with)? ' events)"
    expect "$what: enters and leaves" "$(grep -c '^[0-9]* enter ' events)" \
        "$(grep -c '^[0-9]* leave ' events)"
    sort -s -c -k1,1n events || fail "$what: time goes backwards"
}

PROBITY_OUT=$WORK/typed "$PROGRAMS/typed" > output
compare_all
expect "processes" 2 "$(grep -c '^[0-9]* process ' events)"
start_live
compare "live" live
end_live
PROBITY_OUT=$WORK/large "$PROGRAMS/exported" 4 2000
compare "several packets" large
[ "$(stat -c %s out/stream)" -gt 1000000 ] || fail "a single packet"

# Names and values made of arbitrary bytes, as babeltrace2 quotes them.
export_to "names" 0 ctf exported
read_back "names"
sed -nE 's/^[0-9]+ hit .*, \{ name = (".*") \}$/\1/p' events | sort | uniq -c |
    sed 's/^ *//' > found
sort > expected << 'END'
1 "after"
24 "7"
6 "before"
7 "<b onclick=\"alert(\'x\')\">&amp;</b>"
7 "broken \\377\\303( UTF-8"
7 "quote \" backslash \\ brace {%s} semicolon; comma,"
7 "snowman ☃"
7 "two\\nlines\tand a tab"
END
diff expected <(sort found) > difference || fail "names: $(cat difference)"
expect "names of threads" 2 "$(grep -cE 'thread_name .*name = "<i>worker\\\\n[01]"' events)"
for value in 'name = "text", value = "\"plain\""' 'value = "\"</script>\\376\\n\""' \
    'name = "number", value = "-9223372036854775808"' 'value = "10000"'; do
    grep -qF -- "$value" events || fail "no $value"
done
grep -qE 'value = "\\"x{900,}\\"\.\.\."' events || fail "no long text"
grep -qE '^[0-9]+ message .*text = "message <b>\\"x{900,}' events || fail "no message"
expect "levels" "functions = 5, parameters = 5
functions = 3, parameters = 4" \
    "$(sed -nE 's/^[0-9]+ levels .*\{ (functions[^}]*[0-9]) \}$/\1/p' events)"

# A host name with a character that is printed as \u202e.
host=$'na\xe2\x80\xae"\\me'
if unshare --uts true 2> /dev/null || unshare --user --map-root-user --uts true 2> /dev/null; then
    unshare=(unshare --uts)
    unshare --uts true 2> /dev/null || unshare=(unshare --user --map-root-user --uts)
    PROBITY_OUT=$WORK/hosted "${unshare[@]}" python3 -c 'import socket, subprocess, sys
socket.sethostname(sys.argv[1])
subprocess.check_call(sys.argv[2:])' "$host" "$PROGRAMS/exported" 1 1 > output
    export_to "odd host" 0 ctf hosted
    read_back "odd host"
    grep -qF 'hostname = "na\\u202e\"\\me"' out/metadata ||
        fail "odd host: $(grep host out/metadata)"
else
    echo "left out: the name of the host cannot be set here"
fi

# Ids, repairs, ranges.
export_to "typed" 0 ctf typed
read_back "typed"
diff <("$PROBITY" csv --columns correlation typed | awk '$1 != ""' | sort) \
    <(sed -nE 's/.* ids = [13], correlation = ([0-9]+),.*/\1/p' events | sort) > difference ||
    fail "ids: $(head -n 5 difference)"
export_to "jumps" 0 ctf jumps
read_back "jumps"
expect "unwound" "$("$PROBITY" report --json jumps | jq .repairs.unwound)" \
    "$(grep -c 'how = ( "unwound"' events)"
middle=@$("$PROBITY" csv --columns wall exported | sed -n 20p)
export_to "range" 0 ctf --from "$middle" exported
read_back "range"
expect "range" "$("$PROBITY" csv --from "$middle" --columns tick exported | wc -l)" \
    "$(grep -cE '^[0-9]+ hit ' events)"

# A directory replaces only a directory of the same kind.
check_manners ctf exported
export_to "anew" 0 ctf exported
"$PROBITY" export --format ctf -f -o out tree 2> errors || fail "-f: $(cat errors)"
read_back "replaced"
grep -q 'name = "fibonacci"' events || fail "the directory was not replaced"
echo precious > out/notes
status=0
"$PROBITY" export --format ctf -f -o out exported 2> errors || status=$?
expect "a directory with other files: status" 1 "$status"
expect "a directory with other files" "metadata notes stream" "$(cd out && echo *)"
status=0
"$PROBITY" export --format ctf exported 2> errors || status=$?
expect "standard output" 2 "$status"
finish
