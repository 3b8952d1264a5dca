#!/usr/bin/env bash
# `probity export --format speedscope`: times by thread and function equal those of the report.
# speedscope itself, in a headless browser, shows the profile with the same totals, and reads folded
# stacks, too.
# variants: gcc
# timeout: 600
. "$(dirname "$0")/../common.bash"
. "$SOURCE/tests/exports/exported.bash"
. "$SOURCE/tests/tool/trace_processor.bash"

# Tab-separated lines "PROFILE FUNCTION TOTAL SELF" of all profiles; TOTAL counts outermost calls
# only. Events that do not nest, or go back in time, are an error.
sums() {
    jq -r '.shared.frames as $frames | .profiles[] | .name as $profile |
        reduce .events[] as $event ({stack: [], last: .startValue, sums: {}};
            if $event.at < .last then error("back in time") else . end |
            ($frames[$event.frame].name) as $name |
            if .stack | length > 0 then .sums[.stack[-1]].self += $event.at - .last else . end |
            .last = $event.at |
            if $event.type == "O" then
                .sums[$name].total += (if .stack | index($name) then 0 else -$event.at end) |
                .stack += [$name]
            elif .stack[-1] != $name then error("does not nest")
            else
                .stack |= .[:-1] |
                .sums[$name].total += (if .stack | index($name) then 0 else $event.at end)
            end) |
        if .stack != [] then error("left open") else . end |
        .sums | to_entries[] | [$profile, .key, .value.total, .value.self // 0] | @tsv' "$1"
}

# $1 trace, $2 "" or "cpu_", $3 value
check() {
    export_to "$1" 0 speedscope --value "$3" "$1"
    sums out > found 2> errors || fail "$1: $(cat errors)"
    "$PROBITY" report --by-thread --json "$1" | jq -r --arg cpu "$2" '.functions[] |
        .name as $name | .threads[] |
        ["\(.pid)/\(.tid)", $name, .[$cpu + "total_ns"], .[$cpu + "self_ns"]] | @tsv' |
        sort > expected
    diff expected <(sed 's/^[^\t]* //' found | sort) > difference ||
        fail "$1, $3: report (<) and profiles (>): $(head -n 5 difference)"
}

# The function table as the page shows it: lines "FUNCTION TOTAL SELF". $1 the file to open
shown() {
    local page=$NPM/node_modules/speedscope/dist/release/index.html
    local name='<td[^>]*><span[^>]*></span>([^<]*)</td>'
    local cell='<td[^>]*>([^ <]+) [^<]*<div[^>]*><div[^>]*></div></div></td>'
    printf 'speedscope.loadFileFromBase64("%s", "%s")' "$1" "$(base64 -w 0 "$1")" > profile.js
    timeout 300 chromium --headless --no-sandbox --disable-gpu --use-gl=angle \
        --use-angle=swiftshader --enable-unsafe-swiftshader --allow-file-access-from-files \
        --user-data-dir="$WORK/browser" --virtual-time-budget=20000 --dump-dom \
        "file://$page#localProfilePath=$WORK/profile.js&view=sandwich" 2> browser.err |
        tr -d '\n' | sed 's/<tr /\n<tr /g' |
        sed -nE "s,^<tr [^>]*>$cell$cell$name.*,\3\t\1\t\2,p"
}

# Formats nanoseconds like the page. The function names used here need no escapes.
as_shown() {
    awk -F '\t' -v OFS='\t' 'function text(ns) {
            if (ns / 1e9 >= 1) return sprintf("%.2fs", ns / 1e9)
            if (ns / 1e6 >= 1) return sprintf("%.2fms", ns / 1e6)
            if (ns / 1e3 >= 1) return sprintf("%.2f\302\265s", ns / 1e3)
            return sprintf("%.0fns", ns)
        }
        { print $1, text($2), text($3) }' | sort
}

record_all
for trace in parallel exported many one none; do
    check "$trace" "" wall
    check "$trace" cpu_ cpu
done
[ "$(sums out | wc -l)" -eq 0 ] || fail "calls reported for a trace without calls"
expect "no calls: profiles" 1 "$(jq '.profiles | length' out)"

