#!/usr/bin/env bash
# `probity hist`: compares the count in every row with the times printed by `probity log` and
# `probity csv`, on both scales, for functions and blocks; bars; errors.
# variants: clang asan
# campaign: tsan
. "$(dirname "$0")/computed.bash"
. "$(dirname "$0")/../common.bash"

# $1 description, $2 status; then arguments of hist. Writes "output" and "errors".
hist() {
    local what=$1 expected=$2 status=0
    shift 2
    "$PROBITY" hist "$@" > output 2> errors || status=$?
    expect "$what: status ($(cat errors))" "$expected" "$status"
}

# $1 description, $2 limit in ns below which times are exact. "values" has one time per line,
# "output" is the CSV of one histogram. The log truncates times from 1 ms on to a microsecond, so
# those may be in the next row.
same_rows() {
    awk -v exact_below="$2" -v has_exact="${3-1}" '
        FILENAME == "values" { values[++count] = $1; next }
        FNR == 1 { next }
        {
            split($0, field, ",")
            from[++rows] = field[4]
            below[rows] = field[5]
            calls[rows] = field[6]
            share[rows] = field[7]
        }
        END {
            for (i = 1; i <= rows; i++) {
                if (i > 1 && from[i] != below[i - 1]) print "a gap below", from[i]
                found = 0
                for (j = 1; j <= count; j++) found += values[j] >= from[i] && values[j] < below[i]
                if (below[i] <= exact_below && found != calls[i])
                    print "from", from[i], "below", below[i], "are", found, "and not", calls[i]
                if (share[i] != sprintf("%.6f", calls[i] / count)) print "share", share[i]
                all += calls[i]
                checked += below[i] <= exact_below && calls[i] > 0
            }
            if (all != count) print all, "are counted of", count
            if (checked == 0 && has_exact) print "no row is checked"
        }' values output > wrong
    [ ! -s wrong ] || fail "$1: $(head -n 5 wrong)"
}

PROBITY_OUT=$WORK/varied "$PROGRAMS/varied" 3 300
PROBITY_OUT=$WORK/tree "$PROGRAMS/tree"
PROBITY_OUT=$WORK/walk "$PROGRAMS/blocks"
calls_of varied
column=1
for measure in '' --self --cpu; do
    column=$((column + 1))
    for scale in '' --linear '--rows 10000' '--rows 10' '--linear --rows 100'; do
        awk -v column=$column '$1 == "steady" { print $column }' calls > values
        # shellcheck disable=SC2086
        hist "steady $measure $scale" 0 --csv $measure $scale steady varied
        # One outlier makes the rows, which have equal widths, wider than a millisecond.
        same_rows "steady $measure $scale" 1000000 "$([[ $scale == --linear* ]] || echo 1)"
    done
done
python3 "$SOURCE/tests/tool/another_session.py" varied again
calls_of varied
awk '$1 == "steady" { print $2; print $2 }' calls > values
hist "of two traces" 0 --csv steady varied again
same_rows "of two traces" 1000000
hist "rows" 0 --csv --rows 10000 steady varied
expect "rows of all fine buckets are less than 1 % wide" 0 \
    "$(awk -F , 'NR > 1 && $5 - $4 > 1 && $5 - $4 > $4 / 127' output | wc -l)"

# Spans between probes, whose times are exact.
for chosen in '1 1026' '2 2' 'queue 1'; do
    BEGINS=" ${chosen% *} " ENDS=" ${chosen#* } " blocks_of walk
    pair=(--from "${chosen% *}" --to "${chosen#* }")
    awk -F ';' '$2 != "-" { print $3 }' blocks > values
    hist "$chosen" 0 --csv "${pair[@]}" walk
    same_rows "$chosen" 1e12
    name=$(sed -E 's/ / -> /; s/\<2\>/2 (two)/g' <<< "$chosen")
    expect "name" "$name" "$(awk -F , 'NR == 2 { print $1 }' output)"
    awk -F ';' '$2 != "-" { print $4 }' blocks > values
    hist "$chosen, CPU" 0 --csv --cpu --linear "${pair[@]}" walk
    same_rows "$chosen, CPU" 1e12
    awk -F ';' '$2 != "-" { print ($3 > $4 ? $3 - $4 : 0) }' blocks > values
    hist "$chosen, off the CPU" 0 --csv --off-cpu "${pair[@]}" walk
    same_rows "$chosen, off the CPU" 1e12
done
read -r first last < <(middle_of walk)
BEGINS=' 1 ' ENDS=' 2 ' blocks_of --from "$first" --to "$last" walk
awk -F ';' '$2 != "-" { print $3 }' blocks > values
hist "a range" 0 --csv --from 1 --to 2 --since "$first" --until "$last" walk
same_rows "a range" 1e12

