#!/usr/bin/env bash
# `probity export --format pprof`, read by Go's pprof: the flat and cumulative values of each
# function equal the self and total times of `probity report`.
# variants: clang asan
. "$(dirname "$0")/../common.bash"
. "$SOURCE/tests/exports/exported.bash"
export PPROF_TMPDIR=$WORK HOME=$WORK

# Lines "NAME FLAT CUM" from the file "out". $1 sample type; further options
top_of() {
    local index=$1
    shift
    go tool pprof -top -unit=ns -sample_index="$index" -nodefraction=0 -edgefraction=0 \
        -nodecount=1000000 "$@" out 2> faults |
        awk -v OFS='\t' '/flat%/ { is_table = 1; next }
            is_table && $6 != "[truncated]" {
                sub(/ns$/, "", $1); sub(/ns$/, "", $4); print $6, $1, $4 }' | sort
}

# $1 members of a function in the JSON of a report; $2 ... traces. The table omits functions with a
# value of 0.
report_of() {
    local members=$1
    shift
    "$PROBITY" report --json "$@" 2> /dev/null |
        jq -r ".functions[] | [.name, $members] | select(.[1] + .[2] > 0) | @tsv" | sort
}

# $1 description; the rest: traces. A total is not the sum of the self times below it if scopes
# begin while profiling is off, pause, or are left by jumps; rows of profile mode have no path.
compare() {
    local what=$1 columns=1-3
    shift
    [[ ! $what =~ tree|jumps|profile|deep ]] || columns=1-2
    export_to "$what" 0 pprof "$@"
    diff <(report_of ".self_ns, .total_ns" "$@" | cut -f $columns) \
        <(top_of wall | cut -f $columns) > difference ||
        fail "$what: wall, report (<) and pprof (>): $(head -n 5 difference faults)"
    diff <(report_of ".cpu_self_ns, .cpu_total_ns" "$@" | cut -f $columns) \
        <(top_of cpu | cut -f $columns) > difference ||
        fail "$what: CPU, report (<) and pprof (>): $(head -n 5 difference faults)"
    diff <(report_of ".calls, 0" "$@" | cut -f 1-2) <(top_of calls | cut -f 1-2) > difference ||
        fail "$what: calls, report (<) and pprof (>): $(head -n 5 difference faults)"
}

record_all
for trace in tree parallel jumps exported many killed; do
    compare "$trace" "$trace"
done
compare "profile mode" counted
compare "two processes, one of jumps" jumps exported
[ "$(report_of '.self_ns, 0' exported | wc -l)" -ge 4 ] || fail "too few functions in 'exported'"

# Off-CPU values; the default sample type; threads as labels.
export_to "off the CPU" 0 pprof --value off-cpu parallel
diff <("$PROBITY" tree --folded --value off-cpu parallel | awk '{ sub(/.*;/, "", $1)
        sum[$1] += $2 } END { for (name in sum) print name "\t" sum[name] }' | sort) \
    <(top_of off-cpu | awk '$2 > 0' | cut -f 1-2) > difference ||
    fail "off-CPU: $(head -n 5 difference)"
go tool pprof -raw out 2> faults | grep -q 'off-cpu/nanoseconds\[dflt\]' ||
    fail "the default sample type is wrong"
export_to "threads" 0 pprof --by-thread exported
while IFS=, read -r tid self; do
    expect "thread $tid" "$self" "$(top_of wall -tagfocus="tid=$tid:$tid" |
        awk '{ sum += $2 } END { print sum + 0 }')"
done < <("$PROBITY" report --by-thread --json exported |
    jq -r '.functions[].threads[] | [.tid, .self_ns] | @csv' |
    awk -F , '{ sum[$1] += $2 } END { for (i in sum) print i "," sum[i] }')
go tool pprof -tags out 2> faults | grep -qF '<i>worker\n1' || fail "no thread name"

# Deep paths lose their middle levels: self values stay with their functions, the outermost function
# keeps its total, and a comment in the profile reports it.
"$PROGRAMS/gen_adversarial_traces_internal" crossed_scopes 3000 > deep
compare "deep" deep
expect "deep: total of the outermost" "$(report_of '.total_ns, 0' deep | grep '^left' | cut -f 2)" \
    "$(top_of wall | awk '$1 == "left" { print $3 }')"
