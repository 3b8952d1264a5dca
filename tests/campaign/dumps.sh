#!/usr/bin/env bash
# KILLS (2000) SIGKILLs at random instants while dumps are written one after the other, and dumps on
# a disk that becomes full: a file with its final name is complete, the ring is still usable, and no
# record of a window is missing.
# shellcheck source=tests/campaign/campaign.bash
. "$(dirname "$0")/campaign.bash"
KILLS=${KILLS:-2000}
AT_ONCE=${AT_ONCE:-50}
stalls=$PROGRAMS/stalls

# Each thread counts its hits from a different multiple of 524288. Prints errors: a thread's hits
# are not consecutive, or end before its count. A thread that did not run in a dump's window is not
# in the dump. $1 trace, $2 line "at ..." of the program
missing_in() {
    "$PROBITY" csv --columns thread,probe "$1" > hits 2> said || cat said
    awk -F, -v counts="${2#at }" -v name="$1" '$2 !~ /^[0-9]+$/ || $2 >= 7864320 { next }
        $1 in last && $2 != last[$1] + 1 { print name ": gap before " $2; bad = 1; exit }
        { last[$1] = $2; most[int($2 / 524288)] = $2 % 524288 + 1 }
        END { if (bad) exit
            count = split(counts, wanted, " ")
            for (i = 1; i <= count; i++) if ((i == 1 || i - 1 in most) && most[i - 1] < wanted[i])
                print name ": thread " i - 1 ": " most[i - 1] + 0 " of " wanted[i] }' hits
}

# Checks each dump, and what is recovered from the ring. Prints errors. The n-th line "at" has the
# counts before the n-th request; its dump may contain later hits, too.
judge() {
    local number asked
    find . -name '.*.tmp'
    "$PROBITY" recover trace.probity > said 2>&1 || cat said
    asked=$(grep -c '^at [0-9 ]*$' out)
    find . -name 'trace-*.probity' > dumps
    "$PROBITY" check trace*.probity > said 2>&1 || grep -v ': ok' said
    # Only the last two are checked: the others differ only in their number.
    for number in $(sed -n 's/.*trace-\([0-9]*\).probity/\1/p' dumps | sort -n | tail -n 2); do
        [ "$number" -gt "$asked" ] ||
            missing_in "trace-$number.probity" "$(grep '^at' out | sed -n "${number}p")"
    done
    missing_in trace.probity "$(grep '^at [0-9 ]*$' out | tail -n 1)"
}

# $1 number of kills. Prints "kills N", "dumps N", "faults N", and the faults.
kills() {
    local i running dumps=0 found faults=0
    for ((i = 0; i < $1; i++)); do
        fresh
        PROBITY_OUT=trace.probity PROBITY_RING=100ms,4M PROBITY_DUMPS=before=20ms \
            "$stalls" 2 0 dumping > out 2> errors &
        running=$!
        wait_until "$running" has_lines out 2
        sleep "0.0$((RANDOM % 1000))"
        signal_job KILL "$running" || return 1
        wait "$running" 2> /dev/null || true
        found=$(judge)
        [ -z "$found" ] || { faults=$((faults + 1)); echo "$found"; }
        dumps=$((dumps + $(wc -l < dumps)))
    done
    printf 'kills %d\ndumps %d\nfaults %d\n' "$1" "$dumps" "$faults"
}

# The disk, a tmpfs of 3 MiB, is full after some dumps; the trace and the spool are elsewhere.
# Prints "full N", the number of dumps that fit, and "faults N".
full() {
    local running found faults=0 before lines
    fresh
    mkdir disk
    mount -t tmpfs -o size=3m none disk || return 77
    PROBITY_OUT=trace.probity PROBITY_RING=100ms,4M PROBITY_DUMPS=before=20ms \
        PROBITY_DUMP=disk/%i.probity \
        "$stalls" 2 0 dumping > out 2> errors &
    running=$!
    wait_until "$running" has_lines errors 1
    before=$(find disk -name '*.probity' | wc -l)
    lines=$(wc -l < out)
    wait_until "$running" has_lines out $((lines + 50))
    signal_job KILL "$running" || return 1
    wait "$running" 2> /dev/null || true
    grep -q "was not written: No space left on device" errors || { cat errors; return 1; }
    for dump in disk/*.probity; do
        "$PROBITY" check "$dump" > said 2>&1 || { cat said; faults=$((faults + 1)); }
    done
    [ -z "$(find disk -name '.*.tmp')" ] || faults=$((faults + 1))
    found=$(judge)
    [ -z "$found" ] || { faults=$((faults + 1)); echo "$found"; }
    umount disk
    printf 'full %d\nfaults %d\n' "$before" "$faults"
}

for ((n = 0; n < KILLS; n += AT_ONCE)); do
    step "kills_$n" kills "$AT_ONCE" || true
done
for n in 1 2 3 4 5; do
    step "full_$n" unshare -m bash -c "$(declare -f full judge missing_in fresh wait_until \
        has_lines is_running signal_job); $(declare -p WORK SPOOL PROBITY stalls); full" || true
done
cd "$STATE"
sum_of() {
    cat ./"$1"_*.out 2> /dev/null |
        awk -v what="$2" '$1 == what { sum += $2 } END { print sum + 0 }'
}
row "SIGKILLs at random instants while dumps are written" "≥ 2,000" "$(sum_of kills kills)"
row "Dumps with their final name; partial dumps, records missing in the last two dumps or in the \
recovered trace, temporary files" "all, 0" \
    "$(sum_of kills dumps), $(sum_of kills faults)"
row "Disk full during a dump, five times: dumps before, faults as above; the program continued" \
    "all, 0" \
    "$(sum_of full full), $(sum_of full faults)"
[ "$(($(sum_of kills faults) + $(sum_of full faults)))" = 0 ] || fail "see $STATE"
finish
