#!/usr/bin/env bash
# The writer thread drops every privilege that it does not need, and the program keeps all of its
# privileges: capabilities, the ability to drop them, filters. The writer's system call filter is
# optional.
# variants: clang
. "$(dirname "$0")/../common.bash"

# Checks that a line is in the output. $1 description, $2 line
says() {
    grep -qxF "$2" out || fail "$1: no line '$2': $(tr '\n' ';' < out)"
}

# $1 program, $2 writer
look() {
    fresh
    PROBITY_WRITER=$2 PROBITY_OUT=$WORK/trace "$PROGRAMS/$1" "$WORK/made" > out 2> errors ||
        fail "$1 $2: status $?: $(cat errors)"
    says "$1 $2" "looked 1"
    says "$1 $2" "NoNewPrivs: 1"
    # setgid, setuid and mlock: libc aborts a program if not all of its threads can change user.
    local bits
    bits=$((0x$(sed -n 's/^CapPrm: //p' out) & ~0x40c0))
    expect "$1 $2: capabilities that are too many" 0 "$bits"
    says "$1 $2" "program: socket 1"
    sed '1,/^hits:/d' out > expected
    same_hits "$1 $2" trace
}

landlock=$(python3 -c 'import ctypes; print(int(ctypes.CDLL(None).syscall(444, 0, 0, 1) > 0))')
[ "$landlock" = 1 ] ||
    echo "left out: files that the thread must not make: this kernel has no Landlock"
for program in confined confined.shared; do
    look $program thread
    says "$program" "Seccomp: 0"
    says "$program" "program: filter for all 1"
    [ "$landlock" = 0 ] || grep -q '^writer: file 0,' out || fail "$program: made a file"
    look $program confined
    says "$program" "Seccomp: 2"
    says "$program" "writer: file 0, socket 0, signal 0"
done

# The writer thread's other outputs: log, summary, levels, CSV.
for out in trace trace.csv; do
    fresh
    for writer in thread confined; do
        PROBITY_WRITER=$writer PROBITY_OUT=$WORK/$writer.$out PROBITY_LOG=$WORK/$writer.log \
            PROBITY_SUMMARY=$WORK/$writer.summary "$PROGRAMS/logged" steps 20 \
            > /dev/null 2> errors || fail "$writer: status $?"
        [ ! -s errors ] || fail "$writer: $(cat errors)"
        [ -e $writer.$out ] || fail "$writer: no $out"
        [ -s $writer.summary ] || fail "$writer: no summary"
    done
    expect "lines of the log" "$(wc -l < thread.log)" "$(wc -l < confined.log)"
    no_leftovers "confined"
done
PROBITY_WRITER=cofnined PROBITY_OUT=$WORK/none "$PROGRAMS/confined" "$WORK/made" > out \
    2> errors || true
grep -q 'PROBITY_WRITER=cofnined' errors || fail "an invalid word: $(cat errors)"
finish
