#!/usr/bin/env bash
# `probity export` to formats with totals, each read by its own tool: callgrind_annotate, dot and
# folded stacks have the numbers of `probity report`, `tree` and `blocks`.
# variants: clang asan
. "$(dirname "$0")/../common.bash"
. "$SOURCE/tests/exports/exported.bash"

# Tab-separated lines "NAME WALL CPU" from callgrind_annotate. $1 "no" or "yes": inclusive
annotated() {
    callgrind_annotate --threshold=100 --auto=no --inclusive="$1" out 2> errors |
        sed -nE 's/^ *([0-9,]*) \([^)]*\) *([0-9,]*)( \([^)]*\))?  [^ ]*:(.*)$/\4\t\1\t\2/p' |
        tr -d , | grep -v '^PROGRAM TOTALS' | sort
}

# callgrind_annotate omits functions that took no time.
check_callgrind() {
    export_to "callgrind $1" 0 callgrind "$1"
    annotated no > found
    functions_of "$1" | awk -F '\t' -v OFS='\t' '$3 + $4 > 0 { print $1, $3, $4 }' |
        sort > expected
    diff expected found > difference ||
        fail "callgrind, $1: self, report (<) and callgrind_annotate (>): $(head -n 5 difference)"
    expect "callgrind, $1: program totals" "$(awk '{ sum += $2 } END { print sum + 0 }' expected)" \
        "$(callgrind_annotate out 2> /dev/null | sed -n 's/ (.*PROGRAM TOTALS$//p' | tr -d ', ' |
            grep . || echo 0)"
}

# For functions outside any cycle.
check_inclusive() {
    export_to "callgrind $1" 0 callgrind "$1"
    "$PROBITY" report --json "$1" | jq -r '.functions[] | select(.total_ns > 0) |
        [.name, .total_ns, .cpu_total_ns] | @tsv' | sort > expected
    annotated yes > found
    diff expected found > difference ||
        fail "callgrind, $1: totals, report (<), callgrind_annotate (>): $(head -n 5 difference)"
}

# Sums by the last function of each path. $1 trace, $2 value, $3 column of functions_of
check_folded() {
    export_to "folded $1" 0 folded --value "$2" "$1"
    diff <(functions_of "$1" | awk -F '\t' -v n="$3" '$n > 0 { print $1, $n }' | sort) \
        <(awk '{ name = $1; sub(/.*;/, "", name); sum[name] += $2 }
            END { for (name in sum) print name, sum[name] }' out | sort) > difference ||
        fail "folded $2, $1: report (<) and stacks (>): $(head -n 5 difference)"
}

# Lines "FROM TO LABEL" of the edges and "NAME LABEL" of the nodes that dot has read. Names in the
# output of -Tplain may be quoted, but only the labels of interest contain blanks. The blanks
# between an edge and its label do not belong to the label.
read_graph() {
    dot -Tplain out > graph 2> errors || fail "$1: dot: $(cat errors)"
    dot -Tdot_json out > graph.json 2> errors || fail "$1: dot, JSON: $(cat errors)"
    jq -r '.objects // [] | .[] | .label' graph.json | sed 's/\\n/\t/g' | sort > nodes
    jq -r '[.objects // [] | .[] | .label | split("\\n")[0]] as $names | .edges // [] | .[] |
        [$names[.tail], $names[.head],
            (.label | split("\\n")[] | sub("^ +"; "") | sub(" +$"; ""))] | @tsv' graph.json |
        sort > edges
}

check_call_graph() {
    export_to "graphviz $1" 0 graphviz "$1"
    read_graph "graphviz, $1"
    diff <("$PROBITY" report --json "$1" | jq -r '.functions[] | "\(.name)\tcalls \(.calls)"' |
        sort) <(cut -f 1,2 nodes) > difference ||
        fail "graphviz, $1: functions, report (<): $(head -n 5 difference)"
    "$PROBITY" tree --csv "$1" | awk -F , -v OFS='\t' 'NR > 1 { name[$1] = $7
        if ($2 > 0) calls[name[$2] "\t" $7] += $10 }
        END { for (pair in calls) print pair, calls[pair] "x" }' | sort > expected
    diff expected <(cut -f 1-3 edges) > difference ||
        fail "graphviz, $1: calls, tree (<): $(head -n 5 difference)"
}

check_block_graph() {
    export_to "graphviz $1" 0 graphviz --graph blocks "$1"
    read_graph "graphviz, $1"
    "$PROBITY" blocks --json "$1" | jq -r '.blocks[] |
        [.from, .to, "\(.probability * 1000 | round / 10) %, \(.calls)x"] | @tsv' |
        sed 's/\t\([0-9]*\) %/\t\1.0 %/' | grep -v '[^a-z0-9 .,%:\t-]' | sort > expected
    diff expected <(cut -f 1-3 edges | grep -v '[^a-z0-9 .,%:\t-]') > difference ||
        fail "graphviz, $1: blocks (<): $(head -n 5 difference)"
}

