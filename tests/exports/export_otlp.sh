#!/usr/bin/env bash
# `probity export --format otlp` and `otlp-json`, decoded by protoc with the published .proto files
# and by jq: both contain the same spans, namely the calls and hits of `probity report` and `probity
# csv`.
# variants: clang asan
# timeout: 600
. "$(dirname "$0")/../common.bash"
. "$SOURCE/tests/exports/exported.bash"
NPM=${BUILD%"-$VARIANT"}/npm
"$SOURCE/tools/npm_install.sh" "$SOURCE/tests/npm" "$NPM"
PROTOS=$NPM/node_modules/@opentelemetry/otlp-grpc-exporter-base/build/protos
SERVICE=opentelemetry/proto/collector/trace/v1/trace_service.proto
REQUEST=opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest

# Lines "KIND NAME TID SPAN PARENT START END CPU THREAD_CPU UNTIMED PAUSED" from JSON; "-": absent.
spans_of() {
    jq -r '.resourceSpans[].scopeSpans[].spans[] |
        (reduce .attributes[] as $a ({}; .[$a.key] = ($a.value | .[keys[0]]))) as $of |
        [$of."probity.kind", .name, $of."thread.id", .spanId, .parentSpanId // "-",
         .startTimeUnixNano, .endTimeUnixNano, $of."probity.cpu_ns" // "-",
         $of."probity.thread_cpu_ns" // "-", $of."probity.untimed" // "-",
         $of."probity.paused_ns" // "0"] | @tsv'
}

# Lines "NAME TID TIME THREAD_CPU CORRELATION" of hits, which are exported as events; "-": absent.
hits_read() {
    jq -r '.resourceSpans[].scopeSpans[].spans[] |
        (.attributes[] | select(.key == "thread.id").value.intValue) as $tid | .events // [] | .[] |
        (reduce .attributes[] as $a ({}; .[$a.key] = ($a.value | .[keys[0]]))) as $of |
        [.name, $tid, .timeUnixNano, $of."probity.thread_cpu_ns" // "-",
         $of."probity.correlation" // "-"] | @tsv'
}

# Lines "CATEGORY NAME COUNT NS" of spans of hits, except for locks; see spans_of_hits.
hit_spans_read() {
    jq -r '.resourceSpans[].scopeSpans[].spans[] |
        (reduce .attributes[] as $a ({}; .[$a.key] = ($a.value | .[keys[0]]))) as $of |
        select($of."probity.kind" | IN("block", "stage", "request")) |
        select($of."probity.end" != "open") | [$of."probity.kind", .name,
            (.endTimeUnixNano[4:] | tonumber) - (.startTimeUnixNano[4:] | tonumber)] | @tsv' |
        awk -F '\t' -v OFS='\t' '{ n[$1 OFS $2]++; ns[$1 OFS $2] += $3 }
            END { for (i in n) printf "%s\t%d\t%.0f\n", i, n[i], ns[i] }' | sort
}

# Lines "NAME CALLS SELF CPU_SELF": spans minus those directly below them.
functions_read() {
    # Nanoseconds since 1970 exceed awk's precision.
    awk -F '\t' -v OFS='\t' '$1 == "function" {
            ns = substr($7, 5) - substr($6, 5)
            name[$4] = $2; off[$4] = $10 == "true"; wall[$4] += ns - $11; cpu[$4] += $8
            wall[$5] -= ns; cpu[$5] -= $8 }
        END {
            for (id in name) {
                calls[name[id]]++
                if (!off[id]) { self[name[id]] += wall[id]; cpus[name[id]] += cpu[id] }
            }
            for (i in calls) print i, calls[i], self[i] + 0, cpus[i] + 0 }' spans | sort
}

# "NAME START END" and keys with numbers, from protoc's output and from JSON.
decoded_spans() {
    awk '$1 == "name:" { name = $0; sub(/^ *name: /, "", name) }
        $1 == "start_time_unix_nano:" { start = $2 }
        $1 == "end_time_unix_nano:" { print name, start, $2 }' decoded | grep -v '\\' | sort
}
json_spans() {
    jq -r '.resourceSpans[].scopeSpans[].spans[] |
        "\(.name | tojson) \(.startTimeUnixNano) \(.endTimeUnixNano)"' json | grep -v '\\' |
        LC_ALL=C grep -v '[^ -~]' | sort
}
decoded_numbers() {
    awk '$1 == "key:" { key = $2 } $1 == "int_value:" { print key, $2 }' decoded | sort
}
json_numbers() {
    jq -r '.. | objects | select(.key and .value.intValue) |
        "\(.key | tojson) \(.value.intValue)"' json | sort
}

# $1 description; the rest: traces. Calls that a deferred scope made before its checkpoint become
# its siblings, and after a jump, callers have time that the last record does not cover.
compare() {
    local what=$1 columns=1-4
    shift
    case $what in live | tree | jumps) columns=1-2 ;; esac
    export_to "$what: JSON" 0 otlp-json "$@"
    mv out json
    spans_of < json > spans || fail "$what: jq cannot read it"
    diff <(functions_of "$@" | cut -f $columns) <(functions_read | cut -f $columns) > difference ||
        fail "$what: functions, report (<) and spans (>): $(head -n 5 difference)"
    [ "$what" != live ] || return 0
    hits_read < json > hits
    diff <(hits_of "$@") <(awk -F '\t' -v OFS='\t' '$1 ~ /^[a-z0-9 ._-]+$/ {
        print $2, $1, $3, $4 }' hits | sort) > difference ||
        fail "$what: hits, csv (<) and events (>): $(head -n 5 difference)"
    expect "$what: all hits" "$("$PROBITY" csv --columns tick "$@" 2> /dev/null | wc -l)" \
        "$(wc -l < hits)"
    expect "$what: spans of the same id" "" "$(cut -f 4 spans | sort | uniq -d | head -n 3)"
    awk -F '\t' '{ own[$4] = 1; if ($5 != "-") of[$5] = 1 }
        END { for (id in of) if (!(id in own)) print id }' spans > orphans
    [ ! -s orphans ] || fail "$what: parents that are not spans: $(head -n 3 orphans)"
    export_to "$what: protobuf" 0 otlp "$@"
    protoc -I "$PROTOS" --decode="$REQUEST" "$SERVICE" < out > decoded 2> faults ||
        fail "$what: protoc: $(head -n 3 faults)"
    # protoc prints unknown fields by number.
    ! grep -qE '^ *[0-9]+(:| \{)' decoded || fail "$what: unknown fields"
    expect "$what: spans" "$(wc -l < spans)" "$(grep -c '^ *start_time_unix_nano:' decoded)"
    diff <(json_spans) <(decoded_spans) > difference ||
        fail "$what: JSON (<) and protobuf (>): $(head -n 5 difference)"
    diff <(json_numbers) <(decoded_numbers) > difference ||
        fail "$what: numbers of JSON (<) and protobuf (>): $(head -n 5 difference)"
}

