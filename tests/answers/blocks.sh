#!/usr/bin/env bash
# `probity blocks`: checks every number against awk's result from `probity csv`, and percentiles
# against sorted times; filters, sort orders, output formats.
# variants: clang asan
# campaign: tsan
. "$(dirname "$0")/computed.bash"
. "$(dirname "$0")/../common.bash"

# $1 description, $2 status, $3 command; then its arguments. Writes "output" and "errors".
tool() {
    local what=$1 expected=$2 status=0
    shift 2
    "$PROBITY" "$@" > output 2> errors || status=$?
    expect "$what: status ($(cat errors))" "$expected" "$status"
}

# Counts and sums of the pairs in "blocks": "FROM;TO CALLS PROBABILITY WALL CPU OFF MIN MEAN MAX".
sums_of() {
    sort -t ';' -k3,3n blocks | awk -F ';' '
        {
            followed[$1]++
            if ($2 == "-") next
            pair = $1 ";" $2
            if (!(pair in calls)) least[pair] = $3
            from[pair] = $1
            calls[pair]++
            wall[pair] += $3
            cpu[pair] += $4
            most[pair] = $3
        }
        END {
            for (pair in calls) {
                off = wall[pair] > cpu[pair] ? wall[pair] - cpu[pair] : 0
                share = int(calls[pair] / followed[from[pair]] * 1e6 + 0.5) / 1e6
                # In mawk, %d ends at 2^31 - 1, or 2.1 s, which a busy machine exceeds.
                printf "%s %d %.6f %.0f %.0f %.0f %.0f %.0f %.0f\n", pair, calls[pair], share,
                    wall[pair],
                    cpu[pair], off, least[pair], int(wall[pair] / calls[pair]), most[pair]
            }
        }' | sort
}

# The same for "output", which is the CSV of blocks. Names may contain commas.
sums_of_csv() {
    fields | awk -F '\t' '{ print $1, $6, $7, $8, $9, $10, $11, $12, $16 }' | sort
}

# CSV fields with their quotes, tab-separated, after the name of the pair.
fields() {
    awk 'NR > 1 {
        n = 0
        for (rest = $0; rest != ""; ) {
            if (match(rest, /^"([^"]|"")*"/)) { } else match(rest, /^[^,]*/)
            field[++n] = substr(rest, 1, RLENGTH)
            rest = substr(rest, RLENGTH + 2)
        }
        printf "%s;%s", field[1], field[2]
        for (i = 1; i <= n; i++) printf "\t%s", field[i]
        print ""
    }' output
}

# $1 description; the rest: arguments for both commands
same_sums() {
    local what=$1
    shift
    blocks_of "$@"
    sums_of > expected
    # `csv` filters by the time of hits; --from and --to of `blocks` are names of probes.
    set -- "${@/#--from/--since}"
    set -- "${@/#--to/--until}"
    # shellcheck disable=SC2086
    tool "$what" 0 blocks --csv ${CHOICE:-} "$@"
    sums_of_csv > found
    cmp -s expected found ||
        fail "$what: awk (<) and blocks (>): $(diff expected found | head -n 10)"
}

# Percentiles in "output" are within 1 % of the nearest ranks of the sorted times in "blocks".
same_percentiles() {
    fields | awk -F '\t' '{ print $1 ";" $13 ";" $14 ";" $15 }' > percentiles
    sort -t ';' -k3,3n blocks | awk -F ';' '
        function check(pair, found, per_mille,    rank, exact) {
            rank = int((calls[pair] * per_mille + 999) / 1000)
            exact = times[pair, rank]
            if (found < exact * 0.99 || found > exact * 1.01)
                print pair, per_mille, "is", found, "and not", exact
            checked++
        }
        FILENAME == "percentiles" { lines[++count] = $0; next }
        { pair = $1 ";" $2; times[pair, ++calls[pair]] = $3 }
        END {
            for (i = 1; i <= count; i++) {
                split(lines[i], field, ";")
                pair = field[1] ";" field[2]
                check(pair, field[3], 500)
                check(pair, field[4], 900)
                check(pair, field[5], 990)
            }
            if (checked == 0) print "nothing is checked"
        }' percentiles - > wrong
    [ ! -s wrong ] || fail "percentiles: $(head -n 5 wrong)"
}

