#!/usr/bin/env bash
# probity.exe with running and terminated programs: it reads the spool, changes levels, recovers
# every record, and reports unsupported requests. Linux reads a spool that was copied from Windows.
# shellcheck source=tests/windows/common.bash
. "$(dirname "${BASH_SOURCE[0]}")/common.bash"
exe=$WINDOWS/bin/probity.exe
x86_64-w64-mingw32-gcc "${FLAGS[@]}" -Wno-infinite-recursion -o probes.exe \
    "$SOURCE/tests/windows/kill_target.c" "${STATIC[@]}"

# $1 expected, the rest: arguments. Prints the output.
tool() {
    local expected=$1
    shift
    wine_run "$exe" "$@" > answer 2>&1
    expect "probity.exe $*: status; $(head -n 3 answer)" "$expected" "$status"
    cat answer
}

# A program that terminates itself while recording at full rate.
PROBITY_OUT=trace.probity wine_run probes.exe counts TerminateProcess > out 2>&1
mkdir copy
cp -a trace.probity spools copy
tool 0 info trace.probity > facts
grep -q '^state  *killed$' facts || fail "info: $(cat facts)"
tool 0 list --csv trace.probity > listed
tool 0 spools > spools.txt
grep -q 'dead.*trace.probity' spools.txt || fail "spools: $(cat spools.txt)"
# Another program has the spool mapped and does not allow its removal, and then the trace.
x86_64-w64-mingw32-gcc "${FLAGS[@]}" -o holder.exe "$SOURCE/tests/windows/holder.c"
begin wine holder.exe spools/*
await_running $!
tool 1 recover trace.probity > recovered
grep -q "'trace.probity' is complete, but its spool cannot be removed: " recovered ||
    fail "recovery with a mapped spool: $(cat recovered)"
touch release
wait
rm release
cp -a copy/trace.probity copy/spools .
begin wine holder.exe trace.probity
await_running $!
tool 0 recover --trust trace.probity > recovered
touch release
wait
tool 0 check trace.probity > checked
python3 "$SOURCE/tests/windows/verify.py" "$PROBITY" trace.probity counts > hits
tool 0 list --csv trace.probity > listed.after
cmp -s listed listed.after || fail "hits before and after recovery: $(diff listed listed.after)"
expect "spools after recovery" "" "$(ls "$SPOOLS")"
expect "nothing is left to recover" 0 "$(tool 0 recover trace.probity | grep -c 'records from')"

# The copy, on Linux.
(cd copy && PROBITY_SPOOL_DIR=$PWD/spools "$PROBITY" recover --trust trace.probity) > recovered
"$PROBITY" list --csv copy/trace.probity > listed.copy
cmp -s listed listed.copy || fail "hits of the copy: $(diff listed listed.copy)"

# A running program, which is terminated by another one.
PROBITY_MODE=ring PROBITY_OUT=live.probity begin wine probes.exe counts
program=$!
await_running $!
pid=
until [ -n "$pid" ]; do pid=$(tool 0 ps --json | jq -r '.processes[0].pid // empty'); done
tool 0 level "$pid" 3 1 > levels
expect "levels" "$pid: levels 3, 3" "$(tr -d '\r' < levels)"
tool 0 level live.probity 4 > levels
tool 0 info live.probity > facts
grep -q '^state  *live$' facts || fail "info of a running program: $(cat facts)"
wine taskkill /f /pid "$pid" > out 2>&1 || kill -KILL "$program"
wait
tool 0 recover live.probity > recovered
tool 0 info live.probity > facts
grep -q '^complete  *yes' facts || fail "info: $(cat facts)"

# Features that the build lacks.
for command in attach detach ship; do
    tool 0 "$command" --help > message
    grep -qi '^this build cannot' message || fail "$command --help: $(cat message)"
    tool 1 "$command" x > message
    grep -q "^probity $command: this build cannot " message || fail "$command: $(cat message)"
done

# Files: a page, an index, a directory that is replaced, a compressed one, and standard input.
rm -f trace.probity
cp "$SOURCE/tests/golden/good/sites.probity" .
options=()
for _ in 1 2; do
    tool 0 view "${options[@]}" -o page.html sites.probity > message
    tool 0 index "${options[@]}" sites.probity > message
    tool 0 export "${options[@]}" --format ctf -o ctf sites.probity > message
    tool 0 export "${options[@]}" --format chrome -o sites.json.gz sites.probity > message
    options=(-f) # the second round replaces the files of the first
done
tool 1 view -o page.html sites.probity > message
for file in page.html ctf sites.json.gz; do
    mv "$file" "$file.windows"
done
"$PROBITY" view -o page.html sites.probity
"$PROBITY" export --format ctf -o ctf sites.probity 2> message
# The header of a gzip file contains the operating system.
gunzip < sites.json.gz.windows > sites.json.windows
"$PROBITY" export --format chrome -o sites.json sites.probity 2> message
for file in page.html ctf sites.json; do
    diff -r "$file" "$file.windows" > differences || fail "$file: $(head -c 300 differences)"
done
# Both tools show a descriptor as the name of the trace.
wine "$exe" blocks - < sites.probity 2>&1 | sed 's,/fd/[0-9]*,/fd/N,' > windows.txt
"$PROBITY" blocks - < sites.probity 2>&1 | sed 's,/fd/[0-9]*,/fd/N,' > linux.txt
cmp -s linux.txt windows.txt || fail "standard input: $(diff linux.txt windows.txt)"
