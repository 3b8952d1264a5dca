#!/usr/bin/env bash
# STALLS (1000) stalls of 3 to 50 ms in the web server at full load, in rounds of 50: each is in a
# complete dump, and its cause is named.
# shellcheck source=tests/campaign/campaign.bash
. "$(dirname "$0")/campaign.bash"
# shellcheck source=tests/live/planted_stalls.bash
. "$SOURCE/tests/live/planted_stalls.bash"
trap '[[ $BASHPID != $$ ]] || { stalls_stop; rm -rf "$WORK" "$SPOOL"; }' EXIT
rounds=$((${STALLS:-1000} / 50))

round() {
    local before=$failures
    rm -rf ./*
    stalls_record 50 "$1"
    stalls_judge
    echo "load: $(sed -n 's/^answers per second: //p' load.out)"
    [ "$failures" = "$before" ]
}

for ((i = 1; i <= rounds; i++)); do
    if [ ! -e "$STATE/round$i.done" ] && step "round$i" round "$i"; then
        read -r answered dumped right taken < "$STATE/round$i.out"
        count answered "$answered"
        count dumped "$dumped"
        count right "$right"
        count taken "$taken"
        count load "$(sed -n 's/^load: //p' "$STATE/round$i.out")"
    fi
done
answered=$(total_of answered) dumped=$(total_of dumped) right=$(total_of right)
taken=$(total_of taken)
row "Planted stalls in complete dumps, of $answered; the server meanwhile gave \
$(($(total_of load) / rounds)) responses a second" "999 of 1,000" "$dumped"
row "Causes named correctly, except for stalls that lost their CPU to another process for longer \
than planted ($taken did)" "≥ 95 %" \
    "$(awk -v right="$right" -v all=$((answered - taken)) \
        'BEGIN { printf "%d of %d, %.1f %%", right, all, 100 * right / all }')"
[ $((dumped * 1000)) -ge $((answered * 999)) ] || fail "$dumped of $answered stalls dumped"
[ $((right * 100)) -ge $(((answered - taken) * 95)) ] || fail "causes: $right of $answered"
finish
