#!/usr/bin/env bash
# Limits that are percentiles, for everything that has a duration: what is planted exceeds the
# limit, and the limit is about what usually happens.
# variants: clang asan tsan
. "$(dirname "$0")/../common.bash"
percentiles=$PROGRAMS/percentiles
planted=4

# $1 kind, $2 condition; its limit is p99.9, and planted times are far above it
is_met() {
    local dump
    fresh
    "$PROBITY" record --ring 300s,16M --when "$2 > p99.9" --before 1ms --at-most 1000/1s \
        --keep worst=8 -o 'met-%i.probity' -- "$percentiles" "$1" $planted > out 2> errors ||
        fail "$2: status $?: $(cat errors)"
    expect "$2: stderr" "" "$(cat errors)"
    for dump in met-*.probity; do
        [ -e "$dump" ] || { fail "$2: no dump"; return; }
        "$PROBITY" check "$dump" > check.out 2>&1 || fail "$2: $dump: $(cat check.out)"
        "$PROBITY" info --json "$dump" | jq -r '.[].dump.reasons[] |
            "\(.took_ns / 1e6) \(.limit_ns)"' >> reasons
    done
    # Usual stretches last 20 us, and longer if a busy machine interrupts them.
    awk -v planted=$planted '$1 >= 199 { long++ } $2 < 19000 || $2 > 150000000 {
            print; bad = 1 } END { exit bad || long < planted }' reasons > wrong ||
        fail "$2: $(head -n 5 wrong; tail -n 5 reasons)"
}

is_met block 'block 4->9'
is_met named 'block begin->end'
is_met typed 'block 4->end'
is_met wait 'wait'
is_met wait 'wait door'
is_met request 'request'
is_met request 'request job'

# Other names have no durations, and so no limit.
fresh
"$PROBITY" record --when 'block 9->5 > p50' --when 'block 4->begin > p50' --when 'wait gate > p50' \
    --when 'request work > p50' -o 'met-%i.probity' -- "$percentiles" block 1 > out ||
    fail "other names: status $?"
expect "other names: dumps" "" "$(find . -name 'met-*')"

# `why` names the limit that was in force.
fresh
"$PROBITY" record --when 'block begin->end > p99.9' --before 100ms --at-most 1/1000s \
    -o 'met-%i.probity' -- "$percentiles" named $planted > out || fail "why: status $?"
"$PROBITY" why met-1.probity > why.out || fail "why: status $?"
grep -qE "^dump reason: block begin->end > p99.9, which was [0-9.]*(us|ms)" why.out ||
    fail "why: $(head -n 2 why.out)"
finish