record_all
while read -r trace; do
    if [ "$trace" != server ]; then # it has blocks: see below
        check_callgrind "$trace"
        check_folded "$trace" wall 3
        check_folded "$trace" cpu 4
        check_folded "$trace" calls 2
    fi
    check_call_graph "$trace"
    check_block_graph "$trace"
done < traces
[ "$(functions_of tree | wc -l)" -gt 6 ] || fail "nothing in the report"
export_to "graph" 0 graphviz --graph blocks server
read_graph "graph of the server"
[ "$(wc -l < edges)" -gt 5 ] || fail "too few blocks from the server: $(cat edges)"
check_inclusive parallel
check_inclusive exported
check_inclusive many

# Blocks, if there are no calls or blocks are requested. $1 trace; then options. Blocks without a
# time are in no stack, and callgrind_annotate omits them.
check_blocks() {
    local trace=$1
    shift
    spans_of_hits "$trace" | grep '^block' | cut -f 2- > blocks.expected
    export_to "blocks of $trace" 0 folded "$@" "$trace"
    diff <(awk -F '\t' '$3 > 0 { print $1, $3 }' blocks.expected | sort) <(sort out) > difference ||
        fail "folded, blocks of $trace: blocks (<) and stacks (>): $(head -n 5 difference)"
    ! grep -q 'hits of probes are not' errors || fail "$trace: a note on hits: $(cat errors)"
    export_to "blocks of $trace" 0 folded --value calls "$@" "$trace"
    diff <(awk -F '\t' '{ print $1, $2 }' blocks.expected | sort) <(sort out) > difference ||
        fail "folded, numbers of blocks of $trace: $(head -n 5 difference)"
    for value in cpu off-cpu; do
        export_to "blocks of $trace" 0 folded --value $value "$@" "$trace"
        expect "folded, $value of blocks of $trace" "$("$PROBITY" blocks --json "$trace" |
            jq "[.blocks[].${value/-/_}_ns] | add")" "$(awk '{ sum += $NF }
                END { printf "%.0f", sum }' out)"
    done
    export_to "blocks of $trace" 0 folded --by-thread "$@" "$trace"
    diff <("$PROBITY" blocks --by-thread --json "$trace" | jq -r '[.blocks[].threads[]] |
        group_by(.tid)[] | "\(.[0].tid) \(map(.wall_ns) | add)"' | sort) \
        <(awk '{ match($0, /-[0-9]+;/); tid = substr($0, RSTART + 1, RLENGTH - 2)
            sum[tid] += $NF } END { for (tid in sum) printf "%s %.0f\n", tid, sum[tid] }' out |
            sort) > difference || fail "folded, blocks of $trace by thread: $(head -n 5 difference)"
    export_to "blocks of $trace" 0 callgrind "$@" "$trace"
    callgrind_annotate --threshold=100 --auto=no out 2> errors | tr -d , |
        sed -nE 's/^ *([0-9]+) \([^)]*\) .*  \?\?\?:(.*)$/\2\t\1/p' | sed 's/ \[[^[]*\]$//' |
        sort > found
    diff <(awk -F '\t' -v OFS='\t' '$3 > 0 { gsub(",", "", $1); print $1, $3 }' blocks.expected |
        sort) found > difference ||
        fail "callgrind, blocks of $trace: blocks (<) and annotate (>): $(head -n 5 difference)"
    expect "callgrind, CPU time of blocks of $trace" "$(blocks_cpu_of "$trace")" \
        "$(sed -n 's/^totals: [0-9]* //p' out)"
}

PROBITY_OUT=$WORK/requests "$PROGRAMS/typed" 300 > output
PROBITY_OUT=$WORK/blocks "$PROGRAMS/blocks"
check_blocks server
check_blocks requests
check_blocks blocks
check_blocks parallel --blocks
export_to "blocks instead of calls" 0 folded --blocks parallel
grep -q "$("$PROBITY" info --json parallel | jq '.[0].counts.scopes') calls of functions are not" \
    errors || fail "expected a note on calls: $(cat errors)"
status=0
"$PROBITY" export --format perfetto --blocks -o refused parallel 2> errors || status=$?
expect "--blocks of a format that has both" 2 "$status"

