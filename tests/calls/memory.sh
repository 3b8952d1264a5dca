#!/usr/bin/env bash
# `probity memory` on programs recorded with --calls memory: sums, peak and leaks equal those of
# valgrind; call paths; blocks that another thread frees.
# variants: clang
. "$(dirname "$0")/../common.bash"

# $1 trace, then a filter of jq
of_trace() {
    "$PROBITY" memory --json "$1" | jq -r "${@:2}"
}

# pthread_create() allocates the thread's block of thread-local storage.
fresh
"$PROBITY" record -o heap.probity --calls memory -- "$PROGRAMS/heap.shared" 100 2> truth
read -r allocations bytes blocks live < truth
expect "heap: rows" "$((allocations - 50 - 2)) $bytes $blocks $live 50" "$(of_trace heap.probity '
    [.rows[] | select(.path[0] == "main" and .call != "calloc" or (.path | index("add")))] |
    "\(map(select(.path[-1] != "give" and .path != ["main"]) | .allocations) | add) " +
    "\(map(select(.call != "mmap") | .bytes) | add) " +
    "\(map(.live_blocks) | add) \(map(.live_bytes) | add) " +
    "\(map(select(.path[-1] == "give" and .call == "malloc") | .frees) | add)"')"
expect "heap: the leak" "main > load > add > copy > malloc $blocks $live" "$(of_trace heap.probity \
    '[.rows[] | select(.live_blocks > 1)] |
    map("\(.where | sub(" \\(.*"; "")) \(.live_blocks) \(.live_bytes)") | join("; ")')"
"$PROBITY" memory --leaks --by function -n 1 heap.probity > text
grep -q " copy$" text || fail "heap: --leaks --by function: $(cat text)"
"$PROBITY" memory --by call --csv heap.probity > lines.csv
expect "heap: CSV" "malloc,251,107200" "$(grep '^malloc,' lines.csv | cut -d , -f 1,4,5)"

# Live blocks are counted until the end of the range.
"$PROBITY" memory --until 1ns --json heap.probity > range.json 2> errors || fail "$(cat errors)"
expect "heap: an empty range" "0 0 0" \
    "$(jq -r '"\(.sums.allocations) \(.sums.live_bytes) \(.unknown_frees)"' range.json)"
grep -q ': no allocation in this range$' errors || fail "heap: an empty range: $(cat errors)"

fresh
status=0
"$PROBITY" record -o none.probity -- "$PROGRAMS/heap.shared" 1 2> errors ||
    fail "record: $(cat errors)"
"$PROBITY" memory none.probity > text 2> errors || status=$?
expect "without records: status" 0 "$status"
grep -q 'record --calls memory' errors || fail "without records: $(cat errors)"

# Valgrind cannot read the debugging information of some versions of clang.
if ! command -v valgrind > valgrind.path || [ "$VARIANT" != gcc ]; then
    echo "memory: no valgrind here, or not gcc; its figures are not compared"
    finish
    exit
fi

# Compares sums and leaks with those of memcheck, the peak with that of massif. $1 description, then
# the command. The library itself allocates nothing.
same_as_valgrind() {
    local what=$1 checked massif found
    shift
    rm -f massif.out c.probity
    valgrind --run-libc-freeres=no --run-cxx-freeres=no --log-file=memcheck.out "$@" \
        > program.out 2>&1
    checked=$(tr -d , < memcheck.out | awk '/in use at exit:/ { live = $6 " " $9 }
        /total heap usage:/ { print $5, $7, $9, live }')
    valgrind --tool=massif --peak-inaccuracy=0.0 --detailed-freq=1 --max-snapshots=1000 \
        --massif-out-file=massif.out "$@" > program.out 2>&1
    massif=$(awk -F = '/^mem_heap_B/ { bytes = $2 } /^heap_tree=peak/ { print bytes }' massif.out)
    "$PROBITY" record -o c.probity --calls memory -- "$@" > program.out 2>&1
    found=$(of_trace c.probity '[.rows[] | select(.call | test("^(mmap|munmap)") | not)] |
        "\(map(.allocations) | add) \(map(.frees) | add) \(map(.bytes) | add) " +
        "\(map(.live_bytes) | add) \(map(.live_blocks) | add) \(map(.peak_bytes) | add)"')
    expect "$what: allocations, frees, bytes, live bytes, live blocks, peak" "$checked $massif" \
        "$found"
}

seq 1 4000 | sort -R --random-source=/dev/zero > numbers
same_as_valgrind heap "$PROGRAMS/heap.shared" 300 alone
same_as_valgrind sort sort -n --parallel=1 numbers
paste -d ' ' numbers <(sort numbers) | awk '$1 < $2' > pairs
same_as_valgrind tsort tsort pairs
finish
