#!/usr/bin/env bash
# Sows each fault of tests/mutation/*.faults into a copy of the sources, and shows that the suite
# fails on it: first the tests that the fault names, then, with REST=1 (the default), all others of
# the gcc variant, the fastest first. ONLY: a regular expression of faults.
. "$(dirname "$0")/campaign.bash"
. "$SOURCE/tests/mutation/mutation.bash"
tree=$STATE/tree
build=$STATE/build

# Sources and build as they are without a fault. What is newer than the stamp a fault has changed.
prepare() {
    mutation_copy "$tree"
    rm -rf "$build"
    mkdir -p "$build"
    # The page needs packages of npm: made once is enough.
    cp -a "$BUILD/view" "$build/view"
    make -s -j2 -C "$tree" "BUILD=$build" "CC=$CC" "CXX=$CXX" all test-programs || return 1
    rm -rf "$STATE/base"
    mkdir "$STATE/base"
    cp -a "$tree" "$build" "$STATE/base"
}

restore() {
    local part file
    for part in tree build; do
        (cd "$STATE/$part" && find . -newer "$STATE/stamp" \( -type f -o -type l \) -print0) |
            while IFS= read -r -d '' file; do
                rm -f "$STATE/$part/$file"
                [ -e "$STATE/base/$part/$file" ] || continue
                mkdir -p "$(dirname "$STATE/$part/$file")"
                cp -a "$STATE/base/$part/$file" "$STATE/$part/$file"
            done
    done
}

# Every test without a fault, and how long it takes. $1 test
baseline() {
    local begun=$EPOCHREALTIME status=0
    mutation_build "$tree" "$build" "$1" || return 1
    mutation_ask "$tree" "$build" "$1" || status=$?
    [ $status = 0 ] || [ $status = 77 ] || return 1
    printf '%s %s %s\n' "$(((${EPOCHREALTIME/./} - ${begun/./}) / 1000))" $status "$1" \
        >> "$STATE/times"
}

all_tests() {
    local test
    for test in "$SOURCE"/tests/unit/test_*.c "$SOURCE"/tests/run/*.sh; do
        test=${test#"$SOURCE/tests/"}
        [ "$test" = run/bite.sh ] || echo "${test%.*}"
    done
}

# The tests that a fault meets, in order: those that pass without one. $1 those that it names
tests_for() {
    local test
    for test in $1; do
        [ ! -e "$STATE/baseline-${test//\//-}.done" ] || echo "$test"
    done
    [ "${REST:-1}" = 1 ] || return 0
    sort -n "$STATE/times" | awk '$2 == 0 { print $3 }' | grep -vxF -f <(echo "$1" | tr ' ' '\n')
}

# Seconds: far more than the test takes without a fault.
patience_for() {
    awk -v test="$1" '$3 == test { took = $1 / 1000 } END { print int(60 + 5 * took) }' \
        "$STATE/times"
}

# $1 name, $2 area, $3 tests
sow() {
    local test found=''
    restore
    touch -d '-1 second' "$STATE/stamp"
    "$FAULTS" apply "$1" "$tree" || return 1
    for test in $(tests_for "$3"); do
        if ! mutation_build "$tree" "$build" "$test"; then
            echo "the fault does not compile"
            return 1
        fi
        if ! PATIENCE=$(patience_for "$test") mutation_ask "$tree" "$build" "$test" \
            > "$STATE/ask.out" 2>&1; then
            found=$test
            break
        fi
    done
    tail -n 5 "$STATE/ask.out"
    printf '%s\t%s\t%s\n' "$1" "$2" "${found:-survived}" >> "$STATE/results"
    restore
    [ -n "$found" ]
}

for old in "$STATE"/fault-*.running; do rm -f "$old"; done
step prepare prepare || finish
[ -e "$STATE/stamp" ] || touch "$STATE/stamp"
faults=$("$FAULTS" list | awk -F '\t' -v only="${ONLY:-}" '$1 ~ only')
named_tests() {
    cut -f 3 <<< "$faults" | tr ' ' '\n' | sort -u
}
for test in $(if [ "${REST:-1}" = 1 ]; then all_tests; else named_tests; fi); do
    restore
    step "baseline-${test//\//-}" baseline "$test" || echo "$test fails without a fault" >&2
done
while IFS=$'\t' read -r name area tests _; do
    step "fault-$name" sow "$name" "$area" "$tests" || true
done <<< "$faults"

# The last verdict on each fault that there is counts.
verdicts() {
    awk -F '\t' 'NR == FNR { is_there[$1] = 1; next }
        $1 in is_there { area[$1] = $2; by[$1] = $3 }
        END { for (name in area) print name "\t" area[name] "\t" by[name] }' \
        <("$FAULTS" list) "$STATE/results" | sort
}
while read -r area; do
    row "$area" "all found" "$(verdicts | awk -F '\t' -v area="$area" '
        $2 == area { n++ }
        $2 == area && $3 != "survived" {
            found++
            if (by[$3]++ == 0) order[++tests] = $3
        }
        END {
            printf "%d of %d:", found, n
            for (i = 1; i <= tests; i++)
                printf "%s %s %d", i > 1 ? "," : "", order[i], by[order[i]]
        }')"
done < <(verdicts | cut -f 2 | sort -u)
row "faults in all, survivors" "≥ 50, 0" "$(verdicts | awk -F '\t' '
    { n++; survivors += $3 == "survived" } END { print n ", " survivors + 0 }')"
finish