compare_all
expect "processes" 2 "$(jq -r '.resourceSpans[].resource.attributes[] |
    select(.key == "process.pid").value.intValue' json | sort -u | wc -l)"
start_live
compare "live" live
end_live
PROBITY_OUT=$WORK/typed "$PROGRAMS/typed" > output
compare "typed" typed
diff <("$PROBITY" csv --columns correlation typed | awk '$1 != ""' | sort) \
    <(awk -F '\t' '$5 != "-" { print $5 }' hits | sort) > difference ||
    fail "correlation ids: $(head -n 5 difference)"

# Blocks, stages and requests. A request is a trace whose id ends with the correlation id. It
# contains the request's stages, nested below it from its beginning on, and the blocks of threads
# that work on it.
PROBITY_OUT=$WORK/requests "$PROGRAMS/typed" 300 > output
for trace in server requests parallel; do
    compare "$trace" "$trace"
    diff <(spans_of_hits "$trace" | grep -v '^lock') <(hit_spans_read < json) > difference ||
        fail "$trace: tool (<) and spans (>): $(head -n 5 difference)"
done
export_to "requests" 0 otlp-json requests
jq -r '.resourceSpans[].scopeSpans[].spans[] | [.traceId, .spanId, .parentSpanId // "-", .name,
    (.attributes[] | select(.key == "probity.correlation").value.intValue) // "-"] | @tsv' out |
    sort > spans
