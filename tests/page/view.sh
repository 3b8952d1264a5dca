#!/usr/bin/env bash
# `probity view`: tests/browser/view.mjs tests its pages in headless chromium: numbers equal to
# those of other commands, the timeline by mouse and keyboard, light, dark and print styles, names
# that look like markup, 0 and 64 threads. Also output files: existing ones, a full disk, damaged
# traces.
# variants: asan
. "$(dirname "$0")/../common.bash"
. "$SOURCE/tests/page/browser.bash"
TREE=$PROGRAMS/tree

# $1 description, $2 status; then arguments of view. Writes "output" and "errors".
view() {
    local what=$1 expected=$2 status=0
    shift 2
    "$PROBITY" view "$@" > output 2> errors || status=$?
    expect "$what: status ($(cat errors))" "$expected" "$status"
}

# Prints the unpacked contents of a data element. $1 its id, $2 page
unpack() {
    sed -n "s,.*id=\"probity-$1\">\([^<]*\)<.*,\1,p" "$2" | base64 -d |
        python3 -c 'import sys, zlib
sys.stdout.buffer.write(zlib.decompress(sys.stdin.buffer.read()))'
}

# ---- Files ----

PROBITY_OUT=$WORK/small.probity "$TREE"
view "small" 0 small.probity
expect "name of the page" "small.html" "$(cat output)"
view "page that exists" 1 small.probity
grep -q "'small.html' already exists" errors ||
    fail "expected an error that the page exists: $(cat errors)"
view "page, replaced" 0 -f small.probity
view "to stdout" 0 -o - small.probity
cmp -s output small.html || fail "the page on standard output differs"
PROBITY_OUT=$WORK/hits.probity "$PROGRAMS/blocks" > /dev/null
for page in one two three; do view "hits" 0 -o $page.html hits.probity; done
cmp one.html two.html && cmp one.html three.html || fail "pages of one trace differ"
for wrong in "--spans 0" "--spans x" "--nothing" "--open -o -"; do
    # shellcheck disable=SC2086
    view "wrong: $wrong" 2 $wrong small.probity
done
view "no trace" 2
view "input as output" 1 -f -o small.probity small.probity
view "full disk" 1 -f -o /dev/full small.probity
head -c 2000 small.probity > cut.probity
view "cut" 3 -o cut.html cut.probity
expect "completeness of a cut trace" "false" "$(unpack data cut.html | jq '.info[0].complete')"
if [ -w /dev/shm ] && mkdir -p "$SPOOL/disk" 2> /dev/null &&
    mount -t tmpfs -o size=64k tmpfs "$SPOOL/disk" 2> /dev/null; then
    view "a disk that gets full" 1 -o "$SPOOL/disk/page.html" small.probity
    expect "left on the full disk" "" "$(ls -A "$SPOOL/disk")"
    umount "$SPOOL/disk"
fi
# A browser that is missing, one that fails, and one that receives the page.
mkdir bin
printf '#!/bin/sh\nexit 3\n' > bin/xdg-open
chmod +x bin/xdg-open
PATH=$WORK/bin:$PATH view "browser that fails" 1 -f --open -o opened.html small.probity
# shellcheck disable=SC2016
printf '#!/bin/sh\necho "$1" > reported\n' > bin/xdg-open
PATH=$WORK/bin:$PATH view "browser" 0 -f --open -o opened.html small.probity
expect "arguments of the browser" "opened.html" "$(cat reported)"

# ---- Data ----

# Without a limit, each call is a separate span. With a limit there are fewer spans, but no call is
# lost.
unpack data small.html > small.json
"$PROBITY" report --by-thread --json small.probity > report.json
calls=$(jq '[.functions[].calls] | add' report.json)
expect "calls" "$calls" "$(jq .timeline.calls small.json)"
expect "unit" 1 "$(jq .timeline.unit_ns small.json)"
jq .report small.json > found.json
cmp -s <(jq -S . report.json) <(jq -S . found.json) ||
    fail "the report differs from 'report --json'"
