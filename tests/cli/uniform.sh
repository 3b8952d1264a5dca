#!/usr/bin/env bash
# Options that several commands share mean the same in each: ranges, threads, limits, colors, quiet,
# standard input, suggestions for misspelled words, and what is said if there is nothing to show.
# Each command that reads traces takes part; a new one must be added here.
# variants: asan
. "$(dirname "$0")/../common.bash"

PROBITY_OUT=$WORK/scopes "$PROGRAMS/parallel" > output
PROBITY_OUT=$WORK/hits "$PROGRAMS/typed" 300 > output
PROBITY_OUT=$WORK/calls "$PROGRAMS/tree" > output
PROBITY_OUT=$WORK/planted "$PROGRAMS/planted" 20 > output
"$PROBITY" report --json scopes | jq -r '.functions[0].name' > function
read -r function < function
probe=$("$PROBITY" blocks --json hits | jq -r '.blocks[0].from')

# Lines "COMMAND ARGUMENTS | TRACE": every command that answers from the events of traces.
cat > answers << END
report | scopes
report --json | scopes
tree | scopes
log | scopes
hist $function | scopes
list | scopes
threads | scopes
timeline | scopes
export --format chrome | scopes
export --format folded | scopes
blocks | hits
blocks --csv | hits
csv | hits
model | hits
hist --start-probe $probe | hits
waits | planted
path | hits
view -f -o page | hits
END

# Runs a command with more arguments. $1 line of the table, $2 expected status, then arguments
answer() {
    local line=$1 expected=$2 status=0 words
    read -r -a words <<< "${line%|*}"
    shift 2
    "$PROBITY" "${words[@]}" "$@" > output 2> errors || status=$?
    expect "${line%|*} $*: status ($(head -n 3 errors))" "$expected" "$status"
}

has_option() {
    "$PROBITY" "$1" --help | grep -qE -- "(^|[ ,])--$2([ =,]|$)"
}

# The commands that read events; the others manage recordings, files or databases.
others=' record index check recover drain spools ps top level snapshot attach detach ship fetch'
others+=' merge fleet overhead runs info diff memory why '
"$PROBITY" --help | sed -n 's/^  \([a-z]*\)  .*/\1/p' > commands
while read -r command; do
    [ -n "$command" ] || continue
    [[ $others == *" $command "* ]] || grep -q "^$command " answers ||
        fail "$command: neither in the table nor among the other commands"
done < commands
[ "$(wc -l < commands)" -gt 30 ] || fail "too few commands: $(xargs < commands)"