PROBITY_OUT=$WORK/walk "$PROGRAMS/blocks"
PROBITY_OUT=$WORK/hello "$BUILD/examples/hello" > /dev/null
same_sums "all" walk
expect "pairs of five probes" 25 "$(wc -l < found)"
expect "hits minus one for each of four threads" "$(($("$PROBITY" csv walk | wc -l) - 4))" \
    "$(awk '{ sum += $(NF - 7) } END { print sum }' found)"
same_percentiles
fields | awk -F '\t' '{ print $2, $4 }' | sort -u > names
expect "name of a probe" "2 two" "$(sed -n '/^2 /p' names | xargs)"
expect "no names for other probes" 1 "$(grep -c 'two$' names)"

# The start and thread of the slowest span.
tid=$(fields | awk -F '\t' 'NR == 1 { print $19 }')
at=$(fields | awk -F '\t' 'NR == 1 { print $17 }')
from=$(fields | awk -F '\t' 'NR == 1 { print $2 }')
"$PROBITY" csv --columns tid,wall,probe walk | tr -d . |
    grep -qxF "$tid,$at,$from" || fail "no hit $tid,$at,$from at the start of the slowest span"

same_sums "one trace and another" hello
same_sums "two probes" --probe 1,2 walk
expect "pairs of two probes" 4 "$(wc -l < found)"
same_percentiles
same_sums "a probe and a site" --probe 1026,queue walk
same_sums "two threads" --tid "$("$PROBITY" csv --columns tid walk | sort -u | head -n 2 |
    paste -sd ,)" walk
read -r first last < <(middle_of walk)
same_sums "from and to" --from "$first" --to "$last" walk
tool "two traces" 0 blocks --csv walk hello
expect "calls of both" "$(("$("$PROBITY" csv walk hello | wc -l)" - 5))" \
    "$(fields | awk -F '\t' '{ sum += $6 } END { print sum }')"

