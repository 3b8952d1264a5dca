#!/usr/bin/env bash
# `probity export --format firefox`: the tables are valid, and markers and samples have the numbers
# and times of `probity report`, `blocks` and `model`. The Firefox Profiler's own command-line tool,
# if it runs here, reads the same from the file.
# variants: gcc asan
# timeout: 600
. "$(dirname "$0")/../common.bash"
. "$SOURCE/tests/exports/exported.bash"
NPM=${BUILD%"-$VARIANT"}/npm
"$SOURCE/tools/npm_install.sh" "$SOURCE/tests/npm" "$NPM"
CLI=$NPM/node_modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js
export HOME=$WORK/home
mkdir "$HOME"

# Checks what the format's documentation requires of tables: columns of one length, indexes of rows
# that exist, parents before children, times in order.
WHOLE='def columns: to_entries | map(select(.value | type == "array")) | map(.value | length);
    def table($what): .length as $n | if columns | all(. == $n) then . else error($what) end;
    def below($n; $what): if all(. == null or . == -1 or (. >= 0 and . < $n)) then .
        else error("\($what): index") end;
    def ordered($what): . as $all | if all(range(1; length); $all[. - 1] <= $all[.]) then .
        else error("\($what): order") end;
    if .meta.preprocessedProfileVersion != 70 then error("version") else . end |
    .shared as $shared | ($shared.stringArray | length) as $strings |
    ([.meta.markerSchema[].name]) as $schemas | (.meta.categories | length) as $categories |
    ($shared | .stackTable, .frameTable, .funcTable, .sources, .resourceTable, .nativeSymbols,
        .sourceLocationTable | table("shared")),
    ($shared.stackTable.frame | below($shared.frameTable.length; "stack")),
    ($shared.stackTable.prefixOffset | to_entries | if all(.value >= 0 and .value <= .key) then .
        else error("parents") end),
    ($shared.frameTable.func | below($shared.funcTable.length; "frame")),
    ($shared.funcTable.name | below($strings; "function")),
    ($shared.funcTable.source | below($shared.sources.length; "source")),
    ($shared.sources.filename | below($strings; "file")),
    (.counters[] | .samples | table("counter") | .time | ordered("counter")),
    (.threads[] | (.samples | table("samples") | (.stack | below($shared.stackTable.length;
        "sample")), (.time | ordered("samples")), (.weight | if all(. >= 0) then . else
        error("weight") end)),
        (.markers | table("markers") | (.name | below($strings; "marker")),
        (.category | below($categories; "category")), (.data[] | .type as $type |
            if $schemas | index($type) then . else error("schema " + $type) end)),
        ((.name, .processName, .pid) | if type == "string" then . else error("name") end))'

# Lines "TYPE NAME COUNT NS" of markers that have ended.
MARKERS='.shared.stringArray as $names | [.threads[].markers | . as $all | range(.length) |
        select($all.phase[.] == 1 and $all.data[.].end != "open") |
        {type: $all.data[.].type, name: $names[$all.name[.]],
            ns: (($all.endTime[.] - $all.startTime[.]) * 1e6 | round)}] |
    group_by([.type, .name])[] | [.[0].type, .[0].name, length, (map(.ns) | add)] | @tsv'

# Lines "NAME SELF CPU_CALLS" of functions: sums of weights by the last frame of the stack.
SELF='.shared as $shared | [.threads[].samples | . as $all | range(.length) |
        select($all.stack[.] != null) |
        {name: $shared.stringArray[$shared.funcTable.name[$shared.frameTable.func[
            $shared.stackTable.frame[$all.stack[.]]]]], ns: ($all.weight[.] * 1e6 | round)}] |
    group_by(.name)[] | [.[0].name, (map(.ns) | add)] | @tsv'

# Lines of spans as in spans_of_hits.
as_spans() {
    sed -E 's/^Block\t/block\t/; s/^Stage\t/stage\t/; s/^Request\t/request\t/
        s/^LockWait\t/lock wait\t/; s/^LockHold\t/lock hold\t/'
}

plain() {
    sed 's/\\\\/\\/g; s/\\377\\303/??/'
}

