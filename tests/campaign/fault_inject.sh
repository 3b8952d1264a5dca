#!/usr/bin/env bash
# Makes every system call and every allocation of traced programs and of the tool fail, once and
# from then on; four kinds of full disks; paths and machines that change during recording.
#
#   STRIDE        distance between the calls to try (default 1: all)
#   ALLOCATIONS   how many allocations of a command to try, evenly spread (default 60)
. "$(dirname "$0")/campaign.bash"
. "$SOURCE/tests/faults/fault_inject.bash"
. "$SOURCE/tests/faults/filesystem_cases.bash"
STRIDE=${STRIDE:-1}

# Runs a step that adds its injected failures to a total, and is complete only if it found no error.
# $1 step, $2 name of the total, the rest: the sweep
sweep() {
    local name=$1 total=$2
    shift 2
    step "$name" counted "$total" "$@" || true
    echo "  $name: $(tail -n 1 "$STATE/$name.out" 2> /dev/null)"
}

counted() {
    local total=$1 failures_before=$failures refusals_before=$refusals
    shift
    "$@"
    [ "$failures" = "$failures_before" ] || return 1
    count "$total" $((refusals - refusals_before))
    echo "$((refusals - refusals_before)) refusals"
}

tool_sweeps() {
    local stride=$1
    shift
    while read -r command; do
        sweep_tool "$command" "$stride" "$@" < /dev/null
    done <<< "$(commands)"
}

# $1 "" or ":ever"
memory_sweeps() {
    while read -r command; do
        sweep_memory "$command" $(($(allocations_of "$command") / ${ALLOCATIONS:-60} + 1)) "$1" \
            < /dev/null
    done <<< "$(commands)"
}

verdict() {
    if [ "$failures" = 0 ]; then echo "all passed"; else echo "$failures failed"; fi
}

# ---- Programs ----

ways="hits many scopes typed profile control ring child csv log summary"
for program in refused refused.shared; do
    for way in $ways; do
        sweep "$program-$way-once" once sweep_program $program "$way" 300 "$STRIDE"
        # A file that cannot be removed stays.
        sweep "$program-$way-ever" ever sweep_program $program "$way" 300 "$STRIDE" -a -x unlink
    done
done
for errors in "EIO" "EPERM" "ENOMEM" "EAGAIN" "EACCES -k open,write,read,rights" \
    "EMFILE -a -k open" "ENOSPC -a -k write -x unlink" "EDQUOT -a -k write -x unlink" \
    "EPERM -a -k rights" "ENOSYS -a -k rights" "EAGAIN -a -k thread"; do
    # shellcheck disable=SC2086
    sweep "errors-${errors//[ ,]/_}" errors sweep_program refused hits 300 "$STRIDE" -e $errors
done
for way in $ways; do
    ALL=yes sweep "links-$way" survived sweep_program refused "$way" 300 1 -e EPERM -a -k linkat
done
interrupted=pread64,pwrite64,fallocate,ftruncate
for way in hits child csv; do
    ALL=yes sweep "short-$way-once" survived sweep_program refused $way 300 1 -e short
    ALL=yes sweep "short-$way-ever" survived sweep_program refused $way 300 1 -e short -a
    ALL=yes sweep "interrupted-$way" survived \
        sweep_program refused $way 300 1 -e EINTR -k $interrupted
done
row "System calls failed in traced programs (11 ways of recording, static and shared), once" \
    "output, errno, descriptors, signals as without recording; hits found, counted or reported" \
    "$(total_of once) failures, $(verdict)"
row "The same, and all calls from then on" "the same" "$(total_of ever) failures, $(verdict)"
row "The same with other errors" "the same" "$(total_of errors) failures, $(verdict)"
row "Writes cut short, once and all; calls interrupted; links forbidden" "nothing lost" \
    "$(total_of survived), $(verdict)"

# ---- The tool ----

make_inputs
sweep tool-once tool tool_sweeps "$STRIDE"
sweep tool-ever tool tool_sweeps "$STRIDE" -a -x unlink,unlinkat,mmap,mremap,brk
sweep tool-EIO tool tool_sweeps "$STRIDE" -e EIO -x mmap,mremap,brk
sweep tool-directory tool directory_in_two_steps
ALL=yes sweep tool-short tool_short tool_sweeps 1 -e short
ALL=yes sweep tool-all-short tool_short tool_sweeps 1 -e short -a
ALL=yes sweep tool-interrupted tool_short tool_sweeps 1 -e EINTR -k pread64
sweep memory-once memory memory_sweeps ""
sweep memory-ever memory memory_sweeps :ever
row "System calls failed in $(commands | wc -l) commands of the tool, once and from then on" \
    "the correct result, or a message, a nonzero status and the old output" \
    "$(total_of tool) failures, $(verdict)"
row "Writes cut short and reads interrupted" "the correct result" \
    "$(total_of tool_short), $(verdict)"
row "Allocations failed in the same commands, once and from then on" \
    "the correct result, or a message, a nonzero status and the old output" \
    "$(total_of memory) failures, $(verdict)"

# ---- Disks, paths, machines ----

for kind in tmpfs ext4 xfs btrfs; do
    ROOMS="0 4 8 16 40 100 200 400 1000" sweep "disk-$kind" places on_file_system $kind
    row "Full disk ($kind): trace, spool, outputs" "as above" \
        "$([ -e "$STATE/disk-$kind.done" ] && tail -n 2 "$STATE/disk-$kind.out" | head -n 1)"
done
for place in links_in_the_way pipes_in_the_way trace_changed trace_replaced spool_taken spool_cut \
    stopped under_a_filter clock_jumps "limits 150" outputs_limited privileged not_to_be_written; do
    # shellcheck disable=SC2086
    sweep "place-${place%% *}" places $place
done
row "File systems and machines (13 kinds)" "as above" \
    "$(find "$STATE" -name 'place-*.done' | wc -l) kinds without a fault"
finish
