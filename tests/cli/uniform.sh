#!/usr/bin/env bash
# Options that several commands share mean the same in each: ranges, threads, limits, colors, quiet,
# standard input, suggestions for misspelled words, and the message if there is nothing to show.
# Each command that reads traces takes part; a new one must be added here.
# variants: asan
. "$(dirname "$0")/../common.bash"

PROBITY_OUT=$WORK/scopes "$PROGRAMS/parallel" > output
PROBITY_OUT=$WORK/hits "$PROGRAMS/typed" 300 > output
PROBITY_OUT=$WORK/calls "$PROGRAMS/tree" > output
PROBITY_OUT=$WORK/planted "$PROGRAMS/planted" 20 > output
PROBITY_OUT=$WORK/listed "$PROGRAMS/listed" > output
# Sanitized programs are not recorded with --calls, so `memory` has nothing to show.
if [ "${VARIANT:-gcc}" = asan ]; then
    cp hits heap
else
    "$PROBITY" record -o heap --calls memory -- "$PROGRAMS/heap.shared" 100 > output 2>&1
fi
"$PROBITY" report --json scopes | jq -r '.functions[0].name' > function
read -r function < function
probe=$("$PROBITY" blocks --json hits | jq -r '.blocks[0].from')

# Prints lines "COMMAND ARGUMENTS | TRACE": every command that reports on the events of traces.
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
memory | heap
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
others+=' merge fleet overhead runs info diff why '
"$PROBITY" --help | sed -n 's/^  \([a-z]*\)  .*/\1/p' > commands
while read -r command; do
    [ -n "$command" ] || continue
    [[ $others == *" $command "* ]] || grep -q "^$command " answers ||
        fail "$command: neither in the table nor among the other commands"
done < commands
[ "$(wc -l < commands)" -gt 30 ] || fail "too few commands: $(xargs < commands)"

# The table in probity(1) is right: rows "COMMAND yes no yes yes" for the columns of its head.
sed -n 's/^\.It Cm \([a-z]*\) Ta \(.*\)/\1 \2/p' "$SOURCE/man/probity.1" | sed 's/ Ta / /g' > table
read -r -a columns < <(sed -n 's/^\.It Em command Ta //p' "$SOURCE/man/probity.1" |
    sed 's/ Ta Em / /g; s/^Em //; s/--//g')
expect "columns of the table" "limit function probe tid" "${columns[*]}"
sort <(cut -d ' ' -f 1 answers) <(printf 'why\ndiff\n') | uniq > expected
cut -d ' ' -f 1 table | sort | cmp - expected ||
    fail "commands in the table: $(cut -d ' ' -f 1 table | sort | diff - expected)"
while read -r command values; do
    read -r -a values <<< "$values"
    for i in "${!columns[@]}"; do
        found=no
        ! has_option "$command" "${columns[i]}" || found=yes
        expect "$command --${columns[i]}, in the table" "${values[i]}" "$found"
    done
    for option in since until color quiet; do
        has_option "$command" "$option" || fail "$command: no --$option"
    done
done < table