# Selected pairs: from each hit of the first probe to the next hit of the second one.
chosen() {
    BEGINS=${1:+ ${1//,/ } } ENDS=${2:+ ${2//,/ } } CHOICE="${1:+--from $1} ${2:+--to $2}" \
        same_sums "from '$1' to '$2'" "${@:3}" walk
}
chosen 1 1026
expect "one pair" 1 "$(wc -l < found)"
[ "$(awk '{ print $3 }' found)" != 1.000000 ] || fail "expected a span that begins again"
same_percentiles
chosen 2 2
expect "all but the last" "$(awk '{ print $2 }' found)" \
    "$(($("$PROBITY" csv --columns probe walk | grep -c '^2$') - 4))"
chosen 1,2 queue,1026
expect "pairs of lists" 4 "$(wc -l < found)"
chosen 1 ''
chosen '' 1
expect "pairs to one probe" 5 "$(wc -l < found)"
chosen 1 2 --probe 1,2,queue
chosen 1 2 --from "$first" --to "$last"
tool "name of a numbered probe" 0 blocks --csv --from two --to 1 walk
expect "pair from a name" "2;1" "$(fields | cut -f 1)"
tool "no such probe" 1 blocks --from 1 --to 77 walk
tool "no such blocks" 1 blocks --from 1 --to 2 --until 0 walk
grep -q '^no matching blocks' output || fail "blocks without hits: $(cat output)"

# By thread: the same numbers as for each thread separately.
blocks_of walk
sed -E 's/^(.*);(.*);(.*);(.*);(.*);.*$/\5 \1;\5 \2;\3;\4/' blocks > of_threads
mv of_threads blocks
sums_of | sed -E 's/^([0-9]+) (.*);[0-9]+ /\1 \2;/' | sort > expected
tool "by thread" 0 blocks --csv --by-thread walk
fields | awk -F '\t' '$21 != "" { print $21, $1, $6, $7, $8, $9, $10, $11, $12, $16 }' |
    sort > found
cmp -s expected found || fail "by thread: awk (<) and blocks (>): $(diff expected found | head)"
expect "lines of all threads" 25 "$(fields | awk -F '\t' '$21 == ""' | wc -l)"
tool "by thread, text" 0 blocks --by-thread -n 1 walk
expect "a line for each thread" "$("$PROBITY" csv --columns tid walk | sed 1d | sort -u | wc -l)" \
    "$(grep -cE '^ +[0-9]+ .* [0-9]+( [a-z].*)?$' <(sed '1,2d; /^$/,$d' output))"

# The slowest spans of each pair: times, starts and threads, slowest first.
blocks_of walk
sort -t ';' -k1,2 -k3,3nr -s blocks | awk -F ';' '++rank[$1 ";" $2] <= 3 {
    print $1 ";" $2, rank[$1 ";" $2], $6, $3, $4, $5 }' > expected
tool "slowest" 0 blocks --csv --slowest 3 --sort name walk
fields | awk -F '\t' '{ print $1, $6, $7, $8, $9, $12 }' | sort -k1,1 -k2,2n > found
sort -k1,1 -k2,2n expected > expected.sorted
cmp -s expected.sorted found || fail "slowest: awk (<) and blocks (>):
$(diff expected.sorted found | head)"
expect "three of each" 75 "$(wc -l < found)"
tool "slowest, text" 0 blocks --slowest 2 -n 1 walk
expect "two lines" 2 "$(grep -cE '^ +slow at +[0-9]\.[0-9]{9}s ' output)"
tool "slowest, JSON" 0 blocks --slowest 2 --by-thread --json walk
python3 -c '
import json, sys
for block in json.load(sys.stdin)["blocks"]:
    assert len(block["slowest"]) == 2 and block["slowest"][0]["wall_ns"] == block["max_ns"]
    assert block["slowest"][0]["at_ns"] == block["max_at_ns"]
    assert sum(row["calls"] for row in block["threads"]) == block["calls"]
    assert sum(row["wall_ns"] for row in block["threads"]) == block["wall_ns"]
' < output || fail "JSON of the slowest and of threads"
tool "too many" 2 blocks --slowest 1001 walk

# Sort orders: largest first, and no row is lost.
column=5
for key in calls probability total cpu off-cpu min mean p50 p90 p99 max; do
    column=$((column + 1))
    tool "order $key" 0 blocks --csv --sort "$key" walk
    expect "order $key: blocks" 26 "$(wc -l < output)"
    fields | awk -F '\t' -v column="$column" '
        NR > 1 && $column + 0 > last { print } { last = $column + 0 }' > wrong
    [ ! -s wrong ] || fail "not sorted by $key: $(head -n 2 wrong)"
done
tool "order of names" 0 blocks --csv --sort name walk
expect "numbers come first, by number" "1;1 1;2 1;1026" \
    "$(fields | cut -f 1 | head -n 3 | paste -sd " ")"
tool "limit" 0 blocks --csv --limit 3 walk
expect "lines" 4 "$(wc -l < output)"

tool "text" 0 blocks -n 4 walk
grep -qE '^ +[0-9]+ +[0-9.]+% .*  .* -> ' output || fail "no block in: $(cat output)"
grep -qx '21 more blocks are not shown' output || fail "expected a note about omitted rows"
grep -q '^trace: walk: complete: ' output || fail "expected the line about completeness"
tool "text with names" 0 blocks --probe 1,2 walk
grep -q ' 1 -> 2 (two)$' output || fail "no name in: $(cat output)"
tool "JSON" 0 blocks --json walk
python3 -c '
import json, sys
answer = json.load(sys.stdin)
for block in answer["blocks"]:
    print(block["from"], block["to"], *(block[key] for key in ("calls", "wall_ns", "cpu_ns",
        "off_cpu_ns", "min_ns", "mean_ns", "max_ns")), sep="\t")
' < output | sort > found
tool "CSV" 0 blocks --csv walk
python3 -c '
import csv, sys
for block in csv.DictReader(sys.stdin):
    print(block["from"], block["to"], *(block[key] for key in ("calls", "wall_ns", "cpu_ns",
        "off_cpu_ns", "min_ns", "mean_ns", "max_ns")), sep="\t")
' < output | sort > expected
[ -s found ] || fail "no blocks in JSON"
cmp -s expected found || fail "CSV (<) and JSON (>): $(diff expected found | head -n 5)"

# CPU times that were not recorded are unknown, not 0.
PROBITY_CPU_TIME=0 PROBITY_OUT=$WORK/timeless "$BUILD/examples/hello" > /dev/null
tool "no CPU time" 0 blocks --csv timeless
expect "CPU times" "" "$(fields | awk -F '\t' '{ print $9 $10 }' | xargs)"
tool "no CPU time: JSON" 0 blocks --json timeless
grep -q '"cpu_ns": null, "off_cpu_ns": null' output || fail "no null in: $(cat output)"

# A site named "3" is not the same as probe 3.
PROBITY_OUT=$WORK/alike "$PROGRAMS/blocks" alike
tool "alike" 0 blocks --csv --sort calls alike
expect "alike" "3,3,3,0,1 3,3,2,1,0" "$(awk -F , 'NR > 1 {
    print $1 "," $2 "," $5 "," $(NF - 1) "," $NF }' output | xargs)"
