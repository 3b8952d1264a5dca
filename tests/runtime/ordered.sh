#!/usr/bin/env bash
# The CPU may read the clock before earlier work is finished. For a chain of 100 dependent
# multiplications the stated error includes that; with PROBITY_ORDER=strict or FN_ORDERED, times are
# exact. The same program measures the true time with serialized clock readings.
# variants: clang
. "$(dirname "$0")/../common.bash"

# Sets "from" and "truth" from an undisturbed run, which takes half a millisecond and, on a busy
# machine, several attempts. If there is none, sets "disturbed". $1 trace
record() {
    local try
    for try in $(seq 400); do
        "$PROGRAMS/ordered" "$1" > reported || return 1
        from=$(awk '/^from/ { print $2 }' reported)
        truth=$(awk '/^truth/ { print $2 }' reported)
        disturbed=$(awk '/^others/ && $2 >= 2 || /^spread/ && $2 >= 3' reported)
        [ -n "$disturbed" ] || return 0
    done
    echo "the machine is busy: none of $try runs was undisturbed"
}

# "CORRECTED ERROR" of one call of a function, in ns. $1 trace, $2 function
per_call() {
    "$PROBITY" report --json --from "$from" "$1" | jq -r --arg name "$2" '.functions[] |
        select(.name == $name) | "\(.self_corrected_ns / .calls) \(.self_error_ns / .calls)"'
}

# Returns whether the true time is within the stated error. $1 "CORRECTED ERROR"
is_within() {
    awk -v found="$1" -v truth="$truth" 'BEGIN {
        split(found, field, " ")
        off = field[1] - truth
        exit !(off <= field[2] && -off <= field[2])
    }'
}

# Prints by how much the corrected time is below the true time, in percent. $1 as above
short_percent() {
    awk -v found="$1" -v truth="$truth" 'BEGIN {
        split(found, field, " ")
        print 100 * (1 - field[1] / truth)
    }'
}

# A run measures the cost of records at its start and end, and cannot measure the effect of other
# load on the core in between. So the stated error must be right in most runs. Other load only makes
# times longer, and early readings make them shorter: if there is a limit for that, one run must
# meet it. $1 trace, $2 function, $3 limit in percent, or nothing
check() {
    local trace=$1 function=$2 most=${3:-} run missed=0 best=1000000 found
    for run in $(seq 20); do
        record "$trace" || fail "$trace: status $?"
        found=$(per_call "$trace" "$function")
        is_within "$found" || missed=$((missed + 1))
        best=$(printf '%s\n' "$best" "$(short_percent "$found")" | sort -g | head -n 1)
        if [ $((2 * missed)) -lt "$run" ] &&
            { [ -z "$most" ] || awk "BEGIN { exit !($best <= $most) }"; }; then
            return
        fi
        if [ -n "$disturbed" ]; then
            echo "left out: $trace, $function: the machine is too busy to measure the truth"
            return
        fi
    done
    fail "$trace, $function: $missed of $run runs are off by more than the stated error, the best \
is short by $best %; the last: $found, truth $truth"
}

status=0
record relaxed || status=$?
if [ "$status" = 77 ]; then
    echo "left out: no inline record path on this processor"
    finish
    exit
fi
check relaxed chain
check relaxed chain_ordered
early=$("$PROBITY" info --json relaxed | jq '.[0].overhead.early_ns')
awk -v early="$early" 'BEGIN { exit !(early > 1 && early < 10000) }' || fail "early: $early ns"
expect "relaxed" false "$("$PROBITY" info --json relaxed | jq '.[0].times.clock_ordered')"
"$PROBITY" info relaxed | grep -q '^clock order   relaxed: may be read up to ' || fail "info"
"$PROBITY" report relaxed | grep -q '^order: the clock may be read up to .*=strict$' ||
    fail "the report does not mention early readings"

# The cost of an empty call is subtracted; a chain hides up to 6 ns of that, here 7 % of its time.
# Early readings would take more.
export PROBITY_ORDER=strict
check strict chain 9
expect "strict" true "$("$PROBITY" info --json strict | jq '.[0].times.clock_ordered')"
"$PROBITY" info strict | grep -q '^clock order   strict: ' || fail "info, strict"
expect "lines about early readings" 0 "$("$PROBITY" report strict | grep -c '^order:')"
"$PROBITY" diff relaxed -- strict > output 2> errors || true
grep -q 'TSC.*strict order\|CNTVCT_EL0.*strict order' output errors ||
    fail "diff does not mention the order: $(cat output errors)"
"$PROBITY" check strict > /dev/null || fail "check"

# The cost of a hit that a run states is the cost of its hits, including those on the slow path.
# Other load may make either larger, so one of several runs must show it.
for order in relaxed strict; do
    for _ in $(seq 40); do
        PROBITY_ORDER=$order record cost > /dev/null || fail "$order: status $?"
        hit=$(awk '/^hit/ { print $2 }' reported)
        beyond=$("$PROBITY" info --json cost | jq -r --arg hit "$hit" \
            '.[0].overhead.hit.most_ns as $most | ($hit | tonumber) as $hit |
            if $hit > 1.15 * $most then "a hit takes \($hit) ns, stated: up to \($most)"
            else "" end')
        [ -n "$beyond" ] || break
    done
    expect "$order: cost of a hit" "" "$beyond"
done

# Any scope may be ordered, and may contain other scopes, without a warning.
cat > scopes.cc << 'EOF'
#define FN_INSTRUMENT
#include <FnTrace.h>

template <class T> static T outer(T value)
{
    FN_ORDERED(FN_FUNC_PARAMS(T, value, FN_1, 1, value));
    const auto inner = [&] {
        FN_ORDERED(FN_FUNC(T, FN_2));
        return value;
    };
    return inner();
}

int main()
{
    FN_ORDERED(FN_ENTRY(FN_1));
    FN_CHECKPOINT("outer", FN_1, 0);
    return outer(0);
}
EOF
"${CXX:-g++}" -std=c++17 -Wall -Wextra -Wpedantic -Wshadow -Werror -I "$SOURCE/include" \
    -fsyntax-only scopes.cc || fail "warnings"

# Values, hits and profile mode work with strict order, too.
"$PROGRAMS/tree" > /dev/null
PROBITY_OUT=$WORK/ordered.values "$PROGRAMS/tree" > /dev/null
PROBITY_ORDER='' PROBITY_OUT=$WORK/plain.values "$PROGRAMS/tree" > /dev/null
calls() {
    "$PROBITY" report --json "$1" | jq -c '[.functions[] | [.name, .calls]] | sort'
}
expect "calls" "$(calls plain.values)" "$(calls ordered.values)"
PROBITY_PROFILE=1 record profiled || fail "profile mode: status $?"
expect "profile mode: calls" "[840,840]" "$("$PROBITY" report --json profiled |
    jq -c '[.functions[] | select(.name | startswith("chain")) | .calls]')"
expect "profile mode" true "$("$PROBITY" info --json profiled | jq '.[0].times.clock_ordered')"
finish
