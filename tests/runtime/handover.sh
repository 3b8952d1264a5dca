#!/usr/bin/env bash
# Models of how threads, signal handlers, the writer thread, tools and sudden death interact. spin
# checks all states of small configurations and must find injected faults. tests/campaign/races.sh
# has larger configurations.
# variants: gcc
# timeout: 600
. "$(dirname "$0")/../common.bash"
. "$SOURCE/tests/model/model.bash"

if ! command -v spin > /dev/null; then
    echo "needs spin"
    exit 77
fi
model_names
# The records of the thread are short, of two words, and after a gap; the signal's are short.
model "one thread, a signal, death" handover.pml holds -DOWNERS=1 -DRECORDS=3 -DHOW=36
model "the same, nobody stuck" handover.pml holds -DOWNERS=1 -DRECORDS=4 -DHOW=36 -DNO_DEATH
model "two threads, death" handover.pml holds -DOWNERS=2 -DRECORDS=1 -DHOW=9 -DWORDS=2 \
    -DSIGNALLED=0
model "the pool's stacks" pool.pml holds -DTHREADS=2 -DCHUNKS=2
model "recover, killed or not" recover.pml holds -DTOOLS=1 -DRUNS=2
model "levels" levels.pml holds
while read -r file fault; do
    case "$file $fault" in
        handover.pml*_BLINDLY | handover.pml*_USED | handover.pml*_PENDING | \
            handover.pml*_WRITE | live.pml*_THREAD | recover.pml*_BEHIND_LOCK)
            model_fault "$file" "$fault"
            ;;
    esac
done <<< "$MODEL_FAULTS"
[ "${failures:-0}" = 0 ] || exit 1
echo "all models hold, and all injected faults are found"
