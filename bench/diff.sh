#!/usr/bin/env bash
# diff.sh BUILD_DIR [REPETITIONS]: how often `probity diff` is wrong. Sets of runs are written with
# known distribution (tests/unit/test_compare.c: 8 functions and 4 blocks, log-normal from run to
# run, with a deviation of 1, 1.5, 2 or 3 % in different ones, and of 5 % from call to call), so
# that the truth is known: two sets of the same program, and two of which the second has one
# function or block 3 % slower. Functions and blocks are judged together: each pays for the tests
# of all. With 100 repetitions or more also real runs of one program, on the machine as it is, both
# sides taking turns: nothing of them is known but that nothing has changed.
set -eu
build=$1
repetitions=${2:-200}
runs=20
folder=$(mktemp -d /tmp/probity-bench.XXXXXX)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/base" "$folder/new"
make=$build/tests/unit/test_compare
[ -x "$make" ] || make -s -C "$(dirname "$0")/.." BUILD="$build" "$make" >&2

verdicts() {
    "$build/bin/probity" diff --csv "$folder"/base/* -- "$folder"/new/* |
        awk -F , -v OFS='\t' 'NR > 1 { print $1, $4, $14 } END { print "." }'
}

# $1 first seed, $2 percent, $3 which; a line "NAME STATISTIC VERDICT" for each row, with tabs, one
# "." a repetition.
repeat() {
    local i
    for ((i = 0; i < repetitions; i++)); do
        "$make" write "$folder/base" $(($1 + 2 * i)) 0 "$runs" a
        "$make" write "$folder/new" $(($1 + 2 * i + 1)) "$2" "$runs" "$3"
        verdicts
    done
}

# $1 what, $2 value, $3 target
row() { printf 'row\tdiff\t%s\t%s\t%%\t%s\n' "$1" "$2" "$3"; }

# $1 condition, $2 file: repetitions with a line like this, in percent
share() {
    awk -F '\t' -v all="$repetitions" "$1"' { told = 1 } $1 == "." { n += told; told = 0 }
        END { printf "%.3g", 100 * n / all }' "$2"
}

# $1 file: lines that are false alarms, in percent of the changes told, the mean over repetitions
share_of_false() {
    awk -F '\t' "$is_told"' { told++; is_false += $1 != "changed" }
        $1 == "." { sum += told ? is_false / told : 0; n++; told = is_false = 0 }
        END { printf "%.3g", 100 * sum / n }' "$1"
}

is_told='($3 == "slower" || $3 == "faster" || $3 == "more" || $3 == "fewer")'
repeat 1 0 a >"$folder/same"
row "same program, $runs runs a side: comparisons with any false alarm" \
    "$(share "$is_told" "$folder/same")" "<= 5"
# The noise of a to d, and of the blocks behind 1 and 3. Where it is as large as the change, no test
# finds it in nine of ten cases.
while read -r which seeds noise what target; do
    repeat "${seeds}00001" 3 "$which" >"$folder/slower"
    name=$which
    [ "$what" = function ] || name="$which -> $((which + 1))"
    row "one $what 3 % slower, noise $noise %: found" \
        "$(share '$1 == "'"$name"'" && $3 == "slower"' "$folder/slower")" "$target"
    sed "s/^$name\t/changed\t/" "$folder/slower" >>"$folder/named"
done <<'LIST'
a 1 1 function >= 90
b 2 1.5 function >= 90
c 3 2 function
d 4 3 function
1 5 1 block >= 90
3 6 2 block
LIST
# $1 program of tests/programs, then its arguments
repeat_real() {
    local i j side
    rm -f "$folder"/base/* "$folder"/new/*
    for ((i = 0; i < repetitions; i++)); do
        for ((j = 0; j < runs; j++)); do
            for side in base new; do
                PROBITY_OVERWRITE=1 PROBITY_OUT=$folder/$side/run.$j \
                    "$build/tests/programs/$1" "${@:2}" >"$folder/printed"
            done
        done
        verdicts
    done
}

row "one function or block 3 % slower: false among the changes told" \
    "$(share_of_false "$folder/named")" "<= 5"
[ "$repetitions" -ge 100 ] || exit 0
for program in "varied 0 5" "blocks"; do
    [ -x "$build/tests/programs/${program%% *}" ] ||
        make -s -C "$(dirname "$0")/.." BUILD="$build" "$build/tests/programs/${program%% *}" >&2
    # shellcheck disable=SC2086
    repeat_real $program >"$folder/real"
    row "real runs of ${program%% *}, $runs runs a side: comparisons with any false alarm" \
        "$(share "$is_told" "$folder/real")" "<= 5"
done
