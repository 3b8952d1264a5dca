#!/usr/bin/env bash
# Parents and children have separate, complete traces with a common time axis.
# campaign: tsan
# variants: asan clang
. "$(dirname "$0")/../common.bash"
# Running children disturb the leak checker.
export ASAN_OPTIONS=detect_leaks=0

# $1 program, $2 way, $3 number of traces, $4 path of the first one if it is not in its directory
forks() {
    fresh
    PROBITY_OUT=${4:-$WORK/trace} "$PROGRAMS/$1" "$2" > expected || fail "$1 $2: status $?"
    same_hits "$1 $2" trace*
    expect "$1 $2: traces" "$3" "$(find . -name 'trace*' | wc -l)"
}

for program in $(forms_of forks); do
    forks $program plain 5
    forks $program chain 5
    # A common time axis: the hits of two processes that take turns must alternate.
    forks $program turns 2
    awk -F, '$1 == last { bad = 1 } { last = $1 } END { exit bad }' csv.out ||
        fail "the hits do not alternate"
    forks $program threads 61
    forks $program raw 2
    forks $program silent 1
    no_leftovers silent
    forks $program stopped 1
    forks $program short 2
    # A daemon changes its directory; the first trace has the configured name.
    forks $program daemon 3 trace
    if unfollowed "$program vfork" "it makes a fork of it"; then continue; fi
    forks $program vfork 2
    # Records that a vfork child cannot make, for one thread or at all, are counted.
    forks $program vfork_first 2
    expect "vfork_first: dropped" 1 "$("$PROBITY" info --json trace |
        jq '.[0].counts.dropped_no_memory_or_limit')"
    PROBITY_CHUNK_RECORDS=512 forks $program vfork_full 3
    forks $program vfork_start 3
done

# A thread that cannot record must not declare a site.
for way in announced vfork; do
    if [ $way = vfork ] && unfollowed "named_first vfork" "it makes a fork of it"; then continue; fi
    fresh
    threads=all
    [ $way = vfork ] || threads=announced
    PROBITY_OUT=$WORK/trace PROBITY_THREADS=$threads "$PROGRAMS/named_first" $way ||
        fail "named_first $way: status $?"
    expect "named_first $way: names" "own shared" \
        "$("$PROBITY" csv --columns probe trace | tr '\n' ' ' | sed 's/ $//')"
done

# The process id in each name is the id of the process.
fresh
PROBITY_OUT=$WORK/%n.%p.trace "$PROGRAMS/forks" plain > expected
for trace in forks.*.trace; do
    pid=${trace#forks.}
    "$PROBITY" csv "$trace" | awk -F, -v pid="${pid%.trace}" '$1 != pid { exit 1 }' ||
        fail "$trace is of another process"
done
same_hits "names" forks.*.trace
finish