# Several functions: each has a histogram, largest total first.
hist "several" 0 --csv 's*' varied
expect "names" "slowed steady" "$(awk -F , 'NR > 1 { print $1 }' output | sort -u | xargs)"
hist "JSON" 0 --json 's*' varied
"$PROBITY" report --json --function 's*' varied > report
python3 -c '
import json
answer = json.load(open("output"))
functions = {entry["name"]: entry for entry in json.load(open("report"))["functions"]}
assert answer["measure"] == "total" and answer["scale"] == "log"
assert len(answer["histograms"]) == len(functions) == 2
for entry in answer["histograms"]:
    function = functions[entry["name"]]
    for key in ("min_ns", "mean_ns", "p50_ns", "p90_ns", "p99_ns", "max_ns", "calls", "file"):
        assert entry[key] == function[key], key
    rows = entry["buckets"]
    assert sum(row["calls"] for row in rows) == entry["measured"] == entry["calls"]
    assert rows[0]["from_ns"] <= entry["min_ns"] < rows[0]["below_ns"]
    assert rows[-1]["from_ns"] <= entry["max_ns"] < rows[-1]["below_ns"]
' || fail "JSON of several histograms"

# The fullest row has the longest bar, and each row with a count has one; marks; no color.
export LC_ALL=C
hist "text" 0 --rows 40 steady varied
grep -q '^steady: wall time of one call, 300 calls$' output || fail "no title: $(cat output)"
grep -q '^trace: varied: complete: ' output || fail "expected the line about completeness"
expect "bars" 0 "$(awk '/ +[0-9]+ +[<0-9.]+%/ { bar = $5 ~ /^#/; if (bar != ($3 > 0)) print }' \
    output | wc -l)"
expect "the longest bar fills the line" 29 "$(grep -oE '#+' output | awk '
    length > most { most = length } END { print most }')"
expect "marks" "p50 p90 p99" "$(grep % output | grep -oE ' p[59][09]' | xargs)"
! LC_ALL=C grep -q '[^ -~]' output || fail "non-ASCII output"
LC_ALL=C.UTF-8 hist "UTF-8" 0 steady varied
grep -q $'\xe2\x96\x88' output || fail "no block characters"
if command -v script > /dev/null; then
    script -qc "stty cols 200; TERM=xterm '$PROBITY' hist steady varied" /dev/null > output \
        < /dev/null
    expect "a bar fills a wide terminal" 149 "$(grep -oE '#+' output | awk '
        length > most { most = length } END { print most }')"
    grep -q $'\033' output || fail "no color on a terminal"
fi
unset LC_ALL

# Profile mode records only total times, with a lower resolution.
PROBITY_PROFILE=1 PROBITY_OUT=$WORK/counted "$PROGRAMS/varied" 3 300
hist "profile mode" 0 steady counted
grep -q '^counted in profile mode: times are accurate to 13 %' output ||
    fail "expected a note about profile mode"
hist "profile mode: CSV" 0 --csv steady counted
expect "calls in profile mode" 300 "$(awk -F , '{ calls += $6 } END { print calls }' output)"
hist "profile mode: self" 1 --self steady counted

# Functions that do not exist, and usage errors.
hist "no function" 1 none varied
grep -q "no calls match 'none'" errors || fail "expected an error about the function: $(cat errors)"
hist "no probe" 1 --from 77 walk
hist "no block" 1 --from 1 --to 2 --until 0 walk
hist "no thread" 1 --tid 1 steady varied
PROBITY_CPU_TIME=0 PROBITY_OUT=$WORK/timeless "$PROGRAMS/varied" 3 10
hist "no CPU times" 1 --cpu steady timeless varied
hist "calls without times" 0 jumping tree
grep -q 'more calls without this time' output || fail "expected a note about calls without times"
for wrong in "--rows 0 steady varied" "--rows x steady varied" "--cpu --off-cpu steady varied" \
    "--json --csv steady varied" "--self --from 1 walk" "--since x steady varied" \
    "--since 5 --until 3 steady varied" "steady" ""; do
    # shellcheck disable=SC2086
    hist "wrong: $wrong" 2 $wrong
done
hist "no time in a range" 2 --since 5 --until 3 steady varied
grep -q -e '--until 3 is not later than --since' errors || fail "a range: $(cat errors)"
hist "file" 0 -o table steady varied
hist "file that exists" 1 -o table steady varied
head -c $(($(stat -c %s varied) * 2 / 3)) varied > part
hist "cut" 3 steady part
grep -q 'INCOMPLETE' output || fail "a truncated trace is reported as complete"
finish
