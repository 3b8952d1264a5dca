#!/usr/bin/env bash
# Applies each mutant in tests/mutation/*.mutants to a copy of the sources, and shows that the suite
# fails: first the tests that the mutant names, then, with REST=1 (the default), all others of the
# gcc variant, fastest first. A test that also fails without the mutant does not count. Mutants run
# again if the product or the mutants have changed; if tests have changed, only those that survived
# run again. ONLY: a regular expression for mutants.
. "$(dirname "$0")/campaign.bash"
. "$SOURCE/tests/mutation/mutation.bash"
tree=$STATE/tree
build=$STATE/build
planted=none

# Sources and a build without mutants. Files newer than the stamp were changed by a mutant.
prepare() {
    mutation_copy "$tree"
    rm -rf "$build" "$STATE/base"
    mutation_copy_build "$BUILD" "$build"
    make -s -j2 -C "$tree" "BUILD=$build" "CC=$CC" "CXX=$CXX" all test-programs || return 1
    mkdir "$STATE/base"
    cp -a "$tree" "$build" "$STATE/base"
    touch "$STATE/stamp"
}

# Discards results for another state of the sources.
prepare_again() {
    local product tests
    product=$(cd "$SOURCE" && find Makefile examples include src view -type f -print0 | sort -z |
        xargs -0 sha1sum | sha1sum)
    tests=$(cd "$SOURCE" && find bench tests tools -type f -print0 | sort -z | xargs -0 sha1sum |
        sha1sum)
    if [ "$product" != "$(cat "$STATE/product" 2> /dev/null)" ]; then
        rm -rf "$STATE"/mutant-* "$STATE/results" "$STATE/prepare.done" "$tree"
        touch "$STATE/results"
    fi
    [ "$tests" = "$(cat "$STATE/tests" 2> /dev/null)" ] || rm -f "$STATE/prepare.done"
    step prepare prepare || return 1
    echo "$product" > "$STATE/product"
    echo "$tests" > "$STATE/tests"
}

restore() {
    local part file
    [ "$planted" != '' ] || return 0
    for part in tree build; do
        (cd "$STATE/$part" && find . -newer "$STATE/stamp" \( -type f -o -type l \) -print0) |
            while IFS= read -r -d '' file; do
                rm -f "$STATE/$part/$file"
                [ -e "$STATE/base/$part/$file" ] || continue
                mkdir -p "$(dirname "$STATE/$part/$file")"
                cp -a "$STATE/base/$part/$file" "$STATE/$part/$file"
            done
    done
    planted=''
}

# $1 mutant
plant() {
    [ "$planted" != "$1" ] || return 0
    restore
    "$MUTANTS" apply "$1" "$tree" || return 1
    planted=$1
}

source_of() {
    find "$SOURCE/tests" -path "$SOURCE/tests/$1.*"
}

digest_of() {
    sha1sum < "$(source_of "$1")" | cut -c 1-16
}

# Prints a test's status and time in milliseconds, without mutants and in its current form. $1 test
took() {
    awk -v test="$1" -v digest="$(digest_of "$1")" '
        $3 == test && $4 == digest { last = $1 " " $2 }
        END { if (last != "") print last }' "$STATE/times"
}

# Runs a test without mutants, unless the result is known. Fails if the test does. $1 test
baseline() {
    local begun=$EPOCHREALTIME status=0
    if [ -z "$(took "$1")" ]; then
        restore
        mutation_build "$tree" "$build" "$1" || return 1
        begun=$EPOCHREALTIME
        PATIENCE=900 mutation_ask "$tree" "$build" "$1" > "$STATE/baseline.out" 2>&1 || status=$?
        [ $status = 0 ] || cp "$STATE/baseline.out" "$STATE/baseline-${1//\//-}.failed"
        printf '%s %s %s %s\n' "$(((${EPOCHREALTIME/./} - ${begun/./}) / 1000))" $status "$1" \
            "$(digest_of "$1")" >> "$STATE/times"
    fi
    [ "$(took "$1" | cut -d ' ' -f 2)" = 0 ]
}

