#!/usr/bin/env bash
# A child that is forked after settings were changed begins with the current ones: mode, budget,
# conditions, the limits of dumps, and switches.
# variants: clang asan
. "$(dirname "$0")/../common.bash"
shopt -s extglob
# Running children disturb the leak checker.
export ASAN_OPTIONS=detect_leaks=0

# $1... environment
start() {
    fresh
    mkfifo in
    env PROBITY_OUT=trace.probity "$@" "$PROGRAMS/on_command" < in > out 2> errors &
    running=$!
    exec {gate}> in
    wait_until "$running" grep -qs . trace.probity errors || true
    expect "start: stderr" "" "$(cat errors)"
}

# $1... settings
set_to() {
    local words=()
    for setting in "$@"; do words+=(--set "$setting"); done
    "$PROBITY" level "${words[@]}" trace.probity > said 2>&1 || fail "$*: $(cat said)"
}

# Returns when the child has ended; its trace is then child.probity, and its first dump
# child-1.probity. The files of older children are removed.
fork_child() {
    local lines
    lines=$(($(wc -l < out) + 1))
    rm -f child*.probity
    echo "fork 1" >&"$gate"
    wait_until "$running" has_lines out "$lines" || fail "fork: $(cat errors)"
    for file in trace.[0-9]*.probity; do
        mv "$file" "child${file##trace.+([0-9])}"
    done
}

end() {
    exec {gate}>&-
    wait "$running" || fail "status $?: $(cat errors)"
    expect "stderr" "" "$(cat errors)"
    no_leftovers "at the end"
}

# $1 trace, $2 the items to print
fact() {
    "$PROBITY" info --json "$1" | jq -r ".[0]$2"
}

# Checks that a child, and one that it forks, record this. $1 what is switched, $2 "hits of tick,
# recorded and counted calls of step"
in_children() {
    local lines trace
    lines=$(($(wc -l < out) + 1))
    echo "child 10" >&"$gate"
    wait_until "$running" has_lines out "$lines" || fail "child: $(cat errors)"
    expect "$1: children" 2 "$(find . -name 'trace.[0-9]*.probity' | wc -l)"
    for trace in trace.[0-9]*.probity; do
        "$PROBITY" check "$trace" > said 2>&1 || fail "$1: $(cat said)"
        expect "$1: $trace" "$2" "$("$PROBITY" list --json "$trace" |
            jq '[.sites[] | select(.name == "tick").hits] | add // 0') $("$PROBITY" report \
            --json "$trace" 2> said | jq -r '.functions[] | select(.name == "step") |
                "\(.calls - .calls_counted) \(.calls_counted)"')"
        rm "$trace"
    done
}

start
fork_child
expect "unchanged: mode" block "$(fact child.probity .mode)"
expect "unchanged: budget" null "$(fact child.probity .budget.percent)"
set_to mode=drop budget=7%
fork_child
expect "changed: mode" drop "$(fact child.probity .mode)"
expect "changed: budget" 7 "$(fact child.probity .budget.percent)"
set_to mode=block
fork_child
expect "changed again: mode" block "$(fact child.probity .mode)"
expect "changed again: budget" 7 "$(fact child.probity .budget.percent)"
end

# Both were called and hit in the parent, one of them only before it was switched off.
start
echo "call 5" >&"$gate"
echo "name 5" >&"$gate"
in_children "on" "10 10 0"
set_to off=tick off=step
in_children "off" "0 0 10"
set_to on=tick
in_children "one is on again" "10 0 10"
set_to 'off=*' on=step
in_children "off again" "0 10 0"
set_to 'on=*'
in_children "on again" "10 10 0"
end
# Before either is called or hit in any process.
start
set_to off=tick off=step
in_children "never hit" "0 0 10"
end

# ---- Processes that have recorded little ----

# If a probe begins the recording, perhaps in a signal handler, which must not create a thread, and
# in a forked child, there is no writer thread until the first chunk is full: the command reports
# this, and the process makes the change later.
cat > quiet.c << 'END'
#include "probity.h"
#include <stdio.h>
#include <unistd.h>
#include <sys/wait.h>
int main(int argc, char **argv)
{
    int hits = 0;
    (void)argv;
    PROBITY_PROBE(1);
    pid_t child = argc > 1 ? fork() : 0;
    if (child == 0) {
        PROBITY_PROBE(2);
        printf("%d\n", (int)getpid());
        fflush(stdout);
        if (scanf("%d", &hits) != 1)
            return 1;
        for (; hits > 0; hits--)
            PROBITY_PROBE(3);
        puts("over");
        fflush(stdout);
        return getchar() == '\n' && getchar() == EOF ? 0 : 1;
    }
    int status;
    return waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
}
END
"$CC" ${SANITIZE_FLAG:+"$SANITIZE_FLAG"} -I"$SOURCE/include" -o quiet quiet.c -L"$BUILD/lib" \
    -Wl,-rpath,"$BUILD/lib" -lprobity

# $1 environment, the rest: arguments
start_quiet() {
    rm -f in out ./*.probity
    mkfifo in
    env PROBITY_OUT=trace.probity "$1" PROBITY_START=first ./quiet "${@:2}" < in > out 2> errors &
    running=$!
    exec {gate}> in
    wait_until "$running" has_lines out 1 || fail "$*: $(cat errors)"
    quiet=$(cat out)
}

# $1 environment, $2 status, $3 expected message, the rest: options
ask() {
    local status=0
    "$PROBITY" level "${@:4}" "$quiet" > said 2>&1 || status=$?
    expect "$1: ${*:4}: status" "$2" "$status"
    grep -qF -- "$3" said || fail "$1: ${*:4}: $(cat said)"
}

for mode in PROBITY_RING=10s,4M PROBITY_MODE=block; do
    for child in '' child; do
        start_quiet "$mode" ${child:+"$child"}
        expect "$mode $child: threads" 1 "$(ls "/proc/$quiet/task" | wc -l)"
        ask "$mode $child" 1 "will make this change when its first chunk is full" --set off=nothing
        ask "$mode $child" 1 "will make an earlier change, and not this one," --set off=other
        echo 100000 >&"$gate"
        wait_until "$running" has_lines out 2 || fail "$mode: $(cat errors)"
        ask "$mode $child" 0 "levels 5, 5" --set on=other
        end
        "$PROBITY" log trace${child:+.[0-9]*}.probity > log 2> said || fail "$mode: $(cat said)"
        expect "$mode $child: changes" "off=nothing on=other" \
            "$(sed -n 's/.*settings \(.*\)]/\1/p' log | paste -sd ' ')"
    done
done

start PROBITY_RING=10s,4M PROBITY_WHEN='function busy > 5min;gap tick > 1min'
fork_child
[ ! -e child-1.probity ] || fail "a dump without a condition"
set_to 'when=function slow > 10ms' 'when=value "a;b" > 3' before=300ms
fork_child
expect "added: conditions" 'function slow > 10ms' \
    "$(fact child-1.probity '.dump.reasons[].condition')"
# 300 ms before the call: no earlier than the child's beginning.
[ "$(fact child-1.probity '.dump | .reasons[0].start_ticks - .wanted_ticks > 0')" = true ] ||
    fail "before: $(fact child-1.probity .dump)"
set_to 'when=function slow > 1min'
fork_child
[ ! -e child-1.probity ] || fail "a dump though the limit was raised"
# A grandchild, too, and a limit that was changed twice.
set_to 'when=function slow > 20ms' at-most=5/1s
fork_child
expect "changed: limit" 'function slow > 20ms' \
    "$(fact child-1.probity '.dump.reasons[].condition')"
end
finish