# Blocks, if there are no calls or blocks are requested. $1 trace; then options
check_blocks() {
    local trace=$1 value
    shift
    for value in wall cpu; do
        export_to "blocks of $trace" 0 speedscope --value $value "$@" "$trace"
        sums out > found 2> errors || fail "blocks of $trace: $(cat errors)"
        "$PROBITY" blocks --by-thread --json "$trace" | jq -r --arg value ${value}_ns '.blocks[] |
            def text($text; $name): if $name then "\($text) (\($name))" else $text end;
            (text(.from; .from_name) + " -> " + text(.to; .to_name)) as $name | .threads[] |
            ["\(.pid)/\(.tid)", $name, .[$value], .[$value]] | @tsv' | sort > expected
        [ -s expected ] || fail "$trace: no blocks"
        diff expected <(sed 's/^[^\t]* //' found | sort) > difference ||
            fail "$trace, $value: blocks (<) and profiles (>): $(head -n 5 difference)"
    done
}

PROBITY_OUT=$WORK/blocks "$PROGRAMS/blocks"
check_blocks server
check_blocks blocks
check_blocks parallel --blocks

# A deferred scope contains its calls.
export_to "deferred" 0 speedscope tree
sums out | awk -F '\t' '{ print $2, $3 }' | grep -E '^(deferred|leaf|thread_main) ' |
    awk '{ sum[$1] += $2 } END { for (name in sum) print name, sum[name] }' | sort > found
"$PROBITY" report --json tree | jq -r '.functions[] |
    select(.name | IN("deferred", "leaf", "thread_main")) | "\(.name) \(.total_ns)"' |
    sort | diff - found > difference || fail "deferred: $(cat difference)"

# In the browser: one thread of the profile, and all threads folded.
export_to "page" 0 speedscope parallel
thread=$(jq -r '[.profiles[] | .events | length] | index(max)' out)
jq ".activeProfileIndex = $thread" out > shown.json
sums shown.json | awk -F '\t' -v OFS='\t' -v name="$(jq -r ".profiles[$thread].name" out)" \
    '$1 == name { print $2, $3, $4 }' | as_shown > expected
shown shown.json | sort > found
[ "$(wc -l < expected)" -eq 3 ] || fail "functions of the thread: $(cat expected)"
# The last digit may be rounded either way.
paste expected found | awk -F '\t' 'function far(a, b) {
        if (substr(a, match(a, /[^0-9.]/)) != substr(b, match(b, /[^0-9.]/))) return 1
        return a - b > 0.0101 || b - a > 0.0101
    }
    NF != 6 || $1 != $4 || far($2, $5) || far($3, $6)' > difference
[ ! -s difference ] ||
    fail "page: expected and shown: $(cat difference); $(tail -n 2 browser.err)"
export_to "names" 0 speedscope exported
expect "names of threads" '<i>worker\n0 <i>worker\n1' \
    "$(jq -r '.profiles[].name' out | grep '^<i>' | sed 's/ .*//' | sort | xargs -d '\n')"
export_to "folded" 0 folded exported
cp out shown.folded
diff <(functions_of exported | awk -F '\t' '$3 > 0 { print $1, $3 }' | sort) \
    <(shown shown.folded | awk -F '\t' '{ gsub(",", "", $3); print $1, $3 }' | sort) > difference ||
    fail "folded stacks on the page: report (<), shown (>): $(cat difference)"

# The name of the file includes what is missing from a trace.
expect "complete: name" null "$(jq .name shown.json)"
record_lack
head -c $(($(stat -c %s many) * 2 / 3)) many > part
export_to "not complete" 3 speedscope exported lossy part
expect "lack" "$(cat lack.expected)" "$(jq -r .name out | sed "s/; 'part' is incomplete: .*//")"
jq -r .name out | grep -q "; 'part' is incomplete: " ||
    fail "expected a note about the truncated trace"

check_manners speedscope parallel
status=0
"$PROBITY" export --format speedscope --value calls parallel > output 2> errors || status=$?
expect "another value: status" 2 "$status"
status=0
TMPDIR=$WORK/nowhere "$PROBITY" export --format speedscope -o out2 parallel 2> errors || status=$?
expect "no place for temporary files: status" 1 "$status"
grep -q 'cannot create a temporary file' errors || fail "expected an error: $(cat errors)"
expect "output without input" "" "$(find . -name 'out2*')"
finish
