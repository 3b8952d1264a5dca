#!/usr/bin/env bash
# The web server under load for SECONDS_EACH (3600) in each mode, with PAUSE_MS (4) between requests
# on each of 16 connections: its resource usage stays constant, every request is answered, and every
# stage is recorded. Then it is started, and terminated or killed under load, CYCLES (20) times.
. "$(dirname "$0")/campaign.bash"
. "$SOURCE/tests/runtime/soak.bash"
seconds=${SECONDS_EACH:-3600}
pause_ms=${PAUSE_MS:-4}
cycles=${CYCLES:-20}

# Saves the results of a round for the table. $1 mode
soak_note() {
    local hits
    hits=$(cat sum)
    {
        awk -v mode="$1" '$1 == "own" || $1 == "rss" { printf "%s %.1f\n", $1, $2 }
            $1 == "descriptors" { print "descriptors", $3, $4 }
            $1 == "threads" || $1 == "maps" || $1 == "spool" { print $1, $3, $4 }' trends
        echo "span $(awk 'NR == 1 { first = $1 } END { print $1 - first }' samples)"
        echo "requests $(sed -n 's/^requests served: //p' server.out)"
        echo "hits $hits"
        echo "trace $(stat -c %s first)"
        echo "each $(jq '.[0].counts.bytes_per_record * 100 | round / 100' info.json)"
        sed -n 's/^errors /errors /p' load.out
    } > "$STATE/$1.note"
    cp samples "$STATE/$1.samples"
}

# A step is complete if it found no error.
soak_long() {
    # shellcheck disable=SC2154 # of common.bash
    local before=$failures
    soak_build "$1"
    soak_round "$1" first "$seconds" "$pause_ms"
    soak_note "$1"
    [ "$failures" = "$before" ]
}

soak_cycle() {
    local before=$failures
    soak_build "$1"
    soak_end_early "$1" second TERM 5000
    count ended 1
    count ended-hits "$(cat sum)"
    soak_end_early "$1" third KILL 5000
    count killed 1
    count killed-hits "$(cat sum)"
    [ "$failures" = "$before" ]
}

note() {
    sed -n "s/^$2 //p" "$STATE/$1.note" 2> /dev/null
}

for mode in trace profile ring; do
    fresh
    soak_root
    soak_script
    step "long-$mode" soak_long $mode || continue
    for cycle in $(seq "$cycles"); do
        step "cycle-$mode-$cycle" soak_cycle $mode || break
    done
    what="$mode mode, $(note $mode span) s"
    row "$what: requests answered, errors" "all, 0" \
        "$(note $mode requests), $(note $mode errors)"
    if [ $mode = ring ]; then
        row "$what: hits kept at the end, gaps in them" "0" "$(note $mode hits), 0"
    else
        counted=$([ $mode = profile ] && echo calls || echo hits)
        row "$what: $counted in the trace, missing or surplus" 0 \
            "$(note $mode hits), 0"
    fi
    row "$what: bytes of trace, in all and per record" "what the hits require, or a spool's" \
        "$(note $mode trace), $(note $mode each)"
    row "$what: growth of memory (resident, private) in the second half" "< $SOAK_GROWTH_KIB KiB" \
        "$(note $mode rss) KiB, $(note $mode own) KiB"
    row "$what: descriptors, mappings, KiB of spool: minimum to maximum" "flat" \
        "$(note $mode descriptors | tr ' ' '-'), $(note $mode maps | tr ' ' '-'), $(
            note $mode spool | tr ' ' '-')"
done
row "Ended under load: runs, hits and calls in the trace, missing or surplus" 0 \
    "$(total_of ended), $(total_of ended-hits), 0"
row "Killed under load: runs, hits and calls in the trace, lost or invented" 0 \
    "$(total_of killed), $(total_of killed-hits), 0"
finish
