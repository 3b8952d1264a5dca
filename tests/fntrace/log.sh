#!/usr/bin/env bash
# `probity log`: the format of its lines, signatures from DWARF, filters, a killed program, and a
# program followed until it ends or is killed, or until the reader is interrupted.
# variants: asan clang tsan
. "$(dirname "$0")/../common.bash"

# Prints the log with thread ids and times normalized. $@: arguments
log() {
    "$PROBITY" log "$@" 2> errors |
        sed -E 's/^[0-9]+:/T:/; s/elapsed:\t.*/elapsed/; /^T: *\[thread /d'
}

# $1 description, the rest: arguments; stdin has the expected log
shows() {
    local what=$1
    shift
    log "$@" > found || true
    cat > wanted
    cmp -s wanted found || fail "$what: $(diff wanted found | head -n 12; head -n 2 errors)"
}

prototype='int set_rect(struct rect *rect, int left, int top, '
prototype+='const char *const *names, compare order)'

article() {
    cat <<END
T: int main(int argc, char **argv)
T:   argc = 1
T:   $prototype
T:     left = 3
T:     top = 4
T:     names[0] = "first"
T:     moved to 3, 4
T:     elapsed
T:   return (7)
T:   void dispatch(int message, const char *text)
T:     WM_CREATE
T:       message = 2
T:       text = "two\\nlines"
T:     elapsed
T:   leave;
T:   elapsed
T: return (0)
END
}

# Starts a program that makes steps, printing their numbers to "made", until end_steps.
start_steps() {
    [ -p go ] || mkfifo go
    exec {go}<> go
    PROBITY_OUT=$WORK/trace "$PROGRAMS/logged" steps < go > made 2> steps.err &
    running=$!
    await "$running" made 1 .
}

end_steps() {
    echo >&"$go"
    wait "$running" || fail "steps: status $?: $(cat steps.err)"
    exec {go}>&-
}

# Waits until file $2 has $3 lines that match $4, while job $1 runs.
await() {
    wait_until "$1" has_lines "$2" "$3" "$4" || fail "$2: fewer than $3 lines with $4"
}

for program in $(forms_of logged); do
    PROBITY_OUT=$WORK/trace "$PROGRAMS/$program" || fail "$program: status $?"
    article | shows "$program" trace
    article | shows "$program by thread" --by-thread trace
    shows "$program, one function" --function 'set_*' trace << END
T: $prototype
T:   left = 3
T:   top = 4
T:   names[0] = "first"
T:   moved to 3, 4
T:   elapsed
T: return (7)
END
    log --min-duration 1h trace > found 2>&1 || true
    grep -q "invalid --min-duration '1h'" errors || fail "--min-duration 1h: $(cat errors)"
    log --min-duration 3600s trace > found
    expect "$program: scopes of an hour" 0 "$(wc -l < found)"
    rm -f trace

    status=0
    PROBITY_OUT=$WORK/killed "$PROGRAMS/$program" kill 2> errors || status=$?
    expect "$program kill" 137 "$status"
    log killed > found
    expect "$program kill: open scopes" 5 "$(grep -c 'still open' found)"
    grep -qE '^T:         void nest\(unsigned int depth\)$' found ||
        fail "no fourth nest(): $(cat found)"
    grep -q '5 still open at the end' errors || fail "killed: $(cat errors)"
    "$PROBITY" recover killed 2> errors || fail "recover: $(cat errors)"
    rm -f killed
done

# Without its binary, a function is described by what the macro recorded.
cp "$PROGRAMS/logged" copy
PROBITY_OUT=$WORK/trace ./copy
rm copy
expect "without binary" "T:   int set_rect" "$(log trace | grep set_rect)"

# Color depends on the terminal and on NO_COLOR.
"$PROBITY" log --color always trace | grep -q $'\033\[1mint main' || fail "no color"
"$PROBITY" log trace | grep -q $'\033' && fail "color in a pipe"
NO_COLOR=1 script -qec "'$PROBITY' log trace" /dev/null < /dev/null | grep -q $'\033' &&
    fail "color despite NO_COLOR"
