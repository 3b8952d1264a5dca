#!/usr/bin/env bash
# Thread states and places of hits in exports: those of the database sum to the output of `probity
# threads`; chrome, perfetto, firefox and CTF have the same number and time of each, as read by the
# format's own consumer; other formats report how many they leave out.
# variants: gcc
# timeout: 600
. "$(dirname "$0")/../common.bash"
. "$SOURCE/tests/exports/exported.bash"
. "$SOURCE/tests/tool/trace_processor.bash"

# shellcheck source=tests/tool/states.bash
. "$SOURCE/tests/tool/states.bash"
calls=(--calls "locks,io,sleep")
[ -e "$BUILD/lib/libprobity-calls.so" ] || calls=()
"${with_tracefs[@]}" "$PROBITY" record "${calls[@]}" --sched -o states -- \
    "$PROGRAMS/states_shown.shared" 6 > /dev/null 2> errors || fail "record: $(cat errors)"

# $1 description, $2 lines of the database, $3 those of the format
same() {
    [ -s "$2" ] || fail "$1: no states"
    diff "$2" "$3" > difference || fail "$1: SQL (<) and $1 (>): $(head -n 5 difference)"
}

# ---- The database, against the analysis ----

export_to sqlite 0 sqlite states
cp out states.db
"$PROBITY" threads --json states > threads.json
python3 - << 'END' || fail "sums of the database"
import json, sqlite3, sys
names = {"running_ns": "running", "waiting_ns": "waiting for a CPU", "blocked_ns": "blocked"}
rows = sqlite3.connect("states.db").execute(
    "SELECT tid, from_ns, ns, state.name FROM state JOIN thread USING(thread)").fetchall()
faults = 0
for thread in (t for p in json.load(open("threads.json"))["processes"] for t in p["threads"]):
    for key, name in names.items():
        found = sum(max(0, min(start + ns, thread["last_ns"]) - max(start, thread["first_ns"]))
                    for tid, start, ns, state in rows if (tid, state) == (thread["tid"], name))
        if found != thread[key]:
            print(f"{thread['tid']}: {name} {found}, not {thread[key]}", file=sys.stderr)
            faults += 1
sys.exit(faults > 0)
END
sql() {
    sqlite3 -batch -readonly -separator $'\t' states.db "$1"
}
expect "a state follows the one before" 0 "$(sql 'SELECT count(*) FROM (SELECT from_ns, lag(from_ns
    + ns) OVER (PARTITION BY thread ORDER BY state) AS before FROM state) WHERE from_ns < before')"
sql 'SELECT name, count(*), sum(ns) FROM state GROUP BY 1 ORDER BY 1' > by_name
sql 'SELECT tid, state.name, count(*), sum(ns) FROM state JOIN thread USING(thread) GROUP BY 1, 2' |
    sort > by_thread
sql 'SELECT place FROM hit WHERE place IS NOT NULL' | sort > places
if [ ${#calls[@]} -gt 0 ]; then
    "$PROBITY" csv --columns place states 2> /dev/null | grep . | sort > csv_places
    diff places csv_places > difference ||
        fail "places: SQL (<) and csv (>): $(head -n 5 difference)"
    [ -s places ] || fail "no places"
fi

# ---- Other formats ----

SLICES="SELECT name, count(*), sum(dur) FROM slice WHERE category = 'state' GROUP BY 1 ORDER BY 1"
PLACES="SELECT display_value FROM args JOIN slice USING(arg_set_id)
    WHERE key IN ('args.place', 'debug.place')"
for format in chrome perfetto; do
    export_to $format 0 $format states
    ask $format out "$SLICES" "$PLACES" "SELECT count(*) FROM slice AS one JOIN slice AS other
        USING(track_id) WHERE one.category = 'state' AND other.ts > one.ts
        AND other.ts < one.ts + one.dur"
    same "$format" by_name answer.1
    same "$format: places" places <(sort answer.2)
    expect "$format: states at once" 0 "$(cat answer.3)"
    [ $format != chrome ] ||
        same "chrome: threads" by_thread <(jq -r '[.traceEvents[] | select(.cat == "state")]
            | group_by([.tid, .name])[] | [.[0].tid - 8388608, .[0].name, length,
            (map(.dur * 1000 | round) | add)] | @tsv' out | sort)
done

export_to firefox 0 firefox states
same firefox by_thread <(jq -r '(.meta.categories | map(.name) | index("State")) as $state
    | .shared.stringArray as $strings | .threads[] | .tid as $tid | .markers
    | [range(.length) as $i | select(.category[$i] == $state)
        | {name: $strings[.name[$i]], ns: ((.endTime[$i] - .startTime[$i]) * 1e6 | round)}]
    | group_by(.name)[] | [$tid, .[0].name, length, (map(.ns) | add)] | @tsv' out | sort)
same "firefox: places" places <(jq -r '.threads[].markers.data[].place // empty' out | sort)

"$PROBITY" export --format ctf -o ctf states 2> errors || fail "ctf: $(cat errors)"
babeltrace2 --clock-seconds ctf > text 2> errors || fail "ctf: $(head -n 3 errors)"
grep ' probity:state: ' text > state_lines
same ctf by_thread <(sed -E \
    's/.*vtid = ([0-9]*),.*name = "([^"]*)", ns = ([0-9]*),.*/\1\t\2\t\3/' state_lines |
    awk -F '\t' -v OFS='\t' '{ n[$1 FS $2]++; sum[$1 FS $2] += $3 }
        END { for (key in n) print key, n[key], sum[key] }' | sort)
same "ctf: places" places <(sed -n 's/.*ids = [4-7],.* place = \([0-9]*\) .*/\1/p' text | sort)

export_to otlp-json 0 otlp-json states
expect "otlp-json: places" "$(wc -l < places)" "$(grep -o '"probity.place"' out | wc -l)"
python3 - > found << 'END' || fail "otlp-json: states"
import json, sys
spans, faults = {}, 0
for line in open("out"):
    for resource in json.loads(line)["resourceSpans"]:
        for span in (s for scope in resource["scopeSpans"] for s in scope["spans"]):
            of = {a["key"]: next(iter(a["value"].values())) for a in span["attributes"]}
            spans[span["spanId"]] = (span, of, int(span["startTimeUnixNano"]),
                                     int(span["endTimeUnixNano"]))
sums, children = {}, 0
for span, of, start, end in spans.values():
    if of["probity.kind"] != "state":
        continue
    key = of["thread.id"], span["name"]
    count, ns = sums.get(key, (0, 0))
    sums[key] = count + 1, ns + end - start
    if span.get("parentSpanId"):
        children += 1
        around = spans[span["parentSpanId"]]
        faults += around[2] > start or around[3] < end or around[0]["traceId"] != span["traceId"]
for key, value in sums.items():
    print(*key, *value, sep="\t")
print(f"{children} in scopes, {faults} of these not within them", file=sys.stderr)
sys.exit(faults > 0 or children == 0)
END
same otlp-json by_thread <(sort found)
export_to otlp 0 otlp states

all=$(sql 'SELECT count(*) FROM state')
for format in folded speedscope callgrind graphviz pprof openmetrics; do
    "$PROBITY" export -f --format $format -o left states 2> errors || fail "$format: $(cat errors)"
    grep -q "$all thread states are not in the output: '$format' cannot" errors ||
        fail "$format: the states are not reported: $(cat errors)"
done
finish
