#!/usr/bin/env bash
# Times minus recording overhead. For functions that take 0 and 100 ns, the medians of many short
# runs must be close to the true time; everything else is compared with awk, which uses the call
# counts and the ranges printed by `probity info`.
# variants: clang
. "$(dirname "$0")/../common.bash"
BENCH=$(cd "$OLDPWD" && cd "$(dirname "$0")/../../bench" && pwd)

# Time off the CPU is excluded on both sides, so other load only adds the CPU time that it costs,
# and one good run in three is enough: an error in the correction would affect all of them.
for try in 1 2 3; do
    bash "$BENCH/corrected.sh" "$BUILD" 21 > rows
    wrong=$(awk -F '\t' '$3 ~ /^(empty self|hundred self|call_hundred total): off by$/ {
            found++
            if ($4 > 1) printf "%s %s of its error; ", $3, $4
        }
        END { if (found != 3) print found + 0 " rows" }' rows)
    [ -n "$wrong" ] || break
    echo "try $try: not within the stated error: $wrong" >&2
done
expect "not within the stated error" "" "$wrong"
# The raw error exceeds the corrected one, so the correction has an effect.
awk -F '\t' '$3 == "hundred self: raw" { exit !($4 > 2) }' rows ||
    fail "the raw time is accurate, so there is nothing to correct"

"$BUILD/bench/corrected" trace > truth
"$PROBITY" report --json --from "$(awk '/^from/ { print $2 }' truth)" trace > report
"$PROBITY" info --json trace | jq -r '.[0] | ([.overhead | .scope_own, .scope_caller, .hit |
    .least_ns, .most_ns] + [.times.cpu_clock_cost_ns, .overhead.early_ns]) | @tsv' > ranges
jq -r '.functions[] | [.name, .calls, .self_ns, .self_corrected_ns, .self_error_ns, .total_ns,
    .total_corrected_ns, .total_error_ns] | @tsv' report > functions
# After its first call, each function is called in windows of 200; each call of probing has two
# probes. Times after a gap, such as those of the callers, may include two readings of the CPU
# clock.
awk -F '\t' '
    function away(a, b) { return a > b ? a - b : b - a }
    function compare(what, raw, corrected, error, least, most, ends,    expected) {
        expected = raw - (least + most) / 2
        expected = expected > 0 ? expected : 0
        if (away(corrected, expected) > 1)
            print what ": " corrected " is not " expected
        # The error: half the range; the midpoint, for the influence of other load; and, for both
        # ends of a call, how early the clock may be read.
        expected = (most - least) / 2 + (least + most) / 2 + ends * early
        rest = error - expected
        if (rest < -1 || rest % (2 * reading) > 3)
            print what ": error " error " is not " expected
    }
    NR == FNR { own[0] = $1; own[1] = $2; caller[0] = $3; caller[1] = $4; hit[0] = $5; hit[1] = $6
                reading = $7; early = $8; next }
    $1 ~ /empty|hundred|probing/ {
        n = $1 ~ /^call_/ ? 200 * $2 : 0
        hits = $1 == "probing" ? 2 * $2 : 0
        compare($1 " self", $3, $4, $5, $2 * own[0] + n * caller[0] + hits * hit[0],
            $2 * own[1] + n * caller[1] + hits * hit[1], $2 + n)
        below = $1 == "call_probing" ? 2 * n : hits
        compare($1 " total", $6, $7, $8, ($2 + n) * own[0] + n * caller[0] + below * hit[0],
            ($2 + n) * own[1] + n * caller[1] + below * hit[1], $2)
        found++
    }
    END { if (found != 6) print found " functions" }' ranges functions > output
expect "differences from awk" "" "$(cat output)"

# The tree has the same numbers, because each function is on one path only.
"$PROBITY" tree --csv --from "$(awk '/^from/ { print $2 }' truth)" trace |
    awk -F, 'NR > 1 { print $7, $21, $22, $23, $24 }' | sort > tree
jq -r '.functions[] | "\(.name) \(.total_corrected_ns) \(.total_error_ns) \(.self_corrected_ns) " +
    "\(.self_error_ns)"' report | sort | diff - tree > output || fail "tree: $(cat output)"
"$PROBITY" tree --corrected trace > output
grep -q '^overhead: a scope adds ' output || fail "expected the line about overhead below the tree"

# Functions that were off the CPU for longer than their error are counted below the table: it does
# not cover waiting. In this program, at least the one that sleeps.
PROBITY_OUT=$WORK/waits "$BUILD/examples/first" > output 2>&1 || true
waiting=$("$PROBITY" report --json waits | jq '[.functions[] |
    select(.total_ns - .cpu_total_ns > .total_error_ns)] | length')
[ "$waiting" -ge 1 ] || fail "no function waits"
for command in report tree; do
    "$PROBITY" $command --corrected waits > output
    grep -qE "^waiting: $waiting (function|path)s? (was|were) off the CPU" output ||
        fail "$command: expected that $waiting wait: $(cat output)"
    "$PROBITY" $command waits > output
    ! grep -q '^waiting:' output || fail "$command: waiting without corrected times"
done

# Without cost measurements in the trace, the report states that there is no correction.
PROBITY_COST=0 PROBITY_OUT=$WORK/without "$PROGRAMS/tree"
"$PROBITY" report --corrected without > output
grep -qx 'overhead: not measured' output || fail "expected a note that overhead was not measured"
expect "columns without values" "-" "$(awk '$NF == "leaf" { print $3 }' output)"
expect "null" null "$("$PROBITY" report --json without |
    jq '.functions[] | select(.name == "leaf") | .self_corrected_ns')"

# Column and sort keys; exactly the times below their errors are marked.
"$PROBITY" report --columns calls,self-corrected,self-error --sort self-corrected trace > output
head -n 2 output | tail -n 1 | grep -qE '^ +calls +self +\+- +function$' || fail "columns"
expect "below their errors" \
    "$("$PROBITY" report --json trace | jq -r '.functions[] |
        select(.self_corrected_ns < .self_error_ns) | .name' | sort | paste -sd' ')" \
    "$(awk '$2 == "<" { print $NF }' output | sort | paste -sd' ')"
finish
