#!/usr/bin/env bash
# If a CSV lacks records, this is always reported: on stderr and by the exit status or, for a CSV
# that a program writes itself, in a note next to it.
# variants: clang asan
. "$(dirname "$0")/../common.bash"

# Twelve concurrent threads and chunks for eight: the hits and names of the other four are dropped.
# A thread that starts while the first one records the declarations repeats these, and drops them,
# too. $1 trace
count_dropped() {
    dropped=$("$PROBITY" info --json "$1" | jq '.[0].counts.dropped_no_memory_or_limit')
    [ "$dropped" -ge $((4 * 101)) ] || fail "$1: $dropped records dropped"
}

record_some() {
    env PROBITY_CPU_TIME=0 PROBITY_CHUNK_RECORDS=512 PROBITY_SPOOL_RECORDS=4096 \
        PROBITY_SPOOL_BYTES_MAX=40000 "PROBITY_OUT=$WORK/$1" "${@:2}" \
        "$PROGRAMS/threads" alive 12 100 > expected 2> errors
}

# $1 description, $2 expected status, then a command. Writes "output" and "errors".
gives() {
    local what=$1 expected=$2 status=0
    shift 2
    "$@" > output 2> errors || status=$?
    expect "$what: status ($(cat errors))" "$expected" "$status"
}

# Expects a single line with this text in "errors". $1 description, $2 text
one_line() {
    expect "$1: lines on stderr" 1 "$(wc -l < errors)"
    grep -qF -- "$2" errors || fail "$1: $(cat errors)"
}

record_some run.probity || fail "record: $(cat errors)"
expect "a trace: stderr of the program" "" "$(cat errors)"
count_dropped run.probity
gives "csv" 3 "$PROBITY" csv run.probity
expect "csv: lines" 800 "$(wc -l < output)"
one_line csv "'run.probity' is incomplete: $dropped records dropped"
gives "csv -o" 3 "$PROBITY" csv -o out.csv run.probity
expect "csv -o: lines" 800 "$(wc -l < out.csv)"
for arguments in "report --csv" "list --csv" "threads --csv" "hist --csv main" "blocks --csv" \
    "tree --csv" "tree --folded"; do
    read -ra words <<< "$arguments"
    [ "${words[0]}" != hist ] || words=(hist --csv --from 0)
    status=0
    "$PROBITY" "${words[@]}" run.probity > output 2> errors || status=$?
    expect "$arguments: status ($(cat errors))" 3 "$status"
    grep -q "'run.probity' is incomplete: $dropped records dropped" errors ||
        fail "$arguments: $(cat errors)"
done
cp run.probity again.probity
gives "diff --csv" 3 "$PROBITY" diff --csv run.probity -- again.probity
expect "diff --csv: both runs" 2 "$(grep -c "$dropped records dropped" errors)"
# Formats that report losses in their output do not repeat them on stderr.
gives "report" 0 "$PROBITY" report run.probity
grep -q "INCOMPLETE.*$dropped records dropped" output || fail "report: $(tail -n 2 output)"
# A log marks only losses that are followed by a record of the same thread.
gives "log" 0 "$PROBITY" log run.probity
grep -q "'run.probity' is incomplete: $dropped records dropped" errors || fail "log: $(cat errors)"
gives "report --json" 0 "$PROBITY" report --json run.probity
expect "report --json" false "$(jq '.traces[0].complete' output)"

# The files that a program writes at exit.
fresh
record_some run.csv || fail "CSV at exit: $(cat errors)"
count_dropped run.csv.probity
one_line "CSV at exit" "run.csv' is incomplete: $dropped records dropped"
expect "CSV at exit: lines" 800 "$(wc -l < run.csv)"
grep -q "^$dropped records dropped" run.csv.incomplete || fail "CSV at exit: no note"
expect "CSV at exit: trace is kept" 800 "$("$PROBITY" csv run.csv 2> /dev/null | wc -l)"
gives "recover" 3 "$PROBITY" recover run.csv
one_line "recover" "is incomplete: $dropped records dropped"
[ -f run.csv.probity ] || fail "recover: the trace is gone"
expect "files" "run.csv run.csv.incomplete run.csv.probity" "$(echo run.*)"
# A link with the name of the note is replaced, not followed.
echo precious > other
ln -sf other run.csv.incomplete
gives "recover, a link" 3 "$PROBITY" recover run.csv
expect "recover, a link: other file" precious "$(cat other)"
[ ! -L run.csv.incomplete ] || fail "recover, a link: it was not replaced"

# The same under `record`, whose status is that of the program.
rm -f run.*
gives "record" 0 env PROBITY_CPU_TIME=0 PROBITY_CHUNK_RECORDS=512 PROBITY_SPOOL_RECORDS=4096 \
    PROBITY_SPOOL_BYTES_MAX=40000 "$PROBITY" record -o run.csv -- "$PROGRAMS/threads" alive 12 100
count_dropped run.csv.probity
grep -q "run.csv' is incomplete: $dropped records dropped" errors || fail "record: $(cat errors)"
[ -f run.csv.incomplete ] && [ -f run.csv.probity ] || fail "record: $(ls)"

# A complete CSV with the same name removes the note and the trace.
PROBITY_OVERWRITE=1 PROBITY_OUT=$WORK/run.csv "$PROGRAMS/threads" alive 12 100 > expected 2> errors
expect "complete: stderr" "" "$(cat errors)"
expect "complete: lines" 1200 "$(wc -l < run.csv)"
expect "complete: files" run.csv "$(echo run.*)"
no_leftovers "csv"
finish
