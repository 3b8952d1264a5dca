#!/usr/bin/env bash
# probity.exe runs programs: `record` passes arguments, settings and the exit code on, and completes
# the trace of a program that is terminated; `overhead` measures; `top` and `ps` show running
# programs.
# shellcheck source=tests/windows/common.bash
. "$(dirname "${BASH_SOURCE[0]}")/common.bash"
exe=$WINDOWS/bin/probity.exe
TESTS=$SOURCE/tests/windows
compile_programs arguments ticks kill_target

# $1 expected status, the rest: arguments. Output is in answer and errors.
tool() {
    local expected=$1
    shift
    wine_run "$exe" "$@" > answer.crlf 2> errors.crlf
    tr -d '\r' < answer.crlf > answer
    tr -d '\r' < errors.crlf > errors
    expect "probity.exe $*: status; $(head -n 3 answer errors)" "$expected" "$status"
}

# $1 trace, $2 label, $3 number of hits. The trace must be closed, since the tool completes
# unfinished ones.
complete() {
    "$PROBITY" info "$1" > facts
    grep -q '^complete  *yes' facts || fail "$1: $(cat facts)"
    expect "$1: label" "$2" "$(sed -n 's/^label  *//p' facts)"
    expect "$1: hits" "$3" "$(sed -n 's/^hits  *//p' facts)"
    expect "spools after $1" "" "$(ls "$SPOOLS")"
}

# Arguments arrive unchanged, the suffix .exe may be omitted, settings are passed on, the status is
# the program's.
strange=('' 'a b' 'q"uo\\"te' 'back\' 'spaced back\\' '-x' '%n' '*')
tool 5 record --label 'first run' -o first.probity -- arguments 5 "${strange[@]}"
{ printf '[%s]\n' 5 "${strange[@]}"; echo 'label first run, error output yes'; } > expected
cmp -s expected answer || fail "arguments: $(diff expected answer)"
expect "errors of the program" "to stderr" "$(cat errors)"
complete first.probity 'first run' 2
tool 1 record -o first.probity arguments 0
grep -q "^probity record: 'first.probity' already exists" errors || fail "$(cat errors)"
tool 0 record -f -o first.probity arguments.exe 0
complete first.probity "" 2

# Names in the form of Windows, patterns, a CSV, a ring.
mkdir sub
tool 0 record -o 'sub\%n.probity' 'Z:'"${WORK//\//\\}"'\arguments.exe' 0
complete sub/arguments.probity "" 2
tool 0 report 'sub\arguments.probity'
tool 0 record -o hits.csv arguments 0
expect "CSV" 2 "$(grep -c '^[0-9]' hits.csv)"
expect "traces next to the CSV" first.probity "$(echo ./*.probity | sed 's,^[.]/,,')"
tool 0 record --mode ring -o ring.probity ticks
expect "mode" ring "$("$PROBITY" info ring.probity | sed -n 's/^mode  *//p')"
expect "calls" 1000 "$("$PROBITY" report --csv ring.probity | awk -F, '/^tick/ { print $8 }')"

# However the program ends: its 32-bit exit code, and every record.
for end in TerminateProcess access; do
    rm -f counts
    printf '@%s record -o %s.probity kill_target counts %s\r\n@echo %%errorlevel%%\r\n' \
        "Z:${exe//\//\\}" "$end" "$end" > run.bat
    wine_run cmd /c run.bat > out 2> errors
    expected=1
    [ "$end" != access ] || expected=-1073741819 # 0xC0000005
    expect "$end: exit code" "$expected" "$(tail -n 1 out | tr -d '\r')"
    hits=$(python3 "$TESTS/verify.py" "$PROBITY" "$end.probity" counts)
    complete "$end.probity" "" "$hits"
    echo "$end: $hits hits"
done

# Programs that cannot be run, and requests that cannot be met; nothing is written or removed.
tool 127 record -f -o first.probity no-such-program
expect "errors" "probity record: cannot run 'no-such-program': No such file or directory" \
    "$(cat errors)"
echo text > text.exe
tool 126 record text.exe
echo '@echo off' > batch.bat
tool 126 record batch.bat
tool 1 record -o missing/x.probity arguments 0
tool 0 record -o ring2.probity arguments 0
for option in '--functions' '--calls all' '--args f'; do
    # shellcheck disable=SC2086 # an option and its value
    tool 1 record -f -o ring2.probity $option arguments 0
    grep -q '^probity record: this build cannot ' errors || fail "$option: $(cat errors)"
    complete ring2.probity "" 2
done
tool 2 record
tool 0 record --sched -o sched.probity arguments 0
grep -q '^probity record: thread states are not recorded' errors || fail "$(cat errors)"
tool 7 record -o cmd.probity cmd /c 'exit 7'
grep -q "^probity record: no trace .* was written" errors || fail "$(cat errors)"

# Overhead: each run has the same number of records as a single run.
tool 0 overhead -n 2 --json ticks
jq -e '.records | .least >= 3000 and .most == .least and .lost == 0' < answer > answer.is ||
    fail "overhead: $(cat answer)"
tool 1 overhead -n 1 arguments 5
grep -q 'failed with status 5' errors || fail "$(cat errors)"
expect "directories of overhead" "" \
    "$(find "$WINEPREFIX/drive_c" -name 'probity-overhead.*' 2> /dev/null)"

# Running programs.
tool 1 top
grep -q '^probity top: no program is recording' errors || fail "$(cat errors)"
PROBITY_OUT=live.probity begin wine ticks.exe stop
await_running $!
tool 0 ps --json
expect "ps" ticks "$(jq -r '.processes[].program' < answer)"
pid=$(jq -r '.processes[].pid' < answer)
for operand in live.probity "$pid"; do
    tool 0 top -n 2 --json "$operand"
    jq -s -e 'length == 2 and all(.programs == 1) and
        (.[1].rows[0].name == "tick") and (.[1].rows[0].all.calls > 0)' < answer > answer.is ||
        fail "top: $(cat answer)"
done
: > stop
wait
tool 0 top live.probity
grep -q '  tick$' answer || fail "top of an ended program: $(cat answer)"
