#!/usr/bin/env bash
# `probity attach` and `detach`: each trace has every hit between them, cycle after cycle; attaching
# to programs that do not support it fails with a reason, and does not affect them.
# variants: clang asan
# timeout: 900
. "$(dirname "$0")/../common.bash"
# shellcheck source=tests/live/attach.bash
. "$SOURCE/tests/live/attach.bash"

CYCLES=${CYCLES:-15}

# ---- Cycles under load ----

for program in $(forms_of counted); do
    start "$program" "$PROGRAMS/$program" 4
    for ((i = 1; i <= CYCLES; i++)); do
        says "cycle $i" 0 "$job: $WORK/$i.probity" attach -o $i.probity "$job"
        # Without records, there would be nothing to check.
        wait_until "$job" "$PROBITY" level "$job" > /dev/null
        says "cycle $i" 0 "$job: $WORK/$i.probity" detach "$job"
        is_whole $i.probity
        no_leftovers "cycle $i"
        rm $i.probity
    done
    says "twice" 0 "$WORK/counted" attach "$job"
    says "twice" 1 "already recording to '$WORK/counted" attach "$job"
    says "a session" 0 "" ps
    says "json" 0 "{\"pid\": $job, \"trace\": \"$WORK/counted" detach --json "$job"
    says "not recording" 1 "is not recording" detach "$job"
    says "budget" 0 "budget" attach --budget 5% -o budget.probity "$job"
    says "budget" 0 "budget" detach "$job"
    says "options" 0 "profile.probity" attach --profile --level 2 --label night \
        -o "$WORK/profile.probity" "$job"
    expect "options" '["profile","night"]' \
        "$("$PROBITY" ps --json | jq -c '.processes[0] | [.mode, .label]')"
    says "options" 0 "" detach "$job"
    says "ring" 0 "ring" attach --mode ring -o ring.probity "$job"
    says "ring" 0 "ring" detach "$job"
    says "a wrong option" 2 "invalid --budget 'nothing' (a percentage" \
        attach --budget nothing "$job"
    for level in 9 12 '3,' '3,9' '3,1x' ''; do
        says "a wrong level" 2 "invalid --level '$level' (0 to 5" attach --level "$level" "$job"
    done
    says "no directory" 1 "cannot be created" attach -o /nothing/here.probity "$job"
    says "after refusals" 0 "after" attach -o after.probity "$job"
    # The recording ends with the program.
    stop "$program"
    is_whole after.probity
    rm -f ./*.probity
done

# A recording that the program started can be ended, and another one started.
start began env PROBITY_OUT="$WORK/began.probity" "$PROGRAMS/counted" 2
says "began" 0 "began.probity" detach "$job"
is_whole began.probity
says "began again" 0 "again.probity" attach -o again.probity "$job"
stop began
is_whole again.probity

# ---- Programs that cannot be attached to ----

says "no process" 1 "no process 4194304" detach 4194304
says "no operand" 2 "expected a process id" attach
says "a trace" 2 "expected a process id" attach again.probity
says "CSV" 2 "is a trace" attach -o x.csv 1
says "no process" 1 "no process 2147483646" attach 2147483646
start plain sh -c 'echo ready; read -r line; true'
says "no library" 1 "does not have the Probity library" attach "$job"
stop plain

# The program hits no probe while the tool waits: the request is withdrawn, and the next probe
# records nothing.
start idle "$PROGRAMS/waiting"
says "idle" 1 "hit no probe in time" attach --wait 50ms "$job"
says "idle" 1 "is not recording" detach "$job"
# The tool sleeps longer each time: it looks at most 500 times in 4 seconds, instead of 8,000.
python3 - "$PROBITY" "$job" 2> errors << 'end' || fail "idle: $(cat errors)"
import resource, subprocess, sys
subprocess.run([sys.argv[1], "attach", "--wait", "4s", sys.argv[2]], stderr=subprocess.DEVNULL)
sleeps = resource.getrusage(resource.RUSAGE_CHILDREN).ru_nvcsw
sys.exit(f"slept {sleeps} times" if sleeps > 500 else 0)
end
echo >&"$gate"
stop idle
expect "idle: no trace" "again.probity began.probity" "$(echo *.probity)"

# A stopped program cannot reply, with or without a control page. The request is withdrawn.
for control in 0 1; do
    start stopped env PROBITY_CONTROL=$control "$PROGRAMS/counted.shared" 1
    stop_process "$job"
    says "stopped" 1 "is stopped, by a signal or a debugger" attach --wait 50ms "$job"
    kill -CONT "$job"
    says "continued" 0 "stopped.probity" attach -o stopped.probity "$job"
    says "continued" 0 "stopped.probity" detach "$job"
    stop stopped
    rm stopped.probity
done

# A thread is held in a slow path until the last recording has ended without it. The next recording
# begins once the thread has left. Not with a sanitizer, as in restarted.sh.
case ${VARIANT:-gcc} in
    gcc | clang)
        start late env PROBITY_CONTROL=1 PROBITY_CLOCK=monotonic "$PROGRAMS/late_thread" attached
        says "late" 1 "cannot record yet" attach --wait 1s -o late.probity "$job"
        "$PROBITY" attach --wait 600s -o late.probity "$job" > output 2> errors &
        tool=$!
        echo >&"$gate"
        wait "$tool" || fail "late: status $?: $(cat errors)"
        stop late
        "$PROBITY" check late.probity > output 2>&1 || fail "late: $(tail -n 1 output)"
        rm -f first late.probity
        ;;
esac

# A tool that is terminated withdraws its request.
start ended "$PROGRAMS/waiting"
"$PROBITY" attach --wait 600s -o ended.probity "$job" > output 2> errors &
tool=$!
victim=$job
reads_memory() { readlink "/proc/$tool/fd/"* 2> /dev/null | grep -q "/proc/$victim/mem"; }
wait_until "$tool" reads_memory || fail "ended: $(cat errors)"
kill -TERM "$tool"
status=0
wait "$tool" || status=$?
expect "ended: status" 143 "$status"
echo >&"$gate"
stop ended
expect "ended: no trace" "again.probity began.probity" "$(echo *.probity)"

# The program's file was removed, as in an upgrade.
cp "$PROGRAMS/counted" upgraded
start upgraded ./upgraded 1
rm upgraded
says "removed" 0 "removed.probity" attach -o removed.probity "$job"
says "removed" 0 "removed.probity" detach "$job"
stop upgraded

# A level holds for one recording, and takes precedence over calls.
start levels "$PROGRAMS/counted" 1
for level in 1 "" 2 3; do
    says "level '$level'" 0 "level" attach ${level:+--level "$level"} -o level.probity "$job"
    wait_until "$job" "$PROBITY" level "$job" > /dev/null
    expect "level '$level'" "$job: levels ${level:-5}, 5" "$("$PROBITY" level "$job")"
    [ "$level" != 2 ] || says "a call" 0 "4" level "$job" 4
    says "level '$level'" 0 "level" detach "$job"
    rm level.probity
done
stop levels

# A program that records to a spool that the tool cannot find is left unchanged.
mkdir -m 700 elsewhere
start elsewhere env PROBITY_SPOOL_DIR="$WORK/elsewhere" PROBITY_OUT="$WORK/elsewhere.probity" \
    PROBITY_LEVEL=2 "$PROGRAMS/counted" 1
says "elsewhere" 1 "to a spool in another directory" attach -o other.probity "$job"
stop elsewhere
is_whole elsewhere.probity
rm removed.probity elsewhere.probity

# Killed while a request waits.
start killed "$PROGRAMS/waiting"
"$PROBITY" attach --wait 600s "$job" > output 2> errors &
tool=$!
victim=$job
wait_until "$tool" reads_memory || fail "killed: $(cat errors)"
kill -KILL "$job"
status=0
wait "$tool" || status=$?
expect "killed: status" 1 "$status"
grep -q "ended before it replied" errors || fail "killed: $(cat errors)"
exec {gate}>&-
wait "$job" 2> /dev/null || true

# Other versions: in the note of the file, and in the block.
for bytes in 'Probity\0' PBWAKE01; do
    python3 - "$PROGRAMS/counted" other "$bytes" << 'PATCH'
import sys
program, bytes_ = open(sys.argv[1], "rb").read(), sys.argv[3].replace("\\0", "\0").encode()
old = (b"\x08\0\0\0\x08\0\0\0\x02\0\0\0" if b"\0" in bytes_ else b"") + bytes_ + b"\x02\0\0\0"
assert program.count(old) == 1, program.count(old)
open(sys.argv[2], "wb").write(program.replace(old, old[:-4] + b"\x03\0\0\0"))
PATCH
    chmod +x other
    start other ./other 1
    says "$bytes" 1 "another version" attach "$job"
    stop other
done

if [ "$(id -u)" = 0 ] && command -v setpriv > /dev/null; then
    start foreign setpriv --reuid=65534 --clear-groups sh -c 'echo ready; read -r line; true'
    says "another user" 1 "belongs to another user" attach "$job"
    stop foreign
    # That user gets no information about a program of this one, either.
    start "$program" "$PROGRAMS/$program" 1
    says "mine" 0 "mine.probity" attach -o mine.probity "$job"
    for command in attach detach level snapshot top; do
        status=0
        setpriv --reuid=65534 --clear-groups "$PROBITY" "$command" "$job" > output 2> errors ||
            status=$?
        expect "their $command: status" 1 "$status"
        grep -qF "process $job belongs to another user; run \`probity $command\` as" errors ||
            fail "their $command: $(cat errors)"
    done
    says "mine" 0 "mine.probity" detach "$job"
    stop "$program"
fi
no_leftovers "at the end"
finish
