#!/usr/bin/env bash
# Runs one test of tools/test.sh: $1 is "NAME <tab> SECONDS <tab> COMMAND". Its output goes to
# LOGS/NAME.log; a line "pass|fail|skip PASSED FAILED NAME SECONDS CPU_SECONDS" is added to RESULTS,
# with the time that it took. A cmocka program counts as many tests as it contains. A test that
# leaves a process running fails, and the process is killed. Always exits with 0: the caller counts
# failures.
#
#   LEFT_SECONDS  how long processes may take to end after their test; 60 if not set
set -u
IFS=$'\t' read -r name seconds command <<< "$1"
log=$LOGS/$name.log
mkdir -p "$(dirname "$log")"
# What scripts compile is rarely in a cache, which would preprocess it to compute its key: with
# clang and Probity's macros, preprocessing takes twice as long as compiling.
[[ $name == */build ]] || export CCACHE_DISABLE=1

# Marks all processes that the test starts, in their environment. A process may have left the test's
# group, session and parent, as with a nested timeout, setsid or Wine, but it keeps its first
# environment. A test that is run by another one has the marks of both.
mark=${TEST_MARK:-}/$name:$$/

# Ids of the test's processes. A zombie has no environment, but a thread that survives the main
# thread has one.
running() {
    grep -lsaF "TEST_MARK=$mark" /proc/[0-9]*/task/[0-9]*/environ | cut -d / -f 3 | sort -u
}

# Prints the processes that the test left running, and kills them and those that they start
# meanwhile. A process that was killed, or whose input has ended, may take a moment to end. $1
# seconds to wait
end_leftovers() {
    local end=$((SECONDS + $1)) pids pid turn
    pids=$(running)
    while [ -n "$pids" ] && [ "$SECONDS" -lt "$end" ]; do
        sleep 0.1
        pids=$(running)
    done
    for pid in $pids; do
        echo "left running: $pid $(tr '\0' ' ' 2> /dev/null < "/proc/$pid/cmdline" | cut -c 1-200)"
    done
    # A process that cannot end because of the kernel is not waited for.
    for ((turn = 0; turn < 100; turn++)); do
        [ -n "$pids" ] || break
        # shellcheck disable=SC2086 # ids
        kill -s KILL $pids 2> /dev/null
        sleep 0.1
        pids=$(running)
    done
}

TIMEFORMAT='%1R %1U %1S'
times=$({ time TEST_MARK=$mark timeout -k 10 "$seconds" \
    bash -c "$command" > "$log" 2>&1 < /dev/null; } 2>&1)
status=$?
case $status in
    124 | 137) left=$(end_leftovers 0) ;;
    *) left=$(end_leftovers "${LEFT_SECONDS:-60}") ;;
esac
if [ -n "$left" ]; then
    printf '%s\n' "$left" >> "$log"
    case $status in 0 | 77) status=1 ;; esac
fi

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

# One write for each, so that tests that end at the same time do not mix their lines.
report=$(printf '%s  %-44s %3d  %6s s' "$verdict" "$name" "$((passed + failed))" "$took")
if [ "$verdict" = fail ]; then
    report+=$(printf '\n      exit status %d; the end of %s:\n' "$status" "$log"
        tail -n 25 "$log" | cut -c 1-300 | sed 's/^/      | /')
elif [ "$verdict" = skip ]; then
    report+="  $(tail -n 1 "$log")"
fi
printf '%s\n' "$report"
printf '%s %d %d %s %s %s\n' "$verdict" "$passed" "$failed" "$name" "$took" "$cpu" >> "$RESULTS"