first=$("$PROBITY" info --json scopes | jq '.[0].times.first_ns')
[ "$first" -gt 0 ] || fail "no time of the first record"
while read -r line; do
    trace=${line##*| }
    command=${line%% *}
    answer "$line" 0 "$trace"
    cp output whole
    # Ranges: forms that include everything change nothing, and one that excludes all is accepted.
    if [ "$command" != view ]; then # its data include the range
        answer "$line" 0 --since 2001-01-01 --until '2099-12-31 23:59' "$trace"
        # A log and a timeline show the range, and may show less or more of calls that have not
        # ended.
        cmp -s output whole || [[ $line == log* || $line == timeline* ]] ||
            fail "$line: a range of dates around everything changes the output"
        for input in "- < $trace" "- < <(cat $trace)"; do
            status=0
            eval "$PROBITY ${line%|*} $input" > output 2> errors || status=$?
            expect "$line $input: status ($(cat errors))" 0 "$status"
            cmp -s <(sed 's,/proc/self/fd/[0-9]*,TRACE,g' output) \
                <(sed "s,\\b$trace\\b,TRACE,g" whole) ||
                [ "$(wc -l < output)" = "$(wc -l < whole)" ] ||
                fail "$line $input: another output"
        done
    fi
    for range in '--since 50%' '--since -1us' '--since 1ms --until 2ms' '--until 0.001'; do
        # shellcheck disable=SC2086
        case $line in
            hist* | path*) continue ;; # fail if there is none in the range
            *) answer "$line" 0 $range "$trace" ;;
        esac
    done
    if [[ $line != hist* && $line != path* ]]; then
        answer "$line" 0 --until 2001-01-01 "$trace"
        grep -q 'the range is outside the recording' errors || fail "$line: $(cat errors)"
    fi
    answer "$line" 2 --since yesterday "$trace"
    grep -q "invalid --since 'yesterday'" errors || fail "$line: $(cat errors)"
    answer "$line" 2 --sicne 1 "$trace"
    grep -q "did you mean '--since'?" errors || fail "$line: $(cat errors)"
    # Quiet: a truncated trace has the same status, without a message, unless it lacks the function.
    head -c $(($(stat -c %s "$trace") * 3 / 4)) "$trace" > part
    status=0
    # shellcheck disable=SC2086
    "$PROBITY" ${line%|*} --quiet part > output 2> errors || status=$?
    [ "$status" = 3 ] || [ "$status" = 1 ] || fail "$line: truncated: status $status"
    [ "$status" = 1 ] || expect "$line: quiet" "" "$(grep -v 'no calls match' errors)"
    if has_option "$command" tid; then
        tid=$("$PROBITY" threads --json "$trace" | jq '.processes[0].threads[0].tid')
        case $line in hist* | path*) continue ;; esac
        answer "$line" 0 --tid "$tid" "$trace"
        cp output one
        answer "$line" 0 --thread "$tid" "$trace"
        cmp -s one output || fail "$line: --thread is not --tid"
        answer "$line" 1 --tid 1 "$trace"
        grep -q "no records of thread id 1;\|no match for thread id 1;" errors ||
            fail "$line: $(cat errors)"
    else
        fail "$command: no --tid"
    fi
done < answers

# Waits and paths: those of some threads add up to those of all; their causes are still known.
"$PROBITY" waits --json --by thread planted > waits
jq -e '.rows | length > 1 and ([.[] | select((.held_by // []) | length > 0)] | length > 0)' waits \
    > output || fail "no waits of several threads with holders"
"$PROBITY" threads --json planted | jq '.processes[].threads[].tid' > tids
total=0
while read -r tid; do
    "$PROBITY" waits --json --tid "$tid" planted > one || fail "waits --tid $tid"
    total=$((total + $(jq '[.rows[].waits] | add // 0' one)))
    expect "waits --tid $tid: waiters" "[]" "$(jq -c --argjson tid "$tid" '[.rows[].worst[]
        | .tid | select(. != null and . != $tid)]' one)"
done < tids
expect "waits of each thread" "$(jq '[.rows[].waits] | add' waits)" "$total"
"$PROBITY" path --json --slowest 1000 hits > paths
total=0
for tid in $("$PROBITY" threads --json hits | jq '.processes[].threads[].tid'); do
    status=0
    "$PROBITY" path --json --slowest 1000 --tid "$tid" hits > one 2> errors || status=$?
    [ "$status" = 0 ] || grep -q 'no matching span' errors || fail "path --tid $tid: $(cat errors)"
    [ "$status" != 0 ] || total=$((total + $(jq '.spans | length' one)))
done
expect "paths of each thread" "$(jq '.spans | length' paths)" "$total"

# Colors in text output, also to a file. Commands without colors accept the option, too.
for line in "report | scopes" "tree | scopes" "log | scopes" "threads | scopes" "list | scopes" \
            "hist $function | scopes" "blocks | hits" "waits | planted" "timeline | scopes"; do
    answer "$line" 0 --color always "${line##*| }"
    grep -q $'\033\[' output || fail "$line: no colors"
    answer "$line" 0 --color always -f -o file "${line##*| }"
    grep -q $'\033\[' file || fail "$line: no colors in a file"
    answer "$line" 0 --color never "${line##*| }"
    ! grep -q $'\033\[' output || fail "$line: colors"
    answer "$line" 2 --color sometimes "${line##*| }"
done

for line in "csv | hits" "export --format chrome | scopes" "view -f -o page | hits"; do
    answer "$line" 0 --color always "${line##*| }"
    ! grep -q $'\033\[' output || fail "$line: colors"
    answer "$line" 2 --color sometimes "${line##*| }"
