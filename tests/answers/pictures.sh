#!/usr/bin/env bash
# Charts in tables: compares the distributions of `probity report` with the rows of `probity hist`;
# which columns fit terminals of a given width; the meaning of colors.
# variants: asan
. "$(dirname "$0")/../common.bash"

# Writes the table of command $2 on a terminal with $1 columns to "output"; the rest: arguments.
on_terminal() {
    local columns=$1 words=$2
    shift 2
    script -qc "stty cols $columns; TERM=xterm LC_ALL=${LOCALE:-C.UTF-8} '$PROBITY' $words $*" \
        /dev/null < /dev/null | tr -d '\r' > output
}

plain() {
    sed 's/\x1b\[[0-9;]*m//g' output
}

# Compares each function's distribution in "output" with the powers of two in hist: the fastest call
# is in the first cell, and all functions use the same number of powers per cell.
cat > check.py << 'END'
import json, subprocess, sys
tool, trace, heights = sys.argv[1:4]
lines = open("output").read().split("\n")
head = next(i for i, line in enumerate(lines) if line.endswith("  function"))
place = lines[head].index("distribution")
shown = {}
for line in lines[head + 1:lines.index("", head)]:
    shown[line.split()[-1]] = line[place:place + 16]
power = lambda ns: ns.bit_length()
rows = {}
for name in shown:
    answer = subprocess.run([tool, "hist", "--json", "--rows", "1", name, trace],
                            capture_output=True, check=True)
    rows[name] = {}
    for row in json.loads(answer.stdout)["histograms"][0]["buckets"]:
        step = power(row["from_ns"])
        rows[name][step] = rows[name].get(step, 0) + row["calls"]
