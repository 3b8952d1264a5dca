#!/usr/bin/env bash
# `list`, `tree`, `blocks`, `hist`, `threads`, `runs` and `diff` give the same answers from a
# database as from the traces; filters with hostile names select nothing else; --sql prints each
# command's statements; commands that have no answer report that.
# variants: asan
# timeout: 600
. "$(dirname "$0")/../common.bash"
. "$SOURCE/tests/fleet/clickhouse.bash"
starts_database

# $1 description, $2 filter of jq; then a command as for a file, with @ for the trace. The answers
# from the file and from the fleet must be the same, and not empty.
same() {
    local what=$1 filter=$2 from=() of=() word
    shift 2
    for word; do
        case $word in
            @*) of+=("${word#@}") from+=(--from-fleet "$url" --label "${word#@}") ;;
            *) of+=("$word") from+=("$word") ;;
        esac
    done
    "$PROBITY" "${of[@]}" --json 2> errors.file | jq -S "$filter" > from.file || true
    "$PROBITY" "${from[@]}" --json 2> errors | jq -S "$filter" > from.fleet || true
    [ "$(jq length from.file)" -gt 0 ] || fail "$what: nothing in the file: $(cat errors.file)"
    cmp -s from.file from.fleet ||
        fail "$what: $(cat errors) $(diff from.file from.fleet | head -n 10)"
}

# ---- The same answers

# Repeated if another program ran for most of its time, and it has no calls in the middle.
for ((i = 0; i < 10; i++)); do
    rm -f recursion
    record recursion "$PROGRAMS/tree"
    in_the_middle=$("$PROBITY" list --hit --json --since 20% --until 80% recursion 2> errors |
        jq '[.sites[] | select(.kind == "function")] | length') || true
    [ "${in_the_middle:-0}" = 0 ] || break
done
record killed "$PROGRAMS/tree" kill
record several "$PROGRAMS/parallel"
record names "$PROGRAMS/odd_names"
record varied "$PROGRAMS/varied" 0 400
PROBITY_PROFILE=1 record profiled "$PROGRAMS/varied" 0 20
record typed "$PROGRAMS/typed"
record blocks "$PROGRAMS/blocks"
record listed "$PROGRAMS/listed"
echo 3000 | record rounds "$PROGRAMS/steady"
labels=(recursion killed several names varied profiled listed rounds)
probity "ship" 0 ship --to "$url" --init "${labels[@]}" typed blocks

histograms='[.histograms[] | del(.signature)] | sort_by(.name, .file, .line)'
sites='if (.sites | length) == 0 then empty else
    {total, sites: .sites | sort_by(.name, .file, .line)} end'
sites_in_range='[.sites[] | select(.kind == "function")] | sort_by(.name, .file, .line)'
tree='def known: del(.total_corrected_ns, .total_error_ns, .self_corrected_ns, .self_error_ns) |
    .children |= (map(known) | sort_by(.name, .file, .line));
  if (.tree | length) == 0 then empty else
    {repairs, nodes_pruned, calls_lost, calls_profiled, calls_counted,
     tree: [.tree[] | known] | sort_by(.name, .tid, .file, .line)} end'
blocks='[.blocks[] | del(.corrected_wall_ns, .wall_error_ns, .max_at_ns, .max_pid, .max_tid,
    .wall_corrected_ns) |
    if .threads then .threads |= map(del(.corrected_wall_ns, .wall_error_ns, .max_at_ns, .max_pid,
        .max_tid, .wall_corrected_ns)) else . end]'
threads='[.processes[].threads[] | {tid, thread, name, first_ns, last_ns, lifetime_ns, inside_ns,
    scopes} | select(.scopes > 0)]'
for label in "${labels[@]}"; do
    same "hist of $label" "$histograms" hist '*' "@$label"
    same "list of $label" "$sites" list "@$label"
    [ "$label" = profiled ] || same "tree of $label" "$tree" tree "@$label"
    [ "$label" = profiled ] || same "tree of $label by thread" "$tree" tree --by-thread "@$label"
