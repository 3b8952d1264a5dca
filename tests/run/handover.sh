#!/usr/bin/env bash
# Models of the hand-over of chunks between threads, signal handlers and the writing thread, with
# death at any step: all of their states are looked at (spin); and that they would see a fault.
# variants: gcc
. "$(dirname "$0")/common.bash"
. "$SOURCE/tests/model/model.bash"

if ! command -v spin > /dev/null; then
    echo "needs spin"
    exit 77
fi
model_names

# Records of a thread: short, of two words, behind a gap, short; a signal's: short.
one="-DOWNERS=1 -DRECORDS=4 -DHOW=36"
# shellcheck disable=SC2086
model one handover.pml holds $one
# shellcheck disable=SC2086
model no-deadlock handover.pml holds $one -DNO_DEATH
model two handover.pml holds -DOWNERS=2 -DRECORDS=1 -DHOW=9 -DWORDS=2 -DSIGNALLED=0

# What was broken on purpose is found.
small="-DOWNERS=1 -DRECORDS=3 -DHOW=36"
for fault in RESERVE_IN_TWO GIVE_BACK_BLINDLY FULL_BEFORE_USED ZEROES_LAST NO_PENDING \
    HEAD_FIRST CHANGE_WITH_SIGNALS_OPEN FREE_BEFORE_WRITE DRAIN_OVER_HOLES FREE_WITH_HOLE \
    ONE_BATCH; do
    # shellcheck disable=SC2086
    model "$fault" handover.pml assertion $small "-DMUTATE_$fault"
done
[ "$failures" = 0 ] || exit 1
echo "all models hold, and all faults are found"