steps = [step for of in rows.values() for step in of]
each = (max(steps) - min(steps)) // 16 + 1
assert max(steps) - min(steps) >= 8, "too few powers of two for cells of whole ones"
for name, of in rows.items():
    cells = [0] * 16
    for step, calls in of.items():
        cells[(step - min(steps)) // each] += calls
    # A function has no durations if all of its calls were left by a jump.
    expected = "".join(heights[-(-8 * calls // (max(cells) or 1))] for calls in cells)
    if expected != shown[name]:
        sys.exit(f"{name}: expected '{expected}', found '{shown[name]}'")
print(len(rows), "functions")
END

PROBITY_OUT=$WORK/trace "$PROGRAMS/tree"
LC_ALL=C "$PROBITY" report --columns calls,distribution,max trace > output
python3 check.py "$PROBITY" trace ' .:-=+*#@' > found 2>&1 || fail "ASCII: $(cat found)"
LC_ALL=C.UTF-8 "$PROBITY" report --columns distribution trace > output
python3 check.py "$PROBITY" trace ' ▁▂▃▄▅▆▇█' > found 2>&1 ||
    fail "UTF-8: $(cat found)"
expect "functions" "8 functions" "$(cat found)"
grep -q '^distribution: time per call from ' output ||
    fail "no scale below the table: $(cat output)"
# For a function called by one thread, the distribution of the thread is that of the function.
LC_ALL=C "$PROBITY" report --columns distribution --by-thread --function 'f*i' trace > output
expect "lines of a function and its thread" 2 "$(awk 'NR > 2 && NF == 0 { exit } NR > 2' output |
    wc -l)"
expect "a thread as its function" 1 "$(awk 'NR > 2 && NF == 0 { exit }
    NR > 2 { print substr($0, 1, 18) }' output | sort -u | wc -l)"
# Without a terminal, charts are printed only on request, and never in other formats.
LC_ALL=C.UTF-8 "$PROBITY" report trace > output
! grep -q 'distribution' output || fail "unexpected distribution"
grep -q ' p50 ' output || fail "expected all columns without a terminal"
LC_ALL=C.UTF-8 "$PROBITY" report --csv trace | head -n 1 > output
! grep -q 'distribution' output || fail "a chart in CSV"
status=0
"$PROBITY" report --sort distribution trace > output 2> errors || status=$?
expect "no order" 2 "$status"
# Without times there is nothing to draw.
"$BUILD/bench/gen" none 1 0
"$PROBITY" report --columns distribution none > output
grep -q '^no calls' output || fail "none: $(cat output)"
! grep -q '^distribution:' output || fail "a scale without data"

if command -v script > /dev/null; then
    # Which columns fit, and a note about those that do not.
    for columns in 60 80 100 132 200; do
        on_terminal "$columns" report trace
        plain > table
        longest=$(sed '/^$/,$d' table | LC_ALL=C.UTF-8 wc -L)
        [ "$longest" -le "$columns" ] ||
            fail "report: line of $longest characters on $columns columns"
        grep -q ' function$' table || fail "report: no header with $columns columns"
        case $columns in
            60 | 80 | 100) grep -q '^hidden columns: .*min' table ||
                fail "report: expected a note about omitted columns on $columns columns" ;;
            *) ! grep -q '^no room' table || fail "report: no room on $columns columns" ;;
        esac
    done
    on_terminal 80 report trace
    grep -q '█' output || fail "no distribution on a terminal"
    LOCALE=C on_terminal 80 report trace
    ! grep -q 'distribution  ' output || fail "unexpected distribution in ASCII"
    PROBITY_OUT=$WORK/walk "$PROGRAMS/blocks"
    for columns in 60 80 132; do
        on_terminal "$columns" blocks --probe 1,2 walk
        plain > table
        longest=$(sed '/^$/,$d' table | LC_ALL=C.UTF-8 wc -L)
        [ "$longest" -le "$columns" ] ||
            fail "blocks: line of $longest characters on $columns columns"
        expect "blocks: note about omitted columns on $columns columns" \
            "$([ "$columns" = 132 ] || echo hidden)" \
            "$(sed -n 's/^\(hidden\) columns: .*min.*/\1/p' table)"
        head -n 1 table | grep -q '^ *calls   share     wall ' || fail "blocks: no header"
    done
    on_terminal 132 blocks --corrected --probe 1,2 walk
    plain | head -n 1 | grep -q ' corrected  ' || fail "no corrected times on 132 columns"
    # Same as above for other tables; the columns that are shown equal those without a terminal. $1
    # columns, $2 columns left out, $3 remaining fields of a line, $4 command
    narrow() {
        local columns=$1 left=$2 fields=$3 words=$4 longest
        on_terminal "$columns" "$words"
        plain > table
        longest=$(awk '/^$/ && n++ == '"${blank:-0}"' { exit } 1' table | LC_ALL=C.UTF-8 wc -L)
        [ "$longest" -le "${room:-$columns}" ] ||
            fail "$words: line of $longest characters on $columns columns"
        expect "$words: omitted on $columns columns" "$left" \
            "$(sed -nE 's/^hidden columns?: (.*)$/\1/p' table)"
        # shellcheck disable=SC2086
        LC_ALL=C.UTF-8 "$PROBITY" $words > whole
        diff <(awk -v fields="$fields" '/^[ 0-9.]+[0-9.a-z%-]+ / && !/ sites hit/ {
                split(fields, field, ","); line = ""
                for (i = 1; i in field; i++) line = line " " $field[i]; print line }' whole) \
            <(awk -v fields="$fields" '/^[ 0-9.]+[0-9.a-z%-]+ / && !/ sites hit/ {
                n = split(fields, field, ","); line = ""
                for (i = 1; i <= n; i++) line = line " " $i; print line }' table) > difference ||
            fail "$words: unlimited (<), on $columns columns (>): $(head -n 6 difference)"
    }
    narrow 132 "" 1,2,3,4,5,6 "tree trace"
    narrow 80 "" 1,2,3,4,5,6 "tree trace"
    room=62 narrow 60 "CPU total, share" 1,2,3,5 "tree trace" # two levels are always shown
    narrow 132 "" 1,2,3,4,5,6,7,8,9,10,11 "threads trace"
    narrow 80 "first, last, records" 1,4,5,6,7,9,10,11 "threads trace"
    narrow 60 "first, last, share, records, hits, scopes" 1,4,5,6 "threads trace"
    blank=1
    narrow 132 "" 1,2,3,4,5,6,7,8,9 "diff trace -- trace"
    room=200 narrow 60 "from, to, p" 1,2,3 "diff trace -- trace"
    unset blank
    room=200 narrow 132 "" 1,2,3,4,5,6 "list trace"
    room=200 narrow 60 "" 1,2,3,4,5,6 "list trace"
    room=200 narrow 50 "kind, level" 1,4,5 "list trace"
    for columns in 60 132; do
        on_terminal "$columns" list trace
        place=$(plain | awk 'NR == 1 { print index($0, "place") }')
        [ $((place + 17)) -le "$columns" ] || fail "list: place at $place of $columns columns"
    done
    # The outer levels of deep paths are omitted.
    "$PROGRAMS/gen_adversarial_traces_internal" recursion 40 > deep
    on_terminal 80 tree deep
    plain > table
    longest=$(sed '/^$/,$d' table | LC_ALL=C.UTF-8 wc -L)
    [ "$longest" -le 80 ] || fail "tree: line of $longest characters on 80 columns"
    # Numbers take 49 of the 80 columns, and blanks 2. The remaining ones fit a name of 4 characters
    # and 8 levels, or that name, a note of 12 characters and 4 levels.
    expect "tree: first that lacks levels" "(5 levels)" \
        "$(sed -nE '/^$/q; s/.*(\([0-9]+ levels?\)).*/\1/p' table | head -n 1)"
    expect "tree: deepest" "(35 levels)" \
        "$(sed -nE '/^$/q; s/.*(\([0-9]+ levels?\)).*/\1/p' table | tail -n 1)"
    expect "tree: names" 40 "$(sed '/^$/,$d' table | grep -c ' open$')"
    # Columns given on the command line are never left out.
    on_terminal 60 report --wide trace
    plain | sed -n 2p | grep -q ' at once .* p90 ' || fail "--wide lacks columns"
    # Exactly the functions with a quarter of all self time are marked hot.
    on_terminal 200 report trace
    awk 'NF == 0 { exit } index($0, "\033[1;31m") > 0 && index($0, "\033[1;31m") < 40 {
        print $NF }' output | sort > found
    "$PROBITY" report --json trace | jq -r '([.functions[].self_ns] | add) as $all
        | .functions[] | select(.self_ns >= 0.25 * $all) | .name' | sort > expected
    diff expected found > difference || fail "hot: $(cat difference)"
    [ -s expected ] || fail "nothing is marked hot"
    NO_COLOR=1 on_terminal 200 report trace
    ! grep -q $'\033' output || fail "color despite NO_COLOR"
fi
finish
