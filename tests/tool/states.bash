# For tests that record thread states. shellcheck shell=bash
# Ends the test if this machine does not permit it. Sets with_tracefs: the prefix for a command that
# also records wakers, which needs a tracefs; the tool does not mount one.
# shellcheck disable=SC2034 # used by what sources this
with_tracefs=()
"$PROBITY" record --sched -o probe -- "$BUILD/examples/hello" > /dev/null 2> errors
if grep -q 'thread states are not recorded' errors || [ ! -e probe.sched ]; then
    echo "left out: $(cat errors)"
    finish
    exit
fi
if [ -r /sys/kernel/tracing/events/sched/sched_waking/id ]; then
    with_tracefs=(env)
elif [ "$(id -u)" = 0 ] &&
    unshare -m sh -c 'mount -t tracefs none /sys/kernel/tracing' 2> /dev/null; then
    with_tracefs=(unshare -m sh -c 'mount -t tracefs none /sys/kernel/tracing && exec "$@"' sh)
fi
# The prefix for a command that must not find a tracefs, if the machine has one.
# shellcheck disable=SC2034
without_tracefs=()
if [ -e /sys/kernel/tracing/events ] || [ -e /sys/kernel/debug/tracing/events ]; then
    without_tracefs=(unshare -m sh -c 'mount -t tmpfs none /sys/kernel/tracing
        [ ! -e /sys/kernel/debug/tracing ] || mount -t tmpfs none /sys/kernel/debug
        exec "$@"' sh)
fi
