#!/usr/bin/env bash
# The tool's messages for files that are not traces, for traces of another version, for truncated
# and damaged traces, and for usage errors.
# variants: asan
. "$(dirname "$0")/../common.bash"

# $1 description, $2 word in the first line on stderr; then the tool's arguments. Expects one line
# and the right exit status; after a usage error, a second line may refer to the help.
refused() {
    local what=$1 word=$2 status=0 lines
    shift 2
    "$PROBITY" "$@" > output 2> errors || status=$?
    case $status in
        1 | 2 | 3) ;;
        *) fail "$what: status $status" ;;
    esac
    lines=$(grep -vc "^Try 'probity" errors)
    expect "$what: lines" 1 "$lines"
    grep -qF -- "$word" errors || fail "$what: expected '$word' on stderr, found: $(cat errors)"
}

small() {
    PROBITY_OUT=$WORK/$1 PROBITY_CHUNK_RECORDS=512 PROBITY_SPOOL_RECORDS=4096 \
        "$PROGRAMS/ends" "$2" 2 3000 > /dev/null 2>&1 || true
}
small whole return
small killed kill
"$PROBITY" csv whole > whole.csv
expect "whole" 9000 "$(wc -l < whole.csv)"

for command in csv info check recover; do
    refused "$command: missing" missing $command missing
    : > empty
    refused "$command: empty" empty $command empty
    head -c 100000 /dev/urandom > noise
    refused "$command: noise" noise $command noise
    refused "$command: directory" "$WORK" $command "$WORK"
    cp whole other
    printf '\002' | dd of=other bs=1 seek=12 conv=notrunc status=none
    refused "$command: other version" version $command other
    refused "$command: unknown option" "" $command --no-such-option whole
done
refused "unknown command" frobnicate frobnicate
refused "no trace" "" csv
refused "probe that is not there" 123456789 csv --probe 123456789 whole
refused "thread that is not there" 99999999 csv --tid 99999999 whole
refused "column" sundial csv --columns sundial whole
# The error message lists every column, and the whole list is accepted.
columns=$("$PROBITY" csv --columns sundial whole 2>&1 |
    sed -n 's/.*(valid: \(.*\))$/\1/p' | tr -d ' ' || true)
expect "columns" 16 "$(tr ',' '\n' <<< "$columns" | grep -c .)"
expect "columns of --help" "$columns" "$("$PROBITY" csv --help | tr -d '\n' |
    sed 's/.*LIST *comma-separated list of \(.*\) --since .*/\1/; s/ //g')"
"$PROBITY" csv --header --columns "$columns" whole | head -n 1 > header || true
expect "columns, all" "$columns" "$(cat header)"

# A device is written to, not replaced.
mkfifo pipe
cat pipe > piped.csv &
reader=$!
timeout 300 "$PROBITY" csv -f -o pipe whole || fail "pipe: status $?"
if [ -p pipe ]; then
    wait "$reader"
    cmp piped.csv whole.csv || fail "pipe: incomplete output"
else
    fail "the tool replaced a pipe with a file"
    kill "$reader"
fi

status=0
"$PROBITY" csv whole > /dev/full 2> errors || status=$?
[ "$status" -gt 0 ] && [ "$status" -lt 4 ] || fail "stdout full: status $status"
expect "stdout full: lines" 1 "$(wc -l < errors)"

# Expects the hits in $1 to be hits of whole.csv, in time order and without repeats. (Times differ
# by nanoseconds if later clock readings are missing.)
is_part_of_whole() {
    cut -d, -f1-3 "$1" | sort > sorted.csv
    [ "$(comm -13 whole.sorted sorted.csv | wc -l)" = 0 ] && sort -c -s -t, -k6,6n -k7,7n "$1"
}
cut -d, -f1-3 whole.csv | sort > whole.sorted

# Truncated anywhere: the output is still ordered, and the status is that of an incomplete trace.
size=$(stat -c %s whole)
for cut in $(seq 0 13 300) $(seq 301 $((size / 60 + 1)) "$size"); do
    [ "$cut" -lt "$size" ] || continue
    head -c "$cut" whole > cut.trace
    status=0
    "$PROBITY" csv cut.trace > cut.csv 2> errors || status=$?
    [ "$status" -ge 1 ] && [ "$status" -le 3 ] || fail "cut at $cut: status $status"
    is_part_of_whole cut.csv || fail "cut at $cut"
    status=0
    "$PROBITY" check cut.trace > output 2> errors || status=$?
    [ "$status" -ge 1 ] && [ "$status" -le 3 ] || fail "check, cut at $cut: status $status"
done

# With any single byte changed, no hit is invented, and check reports the damage.
for place in $(seq 1 $((size / 80 + 1)) "$size"); do
    [ "$place" -lt "$size" ] || continue
    cp whole changed
    byte=$(od -An -tu1 -j "$place" -N 1 whole)
    # shellcheck disable=SC2059
    printf "\\x$(printf %x $(((byte + 1) % 256)))" |
        dd of=changed bs=1 seek="$place" conv=notrunc status=none
    status=0
    "$PROBITY" csv changed > changed.csv 2> errors || status=$?
    [ "$status" -le 3 ] || fail "byte $place changed: status $status"
    is_part_of_whole changed.csv || fail "byte $place changed"
    if [ "$place" -gt 15 ] && "$PROBITY" check changed > output 2>&1; then
        fail "byte $place changed: check did not notice"
    fi
done

# A killed program's trace without its spool, and with a damaged one.
cp killed alone
expect "killed: hits" 9000 "$("$PROBITY" csv killed | wc -l)"
for segment in "$SPOOL"/*; do
    for place in 0 8 16 52 64 4096 4100 4112 70000; do
        cp "$segment" saved
        printf '\377\377\377\377' | dd of="$segment" bs=1 seek=$place conv=notrunc status=none
        status=0
        "$PROBITY" csv killed > damaged.csv 2> errors || status=$?
        [ "$status" -le 3 ] || fail "spool changed at $place: status $status"
        cp saved "$segment"
    done
    head -c 5000 "$segment" > saved
    cp saved "$segment"
    status=0
    "$PROBITY" csv killed > damaged.csv 2> errors || status=$?
    [ "$status" -le 3 ] || fail "truncated spool: status $status"
done
rm -f "$SPOOL"/*
refused "killed, spool lost" "killed" csv killed
finish