# $1 description; the rest: traces
check() {
    local what=$1
    shift
    export_to "$what" 0 firefox "$@"
    jq "$WHOLE" out > whole 2> errors || { fail "$what: $(head -c 500 errors)"; return; }
    jq -r "$MARKERS" out | sort > markers
    # In the tool's JSON, names have control characters; in markers, they have escapes.
    diff <(spans_of_hits "$@" | plain | sort) \
        <(grep -v '^Call' markers | as_spans | plain | sort) > difference ||
        fail "$what: spans, tool (<) and markers (>): $(head -n 5 difference)"
    expect "$what: CPU time of blocks" "$(blocks_cpu_of "$@")" \
        "$(jq '[.threads[].markers.data[] | select(.type == "Block") | .cpu // 0] | add // 0' out)"
    diff <(queues_of "$@") <(jq -r '.counters[] | .samples.count as $changes |
        [(.name | sub(" 0x[0-9a-f]+$"; "")), ([foreach $changes[] as $n (0; . + $n)] | max),
            ($changes | length)] | @tsv' out | sort) > difference ||
        fail "$what: queues, model (<) and counters (>): $(cat difference)"
    expect "$what: hits" "$("$PROBITY" csv "$@" 2> /dev/null | wc -l)" \
        "$(jq '[.threads[].markers.data[] | select(.type == "Hit")] | length' out)"
}

# Calls of functions. $2 columns of functions_of to compare
check_calls() {
    local trace=$1
    diff <(functions_of "$trace" | cut -f 1,2) <(jq -r '.shared.stringArray as $names |
        [.threads[].markers | . as $all | range(.length) | select($all.data[.].type == "Call") |
            $names[$all.name[.]]] | group_by(.)[] | [.[0], length] | @tsv' out | sort) \
        > difference || fail "$trace: calls, report (<) and markers (>): $(head -n 5 difference)"
    [ "$2" = all ] || return 0
    diff <(functions_of "$trace" | cut -f 1,3 | grep -v "$(printf '\t')0\$") \
        <(jq -r "$SELF" out | grep -v "$(printf '\t')0\$" | sort) > difference ||
        fail "$trace: self time, report (<) and samples (>): $(head -n 5 difference)"
}

ask() {
    timeout 60 node "$CLI" profile markers --limit 100000 --json --session "$1" > read.json \
        2> errors
}

# Checks what the profiler's own tool finds in "out". $1 trace, whose name is that of the session.
# The process that holds a profile is started here, because `load` waits only half a second for it.
read_back() {
    local what=$1 holder
    cp out profile.json
    node "$CLI" --daemon "$PWD/profile.json" --session "$what" > held 2>&1 &
    holder=$!
    # If queried earlier, the tool would conclude that the session has ended, and remove it.
    wait_until "$holder" has_lines "$HOME/.profiler-cli/$what.log" 1 'Profile loaded' || true
    wait_until "$holder" ask "$what" || fail "$what: $(head -n 5 held errors)"
    kill "$holder"
    wait "$holder" 2> killed || true
    jq -r '[.markers[] | select(.data.end != "open" and .markerType != "Hit") |
            {type: .markerType, name, ns: (.duration * 1e6 | round)}] |
        group_by([.type, .name])[] | [.[0].type, .[0].name, length, (map(.ns) | add)] | @tsv' \
        read.json | sort > found
    jq -r "$MARKERS" out | sort > markers
    [ -s markers ] || fail "$what: no markers"
    diff markers found > difference ||
        fail "$what: markers as written (<) and as read (>): $(head -n 5 difference)"
}

record_all
PROBITY_OUT=$WORK/requests "$PROGRAMS/typed" 300 > output
PROBITY_OUT=$WORK/blocks "$PROGRAMS/blocks"
for trace in server requests blocks; do check "$trace" "$trace"; done
[ "$(grep -cE '^(Request|LockHold|Block)' markers)" -gt 0 ] || fail "nothing that hits mean"
for trace in parallel exported many killed; do
    check "$trace" "$trace"
    check_calls "$trace" all
done
# With pauses, jumps and calls without times, only the number of calls can match.
for trace in tree jumps; do
    check "$trace" "$trace"
    check_calls "$trace" calls
done
for trace in one none; do check "$trace" "$trace"; done
python3 "$SOURCE/tests/tool/another_session.py" parallel again
check "two processes of one id" parallel again
expect "ids of processes" 2 "$(jq '[.threads[].pid] | unique | length' out)"
check_is_untrusted() {
    export_to "names" 0 firefox exported
    jq -e '.threads | any(.name == "<i>worker\\n0")' out > /dev/null || fail "name of a thread"
}
check_is_untrusted

if ! node "$CLI" --version > version 2>&1; then
    echo "left out: profiler-cli does not run with node $(node --version)"
else
    for trace in server requests exported; do
        export_to "$trace" 0 firefox "$trace"
        read_back "$trace"
    done
fi
finish
