#!/usr/bin/env bash
# A program ends when its last thread exits, recording or not: the writer thread does not keep it
# running. Its exit handlers run once and record, and its status is unchanged.
# variants: asan clang
. "$(dirname "$0")/../common.bash"

# Runs the program; a hang ends with status 137. Writes its output to "expected". $1 program, $2 how
leave() {
    status=0
    PROBITY_OUT=$WORK/trace timeout -s KILL 60 "$PROGRAMS/$1" "$2" > expected 2> errors ||
        status=$?
}

# $1 program, $2 how, $3 status
leaves() {
    fresh
    leave "$1" "$2"
    expect "$1 $2: exit status" "$3" "$status"
    same_hits "$1 $2" trace
    "$PROBITY" info trace | grep -q 'complete *yes: closed at exit' ||
        fail "$1 $2: the trace is not closed: $("$PROBITY" info trace | head -n 4)"
    no_leftovers "$1 $2"
}

# A signal ends the program while a worker waits. $1 program, $2 signal, $3 status
waits() {
    fresh
    : > expected
    # A shell's background job ignores SIGINT, and the program would inherit that.
    PROBITY_OUT=$WORK/trace python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$PROGRAMS/$1" wait > expected 2> errors &
    local pid=$!
    wait_until "$pid" grep -q ready expected || fail "$1 wait: $(cat errors)"
    signal_job "$2" "$pid" || fail "$1: ended before SIG$2"
    status=0
    wait "$pid" || status=$?
    expect "$1: status after SIG$2" "$3" "$status"
    sed -i /ready/d expected
    same_hits "$1 SIG$2" trace
}

# With a control page, whose thread does not keep the program running, either: dormant, recording,
# and after a recording that was started and ended from outside. $1 program
controlled() {
    local how=dormant out=
    for how in dormant records; do
        fresh
        status=0
        [ "$how" = dormant ] || out=$WORK/trace
        PROBITY_CONTROL=1 PROBITY_OUT=$out timeout -s KILL 60 "$PROGRAMS/$1" raw > expected \
            2> errors || status=$?
        expect "$1 raw, $how: exit status" 0 "$status"
        no_leftovers "$1 raw, $how"
    done
    same_hits "$1 raw with a control page" trace

    fresh
    mkfifo gate
    PROBITY_CONTROL=1 timeout -s KILL 60 "$PROGRAMS/$1" gate < gate > expected 2> errors &
    local timeout=$! gate pid
    exec {gate}> gate
    wait_until "$timeout" has_lines expected 1
    pid=$(pgrep -P "$timeout")
    "$PROBITY" attach -o "$WORK/trace" "$pid" > output 2>&1 &&
        "$PROBITY" detach "$pid" > output 2>&1 || fail "$1 gate: $(cat output)"
    exec {gate}>&-
    status=0
    wait "$timeout" || status=$?
    expect "$1 gate: exit status" 0 "$status"
    no_leftovers "$1 gate"
}

for program in $(forms_of last_thread); do
    controlled $program
    leaves $program alone 0
    leaves $program workers 0
    leaves $program raw 0
    waits $program TERM 143
    waits $program INT 130
    for how in stopped restarted failed; do
        fresh
        leave $program $how
        expect "$program $how: exit status" 0 "$status"
        expect "$program $how: output of the exit handler" 1 "$(grep -c ' 4 10$' expected)"
    done
done
# Without /proc, such a thread could not detect that all others have ended, so it is not started.
if [ "$(id -u)" = 0 ] && [ "${VARIANT:-gcc}" = gcc ]; then
    fresh
    root=$WORK/root
    mkdir -p "$root/bin" "$root/dev" "$root/tmp" && mkdir -m 700 "$root/spool"
    printf '#include <sys/syscall.h>\n#include <unistd.h>\n#include "probity.h"\n
        int main(void) { PROBITY_PROBE(1); syscall(SYS_exit, 0); }\n' > left.c
    "$CC" -I"$SOURCE/include" left.c -L"$BUILD/lib" -lprobity "-Wl,-rpath,$BUILD/lib" \
        -o "$root/bin/program" || fail "left.c does not build"
    ldd "$root/bin/program" | grep -o '/[^ )]*' | while read -r file; do
        mkdir -p "$root${file%/*}" && cp "$file" "$root$file"
    done
    PROBITY_CONTROL=1 PROBITY_SPOOL_DIR=/spool timeout -s KILL 60 chroot "$root" /bin/program \
        > out 2> errors || fail "without /proc: status $?"
    expect "without /proc" "probity: PROBITY_CONTROL: there is no control page: it needs /proc to \
see when all threads have ended" "$(head -n 1 errors)"
fi
finish