"$PROBITY" log --time relative trace | grep -qE '^0\.[0-9]{9} [0-9]+: int main' || fail "no time"
"$PROBITY" log --time wall trace |
    grep -qE '^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{8}\.[0-9]{9} [0-9]+: int main' ||
    fail "no wall time"
"$PROBITY" log -o file trace
cmp -s file <("$PROBITY" log trace) || fail "-o file"
"$PROBITY" log -o file trace 2> errors && fail "-o replaced a file"
"$PROBITY" log --function nowhere trace 2> errors && fail "no error for an unknown function"
quiet "a function that is nowhere"
"$PROBITY" log trace > /dev/full 2> errors && fail "a full disk"
quiet "a full disk"
"$PROBITY" log --follow trace > found 2> errors || fail "--follow on a closed trace: $(cat errors)"
expect "--follow on a closed trace" "$(wc -l < file)" "$(wc -l < found)"
rm -f trace made found

# Followed to the end: all lines are printed, and some appear while the program runs.
start_steps
"$PROBITY" log --follow trace > found 2> errors &
following=$!
"$PROBITY" log --follow -o kept trace 2> errors.kept &
keeping=$!
until compgen -G 'kept*' > /dev/null || ! is_running "$keeping"; do sleep 0.01; done
await "$keeping" "$(echo kept*)" 1 step
await "$following" found 10 step
is_running "$running" || fail "the program has ended early"
end_steps
wait "$following" || fail "--follow: status $?: $(cat errors)"
wait "$keeping" || fail "--follow -o: status $?: $(cat errors.kept)"
"$PROBITY" log trace > file
cmp -s file found || fail "followed log differs: $(diff file found | head -n 5)"
cmp -s file kept || fail "followed log in a file differs: $(diff file kept | head -n 5)"
expect "steps followed" "$(wc -l < made)" "$(grep -c 'number = ' found)"
rm -f trace made found kept

# Killed: the records in its spool are printed, too, and no line printed so far is missing.
start_steps
"$PROBITY" log --follow trace > found 2> errors &
following=$!
await "$following" found 5 step
signal_job KILL "$running" || fail "the program has ended early"
wait "$running" 2> /dev/null || true
exec {go}>&-
wait "$following" || fail "--follow of a killed program: status $?"
expect "steps of a killed program" "$(tail -n 1 made)" \
    "$(sed -n 's/.*number = //p' found | tail -n 1)"
expect "steps of a killed program" "$(wc -l < made)" "$(grep -c 'number = ' found)"
"$PROBITY" recover trace 2> errors || fail "recover: $(cat errors)"
rm -f trace made found

# Interrupted: the lines are whole, and none is invented.
start_steps
env --default-signal=INT "$PROBITY" log --follow trace > found 2> errors &
following=$!
await "$following" found 5 step
signal_job INT "$following" || fail "--follow has ended early"
wait "$following" || fail "--follow interrupted: status $?: $(cat errors)"
[ "$(tail -c 1 found | od -An -c | tr -d ' ')" = '\n' ] || fail "interrupted: incomplete last line"
grep -q 'still open' found errors && fail "interrupted: $(cat errors)"
end_steps

# C++: names with and without their classes. The levels are those that a scope can have.
rm -f trace
PROBITY_OUT=$WORK/trace "$BUILD/examples/windows_cxx" > /dev/null
for pattern in 'Window::~Window' 'Window::~*' '~Window'; do
    log --function "$pattern" trace > found
    expect "--function $pattern" 1 "$(grep -c '^T: Window::~Window()$' found)"
done
expect "--function of another class" 0 "$(log --function 'Other::~Window' trace | wc -l)"
status=0
"$PROBITY" log --level 6 trace > /dev/null 2> errors || status=$?
expect "--level 6" 2 "$status"
log --tid 1 trace > /dev/null
grep -q 'probity log. without filters' errors || fail "--tid 1: $(cat errors)"
# In profile mode there is nothing to print; a message reports that.
PROBITY_PROFILE=1 PROBITY_OUT=$WORK/profile "$PROGRAMS/logged" > /dev/null
log profile > found
grep -q 'counts scopes and does not record them' errors || fail "profile mode: $(cat errors)"
rm -f trace profile

no_leftovers log
finish
