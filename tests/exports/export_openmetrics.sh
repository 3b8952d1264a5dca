#!/usr/bin/env bash
# `probity export --format openmetrics`, read by the parsers of the Prometheus client, both that of
# OpenMetrics and that of the older text format that node_exporter reads: calls, times and quantiles
# equal those of `probity report`, `blocks` and `model`.
# variants: gcc
. "$(dirname "$0")/../common.bash"
. "$SOURCE/tests/exports/exported.bash"

# The client is a package of the system, which may not be available to the first python3 in PATH.
python=
for candidate in python3 /usr/bin/python3; do
    "$candidate" -c 'import prometheus_client' 2> /dev/null || continue
    python=$candidate
    break
done
[ -n "$python" ] || fail "no python3 has prometheus_client: see tools/setup.sh"

# Lines "METRIC LABELS VALUE" of the file "out", separated by tabs; labels are "NAME=VALUE" with '|'
# in between, times are in ns. Both parsers must find the same samples.
samples() {
    "$python" - > samples 2> faults <<'PYTHON' || fail "not valid: $(tail -n 1 faults)"
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
from prometheus_client.parser import text_string_to_metric_families as text
made = open("out", encoding="utf-8", newline="").read()
assert made.endswith("# EOF\n"), "no end"
found = [{(s.name, tuple(sorted(s.labels.items())), s.value) for f in parse(made)
          for s in f.samples} for parse in (openmetrics, text)]
assert found[0] == found[1], "the formats differ"
families = list(openmetrics(made))
assert sum(len(f.samples) for f in families) == len(found[0]), "a sample occurs twice"
for family in families:
    assert family.documentation and family.type in ("counter", "gauge", "summary"), family.name
    assert (family.unit == "seconds") == family.name.endswith("_seconds"), family.name
    for s in family.samples:
        is_time = family.unit == "seconds" and not s.name.endswith("_count")
        print(s.name, "|".join("=".join(label) for label in sorted(s.labels.items())),
              round(s.value * (1e9 if is_time else 1)), sep="\t")
PYTHON
}

# Lines "LABEL VALUE" of a metric. $1 metric, $2 label; $3 pattern for its labels
values_of() {
    awk -F '\t' -v metric="$1" -v name="$2=" -v pattern="${3-.}" '
        $1 == metric && $2 ~ pattern { n = split($2, labels, "|")
            for (i = 1; i <= n; i++) if (index(labels[i], name) == 1)
                print substr(labels[i], length(name) + 1) "\t" $3 }' samples | sort
}