tool "alike: slowest" 0 blocks --csv --sort calls --slowest 1 alike
expect "alike: slowest" "0,1 1,0" "$(awk -F , 'NR > 1 { print $(NF - 1) "," $NF }' output | xargs)"
tool "alike: text" 0 blocks alike
grep -q " 3 -> '3'\$" output && grep -q " '3' -> 3\$" output || fail "alike: $(cat output)"

# Corrected times equal those in the CSV; a minimum smaller than its error is marked.
tool "corrected: CSV" 0 blocks --csv walk
awk -F '\t' '{ print $8, $23, $24, ($23 < $24) }' <(fields) > expected
tool "corrected" 0 blocks --corrected walk
expect "corrected: head" "calls share wall corrected +- CPU" \
    "$(head -n 1 output | xargs | cut -d' ' -f 1-6)"
python3 - expected output << 'END' > difference 2>&1 || fail "corrected: $(cat difference)"
import re, sys
units = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
def ns(text):
    number, unit = re.fullmatch(r"([0-9.]+)([a-z]+)", text).groups()
    return float(number) * units[unit]
rows = [line.split() for line in open(sys.argv[1])]
lines = [line.rstrip("\n") for line in open(sys.argv[2])]
lines = lines[1:lines.index("", 1)]
assert len(rows) == len(lines) > 20, (len(rows), len(lines))
for (wall, corrected, error, below), line in zip(rows, lines):
    found = re.match(r" *\d+ +[\d.]+% +(\S+) +(< )?(\S+) +(\S+) ", line)
    most = int(corrected) + int(error) if below == "1" else int(corrected)
    assert (found[2] is not None) == (below == "1"), line
    for reported, exact in ((found[1], int(wall)), (found[3], most), (found[4], int(error))):
        assert abs(ns(reported) - exact) <= 1e-3 * exact + 1, (reported, exact, line)
END
tool "not corrected" 0 blocks walk
! head -n 1 output | grep -q corrected || fail "unexpected corrected times"

tool "file" 0 blocks -o table walk
tool "file that exists" 1 blocks -o table walk
tool "replaced" 0 blocks -f -o table walk
tool "input as output" 1 blocks -f -o walk walk
status=0
"$PROBITY" blocks walk > /dev/full 2> errors || status=$?
expect "full disk" 1 "$status"
tool "no thread" 1 blocks --tid 1 walk
tool "no probe" 1 blocks --probe 77 walk
tool "before all" 0 blocks --until 0 walk
grep -q '^no consecutive hits with the same thread' output ||
    fail "blocks reported before the start: $(cat output)"
tool "no trace" 2 blocks
tool "two forms" 2 blocks --json --csv walk
tool "wrong order" 2 blocks --sort none walk
tool "wrong limit" 2 blocks --limit x walk
head -c $(($(stat -c %s walk) * 2 / 3)) walk > part
tool "cut" 3 blocks part
grep -q 'INCOMPLETE' output || fail "a truncated trace is reported as complete"
finish
