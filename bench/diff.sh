#!/usr/bin/env bash
# diff.sh BUILD_DIR [REPETITIONS]: how often `probity diff` is wrong. The right verdicts are known
# because runs are generated with a known distribution (tests/unit/test_compare.c: 8 functions and 4
# spans between probes, log-normal, varying by 1, 1.5, 2 or 3 % from run to run and by 5 % from call
# to call): two sets of the same program, and two sets of which the second has one function or span
# that is 3 % slower. Functions and spans are tested together, so the correction for multiple tests
# covers both. From 100 repetitions on, also real runs of one program, alternating between both
# sides, on the machine as it is: for these it is only known that nothing has changed.
set -eu
build=$1
repetitions=${2:-200}
runs=20
directory=$(mktemp -d /tmp/probity-bench.XXXXXX)
trap '[[ $BASHPID != $$ ]] || rm -rf "$directory"' EXIT
mkdir "$directory/base" "$directory/new"
make=$build/tests/unit/test_compare
[ -x "$make" ] || make -s -C "$(dirname "$0")/.." BUILD="$build" "$make" >&2

verdicts() {
    "$build/bin/probity" diff --csv "$directory"/base/* -- "$directory"/new/* |
        awk -F , -v OFS='\t' 'NR > 1 { print $1, $4, $14 } END { print "." }'
}

# Prints a tab-separated line "NAME STATISTIC VERDICT" for each row, and a "." for each repetition.
# $1 first seed, $2 percent, $3 which
repeat() {
    local i
    for ((i = 0; i < repetitions; i++)); do
        "$make" write "$directory/base" $(($1 + 2 * i)) 0 "$runs" a
        "$make" write "$directory/new" $(($1 + 2 * i + 1)) "$2" "$runs" "$3"
        verdicts
    done
}

# $1 description, $2 value, $3 target
row() { printf 'row\tdiff\t%s\t%s\t%%\t%s\n' "$1" "$2" "$3"; }

# Prints how many percent of the repetitions have a matching line. $1 condition, $2 file
share() {
    awk -F '\t' -v all="$repetitions" "$1"' { found = 1 } $1 == "." { n += found; found = 0 }
        END { printf "%.3g", 100 * n / all }' "$2"
}

# Prints how many percent of the reported changes are false, averaged over repetitions. $1 file
share_of_false() {
    awk -F '\t' "$is_reported"' { reported++; is_false += $1 != "changed" }
        $1 == "." { sum += reported ? is_false / reported : 0; n++; reported = is_false = 0 }
        END { printf "%.3g", 100 * sum / n }' "$1"
}

is_reported='($3 == "slower" || $3 == "faster" || $3 == "more" || $3 == "fewer")'
repeat 1 0 a >"$directory/same"
row "same program, $runs runs a side: comparisons with any false alarm" \
    "$(share "$is_reported" "$directory/same")" "<= 5"
# The noise of a to d, and of the spans after 1 and 3. If it is as large as the change, no test can
# detect it in nine of ten cases.
while read -r which seeds noise what target; do
    repeat "${seeds}00001" 3 "$which" >"$directory/slower"
    name=$which
    [ "$what" = function ] || name="$which -> $((which + 1))"
    row "one $what 3 % slower, noise $noise %: found" \
        "$(share '$1 == "'"$name"'" && $3 == "slower"' "$directory/slower")" "$target"
    sed "s/^$name\t/changed\t/" "$directory/slower" >>"$directory/named"
done <<'LIST'
a 1 1 function >= 90
b 2 1.5 function >= 90
c 3 2 function
d 4 3 function
1 5 1 block >= 90
3 6 2 block
LIST
# $1 program in tests/programs, then its arguments
repeat_real() {
    local i j side
    rm -f "$directory"/base/* "$directory"/new/*
    for ((i = 0; i < repetitions; i++)); do
        for ((j = 0; j < runs; j++)); do
            for side in base new; do
                PROBITY_OVERWRITE=1 PROBITY_OUT=$directory/$side/run.$j \
                    "$build/tests/programs/$1" "${@:2}" >"$directory/printed"
            done
        done
        verdicts
    done
}

row "one function or block 3 % slower: false among the changes reported" \
    "$(share_of_false "$directory/named")" "<= 5"
[ "$repetitions" -ge 100 ] || exit 0
for program in "varied 0 5" "blocks"; do
    [ -x "$build/tests/programs/${program%% *}" ] ||
        make -s -C "$(dirname "$0")/.." BUILD="$build" "$build/tests/programs/${program%% *}" >&2
    # shellcheck disable=SC2086
    repeat_real $program >"$directory/real"
    row "real runs of ${program%% *}, $runs runs a side: comparisons with any false alarm" \
        "$(share "$is_reported" "$directory/real")" "<= 5"
done