expect "ids of traces" 300 "$(awk -F '\t' '$4 == "request" {
        left[substr($1, 1, 16)]++; if (substr($1, 17) == sprintf("%016x", $5)) n++ }
    END { for (i in left) different++; print different == 1 ? n : "different" }' spans)"
awk -F '\t' '{ name[$2] = $4; of[$2] = $3; id[$2] = $5 }
    END { for (i in name)
        if (id[i] != "-" && name[i] != "request") print name[i], "in", name[of[i]] }' spans |
    sort | uniq -c | sed 's/^ *//' > found
diff - found > difference << 'END' || fail "stages of requests: $(cat difference)"
300 7 -> 8 in request
300 items:get -> 7 in request
300 items:put -> items:get in request
300 request:begin -> items:put in request
END
expect "blocks after a request was put into the queue, in it" 0 "$(awk -F '\t' '
    { name[$2] = $4; of[$2] = $3 }
    END { for (i in name) n += name[i] == "items:put -> items:release" && of[i] != "-"
        print n + 0 }' spans)"
expect "blocks in requests" 300 "$(awk -F '\t' '{ name[$2] = $4; of[$2] = $3; id[$2] = $5 }
    END { for (i in name) n += name[i] == "7 -> 8" && id[i] == "-" && name[of[i]] == "request"
        print n }' spans)"

# Names and values with any bytes.
compare "names" exported
cut -f 1 hits | sort | uniq -c | sed 's/^ *//' > found
sort > expected << 'END'
1 after
24 7
6 before
7 <b onclick="alert('x')">&amp;</b>
7 broken \\377\\303( UTF-8
7 quote " backslash \\ brace {%s} semicolon; comma,
7 snowman ☃
7 two\\nlines\tand a tab
END
diff expected <(sort found) > difference || fail "names: $(cat difference)"
value() {
    jq -r --arg key "$1" '.resourceSpans[].scopeSpans[].spans[] | .attributes[] |
        select(.key == $key).value | .stringValue // .intValue' json
}
expect "smallest number" 2 "$(value number | grep -cFx -- -9223372036854775808)"
expect "broken text" 2 "$(value text | grep -cFx '"</script>\376\n"')"
expect "long text" 2 "$(value text | grep -cE '^"x{900,}"\.\.\.$')"
expect "return value" 2 "$(value return | grep -cFx 10000)"
expect "threads" 2 "$(value thread.name | grep -F '<i>worker\n' | sort -u | wc -l)"
compare "jumps" jumps
expect "unwound" "$("$PROBITY" report --json jumps | jq .repairs.unwound)" \
    "$(value probity.end | grep -c unwound)"
# Missing data becomes an attribute of the trace's process, a loss becomes an event. This trace is
# complete, because a trace with losses would have to be long.
jq -e '[.resourceSpans[].resource.attributes[].key | select(startswith("probity."))] == []' json \
    > output || fail "a complete trace is reported as lossy"
record_lack
at=$("$PROBITY" log --time relative lossy 2> /dev/null | sed -n 's/ .*records lost here.*//p' |
    head -n 1)
to=$(awk -v at="$at" 'BEGIN { printf "%.6f", at + 0.00001 }')
export_to "not complete" 0 otlp-json --from "$at" --to "$to" lossy
mv out json
expect "lack" "$(cat lack.expected)" "$(jq -r '.resourceSpans[].resource.attributes[] |
    select(.key == "probity.not_complete").value.stringValue' json | sort -u)"
expect "lack: records" "$(awk '{ lost += $1 } END { print lost }' lost.expected)" \
    "$(jq -r '.resourceSpans[].resource.attributes[] |
        select(.key == "probity.records_dropped").value.intValue' json | sort -u)"
expect "a loss" "$(head -n 1 lost.expected)" "$(jq -r '.resourceSpans[].scopeSpans[].spans[] |
    select(.name == "lost").attributes[] | select(.key == "probity.records").value.intValue' json |
    head -n 1)"
export_to "not complete: protobuf" 0 otlp --from "$at" --to "$to" lossy
LC_ALL=C grep -qaF "$(cat lack.expected)" out ||
    fail "protobuf: expected an attribute about lost records"

check_manners otlp exported
check_manners otlp-json exported
finish