first=$("$PROBITY" info --json scopes | jq '.[0].times.first_ns')
[ "$first" -gt 0 ] || fail "no time of the first record"
while read -r line; do
    trace=${line##*| }
    command=${line%% *}
    answer "$line" 0 "$trace"
    cp output whole
    # Ranges: forms that include everything change nothing, and a range that excludes everything is
    # accepted.
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
    # Quiet: a truncated trace causes the same status, without a message, unless it lacks the
    # function.
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

# Waits and paths: those of some threads sum to those of all; their causes are still found.
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

# Colors in text output, even to a file. Commands without colors accept the option, too.
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

# The maximum number of paths and cases is a limit, too; its older name is --slowest.
for command in "path hits" "why --function want planted"; do
    # shellcheck disable=SC2086
    for count in 1 3; do
        "$PROBITY" ${command/ / --json -n $count } > output 2> errors ||
            fail "$command: $(cat errors)"
        expect "$command -n $count" "$count" "$(jq '(.spans // .cases) | length' output)"
        "$PROBITY" ${command/ / --json --slowest $count } 2> errors | cmp - output ||
            fail "$command: --slowest is not --limit"
    done
    # shellcheck disable=SC2086
    "$PROBITY" ${command/ / --json -n 0 } > output
    # shellcheck disable=SC2086
    "$PROBITY" ${command/ / --json -n 1000 } | cmp - output || fail "$command: 0 is not all"
done
"$PROBITY" path --csv -n 2 hits > rows.csv
expect "path --csv -n 2: spans" "1 2" "$(tail -n +2 rows.csv | cut -d , -f 1 | uniq | xargs)"
expect "path -n 2, text" 2 "$("$PROBITY" path -n 2 hits | grep -c '^request ')"

# A log and CSV end at the limit, which is reported only if there are more lines.
for line in "log | scopes" "log --by-thread | scopes" "log --min-duration 1us | calls" \
            "log --probes | hits" "csv | hits" "csv --header | hits"; do
    trace=${line##*| }
    answer "$line" 0 "$trace"
    cp output whole
    head=0
    [[ $line != *header* ]] || head=1
    count=$(($(wc -l < whole) - head))
    for limit in 1 7 $((count - 1)); do
        answer "$line" 0 --limit "$limit" "$trace"
        head -n $((limit + head)) whole | cmp - output || fail "$line -n $limit: other lines"
        grep -qE ": stopped after $limit (lines|hits) \(--limit\)$" errors ||
            fail "$line -n $limit: $(cat errors)"
        answer "$line" 0 --limit "$limit" -q "$trace"
        expect "$line -n $limit -q" "" "$(cat errors)"
    done
    for limit in 0 "$count" $((count + 1)); do
        answer "$line" 0 --limit "$limit" "$trace"
        cmp whole output || fail "$line -n $limit: not all lines"
        ! grep -q stopped errors || fail "$line -n $limit: $(cat errors)"
    done
    answer "$line" 2 --limit -1 "$trace"
done

# Functions: the events in calls of some functions are those in the tree below them.
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

# The same for hits, and for blocks between them. In "listed", "called" calls "twice".
"$PROBITY" csv listed > all.csv
"$PROBITY" csv --function twice listed > some.csv
grep '"in, ' all.csv | cmp - some.csv || fail "csv --function twice: $(cat some.csv)"
"$PROBITY" csv --function called listed > some.csv
grep -vE ',(request:begin|9),' all.csv | cmp - some.csv ||
    fail "csv --function called: $(cat some.csv)"
middle=$(sed -n 4p some.csv | awk -F , '{ printf "@%s.%09d", $6, $7 }')
"$PROBITY" csv --function called --since "$middle" listed > later.csv
tail -n +4 some.csv | cmp - later.csv || fail "csv --function --since: $(cat later.csv)"
"$PROBITY" csv --function called --until "$middle" listed > earlier.csv
head -n 3 some.csv | cmp - earlier.csv || fail "csv --function --until: $(cat earlier.csv)"
expect "blocks --function: blocks of the hits" $(($(wc -l < some.csv) - 1)) \
    "$("$PROBITY" blocks --json --function called listed | jq '[.blocks[].calls] | add')"
"$PROBITY" blocks --csv --function called listed > rows.csv
python3 -c 'import csv, sys
print(sum(int(row["calls"]) for row in csv.DictReader(open("rows.csv"))))' > sum
expect "blocks --function, CSV" $(($(wc -l < some.csv) - 1)) "$(cat sum)"

# Waits in calls of a function include those in its callees, and their causes are still found.
answer "waits --json | planted" 0 planted
cp output whole
answer "waits --json --function want | planted" 0 planted
cmp output whole || fail "waits --function want: not all waits"
answer "waits --json --function wan? --function fill --by thread | planted" 0 planted
"$PROBITY" waits --json --by thread planted | cmp - output || fail "waits: several --function"
answer "waits --json --function fill | planted" 0 planted
expect "waits in fill, which only holds" 0 "$(jq '.rows | length' output)"
"$PROBITY" waits --csv --function want planted > rows.csv
"$PROBITY" waits --csv planted | cmp - rows.csv || fail "waits --csv --function want"

# The same with calls to the C library, which are functions, too: all waits of the handling thread
# are in "handle", and those of its callees are in the rows by function.
waits_of_calls() {
    local pair
    "$PROBITY" record -o causes --calls locks,sleep,io -- "$PROGRAMS/slow_causes.shared" \
        > output 2>&1
    "$PROBITY" waits --json --by function causes > whole
    for pair in "lookup lookup" "save save" "ask ask" "nanosleep handle" \
            "handle handle,lookup,save,ask"; do
        answer "waits --json --function ${pair% *} | causes" 0 causes
        expect "waits in ${pair% *}" "$(jq --arg names "${pair#* }" '[.rows[] | .function as $name
            | select($names | split(",") | index($name)) | .waits] | add // 0' whole)" \
            "$(jq '[.rows[].waits] | add // 0' output)"
    done
}

# Allocations in calls of a function are those on the paths through it, whichever thread frees them;
# those of the threads sum to the total.
memory_of_calls() {
    local name tid
    "$PROBITY" memory --json heap > whole
    for name in main load add copy give; do
        answer "memory --json --function $name | heap" 0 heap
        expect "memory --function $name" "$(jq -c --arg name "$name" '[.rows[]
            | select(.path | index($name))] | [length, (map(.allocations) | add),
              (map(.frees) | add), (map(.live_bytes) | add), (map(.bytes) | add)]' whole)" \
            "$(jq -c '[(.rows | length)] + (.sums | [.allocations, .frees, .live_bytes, .bytes])' \
                output)"
    done
    for tid in $("$PROBITY" threads --json heap | jq '.processes[0].threads[].tid'); do
        "$PROBITY" memory --json --tid "$tid" heap 2> errors | jq .sums.allocations
    done > each
    expect "memory of each thread" "$(jq .sums.allocations whole)" \
        "$(awk '{ sum += $1 } END { print sum }' each)"
    [ "$(wc -l < each)" -gt 1 ] || fail "heap: one thread"
}

if [ "${VARIANT:-gcc}" != asan ]; then
    waits_of_calls
    memory_of_calls
fi

# The calls that `why` explains are those of the thread; medians are of all calls.
"$PROBITY" why --json -n 0 --function want planted > whole
for tid in $(jq '[.cases[].tid] | unique[]' whole); do
    answer "why --json -n 0 --function want --tid $tid | planted" 0 planted
    jq --argjson tid "$tid" '.cases |= map(select(.tid == $tid))' whole | cmp - <(jq . output) ||
        fail "why --tid $tid"
done

# Probes: other hits are left out, and a log includes none. Calls are not affected.
expect "log --probe: hits" "probe 7" \
    "$("$PROBITY" log --probe 7 listed | grep -oE '(probe|site) .*' | xargs)"
expect "log --probe: by name" 'loop loop loop' \
    "$("$PROBITY" log --probe loop listed | sed -nE 's/.*(probe|site) //p' | tr -d '"' | xargs)"
"$PROBITY" log listed > plain
"$PROBITY" log --probe 7,loop listed | grep -vE '(probe|site) ' | cmp - plain || fail "log --probe"
"$PROBITY" log --probes listed | grep -vE '(site "in,|site "request|probe (9|1001)$)' > some
"$PROBITY" log --probe 7,loop listed | cmp - some || fail "log --probe 7,loop"
expect "export --probe" "7 loop loop loop" \
    "$("$PROBITY" export --format chrome --probe 7,loop listed 2> errors |
        jq -r '.traceEvents[] | select(.cat == "probe") | .name' | xargs)"
expect "export --probe: calls" \
    "$("$PROBITY" export --format chrome listed 2> errors | jq '[.traceEvents[]
        | select(.cat == "function") | .name] | length')" \
    "$("$PROBITY" export --format chrome --probe 7 listed 2> errors | jq '[.traceEvents[]
        | select(.cat == "function") | .name] | length')"
expect "timeline --probe" '["7"]' "$("$PROBITY" timeline --json --width 10000 --probe 7 listed |
    jq -c '[.threads[].columns[] | .mark | select(. != null and . != "checkpoint")] | unique')"
for command in "log --probe lopo" "csv --probe lopo" "export --format chrome --probe lopo" \
        "timeline --probe lopo"; do
    answer "$command | listed" 1 listed
    grep -q "no match for probe 'lopo'; did you mean 'loop'?" errors ||
        fail "$command: $(cat errors)"
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

# A command that finds nothing of its kind prints what the trace has, and which command shows it.
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
