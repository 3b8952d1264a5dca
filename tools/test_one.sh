#!/usr/bin/env bash
# Runs one test of tools/test.sh: $1 is "NAME <tab> SECONDS <tab> COMMAND". Its output goes to
# LOGS/NAME.log; a line "pass|fail|skip PASSED FAILED NAME SECONDS CPU_SECONDS" is added to RESULTS,
# with the time that it took. A cmocka program counts as many tests as it contains. Always exits
# with 0: the caller counts.
set -u
IFS=$'\t' read -r name seconds command <<< "$1"
log=$LOGS/$name.log
mkdir -p "$(dirname "$log")"
# What scripts compile is hardly ever in a cache, which would preprocess it for its key: with clang
# and our macros, that takes twice as long as to compile it.
[[ $name == */build ]] || export CCACHE_DISABLE=1

TIMEFORMAT='%1R %1U %1S'
times=$({ time timeout -k 10 "$seconds" bash -c "$command" > "$log" 2>&1 < /dev/null; } 2>&1)
status=$?

read -r took user system <<< "$times"
cpu=$(awk "BEGIN { print $user + $system }")
passed=$(grep -c '^\[       OK \]' "$log")
failed=$(grep '^\[  FAILED  \] [a-z_0-9]*$' "$log" | sort -u | wc -l)
# A script may report its own counts: "N passed, N failed" in its last line.
if [[ $(tail -n 1 "$log") =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
    passed=${BASH_REMATCH[1]}
    failed=${BASH_REMATCH[2]}
fi
verdict=pass
case $status in
    0)
        [ "$failed" -eq 0 ] || verdict=fail
        [ "$((passed + failed))" -gt 0 ] || passed=1
        ;;
    77) verdict=skip; passed=0; failed=0 ;;
    *) verdict=fail; [ "$failed" -gt 0 ] || failed=1 ;;
esac
case $status in
    124 | 137) echo "(ended after $seconds s)" >> "$log" ;;
esac

# One write each, so that tests that end together do not mix their lines.
report=$(printf '%s  %-44s %3d  %6s s' "$verdict" "$name" "$((passed + failed))" "$took")
if [ "$verdict" = fail ]; then
    report+=$(printf '\n      exit status %d; the end of %s:\n' "$status" "$log"
        tail -n 25 "$log" | cut -c 1-300 | sed 's/^/      | /')
elif [ "$verdict" = skip ]; then
    report+="  $(tail -n 1 "$log")"
fi
printf '%s\n' "$report"
printf '%s %d %d %s %s %s\n' "$verdict" "$passed" "$failed" "$name" "$took" "$cpu" >> "$RESULTS"
