#!/usr/bin/env bash
# However a program ends, every hit is in its trace, in order, and its exit status is unchanged.
# variants: asan tsan clang
. "$(dirname "$0")/../common.bash"

# $1 program, $2 way to end, $3 status
ends() {
    local status=0
    fresh
    (PROBITY_OUT=$WORK/trace exec "$PROGRAMS/$1" "$2" 3 20000) > expected 2> errors || status=$?
    expect "$1 $2: exit status" "$3" "$status"
    same_hits "$1 $2" trace*
}

for program in $(forms_of ends); do
    ends $program return 7
    expect "stderr" "" "$(cat errors)"
    no_leftovers "return"
    ends $program exit 7
    no_leftovers "exit"
    ends $program _exit 7
    ends $program quick_exit 7
    ends $program exec 0
    # A sanitizer turns these signals into reports.
    if [ "${VARIANT:-gcc}" != asan ] && [ "${VARIANT:-gcc}" != tsan ]; then
        ends $program abort 134
        ends $program fault 139
    fi
    ends $program term 143
    ends $program kill 137
done

# A whole process group is killed.
fresh
status=0
PROBITY_OUT=$WORK/trace setsid -w "$PROGRAMS/ends" group 3 20000 > expected || status=$?
expect "process group: exit status" 137 "$status"
same_hits "process group" trace

# recover completes the dead trace, keeps its hits, and removes the spool.
"$PROBITY" recover trace
same_hits "recovered" trace
no_leftovers "recover"
finish