# A C program's trace has no signatures; they come from DWARF.
expect "signature" "int fibonacci(int n)" \
    "$(jq -r '.report.functions[] | select(.name == "fibonacci").signature' small.json)"
# Each span between probes has a histogram of its calls only.
PROBITY_OUT=$WORK/hits.probity "$PROGRAMS/blocks" > /dev/null
view "blocks" 0 -o own.html hits.probity
unpack data own.html | jq -e '[.blocks.blocks, .block_histograms] | transpose | length > 2 and
    all(.[0].calls == ([.[1][][1]] | add) and .[1][0][0] <= .[0].min_ns and
        .[1][-1][0] <= .[0].max_ns)' > found || fail "histograms of the wrong blocks: $(cat found)"
"$BUILD/bench/gen_scopes" big.probity 2 1 values
view "few spans" 0 --spans 10000 -o few.html big.probity
unpack data few.html > few.json
expect "calls with few spans" 500000 "$(jq .timeline.calls few.json)"
[ "$(jq .timeline.spans few.json)" -le 10000 ] || fail "more spans than requested"
[ "$(jq '.timeline.together > 400000' few.json)" = true ] || fail "expected merged calls"
# Sums the counts of each lane over the spans of all threads. In refined parts of the timeline, no
# span is merged.
unpack spans few.html > few.spans
export PYTHONPATH=$SOURCE/tests/tool
expect "calls in spans; of several, in stretches" "500000 0 True" "$(python3 - <<'EOF'
import json
from page_spans import CALLS, lanes_of
timeline = json.load(open("few.json"))["timeline"]
total, several, inside = 0, 0, 0
for (_, kind, _), spans in lanes_of(timeline, open("few.spans", "rb").read()):
    for span in spans:
        total += span.count if kind == CALLS else 0
        start = span.start - timeline["since_start_ns"]
        if any(first <= start < end for first, end in timeline["stretches"]):
            inside += 1
            several += span.count > 1
print(total, several, inside > 1000)
EOF
)"

# A page for a range shows the calls in progress at its beginning, but does not count them.
middle=$(jq '.timeline | .since_start_ns + .length_ns / 2 | floor' few.json)
view "a range" 0 --from "${middle}ns" -o range.html big.probity
expect "calls of a range" \
    "$("$PROBITY" report --json --from "${middle}ns" big.probity |
        jq '[.functions[].calls] | add')" \
    "$(unpack data range.html | jq .timeline.calls)"

# A function that only other threads call is not found in one thread.
tid=$("$PROBITY" report --json --by-thread small.probity |
    jq '[.functions[] | select(.name == "main").threads[].tid] | first')
view "main in its thread" 0 --tid "$tid" --function main -o main.html small.probity
view "thread_main in another" 1 --tid "$tid" --function thread_main -o none.html small.probity
grep -q "no calls match 'thread_main'" errors || fail "thread_main in another: $(cat errors)"

# One thread's counts in profile mode.
PROBITY_OUT=$WORK/counted.probity PROBITY_PROFILE=1 "$TREE"
tid=$("$PROBITY" report --json --by-thread counted.probity |
    jq '[.functions[] | select(.name == "thread_main").threads[].tid] | first')
view "counted, one thread" 0 --tid "$tid" counted.probity
counts='[.functions[] | select(.calls > 0) | {name, calls}] | sort_by(.name)'
expect "calls of one thread" "$("$PROBITY" report --json --tid "$tid" counted.probity |
    jq -c "$counts")" "$(unpack data counted.html | jq -c ".report | $counts")"

# One thread's waits, with the ids of the holders, which are other threads.
PROBITY_OUT=$WORK/planted.probity "$PROGRAMS/planted" 100 > truth
read -r tid holder <<< "$(awk '$1 == "mutex" { print $3, $4; exit }' truth)"
view "waits of one thread" 0 --tid "$tid" -o planted.html planted.probity
unpack data planted.html > planted.json
expect "number of waits of one thread" \
    "$("$PROBITY" waits --json --tid "$tid" planted.probity | jq '[.rows[].waits] | add')" \
    "$(jq '.waits.list | length' planted.json)"