expect "deep: longest stack" 1025 "$(go tool pprof -raw out 2> faults |
    awk -F : '/^Locations/ { exit }
        NF == 2 { n = split($2, levels, " "); most = n > most ? n : most } END { print most }')"
reported="paths deeper than 1024 levels, shortened to their outermost and innermost 512"
expect "deep: comment" "$reported: $(grep -o "$reported: [0-9]*" errors |
    sed 's/.*: //')" "$(go tool pprof -comments out 2> faults)"
for levels in 1024 1025; do
    "$PROGRAMS/gen_adversarial_traces_internal" open_scopes $levels > deep
    compare "deep: $levels" deep
    expect "$levels levels: lacking" $((levels - 1024)) "$(go tool pprof -comments out 2> faults |
        sed -n 's/^paths deeper .*: //p' | grep . || echo 0)"
done

# Each incomplete trace gets a comment that lists what is missing.
export_to "complete" 0 pprof exported
expect "complete: comments" "" "$(go tool pprof -comments out 2> faults)"
record_lack
head -c $(($(stat -c %s many) * 2 / 3)) many > part
export_to "not complete" 3 pprof lossy exported part
go tool pprof -comments out 2> faults | sort > found
{ cat lack.expected; sed -n "s/^probity export: \('part' .*\)/\1/p" errors | head -n 1; } |
    sed "s/^'part'.*: \(truncated\|no END\)/'part' is incomplete: \1/" | sort > expected
diff expected found > difference || fail "comments on an incomplete trace: $(cat difference errors)"

# Blocks, if there are no calls or blocks are requested. $1 trace; then options
check_blocks() {
    local trace=$1
    shift
    export_to "blocks of $trace" 0 pprof "$@" "$trace"
    for column in calls:3 wall:4; do
        diff <(spans_of_hits "$trace" | awk -F '\t' -v n="${column#*:}" '
            $1 == "block" && $n > 0 { print $2 "\t" $n }' | sort) \
            <(go tool pprof -top -unit=ns -sample_index="${column%:*}" -nodefraction=0 \
                -edgefraction=0 -nodecount=1000000 out 2> faults | awk '
                /flat%/ { is_table = 1; next }
                is_table { value = $1; sub(/ns$/, "", value)
                    for (i = 0; i < 5; i++) sub(/^ *[^ ]+ +/, "")
                    print $0 "\t" value }' | sort) > difference ||
            fail "$trace, ${column%:*}: blocks (<), pprof (>): $(head -n 5 difference faults)"
    done
    expect "$trace: CPU time of blocks" "$(blocks_cpu_of "$trace")" \
        "$(top_of cpu | awk '{ sum += $2 } END { printf "%.0f", sum }')"
}

check_blocks server
check_blocks parallel --blocks
export_to "blocks by thread" 0 pprof --by-thread server
while read -r tid ns; do
    expect "blocks of thread $tid" "$ns" "$(top_of wall -tagfocus="tid=$tid:$tid" |
        awk '{ sum += $2 } END { printf "%.0f", sum }')"
done < <("$PROBITY" blocks --by-thread --json server | jq -r '[.blocks[].threads[]] |
    group_by(.tid)[] | "\(.[0].tid) \(map(.wall_ns) | add)"')

# Traces without anything to profile still give a valid profile.
for trace in one none; do
    export_to "$trace" 0 pprof "$trace"
    expect "$trace" "" "$(top_of wall)"
    [ "$(wc -l < faults)" -le 1 ] || fail "$trace: $(cat faults)"
done
# Names are unchanged even if a part of them looks like template arguments.
PROBITY_OUT=$WORK/odd "$PROGRAMS/odd_names"
export_to "odd names" 0 pprof odd
go tool pprof -top -sample_index=calls -nodefraction=0 out 2> faults |
    grep -qF ' <script>window.owned = 1</script>' || fail "a name is incomplete: $(cat faults)"
export_to "hits" 0 pprof exported
grep -q ' hits of probes are not in the output' errors || fail "expected a note about hits"
start_live
export_to "live" 0 pprof live
expect "live: calls" "$(report_of ".calls, 0" live | cut -f 1-2)" "$(top_of calls | cut -f 1-2)"
end_live
check_manners pprof exported
finish
