#!/usr/bin/env bash
# Compares percentiles of `probity report` with the sorted times of the calls in `probity log`: they
# agree to within 1 %, or in profile mode within the 13 % that the report states.
# variants: clang asan
. "$(dirname "$0")/computed.bash"
. "$(dirname "$0")/../common.bash"
UNLIKE='^(main|pausing|jumping|landing)$' # with pauses, or left by longjmp

# $1 description, $2 permitted error; CSV in "report"
same_percentiles() {
    awk -v allowed="$2" -v unlike="$UNLIKE" '
        function check(name, found, per_mille,    rank, exact) {
            rank = int((calls[name] * per_mille + 999) / 1000)
            exact = times[name, rank]
            if (found < exact * (1 - allowed) || found > exact * (1 + allowed))
                print name, per_mille, "is", found, "and not", exact
            checked++
        }
        FILENAME == "calls" { times[$1, ++calls[$1]] = $2; next }
        FNR == 1 {
            for (i = split($0, names, ","); i > 0; i--) at[names[i]] = i
            next
        }
        {
            gsub(/"[^"]*"/, "")
            split($0, field, ",")
            name = field[1]
            if (name ~ unlike) next
            if (field[at["calls"]] != calls[name]) print name, "is called", calls[name]
            check(name, field[at["p50_ns"]], 500)
            check(name, field[at["p90_ns"]], 900)
            check(name, field[at["p99_ns"]], 990)
        }
        END { if (checked < 6) print "only", checked + 0, "are checked" }' calls report > wrong
    [ ! -s wrong ] || fail "$1: $(head -n 5 wrong)"
}

# Prints the column "percentile_error" of "report".
errors_stated() {
    awk -F , 'NR == 1 { while ($++at != "percentile_error") { } }
              NR > 1 { gsub(/"[^"]*"/, ""); print $at }' report | sort -u
}

# The log truncates times above a millisecond to a microsecond.
PROBITY_OUT=$WORK/varied "$PROGRAMS/varied" 3 300
PROBITY_OUT=$WORK/walk "$PROGRAMS/tree"
for trace in varied walk; do
    calls_of $trace
    "$PROBITY" report --csv $trace > report
    same_percentiles $trace 0.01
    expect "$trace: error as reported" 0.0039 "$(errors_stated)"
done
calls_of varied walk
"$PROBITY" report --csv varied walk > report
same_percentiles "two traces" 0.01
"$PROBITY" report varied > report
! grep -q '^percentiles' report || fail "unexpected note about percentiles: $(cat report)"

# In profile mode the functions take about the same time; the report must state the error.
PROBITY_PROFILE=1 PROBITY_OUT=$WORK/counted "$PROGRAMS/varied" 3 300
"$PROBITY" report --csv counted > report
expect "error in profile mode" 0.1289 "$(errors_stated)"
"$PROBITY" report counted > report
grep -q '^percentiles of 5 functions are accurate to 13 %: profile mode' report ||
    fail "expected a note about percentiles: $(cat report)"
"$PROBITY" report --columns calls,max counted > report
! grep -q '^percentiles' report || fail "unexpected note about percentiles that are not shown"
"$PROBITY" report --json counted varied > report
expect "error of both" 0.12890625 "$(grep -oE '"percentile_error": [0-9.]+' report | sort -u |
    awk '{ print $2 }')"
finish
