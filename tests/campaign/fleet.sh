#!/usr/bin/env bash
# KILLS (500) kills of `probity ship` and a quarter as many of the ClickHouse server; one of two
# shards is unavailable for OUTAGE (60) seconds; senders on two replicas, one of which lags; senders
# that are stopped before each EVERYth (1) of their network calls until others have taken over; full
# disks. Each row must arrive once.
# shellcheck source=tests/campaign/campaign.bash
. "$(dirname "$0")/campaign.bash"
none_missing="0 lost, 0 duplicated"

# $1 name of a step, then the environment. Runs tests/fleet/NAME.sh.
runs() {
    local name=$1
    shift
    step "$name" env "$@" bash "$SOURCE/tests/fleet/$name.sh"
}

# $1 step, $2 regular expression with a group. Prints the group's match in the step's output.
found_in() { sed -n "s/.*$2.*/\1/p" "$STATE/$1.out" | tail -n 1; }

if runs fleet KILLS="${KILLS:-500}"; then
    row "Kills of the sender: $(found_in fleet 'the sender \([^,]*\)'); of the server: \
$(found_in fleet 'the server \([0-9]* times\)')" "$none_missing" "$none_missing"
fi
if runs fleet_cluster OUTAGE="${OUTAGE:-60}"; then
    row "A shard of two away for ${OUTAGE:-60} s: reported, sending continues" \
        "$none_missing" "$none_missing"
fi
if runs fleet_replicas NONE=; then
    row "Copies sent by two senders to two replicas, even while one lags; a replica killed" \
        "$none_missing" "$none_missing"
fi
if runs fleet_stopped EVERY="${EVERY:-1}"; then
    row "Senders stopped before a network call, continued after another one had taken over: \
$(found_in fleet_stopped 'stopped: \([0-9]*\)')" "$none_missing" "$none_missing"
fi
if runs fleet_full NONE=; then
    row "Full disks of the traces and of the server, with three running programs" \
        "$none_missing" "$none_missing"
fi
finish
