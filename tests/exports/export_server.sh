#!/usr/bin/env bash
# Every export of a web server's trace, read back by the format's own consumer: numbers and total
# durations of blocks, stages, requests, and waits and holds of locks equal those of the tool.
# Prints a table. SERVER_TRACE: the trace of a server, such as that of `make demo`; FORMATS: some of
# them.
# variants: gcc
# timeout: 1200
. "$(dirname "$0")/../common.bash"
. "$SOURCE/tests/exports/exported.bash"
. "$SOURCE/tests/tool/trace_processor.bash"
PROTOS=$NPM/node_modules/@opentelemetry/otlp-grpc-exporter-base/build/protos
SERVICE=opentelemetry/proto/collector/trace/v1/trace_service.proto
REQUEST=opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest
export HOME=$WORK/home PPROF_TMPDIR=$WORK
mkdir -p "$HOME"

# Each read_FORMAT prints lines "CATEGORY NAME COUNT NS", like spans_of_hits.

read_slices() {
    ask "$1" out "SELECT category, name, count(*), sum(dur) FROM slice
        WHERE category IN ('block', 'stage', 'request', 'lock wait', 'lock hold') AND NOT EXISTS
            (SELECT 1 FROM args WHERE args.arg_set_id = slice.arg_set_id AND key = '$2')
        GROUP BY 1, 2"
    cat answer.1
}
read_perfetto() { read_slices perfetto debug.end; }
read_chrome() { read_slices chrome args.end; }

# Sums lines "CATEGORY NAME NS".
summed() {
    awk -F '\t' -v OFS='\t' '{ n[$1 OFS $2]++; ns[$1 OFS $2] += $3 }
        END { for (i in n) printf "%s\t%d\t%.0f\n", i, n[i], ns[i] }'
}