all_tests() {
    local test
    for test in "$SOURCE"/tests/unit/test_*.c $("$SOURCE/tools/test_scripts.sh"); do
        test=${test#"$SOURCE/tests/"} test=${test#tests/}
        [ "$test" = mutation/mutation.sh ] || echo "${test%.*}"
    done
}

# Prints the tests to run on a mutant, in order. $1 the tests that the mutant names
tests_for() {
    local test
    tr ' ' '\n' <<< "$1"
    [ "${REST:-1}" = 1 ] || return 0
    for test in $(all_tests | grep -vxF -f <(tr ' ' '\n' <<< "$1")); do
        echo "$(took "$test" | cut -d ' ' -f 1 | grep . || echo 999999) $test"
    done | sort -n | cut -d ' ' -f 2
}

# Prints a time limit in seconds: much more than the test takes without mutants.
patience_for() {
    echo $((60 + $(took "$1" | cut -d ' ' -f 1) * 5 / 1000))
}

# Prints a failed test's message on one line.
said() {
    { grep -a -m 1 -E '^FAILED|ERROR' "$1" || tail -n 1 "$1"; } | tr -s '\t ' ' ' |
        tr -cd '\40-\176' | cut -c 1-200
}

# $1 name, $2 area, $3 tests, $4 digest
apply_mutant() {
    local test status found='' begun=$SECONDS
    for test in $(tests_for "$3"); do
        baseline "$test" || { echo "$test fails without a mutant" && continue; }
        plant "$1" || return 1
        if ! mutation_build "$tree" "$build" "$test" 2>&1; then
            echo "the mutant does not compile"
            return 1
        fi
        status=0
        STOP_AT_FIRST=1 PATIENCE=$(patience_for "$test") mutation_ask "$tree" "$build" "$test" \
            > "$STATE/ask.out" 2>&1 || status=$?
        echo "$test: status $status: $(said "$STATE/ask.out")"
        tail -n 30 "$STATE/ask.out"
        if [ $status -ne 0 ] && [ $status -ne 77 ]; then
            found=$test
            break
        fi
    done
    printf '%s\t%s\t%s\t%s\t%s\n' "$1" "$4" "${found:-survived}" $((SECONDS - begun)) \
        "$([ -z "$found" ] || echo "status $status: $(said "$STATE/ask.out")")" >> "$STATE/results"
    [ -n "$found" ]
}

for old in "$STATE"/mutant-*.running; do rm -f "$old"; done
touch "$STATE/times" "$STATE/results"
prepare_again || finish
mutants=$("$MUTANTS" list "$SOURCE" | awk -F '\t' -v only="${ONLY:-}" '$1 ~ only')
# Starts with mutants that a fast test detects.
while IFS=$'\t' read -r name area tests _ _ digest; do
    step "mutant-$name-$digest" apply_mutant "$name" "$area" "$tests" "$digest" || true
done < <(awk -F '\t' '{ print ($3 !~ /^unit/) "\t" $0 }' <<< "$mutants" | sort -s -k 1,1 |
    cut -f 2-)

# Prints lines "AREA <tab> TEST": the last verdict on each mutant in its current form, or "not
# asked".
verdicts() {
    awk -F '\t' 'FILENAME == ARGV[1] { by[$1 " " $2] = $3; next }
        { print $2 "\t" ($1 " " $6 in by ? by[$1 " " $6] : "not asked") }' \
        "$STATE/results" <("$MUTANTS" list "$SOURCE")
}
while read -r area; do
    row "$area" "all found" "$(verdicts | awk -F '\t' -v area="$area" '
        $1 != area { next }
        { n++ }
        $2 != "survived" && $2 != "not asked" {
            found++
            if (by[$2]++ == 0) order[++tests] = $2
        }
        END {
            printf "%d of %d:", found, n
            for (i = 1; i <= tests; i++)
                printf "%s %s %d", (i > 1 ? "," : ""), order[i], by[order[i]]
        }')"
done < <(verdicts | cut -f 1 | sort -u)
row "mutants, surviving, not run" "≥ 50, 0, 0" "$(verdicts | awk -F '\t' '
    { n++; survivors += $2 == "survived"; not_asked += $2 == "not asked" }
    END { print n - not_asked ", " survivors + 0 ", " not_asked + 0 }')"
finish
