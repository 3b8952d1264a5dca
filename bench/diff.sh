#!/usr/bin/env bash
# diff.sh BUILD_DIR [REPETITIONS]: how often `probity diff` is wrong. Sets of runs are written with
# known distribution (tests/unit/test_compare.c: log-normal from run to run, with a deviation of 1,
# 1.5, 2 or 3 % in different functions, and of 5 % from call to call), so that the truth is known:
# two sets of the same program, and two of which the second has one function 3 % slower.
set -eu
build=$1
repetitions=${2:-200}
runs=20
folder=$(mktemp -d /tmp/probity-bench.XXXXXX)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/base" "$folder/new"
make=$build/tests/unit/test_compare
[ -x "$make" ] || make -s -C "$(dirname "$0")/.." BUILD="$build" "$make" >&2

# $1 first seed, $2 percent, $3 function; a line "FUNCTION STATISTIC VERDICT" for each row, one "."
# a repetition.
repeat() {
    local i
    for ((i = 0; i < repetitions; i++)); do
        "$make" write "$folder/base" $(($1 + 2 * i)) 0 "$runs" a
        "$make" write "$folder/new" $(($1 + 2 * i + 1)) "$2" "$runs" "$3"
        "$build/bin/probity" diff --csv "$folder"/base/* -- "$folder"/new/* |
            awk -F , 'NR > 1 { print $1, $4, $14 } END { print "." }'
    done
}

# $1 what, $2 value, $3 target
row() { printf 'row\tdiff\t%s\t%s\t%%\t%s\n' "$1" "$2" "$3"; }

# $1 condition, $2 file: repetitions with a line like this, in percent
share() {
    awk -v all="$repetitions" "$1"' { told = 1 } $1 == "." { n += told; told = 0 }
        END { printf "%.3g", 100 * n / all }' "$2"
}

# $1 file: lines that are false alarms, in percent of the changes told, the mean over repetitions
share_of_false() {
    awk "$is_told"' { told++; is_false += $1 != "changed" }
        $1 == "." { sum += told ? is_false / told : 0; n++; told = is_false = 0 }
        END { printf "%.3g", 100 * sum / n }' "$1"
}

is_told='($3 == "slower" || $3 == "faster" || $3 == "more" || $3 == "fewer")'
repeat 1 0 a >"$folder/same"
row "same program, $runs runs a side: comparisons with any false alarm" \
    "$(share "$is_told" "$folder/same")" "<= 5"
# The noise of a to d. Where it is as large as the change, no test finds it in nine of ten cases.
for noisy in "a 1 1 >= 90" "b 2 1.5 >= 90" "c 3 2" "d 4 3"; do
    read -r name seeds noise target <<<"$noisy"
    repeat "${seeds}00001" 3 "$name" >"$folder/slower"
    row "one function 3 % slower, noise $noise %: found" \
        "$(share '$1 == "'"$name"'" && $3 == "slower"' "$folder/slower")" "$target"
    sed "s/^$name /changed /" "$folder/slower" >>"$folder/named"
done
row "one function 3 % slower: false among the changes told" \
    "$(share_of_false "$folder/named")" "<= 5"