# The parser of the proto files accepts messages of limited size: pieces of complete messages.
read_otlp() {
    python3 - << 'PYTHON'
data, at, piece, size = memoryview(open("out", "rb").read()), 0, 0, 0
file = open("piece.0", "wb")
while at < len(data):
    start, shift, length = at, 0, 0
    assert data[at] == 0x0a
    at += 1
    while True:
        length |= (data[at] & 0x7f) << shift
        shift += 7
        at += 1
        if not data[at - 1] & 0x80:
            break
    at += length
    if size > 32 << 20:
        piece, size = piece + 1, 0
        file = open(f"piece.{piece}", "wb")
    file.write(data[start:at])
    size += at - start
PYTHON
    for piece in piece.*; do
        protoc -I "$PROTOS" --decode="$REQUEST" "$SERVICE" < "$piece" || echo "failed"
    done 2> faults | awk -v OFS='\t' '
        /^      name: / { name = $0; sub(/^ *name: "/, "", name); sub(/"$/, "", name)
            kind = is_open = "" }
        /^      start_time_unix_nano: / { from = substr($2, 5) }
        /^      end_time_unix_nano: / { to = substr($2, 5) }
        /^        key: / { key = $2 }
        /^          string_value: / {
            if (key == "\"probity.kind\"") { kind = $2; gsub(/"/, "", kind) }
            if (key == "\"probity.end\"") is_open = $2 == "\"open\"" }
        /^    }$/ { if (!is_open && kind ~ /^(block|stage|request)$/) print kind, name, to - from
            kind = "" }
        $0 == "failed"' | summed
    rm piece.*
}

read_otlp-json() {
    jq -r '.resourceSpans[].scopeSpans[].spans[] |
        (reduce .attributes[] as $a ({}; .[$a.key] = ($a.value | .[keys[0]]))) as $of |
        select($of."probity.kind" | IN("block", "stage", "request")) |
        select($of."probity.end" != "open") | [$of."probity.kind", .name,
            (.endTimeUnixNano[4:] | tonumber) - (.startTimeUnixNano[4:] | tonumber)] | @tsv' out |
        summed
}

# Blocks by name: their number, or their time. $1 sample type
pprof_values() {
    go tool pprof -top -unit=ns -sample_index="$1" -nodefraction=0 -edgefraction=0 \
        -nodecount=1000000 out 2> faults | awk '/flat%/ { is_table = 1; next }
            is_table { value = $1; sub(/ns$/, "", value)
                for (i = 0; i < 5; i++) sub(/^ *[^ ]+ +/, "")
                print "block\t" $0 "\t" value }' | sort
}
read_pprof() {
    join -t $'\t' <(pprof_values calls | sed 's/\t/=/' | sort) \
        <(pprof_values wall | sed 's/\t/=/' | sort) | sed 's/=/\t/'
}

read_openmetrics() {
    python3=python3
    "$python3" -c 'import prometheus_client' 2> faults || python3=/usr/bin/python3
    "$python3" - << 'PYTHON'
from prometheus_client.openmetrics.parser import text_string_to_metric_families
rows = {}
for family in text_string_to_metric_families(open("out", encoding="utf-8").read()):
    for s in family.samples:
        kind, _, part = s.name.partition("_seconds_")
        label = s.labels
        text = [label.get(end, "") + (f" ({label[end + '_name']})" if label.get(end + "_name")
                                      else "") for end in ("from", "to")]
        key = {"probity_block_duration": ("block", " -> ".join(text)),
               "probity_request_duration": ("request", label.get("name")),
               "probity_lock_wait": ("lock wait", f"{label.get('name')} wait"),
               "probity_lock_hold": ("lock hold", f"{label.get('name')} hold")}.get(kind)
        if key and part in ("count", "sum"):
            rows.setdefault(key, {})[part] = round(s.value * (1e9 if part == "sum" else 1))
for key, row in rows.items():
    if row["count"] > 0:
        print(*key, row["count"], row["sum"], sep="\t")
PYTHON
}

read_firefox() { python3 "$SOURCE/tests/exports/read_profile.py" firefox out; }
read_speedscope() { python3 "$SOURCE/tests/exports/read_profile.py" speedscope out; }

read_sqlite() {
    sqlite3 -batch -readonly -separator $'\t' out "
        WITH named AS (SELECT *, CASE WHEN name IS NULL THEN text ELSE text || ' (' || name || ')'
                END AS label FROM hit JOIN probe USING (probe)),
            held AS (SELECT label, role, wall_ns, lag(role) OVER w AS was, lag(wall_ns) OVER w AS
                since FROM named WHERE role LIKE 'lock-%'
                WINDOW w AS (PARTITION BY thread, object ORDER BY hit))
        SELECT 'block', f.label || ' -> ' || t.label, count(*), sum(wall_ns) FROM block
            JOIN (SELECT DISTINCT probe, label FROM named) AS f ON f.probe = from_probe
            JOIN (SELECT DISTINCT probe, label FROM named) AS t ON t.probe = to_probe
            GROUP BY from_probe, to_probe
        UNION ALL SELECT 'request', b.name, count(*), sum(e.wall_ns - b.wall_ns) FROM named AS b
            JOIN (SELECT correlation, wall_ns FROM hit WHERE role = 'request-end'
                ) AS e USING (correlation) WHERE role = 'request-begin' GROUP BY b.name
        UNION ALL SELECT 'lock ' || substr(was, 6), substr(label, 1, instr(label, ':') - 1) || ' '
                || substr(was, 6), count(*), sum(wall_ns - since) FROM held
            WHERE was IN ('lock-wait', 'lock-hold') GROUP BY 1, 2" 2> faults
}

# callgrind_annotate prints only sums of times: the number is that of the tool.
read_callgrind() {
    callgrind_annotate --threshold=100 --auto=no out 2> faults | tr -d , |
        sed -nE 's/^ *([0-9]+) \([^)]*\) .*  \?\?\?:(.*)$/block\t\2\t\1/p' |
        sed 's/ \[[^[]*\]$//'
}

# Stacks of one frame and a number.
read_folded() { sed -nE 's/^(.*) ([0-9]+)$/block\t\1\t\2/p' out; }

# Nodes are labeled without the names of numbered probes.
read_graphviz() {
    sed -i 's/ ([^)]*)//g' expected
    dot -Tdot_json out | jq -r '[.objects[].label | split("\\n")[0]] as $names | .edges[] |
        ["block", "\($names[.tail]) -> \($names[.head])", (.label | split("\\n")[] |
            capture(", (?<calls>[0-9]+)x *$").calls)] | @tsv' 2> faults
}

# Lines that a consumer cannot print, or that the format does not have, are removed from the tool's
# lines.
consumers="perfetto:trace_processor:.:1-4
chrome:trace_processor:.:1-4
otlp:protoc:^(block|stage|request):1-4
otlp-json:jq:^(block|stage|request):1-4
pprof:go tool pprof:^block:1-4
openmetrics:prometheus_client:^(block|request|lock):1-4
firefox:python3:.:1-4
sqlite:sqlite3:^(block|request|lock):1-4
speedscope:python3:^block:1-4
folded:awk:^block:1,2,4
callgrind:callgrind_annotate:^block:1,2,4
graphviz --graph blocks:dot:^block:1-3"

# Prints number and total ns of a category in lines of spans.
total_of() {
    awk -F '\t' -v of="$1" '$1 == of { n += $3; ns += $4; is = 1 }
        END { if (is) printf "%d, %.6f s", n, ns / 1e9; else printf "-" }' "$2"
}

record_server
spans_of_hits server > spans
[ "$(wc -l < spans)" -gt 5 ] || fail "too few spans: $(cat spans)"
printf '%s\n' "| Format | Read by | Blocks | Requests | Waits for locks | Equal |" \
    "|---|---|---|---|---|---|"
printf '| (probity) | | %s | %s | %s | |\n' "$(total_of block spans)" \
    "$(total_of request spans)" "$(total_of "lock wait" spans)"
while IFS=: read -r export consumer carried columns <&3; do
    read -r format options <<< "$export"
    [[ " ${FORMATS:-$format} " == *" $format "* ]] || continue
    # shellcheck disable=SC2086
    export_to "$format" 0 "$format" $options server
    grep -E "$carried" spans | cut -f "$columns" | sort > expected
    "read_$format" > lines
    sort lines > found
    equal=yes
    # Probes without names and control characters in names are covered by other tests.
    diff <(sort expected) found > difference || {
        equal=no
        fail "$format: tool (<) and $consumer (>): $(head -n 6 difference) $(head -n 2 faults)"
    }
    case $columns in
    1-4) cp found shown ;;
    1-3) sed 's/$/\t-/' found > shown ;;
    *) awk -F '\t' -v OFS='\t' '{ print $1, $2, 0, $3 }' found > shown ;;
    esac
    printf '| %s | %s | %s | %s | %s | %s |\n' "$format" "$consumer" "$(total_of block shown)" \
        "$(total_of request shown)" "$(total_of "lock wait" shown)" "$equal"
    rm -rf out
done 3<<< "$consumers"
finish