done

# Limits; 0: none. $1 what counts rows, then the command
limits() {
    local rows=$1
    shift
    "$PROBITY" "$@" --json --limit 1 > output 2> errors || fail "$*: $(cat errors)"
    expect "$*: rows" 1 "$(jq "$rows | length" output)"
    "$PROBITY" "$@" --json --limit 0 > output 2> errors || fail "$*, 0: $(cat errors)"
    expect "$*, 0: rows" "$("$PROBITY" "$@" --json | jq "$rows | length")" \
        "$(jq "$rows | length" output)"
}
limits .functions report scopes
limits .blocks blocks hits
limits .sites list scopes
limits '.processes[0].threads' threads scopes
limits .rows waits planted
limits .histograms hist '*' scopes
limits .threads timeline scopes
limits .groups model hits
limits .requests model hits
limits '[.. | objects | select(has("self_ns") and has("name"))]' tree calls
"$PROBITY" waits --json --top 1 planted | cmp - <("$PROBITY" waits --json -n 1 planted) ||
    fail "waits: --top is not --limit"

# Functions: the events in calls to some functions are those in the tree below them.
"$PROBITY" report --json calls | jq -r '.functions[].name' > names
[ "$(wc -l < names)" -gt 3 ] || fail "too few functions: $(xargs < names)"
while read -r name; do
    "$PROBITY" tree --json --function "$name" calls |
        jq -r '[.. | objects | select(has("self_ns") and has("name"))] | group_by(.name)[]
            | "\(.[0].name) \(map(.calls) | add)"' | sort > below
    "$PROBITY" export --format chrome --function "$name" calls 2> errors | jq -r '[.traceEvents[]
        | select((.ph == "B" or .ph == "X") and .cat == "function") | .name] | group_by(.)[]
        | "\(.[0]) \(length)"' | sort > inside
    # A deferred call is known from its checkpoint on.
    [ "$name" != deferred ] || continue
    cmp below inside || fail "export --function $name: $(diff below inside | head -n 5)"
    "$PROBITY" timeline --json --function "$name" calls | jq -e '.threads | length > 0' > output ||
        fail "timeline --function $name: no threads"
    "$PROBITY" view -f -o page --function "$name" calls > output 2> errors ||
        fail "view --function $name: $(cat errors)"
done < names
rm -f page
for command in "timeline" "export --format chrome -o page" "view -o page"; do
    answer "$command --function zzzzzzzzz | calls" 1 calls
    grep -q "no calls match 'zzzzzzzzz'; .probity report. lists" errors ||
        fail "$command: $(cat errors)"
    [ ! -e page ] || fail "$command: written in spite of the error"
done

# In place of the name, for a command that takes one.
"$PROBITY" hist --json "$function" scopes > expected
answer "hist --json --function $function | scopes" 0 scopes
cmp expected output || fail "hist --function: $(head -c 200 output)"
answer "hist --function $function --probe 1 | hits" 2 hits

# Misspelled names
misspelled=${function}x
for command in "report --function $misspelled" "tree --function $misspelled" "hist $misspelled" \
        "hist --function $misspelled"; do
    answer "$command | scopes" 1 scopes
    grep -q "no calls match '$misspelled'; did you mean '$function'?" errors ||
        fail "$command: $(cat errors)"
    answer "${command/%$misspelled/zzzzzzzzz} | scopes" 1 scopes
    grep -q "no calls match 'zzzzzzzzz'; .probity report. lists" errors ||
        fail "$command: $(cat errors)"
done

# A command that finds nothing of its kind says what there is, and which command shows it.
nothing() {
    local word=$1
    shift
    "$PROBITY" "$@" > output 2> errors || true
    grep -q -- "$word" errors output || fail "$*: expected '$word': $(cat errors)"
}
for command in report tree 'hist x' log; do
    # shellcheck disable=SC2086
    nothing 'probity blocks' $command hits
done
nothing 'probity report' blocks calls
nothing 'probity report' csv calls
nothing 'probity report' model calls
finish
