#!/usr/bin/env bash
# A program killed before its spool has a name has recorded nothing: its trace is complete and can
# be closed. While the program is alive, no other process closes its trace; and a truncated copy is
# not mistaken for such a trace.
. "$(dirname "$0")/../common.bash"

if ! has_unnamed_files; then
    echo "needs a file system with unnamed files"
    exit 77
fi
state_of() {
    "$PROBITY" info --json "$1" 2> /dev/null | jq -r '.[0].state'
}

# Sets the time of a trace's last change to the start of its recording plus $2 ms. The limit between
# a slow start and a later change is 100 ms.
set_changed() {
    "$PROBITY" info --json "$1" 2> /dev/null | python3 -c 'import json, os, sys
started = json.load(sys.stdin)[0]["times"]["started_ns"]
changed = started + int(sys.argv[2]) * 1000000
os.utime(sys.argv[1], ns=(changed, changed))' "$1" "$2"
}

# Runs `recover` while another process holds the lock of the program that records this trace.
recover_locked() {
    python3 - "$PROBITY" "$1" << 'END'
import fcntl, struct, subprocess, sys
file = open(sys.argv[2], "r+")
fcntl.fcntl(file, 37, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 1, 0))  # F_OFD_SETLK
sys.exit(subprocess.run([sys.argv[1], "recover", sys.argv[2]]).returncode)
END
}

for program in ends ends.shared; do
    fresh
    PROBITY_OUT=$WORK/trace LD_PRELOAD=$PROGRAMS/plugin_kill_at_link.so \
        "$PROGRAMS/$program" exit > expected 2> errors || true
    no_leftovers "$program"
    # On a busy machine and in an emulator, a start often takes longer than the limit.
    set_changed trace 100
    expect "$program: state after a slow start" unfinished "$(state_of trace)"
    set_changed trace 99
    [ ! -s expected ] || fail "$program: was not killed"
    expect "$program: state" killed "$(state_of trace)"
    "$PROBITY" check trace > out 2>&1 || fail "$program: check: $(cat out)"

    # While another process holds the program's lock.
    cp -p trace held
    status=0
    recover_locked held > out 2>&1 || status=$?
    expect "$program: recover, held: status" 1 "$status"
    grep -q 'still being recorded' out || fail "$program: recover, held: $(cat out)"
    cmp trace held || fail "$program: recover, held: the trace has changed"

    "$PROBITY" recover trace > out 2>&1 || fail "$program: recover: $(cat out)"
    expect "$program: state then" closed "$(state_of trace)"
    expect "$program: hits" 0 "$("$PROBITY" csv trace | wc -l)"
    "$PROBITY" check trace > out 2>&1 || fail "$program: check afterwards: $(cat out)"

    # A program closes its trace before it releases the lock. A trace with this time of the last
    # change may be that of a starting program.
    touch -r held trace
    recover_locked trace > out 2>&1 || fail "$program: recover, closed: status $?"
    expect "$program: recover, closed" 'trace: already closed' "$(cat out)"
    expect "$program: state, closed" closed "$(state_of trace)"

    # Killed even before the first block.
    : > empty
    for command in check recover csv; do
        status=0
        "$PROBITY" $command empty > out 2>&1 || status=$?
        expect "$program: $command, empty: status" 1 "$status"
        grep -q "^probity $command: 'empty' is empty: its program was killed before" out ||
            fail "$program: $command, empty: $(cat out)"
    done

    # A trace that was later truncated to that size, or a copy of one.
    cp held copy
    touch -d '+2 seconds' copy
    expect "$program: state of a copy" unfinished "$(state_of copy)"
    status=0
    "$PROBITY" recover copy > out 2>&1 || status=$?
    expect "$program: recover, a copy: status" 3 "$status"
    cmp held copy || fail "$program: recover, a copy: the trace has changed"
done
finish