done
same "calls of profile mode" '[.calls_profiled, .calls_counted]' tree @profiled
same "sites never hit" "$sites" list --never @listed
same "callers" "$tree" tree --callers 'm*' @recursion
same "a pruned tree" "$tree" tree --depth 2 --min-percent 1 @varied
for label in typed blocks rounds; do
    same "blocks of $label" "$blocks" blocks "@$label"
    same "blocks of $label by thread" "$blocks" blocks --by-thread --sort p99 "@$label"
    same "slowest blocks of $label" "[.blocks[] | {from, to, slowest: .slowest}]" \
        blocks --slowest 3 "@$label"
    same "sites of $label" "$sites" list "@$label"
    same "blocks of $label in a range" "$blocks" blocks --since 0ms "@$label"
done
same "blocks of a part" "$blocks" blocks --since 20% --until 80% @blocks
same "requests in a range" "$blocks" blocks --by correlation --since 0ms @rounds
same "blocks of requests" "$blocks" blocks --by correlation @rounds
for label in recursion several varied; do
    if [ "$label" != recursion ]; then
        same "threads of $label" "$threads" threads "@$label"
        same "threads of a part of $label" "$threads" threads "@$label" --since 20% --until 80%
    fi
    same "list of a part of $label" "$sites_in_range" list --hit "@$label" --since 20% --until 80%
    for what in "--self" "--cpu" "--off-cpu" "--cpu --self" "--off-cpu --self" "--linear"; do
        # shellcheck disable=SC2086
        same "hist $what of $label" "$histograms" hist '*' "@$label" $what
    done
    same "hist of a part of $label" "$histograms" hist '*' "@$label" --since 20% --until 80%
done
# Callees' pauses are not in a database.
same "threads with pauses" '[.processes[].threads[] | {tid, name, first_ns, scopes}]' \
    threads @recursion
reported "threads with pauses" "lower bounds"
same "one function" "$histograms" hist work @several
same "one function's report" '[.functions[] | {name, calls, self_ns, total_ns, p99_ns}]' \
    report --function work @several
same "whole hours" '[.functions[] | {name, calls, self_ns, total_ns, min_ns, max_ns, p99_ns}]' \
    report @several --since 2020-01-01T00:00 --until 2100-01-01T00:00
probity "whole hours" 0 report --from-fleet "$url" --label several --sql
grep -q 'FROM probity_hours' output || fail "whole hours: $(cat output)"
probity "threads have no hours" 0 report --by-thread --from-fleet "$url" --label several --sql
grep -q 'FROM probity_minutes' output || fail "threads have no hours: $(cat output)"
same "repairs of a part with one function" '[.repairs]' \
    report --function 'm*' @recursion --since 20%

# ---- Runs and differences

run=$("$PROBITY" fleet --from-fleet "$url" --label several --json | jq -r '.runs[0].run')
probity "runs init" 0 runs init
probity "runs add" 0 runs add several varied
items='[.runs[] | {"label": .["label"], records, complete, why, host: .environment.host,
    program: .environment.program, items: .items | sort_by(.kind, .name)}]'
"$PROBITY" runs show @several --json | jq -S "$items" > from.file
for which in @several "$run"; do
    probity "runs show $which" 0 runs show "$which" --from-fleet "$url" --json
    jq -S "$items" output > from.fleet
    cmp -s from.file from.fleet || fail "runs show: $(diff from.file from.fleet | head -n 10)"
done
"$PROBITY" runs list --json |
    jq -S '[.runs[] | {"label": .["label"], started_ns, records, functions}] |
        sort_by(.["label"])' > from.file
probity "runs list" 0 runs list --from-fleet "$url" --json
jq -S '[.runs[] | select(.["label"] == "several" or .["label"] == "varied") |
    {"label": .["label"], started_ns, records, functions}] | sort_by(.["label"])' \
    output > from.fleet
cmp -s from.file from.fleet || fail "runs list: $(diff from.file from.fleet | head -n 10)"
probity "a run that is none" 2 runs show 7 --from-fleet "$url"
probity "runs add" 2 runs add several --from-fleet "$url"

for i in 1 2 3 4 5; do
    PROBITY_LABEL=before PROBITY_OUT=$WORK/before$i "$PROGRAMS/varied" 0 60
    PROBITY_LABEL=after PROBITY_OUT=$WORK/after$i "$PROGRAMS/varied" 3 60
