#!/usr/bin/env bash
# tools/test_one.sh ends the processes that a test leaves running, whatever their process group,
# session and parent, and reports them as a failure of the test.
# variants: gcc
set -u
TEST_ONE=$(cd "$(dirname "$0")/../.." && pwd)/tools/test_one.sh
work=$(mktemp -d)
trap '[[ $BASHPID != $$ ]] || rm -rf "$work"' EXIT
# shellcheck source=tests/counted.bash
. "$(dirname "$0")/../counted.bash"
export LOGS=$work/logs RESULTS=$work/results

# Runs one test; sets result to its line in RESULTS without the times. $1 time limit in seconds, $2
# seconds in which processes may end, $3 command
run() {
    rm -f "$work/pid" "$RESULTS"
    LEFT_SECONDS=$2 "$TEST_ONE" "a/test.sh"$'\t'"$1"$'\t'"$3" > "$work/report"
    result=$(cut -d ' ' -f 1-4 "$RESULTS")
}

# Returns whether the process whose id is in "pid" has ended. A zombie has no command line.
has_ended() {
    [ -z "$(tr '\0' ' ' 2> /dev/null < "/proc/$(cat "$work/pid")/cmdline")" ] && echo yes
}

# A command that writes its id, for which the test waits, and runs until it is killed.
cat > "$work/linger" << 'end'
echo $$ > "$WORK/pid.part"
mv "$WORK/pid.part" "$WORK/pid"
exec sleep 1000
end
linger="bash $work/linger"
wait_for="until [ -e $work/pid ]; do sleep 0.01; done"
export WORK=$work

run 60 0 true
check "nothing left" "pass 1 0 a/test.sh" "$result"
run 60 60 "sleep 0.3 & exit 77"
check "ends after the test" "skip 0 0 a/test.sh" "$result"

for how in env setsid "setsid -f" "timeout 900"; do
    run 60 0 "$how $linger & $wait_for"
    check "left running, $how" "fail 0 1 a/test.sh" "$result"
    check "left running, $how: named" yes \
        "$(grep -q "left running: $(cat "$work/pid") sleep 1000" "$work/report" && echo yes)"
    check "left running, $how: ended" yes "$(has_ended)"
done

# A nested timeout has its own process group, to which the signal at the end of the test's time is
# not sent.
run 1 60 "timeout 900 $linger & $wait_for; wait"
check "at the limit" "fail 0 1 a/test.sh" "$result"
check "at the limit: reported" yes "$(grep -q 'ended after 1 s' "$work/report" && echo yes)"
check "at the limit: ended" yes "$(has_ended)"

# If the tests of a test leave processes running, that is their failure; if those tests are killed,
# it is the failure of the outer test.
printf 'b/test.sh\t60\t%s & %s; [ -z "${FOREVER:-}" ] || sleep 1000\n' "setsid $linger" \
    "$wait_for" > "$work/job"
inner="mkdir $work/inner; LOGS=$work/inner RESULTS=$work/inner/results \
    $TEST_ONE \"\$(cat $work/job)\""
run 60 0 "$inner"
check "a test of tests" "pass 1 0 a/test.sh" "$result"
check "a test of tests: its test" "fail 0 1 b/test.sh" "$(cut -d ' ' -f 1-4 "$work/inner/results")"
check "a test of tests: ended" yes "$(has_ended)"
rm -r "$work/inner"
run 60 0 "export FOREVER=yes; ($inner) & $wait_for"
check "a test of tests, ended early" "fail 0 1 a/test.sh" "$result"
check "a test of tests, ended early: ended" yes "$(has_ended)"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
