#!/usr/bin/env bash
# Opening a device has effects: a watchdog starts, a tape rewinds. Other users can create a link to
# one under the name of a trace, or of a file next to a trace. The tool examines a file before it
# opens it. Here a pipe is used in place of a device; the kernel reports each time it is opened.
. "$(dirname "$0")/../common.bash"

# Runs a command and prints how often it opened the pipe.
cat > watched.py << 'END'
import ctypes, os, struct, subprocess, sys

IN_OPEN, IN_NONBLOCK = 0x20, os.O_NONBLOCK
libc = ctypes.CDLL(None, use_errno=True)
watch = libc.inotify_init1(IN_NONBLOCK)
if libc.inotify_add_watch(watch, b"pipe", IN_OPEN) < 0:
    sys.exit("inotify: " + os.strerror(ctypes.get_errno()))
# A command that opens the pipe may wait for its other end to be opened.
try:
    status = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=open("output", "w"),
                            stderr=open("errors", "w"), timeout=60).returncode
except subprocess.TimeoutExpired:
    status = "timeout"
try:
    events = os.read(watch, 65536)
except BlockingIOError:
    events = b""
print(len(events) // struct.calcsize("iIII"), "times, status", status)
END

# $1 expected number of times and status, then the command
opened() {
    local expected=$1
    shift
    expect "pipe opened by ${*##*/}" "$expected" "$(python3 watched.py "$@" 2>&1)"
}

mkfifo pipe
ln -s pipe link.probity
expect "the kernel reports opening the pipe" "1 times, status 0" \
    "$(python3 watched.py sh -c ': <> pipe')"
for command in info check log csv report tree list timeline blocks threads waits model view \
    recover drain index; do
    for trace in link.probity pipe; do
        opened "0 times, status 1" "$PROBITY" "$command" "$trace"
        grep -q "$trace" errors || fail "$command $trace: $(cat errors)"
    done
done
PROBITY_OUT=$WORK/good.probity "$BUILD/examples/hello" > output
for suffix in index sched; do
    ln -s pipe "good.probity.$suffix"
done
opened "0 times, status 0" "$PROBITY" report --from 0s good.probity
opened "0 times, status 0" "$PROBITY" waits good.probity
opened "0 times, status 126" "$PROBITY" record ./pipe

# A history, and one that is named on the command line.
mkdir project
"$PROBITY" runs init --project project > output || fail "runs init: status $?"
history=$(find project -type f)
rm "$history"
ln -s "$WORK/pipe" "$history"
opened "0 times, status 1" "$PROBITY" runs list --project project
finish