# No name is lost, not even an empty one.
PROBITY_OUT=$WORK/odd "$PROGRAMS/odd_names"
export_to "odd names" 0 callgrind odd
callgrind_annotate out > found 2> errors || fail "odd names: callgrind_annotate: $(cat errors)"
expect "odd names: what callgrind_annotate says" "" "$(cat errors)"
expect "odd names: functions" "$("$PROBITY" report --json odd | jq '.functions | length')" \
    "$(grep -c '^fn=([0-9]*) .' out)"

# The header lists what is missing from a trace; callgrind_annotate shows it.
record_lack
export_to "not complete" 0 callgrind exported lossy
expect "callgrind: lack" "desc: Trace: $(cat lack.expected)" "$(grep '^desc:' out)"
callgrind_annotate out 2> errors | grep -qxF "Trace: $(cat lack.expected)" ||
    fail "callgrind_annotate: expected a note about lost records: $(cat errors)"
export_to "complete" 0 callgrind exported
! grep '^desc:' out || fail "callgrind: a complete trace is reported as lossy"

# Profile mode has functions without paths.
check_callgrind counted
export_to "counted" 0 folded counted
expect "profile mode: folded" "" "$(cat out)"
grep -q 'calls counted in profile mode are not in the output' errors ||
    fail "expected a note about omitted items: $(cat errors)"

# By thread: a tree for each thread, with all of its time.
export_to "by thread" 0 folded --by-thread many
diff <("$PROBITY" report --by-thread --json many | jq -r '[.functions[].threads[]] |
    group_by(.tid)[] | "\(.[0].tid) \(map(.self_ns) | add)"' | sort) \
    <(awk '{ match($0, /-[0-9]+;/); tid = substr($0, RSTART + 1, RLENGTH - 2)
        sum[tid] += $NF } END { for (tid in sum) print tid, sum[tid] }' out | sort) > difference ||
    fail "folded by thread: $(head -n 5 difference)"
# Two processes: each thread is below its own process.
export_to "two processes" 0 folded --by-thread many tree
diff <("$PROBITY" report --by-thread --json many tree | jq -r '.functions[].threads[] |
    "\(.pid)/\(.tid)"' | sort -u) \
    <(sed -E 's/^[^;]*-([0-9]+\/[0-9]+);.*/\1/' out | sort -u) > difference ||
    fail "folded by process and thread: $(head -n 5 difference)"

# Deep paths lose their middle levels, but each function keeps its values.
"$PROGRAMS/gen_adversarial_traces_internal" crossed_scopes 3000 > deep
for value in "wall 3" "calls 2"; do
    # shellcheck disable=SC2086
    check_folded deep $value
done
reported="paths deeper than 1024 levels, shortened to their outermost and innermost 512"
expect "deep: stacks that lack levels" "$(grep -cF ';[truncated];' out)" \
    "$(sed -n "s/.* $reported: //p" errors)"
expect "deep: longest stack" 1025 "$(awk -F ';' '{ most = NF > most ? NF : most }
    END { print most }' out)"
for levels in 1024 1025; do
    "$PROGRAMS/gen_adversarial_traces_internal" open_scopes $levels > deep
    export_to "$levels levels" 0 folded --by-thread --value calls deep
    expect "$levels levels: lacking" $((levels - 1024)) "$(grep -cF '[truncated]' out || true)"
    diff <("$PROBITY" tree --folded --by-thread --value calls deep 2> tree.errors) out \
        > difference || fail "$levels levels: tree (<): $(head -c 200 difference)"
    expect "$levels levels: word of tree" $((levels - 1024)) "$(grep -c "$reported: 1$" \
        tree.errors || true)"
done

# A flame graph of off-CPU time shows wall time minus CPU time. Clock readings are not exact: a path
# may have slightly more CPU time than wall time. Such a path has no off-CPU time, and reduces that
# of no other path of its function.
export_to "off the CPU" 0 folded --value off-cpu parallel
"$PROBITY" report --json parallel | jq -r '.functions[] | "\(.name) \(.off_cpu_self_ns)"' > off
awk 'NR == FNR { reported[$1] = $2; next }
    { name = $1; sub(/.*;/, "", name); drawn[name] += $NF }
    END {
        for (name in drawn)
            if (!(name in reported))
                print name, "is not a function"
        for (name in reported)
            if (drawn[name] < reported[name] || drawn[name] > reported[name] + 1000)
                print name, reported[name], drawn[name] + 0
    }' off out > difference
[ ! -s difference ] || fail "off-CPU: reported (<), drawn (>): $(head -n 5 difference)"
awk '$2 > 0 { found = 1 } END { exit !found }' off || fail "off-CPU: no time at all"
for format in callgrind folded graphviz; do
    check_manners "$format" parallel
done
finish