expect "threads of these waits" "1" "$(jq '.waits.threads | length' planted.json)"
[ "$(jq "[.waits.list[] | select(.[7] == -1 - $holder)] | length" planted.json)" -gt 0 ] ||
    fail "thread $holder does not hold what $tid waits for: $(jq -c .waits planted.json)"

# ---- Comparison ----

for run in 1 2 3 4; do
    PROBITY_OUT=$WORK/run$run "$TREE"
done
view "comparison" 0 --diff run1 --diff run2 -o diff.html run3 run4
unpack data diff.html > page.json
# The tree of the two base runs is the one that `probity tree` prints for both.
"$PROBITY" tree --json run1 run2 > base.json
nodes='[.tree[] | .. | objects | select(has("children")) |
    {name, line, calls, total_ns, self_ns, cpu_self_ns}] | sort'
expect "tree of the base" "$(jq -c "$nodes" base.json)" "$(jq -c ".base | $nodes" page.json)"
expect "its runs" 2 "$(jq .base_runs page.json)"
# Checks the functions, too, with the distributions of their calls.
"$PROBITY" report --json run1 run2 > base-report.json
calls='[.functions[] | {name, line, calls, total_ns, p50_ns, histogram}] | sort_by(.name, .line)'
expect "functions of the base" "$(jq -c "$calls" base-report.json)" \
    "$(jq -c ".base_report | $calls" page.json)"
# A label denotes all runs that have it, compared as their traces are.
mkdir project
"$PROBITY" runs init --project project > /dev/null
"$PROBITY" runs add --project project --label old run1 run2 > /dev/null
view "a label" 0 --project project --diff @old -o label.html run3 run4
unpack data label.html > label.json
changes='[.diff.functions[] | {name, line, statistics: (.statistics |
    map_values({base_median, new_median, ratio, verdict}))}] | sort_by(.name, .line)'
expect "comparison with a label" "$(jq -c "$changes" page.json)" "$(jq -c "$changes" label.json)"
expect "no tree of a label" '[false,0,true]' \
    "$(jq -c '[has("base"), .base_runs, (.base_why | test("history"))]' label.json)"
expect "no functions of a label" false "$(jq 'has("base_report")' label.json)"
# The base gets its part of the total number of spans.
view "comparison with few spans" 0 --spans 400 --diff run1 --diff run2 -o short.html run3 run4
expect "spans of both sides" "true true" "$(unpack data short.html | jq -r '[.timeline.spans,
    .base_timeline.spans] | "\(add <= 400) \(.[1] > 0 and .[1] <= 100)"')"
view "a label and a trace" 0 --project project --diff @old --diff run4 -o both.html run3
expect "tree of the trace alone" 1 "$(unpack data both.html | jq '.base_runs')"
view "a label of no run" 1 --project project --diff @none -o none.html run3
view "a label, and no history" 1 --diff @old -o none.html run3
view "a label, in a range" 2 --project project --diff @old --from 1ms -o none.html run3
view "a range of one run each" 0 --diff run1 --from 1ms -o ranged.html run3
expect "tree of a range" \
    "$("$PROBITY" tree --json --from 1ms run1 | jq -c "$nodes")" \
    "$(unpack data ranged.html | jq -c ".base | $nodes")"
view "a range of several runs" 0 --diff run1 --diff run2 --from 1ms -o ranges.html run3
expect "no tree of a range of several" true \
    "$(unpack data ranges.html | jq '(has("base") | not) and (.base_why | test("several"))')"
cp run1 kept
view "the page in place of what is compared" 1 -f --diff run1 -o run1 run3
cmp run1 kept || fail "a trace was overwritten with a page"
view "comparison with nothing" 1 --diff nothing -o nothing.html run3
[ ! -e nothing.html ] || fail "a page was written for a comparison without runs"

# ---- Pages ----

if [ "$VARIANT" != gcc ]; then
    finish
    exit 0
fi
needs_browser
rm -f "$BUILD/test-logs/view/command"

# $1 scenario, $2 page; then JSON files. One browser opens all of them, at the end.
scenarios=()
look() {
    scenarios+=("$@" --)
}

