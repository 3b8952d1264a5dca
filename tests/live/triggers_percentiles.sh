#!/usr/bin/env bash
# Limits that are percentiles, for everything that has a duration: injected durations exceed the
# limit, and the limit is close to usual durations.
# variants: clang asan tsan
. "$(dirname "$0")/../common.bash"
percentiles=$PROGRAMS/percentiles
planted=4

# Records the program until dumps are as expected. A limit is known some time after the first 1,000
# stretches; until then, slow ones have no dump. $1 kind, $2 command that succeeds then, the rest:
# options of record
record_until() {
    local kind=$1 command=$2 job
    shift 2
    "$PROBITY" record "$@" -o 'met-%i.probity' -- "$percentiles" "$kind" over > out 2> errors &
    job=$!
    wait_until "$job" "$command" || true
    : > over
    wait "$job" || fail "$kind: status $?: $(cat errors)"
    expect "$kind: stderr" "" "$(cat errors)"
}

# Prints lines "MS LIMIT_NS" of all dumps.
list_reasons() {
    "$PROBITY" info --json met-*.probity 2> errors.info |
        jq -r '.[].dump.reasons[] | "\(.took_ns / 1e6) \(.limit_ns)"' > reasons
}

has_planted() {
    [ -e met-1.probity ] && list_reasons &&
        awk -v planted=$planted '$1 >= 199 { long++ } END { exit long < planted }' reasons
}

# $1 kind, $2 condition; its limit is p99.9, and injected durations are far longer
is_met() {
    local dump
    fresh
    record_until "$1" has_planted --ring 300s,16M --when "$2 > p99.9" --before 1ms \
        --at-most 1000/1s
    has_planted || fail "$2: $(cat errors.info; tail -n 5 reasons)"
    for dump in met-?.probity; do
        "$PROBITY" check "$dump" > check.out 2>&1 || fail "$2: $dump: $(cat check.out)"
    done
    # Usual stretches last 20 us, and longer if a busy machine interrupts them. A limit is up to a
    # sixteenth longer than the stretch from which it is derived.
    awk -v longest="$(cat out)" '$2 < 19000 || $2 > longest * 17 / 16 + 1 { print; bad = 1 }
        END { exit bad }' reasons > wrong ||
        fail "$2: the longest took $(cat out) ns; $(head -n 5 wrong)"
}

is_met block 'block 4->9'
is_met named 'block begin->end'
is_met typed 'block 4->end'
is_met wait 'wait'
is_met wait 'wait door'
is_met request 'request'
is_met request 'request job'

# Other names have no durations, and thus no limit.
fresh
: > over
"$PROBITY" record --when 'block 9->5 > p50' --when 'block 4->begin > p50' --when 'wait gate > p50' \
    --when 'request work > p50' -o 'met-%i.probity' -- "$percentiles" block over > out ||
    fail "other names: status $?"
expect "other names: dumps" "" "$(find . -name 'met-*')"

# `why` names the limit that was in effect.
has_dump() {
    [ -e met-1.probity ]
}
fresh
record_until named has_dump --when 'block begin->end > p99.9' --before 100ms --at-most 1/1000s
"$PROBITY" why met-1.probity > why.out || fail "why: status $?"
grep -qE "^dump reason: block begin->end > p99.9, which was [0-9.]*(us|ms)" why.out ||
    fail "why: $(head -n 2 why.out)"
finish