done
probity "ship runs" 0 ship --to "$url" before? after?
# In both, runs are in the order of their starts.
compared='[.functions[] | del(.signature)] | sort_by(.name, .file, .line)'
for range in "" "--since 20%" "--until 50%"; do
    # shellcheck disable=SC2086
    "$PROBITY" diff --json --function '*' $range before? -- after? | jq -S "$compared" > from.file
    # shellcheck disable=SC2086
    probity "diff $range" 0 diff --json --function '*' $range --from-fleet "$url" @before -- @after
    jq -S "$compared" output > from.fleet
    [ "$(jq length from.file)" -gt 0 ] || fail "diff $range: no function"
    cmp -s from.file from.fleet || fail "diff $range: $(diff from.file from.fleet | head -n 10)"
done
for i in 1 2 3 4 5; do
    printf '300\nend\n' | PROBITY_LABEL=sooner PROBITY_OUT=$WORK/sooner$i "$PROGRAMS/steady"
    printf '300\nend\n' | PROBITY_LABEL=later PROBITY_OUT=$WORK/later$i "$PROGRAMS/steady"
done > /dev/null
probity "ship runs with blocks" 0 ship --to "$url" sooner? later?
compared='[.blocks[]] | sort_by(.name)'
for range in "" "--since 0ms"; do
    # shellcheck disable=SC2086
    "$PROBITY" diff --json --block '*' $range sooner? -- later? | jq -S "$compared" > from.file
    # shellcheck disable=SC2086
    probity "diff of blocks $range" 0 diff --json --block '*' $range --from-fleet "$url" \
        @sooner -- @later
    jq -S "$compared" output > from.fleet
    [ "$(jq length from.file)" -gt 0 ] || fail "diff of blocks $range: no block"
    cmp -s from.file from.fleet ||
        fail "diff of blocks $range: $(diff from.file from.fleet | head -n 10)"
done
probity "a trace in a fleet's diff" 2 diff --from-fleet "$url" before1 -- @after
reported "a trace in a fleet's diff" "@LABEL"
probity "a label that nobody has" 1 diff --from-fleet "$url" @nobody -- @after
reported "a label that nobody has" "no such runs"

# ---- Hostile names: each selects the runs that have it, and no others