view "whole" 0 --spans 2000000 -o whole.html big.probity
"$PROBITY" log big.probity | awk '
    /inner_values/ && !found { found = 1; next }
    found == 1 && / value = / { value = $NF }
    found == 1 && / other = / { other = $NF }
    found == 1 && /return \(/ { gsub(/.*\(|\).*/, ""); result = $0; exit }
    END { printf "{\"name\": \"inner_values\", \"outermost\": \"outer\", \"parameters\":"
          printf " \"value = %s, other = %s\", \"returned\": \"%s\"}\n", value, other, result }' \
    > call.json
look timeline whole.html call.json
look closer few.html
"$PROBITY" report --by-thread --json big.probity > big.json
look functions few.html big.json
"$PROBITY" tree --json small.probity > tree.json
tid=$("$PROBITY" report --json --by-thread small.probity |
    jq '[.functions[] | select(.name == "main").threads[].tid] | first')
called=$("$PROBITY" log --tid "$tid" small.probity 2> /dev/null |
    sed -n 's/^[0-9]*:   [^ ].*[ *]\([a-z_]*\)(.*/\1/p' | head -n 1)
"$PROBITY" report --json --tid "$tid" small.probity | jq --arg called "$called" \
    "{tid: $tid, outermost: \"main\", calls: ([.functions[].calls] | add), called: \$called}" \
    > thread.json
look flame small.html tree.json thread.json
look themes small.html
look print few.html big.json
"$PROBITY" blocks --json hits.probity > blocks.json
view "hits" 0 hits.probity
look blocks hits.html blocks.json
"$PROBITY" blocks --slowest 5 hits.probity > blocks.text
"$PROBITY" timeline hits.probity > timeline.text
"$PROBITY" csv hits.probity > hits.csv
"$PROBITY" info --json hits.probity > info.json
# The printed output: columns of the blocks, ends of the axis; and the times of all hits in the CSV.
python3 - > clock.json <<'EOF'
import json, re
lines = open("blocks.text").read().splitlines()
blocks = []
for line in lines:
    slow = re.match(r" +slow at +([\d.]+s) +(\S+)", line)
    cells = line.split()
    if slow:
        blocks[-1]["slow"].append(" ".join(slow.groups()))
    elif " -> " in line:
        # calls share wall CPU off-CPU min mean p50 p90 p99 max
        blocks.append({"wall": cells[2], "mean": cells[6], "p99": cells[9], "max": cells[10],
                       "slow": []})
axis = re.match(r"thread +(\S+) +(\S+)", open("timeline.text").readline()).groups()
start = json.load(open("info.json"))[0]["times"]["started_ns"]
recorded = set()
for line in open("hits.csv"):
    cells = line.strip().split(",") # a name may have commas
    ns = int(cells[-2]) * 10**9 + int(cells[-1]) - start
    recorded.add(f"{ns // 10**9}.{ns % 10**9:09d}s")
print(json.dumps({"blocks": blocks[:12], "first": axis[0], "last": axis[1],
                  "recorded": sorted(recorded)}))
EOF
look clock hits.html clock.json
unpack data hits.html | jq .timeline > together.json
expect "unit of a small page" 1 "$(jq .unit_ns together.json)"
look finest hits.html together.json
PROBITY_OUT=$WORK/tracks.probity "$PROGRAMS/tracks"
view "tracks" 0 tracks.probity
"$PROBITY" csv tracks.probity > tracks.csv
"$PROBITY" info --json tracks.probity > info.json
"$PROBITY" blocks tracks.probity > blocks.text
unpack data tracks.html > tracks.json
# The expected contents of each row, from the times of the hits in the CSV.
python3 - > rows.json <<'EOF'
import json, re
start = json.load(open("info.json"))[0]["times"]["started_ns"]
threads = json.load(open("tracks.json"))["timeline"]["threads"]
hits = []
for line in open("tracks.csv"):
    cells = re.split("[, ]+", line.strip())
    hits.append((int(cells[1]), cells[2].strip('"'), int(cells[5]) * 10**9 + int(cells[6]) - start))
main = hits[0][0]
worker = next(tid for tid, _, _ in hits if tid != main)
def when(tid, name, which=0):
    return [ns for by, text, ns in hits if by == tid and text == name][which]
def title(tid):
    return f"{next(each['name'] for each in threads if each['tid'] == tid)} {tid}"
rows = []
def row(found, kind, depth, title, begins, ends, arrows=""):
    place = next(i for i, each in enumerate(threads) if found(each))
    rows.append({"place": f"{place}.{kind}.{depth}.{begins}", "title": title, "took": ends - begins,
                 "arrows": arrows,
                 "begins": f"{begins // 10**9}.{begins % 10**9:09d}s"})
def track(number):
    return lambda each: each.get("track", 0) == number
begin, put, second = (when(main, "request:begin"), when(main, "work:put"),
                      when(main, "work:put", 1))
got = when(worker, "work:get")
row(lambda each: each["tid"] == main, 3, 0, "request:begin → work:put", begin, put,
    f"{main}-{worker}")
passed = f"{main}-{worker}"
row(track(1), 4, 0, "request:begin → work:put", begin, put, passed)
row(track(1), 4, 0, "work:put → work:get", put, got, passed)
row(track(2), 4, 0, f"{title(main)} holds it", when(main, "items:hold"),
    when(main, "items:release"), passed)
row(track(2), 4, 1, f"{title(worker)} waits for it", when(worker, "items:wait"),
    when(worker, "items:hold"), passed)
row(track(3), 4, 0, "1 in it", put, second)
row(track(3), 4, 0, "2 in it", second, got)
blocks = []
for line in open("blocks.text"):
    cells = line.split()
    if " -> " in line:
        blocks.append({"times": " ".join([cells[0], cells[2], *cells[7:11]]),
                       "name": f"{cells[-3]} → {cells[-1]}"})
print(json.dumps({"rows": rows, "blocks": blocks}))
EOF
look tracks tracks.html rows.json
PROBITY_OUT=$WORK/deep.probity "$PROGRAMS/deep_threads"
view "deep" 0 deep.probity
echo '{"threads": 65}' > threads.json
look deep deep.html threads.json
look arrange deep.html
look ruler deep.html
echo '{"name": "descend"}' > name.json
look address deep.html name.json
PROBITY_OUT=$WORK/odd.probity "$PROGRAMS/odd_names"
"$PROBITY" report --json odd.probity > odd.json
view "odd names" 0 odd.probity
grep -qF 'window.owned' odd.html && fail "a name on the page is not escaped"
look odd odd.html odd.json
PROBITY_OUT=$WORK/wide.probity "$PROGRAMS/wide_names"
view "wide names" 0 wide.probity
look wide wide.html
"$PROBITY" report --json wide.probity > wide-report.json
"$PROBITY" blocks --json wide.probity > wide-blocks.json
jq -n --slurpfile report wide-report.json --slurpfile blocks wide-blocks.json \
    '{names: ([$report[0].functions[].name] + [$blocks[0].blocks[] |
        .from_name, .from, .to_name, .to | select(. != null)])}' > names.json