# $1 description; then traces
compare_functions() {
    local what=$1 pair metric member
    shift
    export_to "$what" 0 openmetrics "$@"
    samples
    "$PROBITY" report --json "$@" > report 2> errors
    for pair in calls:calls wall_seconds:total_ns self_wall_seconds:self_ns \
        cpu_seconds:cpu_total_ns self_cpu_seconds:cpu_self_ns; do
        metric=probity_function_${pair%:*}_total member=${pair#*:}
        diff <(jq -r ".functions[] | select(.$member != null) | [.name, .$member] | @tsv" report |
            sort) <(values_of "$metric" function) > difference ||
            fail "$what: $member, report (<), metric (>): $(head -n 5 difference)"
    done
    for pair in 0:min_ns 0.5:p50_ns 0.9:p90_ns 0.99:p99_ns 1:max_ns; do
        diff <(jq -r ".functions[] | select(.${pair#*:} != null) | [.name, .${pair#*:}] | @tsv" \
            report | sort) <(values_of probity_function_duration_seconds function \
            "quantile=${pair%:*}(\$|[|])") > difference ||
            fail "$what: ${pair#*:}, report (<), metric (>): $(head -n 5 difference)"
    done
}

record_all
for trace in tree parallel jumps exported killed; do
    compare_functions "$trace" "$trace"
done
compare_functions "profile mode" counted
[ "$(values_of probity_function_calls_total function | wc -l)" -ge 4 ] ||
    fail "too few functions in profile mode"
compare_functions "two processes" jumps exported

# Blocks with their quantiles and CPU time; hits.
PROBITY_OUT=$WORK/tracks "$PROGRAMS/tracks"
for trace in server parallel tracks; do
    export_to "blocks of $trace" 0 openmetrics "$trace"
    samples
    "$PROBITY" blocks --json "$trace" > blocks 2> errors
    for pair in _count::calls _sum::wall_ns :0:min_ns :0.5:p50_ns :0.99:p99_ns :1:max_ns; do
        IFS=: read -r suffix quantile member <<< "$pair"
        diff <(jq -r ".blocks[] | \"\(.from) \(.to)\t\(.$member)\"" blocks | sort) <(awk -F '\t' \
            -v metric="probity_block_duration_seconds$suffix" -v quantile="$quantile" '
            $1 == metric { from = to = is_it = ""
                n = split($2, labels, "|")
                for (i = 1; i <= n; i++) {
                    if (sub(/^from=/, "", labels[i])) from = labels[i]
                    else if (sub(/^to=/, "", labels[i])) to = labels[i]
                    else if (sub(/^quantile=/, "", labels[i])) is_it = labels[i]
                }
                if (is_it == quantile) print from " " to "\t" $3 }' samples | sort) > difference ||
            fail "$trace: $member of blocks (<), metric (>): $(head -n 5 difference)"
    done
    expect "$trace: CPU time of blocks" "$(blocks_cpu_of "$trace")" "$(awk -F '\t' '
        $1 == "probity_block_cpu_seconds_total" { sum += $3 } END { printf "%.0f", sum }' samples)"
    expect "$trace: hits" "$("$PROBITY" csv --columns tick "$trace" 2> /dev/null | wc -l)" \
        "$(awk -F '\t' '$1 == "probity_probe_hits_total" { sum += $3 } END { print sum }' samples)"
done

# Requests, locks and queues.
export_to "tracks" 0 openmetrics tracks
samples
"$PROBITY" model --json tracks > model 2> errors
for row in requests:response:request_duration locks:waiting:lock_wait locks:held:lock_hold \
    queues:waiting:queue_stay; do
    IFS=: read -r list member metric <<< "$row"
    for of in count:count sum:total_ns; do
        diff <(jq -r ".${list}[] | [.name, .$member.${of#*:}] | @tsv" model | sort) \
            <(values_of "probity_${metric}_seconds_${of%:*}" name) > difference ||
            fail "$list: $member.${of#*:}, model (<), metric (>): $(cat difference)"
        [ -s samples ] && [ -n "$(values_of "probity_${metric}_seconds_${of%:*}" name)" ] ||
            fail "no $list"
    done
done
expect "queue: longest" "work 2" "$(values_of probity_queue_length_max name | tr '\t' ' ')"
expect "queue: at the end" "work 0" "$(values_of probity_queue_length name | tr '\t' ' ')"

# What is missing from the trace.
expect "complete" "tracks 1" "$(values_of probity_trace_complete trace | tr '\t' ' ')"
record_lossy
export_to "lossy" 0 openmetrics lossy
# Its blocks would take 180 MB, because they are between ids that all differ.
{ grep '^\(# [A-Z]* \)\?probity_trace_' out && tail -n 1 out; } > lossy.out
mv lossy.out out
samples
expect "lossy: complete" "lossy 0" "$(values_of probity_trace_complete trace | tr '\t' ' ')"
expect "lossy: dropped" "$(awk '{ lost += $1 } END { print lost }' lost.expected)" \
    "$(values_of probity_trace_dropped_records_total trace | cut -f 2)"

# A range; traces without anything.
middle=@$("$PROBITY" csv --columns wall server | sed -n 50p)
export_to "range" 0 openmetrics --from "$middle" server
samples
expect "range: blocks" "$("$PROBITY" blocks --json --since "$middle" server 2> /dev/null |
    jq '[.blocks[].calls] | add')" "$(values_of probity_block_duration_seconds_count from |
    awk '{ sum += $NF } END { print sum }')"
for trace in one none; do
    export_to "$trace" 0 openmetrics "$trace"
    samples
done

# Names of any bytes, however long, and names that occur several times.
PROBITY_OUT=$WORK/odd "$PROGRAMS/odd_names"
for trace in odd "$SOURCE"/tests/golden/good/*.probity; do
    export_to "$(basename "$trace")" 0 openmetrics "$trace"
    samples
done
export_to "same names" 0 openmetrics tracks server tracks
samples
for kind in names functions_alike queues locks; do # names of up to 2,004 bytes
    "$PROGRAMS/gen_adversarial_traces_internal" "$kind" 200 > "$kind"
    "$PROBITY" export --format openmetrics -f -o out "$kind" 2> errors || true
    samples
done
start_live
export_to "live" 0 openmetrics live
samples
end_live
check_manners openmetrics exported
finish