long=$(printf 'x%.0s' {1..65536})
quotes=$(printf "'%.0s" {1..65536})
odd=("it's; DROP TABLE probity_calls --" 'back\slash\'\''' $'invalid\xff\xfe\x80' '%' '_' '`"'
    '\x27' "' OR 1 = 1 --" $'a\nb\tc')
for name in "${odd[@]}"; do
    PROBITY_LABEL=$name PROBITY_OUT=$WORK/odd "$PROGRAMS/tree"
    probity "ship $name" 0 ship --to "$url" odd
    probity "report of $name" 0 report --from-fleet "$url" --label "$name" --json
    expect "$name: runs" 1 "$(jq '.traces | length' output)"
    probity "runs of $name" 0 runs show "@$name" --from-fleet "$url"
    rm -f odd odd.shipped
done
for name in "${odd[@]}" "$long" "$quotes"; do
    for option in --host --executable --build; do
        probity "report $option" 1 report --from-fleet "$url" $option "$name"
        reported "report $option" "no such runs"
    done
    probity "a function" 1 report --from-fleet "$url" --label several --function "${name}["
    reported "a function" "no calls match"
    probity "a function" 1 hist "${name}[" --from-fleet "$url" --label several
    reported "a function" "no calls match"
done
probity "a long label" 1 report --from-fleet "$url" --label "$quotes"
reported "a long label" "no such runs"
expect "tables" 0 "$(sql "SELECT count() = 0 FROM probity_calls")"

# ---- Statements, and what has no answer

for command in report "report --by-thread" list threads tree "tree --by-thread" blocks \
    "blocks --slowest 2 --by-thread --since 1ms" "hist work" "hist work --self" fleet \
    "runs list" "runs show @several"; do
    label=(--label several)
    [[ $command != *show* ]] || label=()
    # shellcheck disable=SC2086
    probity "$command --sql" 0 $command --from-fleet "$url" "${label[@]}" --sql
    grep -q "label = 'several'" output || fail "$command --sql: $(cat output)"
    # The printed statements can be executed.
    while IFS= read -r statement; do
        sql "${statement%;} FORMAT Null" > answer || fail "$command --sql: $(cat answer)"
    done < output
done
probity "diff --sql" 0 diff --from-fleet "$url" --sql @before -- @after
expect "statements of a diff" 10 "$(grep -c ';$' output)"

for command in timeline log csv waits path why memory model view info export; do
    probity "$command" 2 $command --from-fleet "$url"
    reported "$command" "use the traces"
done
for call in "list --tid 1" "list --probe 1 --since 1ms" "tree --tid 1" "tree --states" \
    "tree --fold-recursion" "tree --corrected" "blocks --start-probe 1" "blocks --tid 1" \
    "blocks --corrected" "threads --tid 1" "hist work --tid 1" \
    "hist --start-probe 1"; do
    # shellcheck disable=SC2086
    probity "$call" 2 $call --from-fleet "$url"
done
probity "without a database" 2 threads --host a several
reported "without a database" "require --from-fleet"
PROBITY_FLEET=$url probity "from the environment" 0 threads --label several
PROBITY_FLEET=$url probity "a trace goes first" 0 threads several

# ---- The story of a request

probity "a story" 0 fleet --from-fleet "$url" --request 77 --label rounds --json
expect "its hits" "request-begin 0 job:begin
- 0 half
request-end 0 job:end" "$(jq -r '.runs[0].hits[] | "\(.role // "-") \(.thread) \(.probe)"' output)"
# On some machines, two readings of the clock may be within one step: then `work` begins with the
# request.
expect "its calls" "leaf 1 leaf 1" "$(jq -r '.runs[0] | .hits[0].at_ns as $begin |
    [.calls[] | select(.function != "work" or .start_ns != $begin) |
    "\(.function) \(.depth)"] | join(" ")' output)"
calls=$(jq -r '[.runs[0].calls[].function] | join(" ")' output)
expect "times" true "$(jq '.runs[0] | .hits[0].at_ns <= .calls[0].start_ns and
    .calls[-1].start_ns <= .hits[1].at_ns and .hits[1].at_ns <= .hits[2].at_ns and
    .hits[1].wall_ns > 0 and .hits[0].wall_ns == null' output)"
probity "as text" 0 fleet --from-fleet "$url" --request 0x4d --label rounds
expect "its lines" "job:begin (request-begin) $calls half job:end (request-end)" \
    "$(awk 'NR > 2 { print $4, $5 ~ /request/ ? $5 : "" }' output | xargs)"
probity "other runs" 1 fleet --from-fleet "$url" --request 77 --label varied
reported "other runs" "has no hit with the id 77 in these runs"
probity "an id that nobody has" 1 fleet --from-fleet "$url" --request 18446744073709551615
probity "no id" 2 fleet --from-fleet "$url" --request "1 OR 1"
probity "its statements" 0 fleet --from-fleet "$url" --request 77 --label rounds --sql
grep -q 'FROM probity_requests WHERE id = 77 ' output || fail "its statements: $(cat output)"

record brief "$PROGRAMS/varied" 0 20
probity "a summary" 0 ship --to "$url" --detail summary brief
same "hist of a summary" "$histograms" hist '*' @brief
same "list of a summary" "$sites" list --hit @brief
same "tree of a summary" "$tree" tree @brief
probity "slowest blocks of a summary" 1 blocks --slowest 2 --from-fleet "$url" --label brief
reported "slowest blocks of a summary" "--detail summary"
probity "a tree of a part of a minute" 1 tree --from-fleet "$url" --label several --since 1ms
reported "a tree of a part of a minute" "whole minutes"
probity "threads of a summary" 1 threads --from-fleet "$url" --label brief
reported "threads of a summary" "--detail summary"
probity "self times of a summary" 1 hist '*' --self --from-fleet "$url" --label brief
reported "self times of a summary" "--detail summary"

finish