look wideTables wide.html names.json
PROBITY_OUT=$WORK/wider.probity "$PROGRAMS/wide_names"
view "comparison of wide names" 0 --diff wide.probity -o diff-wide.html wider.probity
look wideTables diff-wide.html names.json
"$BUILD/bench/gen" none.probity 1 0
view "empty" 0 none.probity
look empty none.html
"$PROGRAMS/gen_adversarial_traces_internal" recursion 1 > single.probity
view "single" 0 single.probity
look single single.html
"$PROBITY" report --json counted.probity > counted.json
"$PROBITY" info --json counted.probity > counted.info
view "counted" 0 -f counted.probity
look counted counted.html counted.json counted.info
# $1 trace. Prints the times of its first calls, or else of its hits, in ns since its start.
times_of() {
    local start
    start=$("$PROBITY" info --json "$1" | jq '.[0].times.started_ns')
    if "$PROBITY" report --json "$1" 2> /dev/null | jq -e '.functions != []' > found; then
        "$PROBITY" log -q --time relative --limit 50000 "$1" |
            sed -n 's/^\([0-9]*\)\.\([0-9]\{9\}\) .*/\1\2/p'
    else
        "$PROBITY" csv -q "$1" | python3 -c 'import sys
for line in sys.stdin:
    seconds, ns = line.strip().split(",")[-2:]
    print(int(seconds) * 10**9 + int(ns) - int(sys.argv[1]))' "$start"
    fi
}
# $1 trace. Prints a range that contains about half of these, and neither the first nor the last
# ones, however long the program had to wait for the CPU in between. Its ends are in the longest
# gaps, so that rounding moves no record across them.
middle_of() {
    times_of "$1" | sed 's/^0*\(.\)/\1/' | sort -n | awk '
        { at[NR] = $1 }
        function gap(from, to,    i, best) {
            best = from
            for (i = from; i < to; i++)
                best = at[i + 1] - at[i] > at[best + 1] - at[best] ? i : best
            return sprintf("%.0f", int((at[best] + at[best + 1] + 1) / 2))
        }
        END { printf "{\"from\": %s, \"to\": %s}\n", gap(int(NR / 5) + 1, int(NR * 2 / 5)),
              gap(int(NR * 7 / 10), int(NR * 9 / 10)) }'
}
# The page's numbers for a range are those of the commands: of calls, of calls that begin before it,
# and of blocks.
PROBITY_OUT=$WORK/small.blocks "$PROGRAMS/blocks" > /dev/null
view "blocks of a range" 0 -o blocks.html small.blocks
for page in whole:big.probity small:small.probity blocks:small.blocks; do
    name=${page%:*} trace=${page#*:}
    middle_of "$trace" > "range.$name"
    from=$(jq .from "range.$name")ns to=$(jq .to "range.$name")ns
    for command in report tree; do
        "$PROBITY" "$command" --json --from "$from" --to "$to" "$trace" > "range.$name.$command"
    done
    "$PROBITY" blocks --json --since "$from" --until "$to" "$trace" > "range.$name.blocks"
    look ranged "$name.html" "range.$name" "range.$name.report" "range.$name.tree" \
        "range.$name.blocks"
done
# All but the first call, of merged spans.
jq '.timeline | {from: (.since_start_ns + 1), to: (.since_start_ns + .length_ns)}' few.json \
    > near.json
look rangedMerged few.html near.json
"$PROBITY" report --json small.probity > whole.json
look callers small.html tree.json whole.json
"$BUILD/bench/gen_scopes" many.probity 64 1
view "64 threads" 0 many.probity
echo '{"threads": 64}' > threads.json
look threads many.html threads.json
look speed many.html
"$PROBITY" diff --json run1 run2 -- run3 run4 > diff.json
"$PROBITY" tree --json run3 run4 > now.json
look diff diff.html diff.json base.json now.json
"$PROBITY" report --json run3 run4 > now-report.json
look overlaid diff.html diff.json base-report.json now-report.json
# $1, $2 ... traces. Prints when each call of leaf() began, in ns.
starts() {
    "$PROBITY" log -q --time relative "$@" |
        sed -n 's/^0*\([0-9]*\)\.\([0-9]*\) .*: *void leaf(void).*/\1\2/p' | sed 's/^0*//' | jq -s .
}
jq -n --argjson base "$(starts run1 run2)" --argjson now "$(starts run3 run4)" \
    '{name: "leaf", base: $base, now: $now}' > aligned.json
look alignedRuns diff.html aligned.json
for run in 1 2 3 4; do
    PROBITY_OUT=$WORK/blocks$run "$PROGRAMS/blocks" > /dev/null
done
"$PROBITY" diff --json blocks1 blocks2 -- blocks3 blocks4 > diff-blocks.json
view "comparison of blocks" 0 --diff blocks1 --diff blocks2 -o diff-blocks.html blocks3 blocks4
look diffBlocks diff-blocks.html diff-blocks.json
view "programs" 0 --spans 100 -o programs.html run3 blocks3 run4
echo "{\"title\": \"${TREE##*/} ×2, blocks – Probity\"}" > title.json
look title programs.html title.json
"$PROBITY" blocks --json blocks1 blocks2 > base-blocks.json
"$PROBITY" blocks --json blocks3 blocks4 > now-blocks.json
look overlaid diff-blocks.html diff-blocks.json base-blocks.json now-blocks.json
for run in 1 2 3 4; do
    PROBITY_OUT=$WORK/requests$run "$PROGRAMS/typed" $((run < 3 ? 200 : 300)) > /dev/null
done
"$PROBITY" diff --json requests1 requests2 -- requests3 requests4 > diff-requests.json
view "comparison of requests" 0 --diff requests1 --diff requests2 -o diff-requests.html \
    requests3 requests4
"$PROBITY" model --json requests1 requests2 > base-requests.json
"$PROBITY" model --json requests3 requests4 > now-requests.json
look diffRequests diff-requests.html diff-requests.json base-requests.json now-requests.json
# $1 probe; then traces. Prints the times of its hits, in ns since the recording of the first began.
hits_of() {
    local probe=$1
    shift
    "$PROBITY" info --json "$1" > first.json
    "$PROBITY" csv -q --columns wall_s,wall_ns --probe "$probe" "$@" | python3 -c 'import json, sys
start = json.load(open("first.json"))[0]["times"]["started_ns"]
cells = (line.split(",") for line in sys.stdin)
print([int(seconds) * 10**9 + int(ns) - start for seconds, ns in cells])'
}
jq -n --argjson base "$(hits_of request:begin requests1 requests2)" \
    --argjson now "$(hits_of request:begin requests3 requests4)" \
    --argjson stages "$(hits_of 7 requests1 requests2)" \
    '{name: "request", base: $base, now: $now, stage: $stages[2]}' > aligned-requests.json
look alignedRequests diff-requests.html aligned-requests.json
for run in 0 1 2 3 4 5 6 7 8 9; do
    PROBITY_OUT=$WORK/asked$run "$PROGRAMS/typed" 200 > /dev/null
    PROBITY_OUT=$WORK/more$run "$PROGRAMS/typed" 300 > /dev/null
done
"$PROBITY" diff --json asked? -- more? > diff-asked.json
"$PROBITY" runs add --project project --label asked asked? > /dev/null
view "comparison of requests with a label" 0 --project project --diff @asked -o diff-asked.html \
    more?
look labelRequests diff-asked.html diff-asked.json
PROBITY_OUT=$WORK/without.probity "$PROGRAMS/varied" 0 4
PROBITY_OUT=$WORK/with.probity "$PROGRAMS/varied" 200 4
view "added" 0 --diff without.probity -o added.html with.probity
view "gone" 0 --diff with.probity -o gone.html without.probity
echo '{"name": "added", "verdict": "added", "tone": "worse"}' > added.json
echo '{"name": "added", "verdict": "gone", "tone": "better"}' > gone.json
look oneSided added.html added.json
look oneSided gone.html gone.json
look labelled label.html
# The times come first, because only the end of the log of a failed run is shown.
said=0
in_browser "${scenarios[@]}" > said 2> 'times' || said=1
cat 'times'
[ "$said" = 0 ] || fail "$(cat said)"

# The command that the page shows makes a page of exactly the calls that were visible.
command=$(cat "$BUILD/test-logs/view/command")
[ "${command%% *}" = probity ] || fail "expected a command, found: $command"
(eval "'$PROBITY'${command#probity}") > output 2> errors || fail "$command: $(cat errors)"
word() {
    sed -n "s/.* $1 \([^ ]*\) .*/\1/p" <<< "$command"
}
expect "calls of $command" "$("$PROBITY" report --json --since "$(word --since)" \
    --until "$(word --until)" big.probity | jq '[.functions[].calls] | add') 0" \
    "$(unpack data "$(word -o)" | jq -r '.timeline | "\(.calls) \(.together)"')"
in_browser part "$(word -o)" > said 2> /dev/null || fail "$(cat said)"
finish
