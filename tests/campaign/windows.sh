#!/usr/bin/env bash
# Programs for Windows, under Wine: 8 threads at full rate, killed by TerminateProcess at random
# moments, and ended in all other ways.
#
#   KILLS   number of kills, in batches of 200
# shellcheck source=tests/campaign/campaign.bash
. "$(dirname "$0")/campaign.bash"
WINDOWS=${WINDOWS:-$BUILD-windows}
if ! [ -e "$WINDOWS/bin/libprobity.dll" ] || ! command -v wine > /dev/null; then
    echo "  left out: needs the build for Windows, and wine (make windows)"
    exit 0
fi

BATCH=200
for batch in $(seq $((${KILLS:-2000} / BATCH))); do
    step "kills_$batch" env WINDOWS="$WINDOWS" ROUNDS=$((BATCH / 2)) \
        bash "$SOURCE/tests/windows/death.sh" || true
done

cd "$STATE"
row "TerminateProcess at any moment, 8 threads: kills" "≥ 2,000" \
    "$(awk '/ kills: / { n += $1 } END { print n + 0 }' kills_*.out)"
row "TerminateProcess at any moment: records found" "all that were counted" \
    "$(awk '/ kills: / { n += $3 } END { printf "%.0f", n }' kills_*.out)"
row "Ended in seven other ways: processes" "all" \
    "$(awk '/ hits, (closed|unfinished)$/ { n++ } END { print n + 0 }' kills_*.out)"
row "Batches with a record lost, torn or invented" 0 "$failures"
finish
