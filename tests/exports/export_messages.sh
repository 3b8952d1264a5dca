#!/usr/bin/env bash
# Arrows from each send to its receive in another trace, of several hosts (doc/hosts.md), as
# Perfetto's trace processor reads them from both formats that have them.
# variants: gcc
# timeout: 300
. "$(dirname "$0")/../common.bash"
. "$SOURCE/tests/tool/trace_processor.bash"

# Pairs of traces, names and ids, with the number of messages.
ARROWS="SELECT sender.name, receiver.name, sender_args.display_value, count(*) FROM flow
    JOIN slice AS sender ON sender.id = slice_out JOIN slice AS receiver ON receiver.id = slice_in
    JOIN args AS sender_args ON sender_args.arg_set_id = sender.arg_set_id
    JOIN args AS receiver_args ON receiver_args.arg_set_id = receiver.arg_set_id
    JOIN thread_track AS sender_track ON sender_track.id = sender.track_id
    JOIN thread_track AS receiver_track ON receiver_track.id = receiver.track_id
    WHERE sender_args.key GLOB '*correlation' AND receiver_args.key = sender_args.key
        AND receiver_args.display_value = sender_args.display_value
        AND receiver.ts > sender.ts AND sender_track.utid <> receiver_track.utid
        AND sender.name GLOB '*:send' GROUP BY 1, 2, 3"

mkdir made
python3 "$SOURCE/tests/tool/make_hosts.py" 3 made messages || fail "traces not made"
jq -r '[.[].hits[] | select(.[1] | endswith(":send"))] | .[] |
    "\(.[1])\t\(.[1] | sub("send$"; "receive"))"' made/truth.json | sort | uniq -c |
    awk -v OFS='\t' '{ print $2, $3, $1 }' > expected
[ "$(wc -l < expected)" = 4 ] || fail "messages of 4 names: $(cat expected)"
for format in chrome perfetto; do
    "$PROBITY" export --format $format -o out made/[abc].probity 2> errors ||
        fail "$format: status $? ($(cat errors))"
    ask "$format" out "$ARROWS"
    # Each message has one arrow.
    awk -F '\t' -v OFS='\t' '{ n[$1 "\t" $2] += $4; if ($4 > 1) print "twice:", $0 }
        END { for (key in n) print key, n[key] }' answer.1 | sort > found
    diff expected found > difference ||
        fail "$format: messages (<) and arrows (>): $(head -n 5 difference)"
    rm out
done
finish
