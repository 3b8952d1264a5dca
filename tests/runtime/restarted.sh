#!/usr/bin/env bash
# A second recording in one process: declarations from the first one, and mappings of files, precede
# the records that need them, even if the recording's first thread is preempted while it registers.
# variants: asan clang
. "$(dirname "$0")/../common.bash"

# $1 program, $2 way
run() {
    fresh
    local status=0
    timeout 100 "$PROGRAMS/$1" "$2" > output 2> errors || status=$?
    [ "$status" = 0 ] || fail "$1 $2: status $status: $(head -n 2 errors)"
    "$PROBITY" check second > found 2>&1 || fail "$1 $2: $(head -n 3 found)"
    no_leftovers "$1 $2"
}

calls() {
    "$PROBITY" report --json second 2> errors |
        jq -c '[(.repairs | add), (.functions[] | [.name, .calls])]'
}

for program in $(forms_of restarted); do
    run "$program" macros
    expect "$program: calls" '[0,["worked",11]]' "$(calls)"
    expect "$program: hits of the site" "11 worked site" \
        "$("$PROBITY" csv --columns name second | sort | uniq -c | sed 's/^ *//')"
    expect "$program: messages" 11 "$("$PROBITY" log second | grep -c '  number [0-9]*$')"

    PROBITY_PROFILE=1 run "$program" profile
    expect "$program, profile mode: calls" '[0,["worked",11]]' "$(calls)"
done

# A thread that was held in a slow path until its recording had ended is harmless. The next
# recording begins once the thread has left, and has every declaration, although the thread stored
# some in the previous one. Not with a sanitizer, which needs clock_gettime().
late() {
    fresh
    PROBITY_CLOCK=monotonic timeout 100 "$PROGRAMS/$1" "$2" 2> errors ||
        fail "$1 $2: status $?: $(head -n 2 errors)"
    for trace in first third; do
        "$PROBITY" check "$trace" > found 2>&1 || fail "$1 $2: $(head -n 3 found)"
        "$PROBITY" csv --columns name "$trace" | sort -u > names
        expect "$1 $2: names in $trace" 32 "$(grep -c '^[a-d] [1-8]$' names)"
    done
    no_leftovers "$1 $2"
}
# If a thread could not declare a site before the recording ended, that recording contains no hits
# of the site.
ends() {
    fresh
    timeout 100 "$PROGRAMS/$1" ends 2> errors || fail "$1 ends: status $?: $(head -n 2 errors)"
    for trace in second third; do
        "$PROBITY" check "$trace" > found 2>&1 || fail "$1 ends: $(head -n 3 found)"
    done
    expect "$1 ends: hits of the new site" 1 "$("$PROBITY" csv --columns name third | grep -cx new)"
    no_leftovers "$1 ends"
}
case ${VARIANT:-gcc} in
    gcc | clang)
        for program in $(forms_of late_thread); do
            late "$program" declares
            late "$program" resumes
            late "$program" changes
            ends "$program"
        done
        ;;
esac

# Not with sanitizers, which replace the same functions of libc.
case ${VARIANT:-gcc} in
    gcc | clang)
        PROBITY_CALLS=memory LD_PRELOAD=$BUILD/lib/libprobity-calls.so run restarted.shared calls
        "$PROBITY" memory --json second > memory 2> errors || fail "memory: $(cat errors)"
        expect "places of calls" "11 malloc allocated" "$(jq -r '.rows[] |
            "\(.allocations) \(.call) \(.place | split(" ")[0])"' memory)"
        ;;
esac
finish
