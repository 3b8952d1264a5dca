#!/usr/bin/env bash
# What `list`, `hist`, `threads`, `runs` and `diff` answer from a database is what they answer from
# the traces; filters with hostile names select nothing else; --sql prints each command's
# statements; commands without an answer say so.
# variants: asan
# timeout: 600
. "$(dirname "$0")/common.bash"
. "$SOURCE/tests/run/clickhouse.bash"
need_clickhouse
unset PROBITY_FLEET PROBITY_FLEET_PASSWORD PROBITY_LABEL
export no_proxy='*'

configure_server
start_server
trap '[[ $BASHPID != $$ ]] || { stop_server KILL; rm -rf "$WORK" "$SPOOL"; }' EXIT
sql 'CREATE DATABASE probity' default
url=http://127.0.0.1:$http_port/probity

# $1 description, $2 expected status; then a command. Writes "output" and "errors".
probity() {
    local what=$1 expected=$2 status=0
    shift 2
    "$PROBITY" "$@" > output 2> errors || status=$?
    expect "$what: status ($(head -c 1000 errors))" "$expected" "$status"
}

# $1 description, $2 text that the errors of the latest command must have
told() {
    grep -qF -- "$2" errors || fail "$1: $(head -c 1000 errors)"
}

# $1 label, then a program
record() {
    local label=$1
    shift
    PROBITY_LABEL=$label PROBITY_OUT=$WORK/$label "$@" > /dev/null 2>&1 || true
} 2> /dev/null

# $1 description, $2 filter of jq; then a command as for a file, with @ for the trace. The answer
# from the file and from the fleet must have the same, and not nothing.
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
    [ "$(jq 'length' from.file)" -gt 0 ] || fail "$what: nothing in the file: $(cat errors.file)"
    cmp -s from.file from.fleet ||
        fail "$what: $(cat errors) $(diff from.file from.fleet | head -n 10)"
}

# ---- The same answers

record recursion "$PROGRAMS/tree"
record killed "$PROGRAMS/tree" kill
record several "$PROGRAMS/parallel"
record names "$PROGRAMS/odd_names"
record varied "$PROGRAMS/varied" 0 400
PROBITY_PROFILE=1 record profiled "$PROGRAMS/varied" 0 20
labels=(recursion killed several names varied profiled)
probity "ship" 0 ship --to "$url" --init "${labels[@]}"

histograms='[.histograms[] | del(.signature)] | sort_by(.name, .file, .line)'
sites='[.sites[] | select(.kind == "function") | del(.listed)] | sort_by(.name, .file, .line)'
threads='[.processes[].threads[] | {tid, thread, name, first_ns, last_ns, lifetime_ns, inside_ns,
    scopes} | select(.scopes > 0)]'
for label in "${labels[@]}"; do
    same "hist of $label" "$histograms" hist '*' "@$label"
    same "list of $label" "$sites" list --hit "@$label"
done
for label in recursion several varied; do
    if [ "$label" != recursion ]; then
        same "threads of $label" "$threads" threads "@$label"
        same "threads of a part of $label" "$threads" threads "@$label" --since 20% --until 80%
    fi
    same "list of a part of $label" "$sites" list --hit "@$label" --since 20% --until 80%
    for what in "--self" "--cpu" "--off-cpu" "--cpu --self" "--off-cpu --self" "--linear"; do
        # shellcheck disable=SC2086
        same "hist $what of $label" "$histograms" hist '*' "@$label" $what
    done
    same "hist of a part of $label" "$histograms" hist '*' "@$label" --since 20% --until 80%
done
# A database does not have the pauses of callees.
same "threads with pauses" '[.processes[].threads[] | {tid, name, first_ns, scopes}]' \
    threads @recursion
told "threads with pauses" "lower bounds"
same "one function" "$histograms" hist work @several
same "one function's report" '[.functions[] | {name, calls, self_ns, total_ns, p99_ns}]' \
    report --function work @several
same "repairs of a part with one function" '[.repairs]' \
    report --function 'm*' @recursion --since 20%

# ---- Runs and differences

run=$("$PROBITY" fleet --from-fleet "$url" --label several --json | jq -r '.runs[0].run')
probity "runs init" 0 runs init
probity "runs add" 0 runs add several varied
items='[.runs[] | {"label": .["label"], records, complete, why, host: .environment.host,
    program: .environment.program, items: [.items[] | select(.kind == "function")]}]'
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
# The order of runs is that of their starts, here and there.
compared='[.functions[] | del(.signature)] | sort_by(.name, .file, .line)'
for range in "" "--since 20%" "--until 10ms"; do
    # shellcheck disable=SC2086
    "$PROBITY" diff --json --function '*' $range before? -- after? | jq -S "$compared" > from.file
    # shellcheck disable=SC2086
    probity "diff $range" 0 diff --json --function '*' $range --from-fleet "$url" @before -- @after
    jq -S "$compared" output > from.fleet
    [ "$(jq 'length' from.file)" -gt 0 ] || fail "diff $range: no function"
    cmp -s from.file from.fleet || fail "diff $range: $(diff from.file from.fleet | head -n 10)"
done
probity "a trace in a fleet's diff" 2 diff --from-fleet "$url" before1 -- @after
told "a trace in a fleet's diff" "@LABEL"
probity "a label that nobody has" 1 diff --from-fleet "$url" @nobody -- @after
told "a label that nobody has" "no such runs"

# ---- Hostile names: each selects the runs that have it, and no other

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
        told "report $option" "no such runs"
    done
    probity "a function" 1 report --from-fleet "$url" --label several --function "${name}["
    told "a function" "no calls match"
    probity "a function" 1 hist "${name}[" --from-fleet "$url" --label several
    told "a function" "no calls match"
done
probity "a long label" 1 report --from-fleet "$url" --label "$quotes"
told "a long label" "no such runs"
expect "tables" 0 "$(sql "SELECT count() = 0 FROM probity_calls")"

# ---- Statements, and what has no answer

for command in report "report --by-thread" list threads "hist work" "hist work --self" fleet \
    "runs list" "runs show @several"; do
    label=(--label several)
    [[ $command != *show* ]] || label=()
    # shellcheck disable=SC2086
    probity "$command --sql" 0 $command --from-fleet "$url" "${label[@]}" --sql
    grep -q "label = 'several'" output || fail "$command --sql: $(cat output)"
    # What is printed can be executed.
    while IFS= read -r statement; do
        sql "${statement%;} FORMAT Null" > answer || fail "$command --sql: $(cat answer)"
    done < output
done
probity "diff --sql" 0 diff --from-fleet "$url" --sql @before -- @after
expect "statements of a diff" 6 "$(grep -c ';$' output)"

for command in blocks tree timeline log csv waits path why memory model view info export; do
    probity "$command" 2 $command --from-fleet "$url"
    told "$command" "use the traces"
done
for call in "list --never" "list --probe 1" "list --tid 1" "threads --tid 1" "hist work --tid 1" \
    "hist --start-probe 1"; do
    # shellcheck disable=SC2086
    probity "$call" 2 $call --from-fleet "$url"
done
probity "without a database" 2 threads --host a several
told "without a database" "require --from-fleet"
PROBITY_FLEET=$url probity "from the environment" 0 threads --label several
PROBITY_FLEET=$url probity "a trace goes first" 0 threads several

record brief "$PROGRAMS/varied" 0 20
probity "a summary" 0 ship --to "$url" --detail summary brief
same "hist of a summary" "$histograms" hist '*' @brief
same "list of a summary" "$sites" list --hit @brief
probity "threads of a summary" 1 threads --from-fleet "$url" --label brief
told "threads of a summary" "--detail summary"
probity "self times of a summary" 1 hist '*' --self --from-fleet "$url" --label brief
told "self times of a summary" "--detail summary"

finish
