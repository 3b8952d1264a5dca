#!/usr/bin/env bash
# Allocations recorded with --calls, of libc and of libraries that replace malloc(): their number,
# and the number of live ones, equal the program's own counts; a forked child has a separate trace.
# variants: gcc clang
. "$(dirname "$0")/../common.bash"
sources=$SOURCE/tests/calls
. "$sources/record.bash"

# Prints the number of allocations of 12,347 bytes, and how many are live at the end.
memory_of() {
    "$PROBITY" csv --columns role,correlation,object "$@" > hits || fail "$1: no hits"
    awk -F, '$2 == 12347 && $1 ~ /allocate/ { made++; live[$3] = 1; next }
        { delete live[$3] }
        END { for (i in live) left++; print made + 0, left + 0 }' hits
}

"$CC" -O2 -pthread -fPIC -shared -o plugin.so "$sources/plugin.c"
"$CXX" -std=c++17 -O2 -pthread -rdynamic -o memory "$sources/memory.cc" -ldl

for families in memory all; do
    record trace --calls "$families" -- ./memory
    expect "memory, --calls $families" "$(cat out)" "$(memory_of trace)"
    expect "memory of a child, --calls $families" "7 0" "$(memory_of trace.*)"
done
"$PROBITY" csv --columns name,correlation trace > hits
for name in 'new\[\]' new calloc realloc posix_memalign malloc; do
    grep -q "^$name:allocate,12347\$" hits || fail "no $name of 12347 bytes"
done
status=0
"$PROBITY" record -o killed --calls all -- ./memory kill > out 2> errors || status=$?
expect "killed" 137 "$status"
expect "memory, killed" "$(cat out)" "$(memory_of killed)"

"$CC" -D_GNU_SOURCE -O1 -o mappings "$sources/mappings.c"
record trace --calls memory -- ./mappings
expect "mappings" "$(cat out)" "$("$PROBITY" memory --json trace | jq .sums.live_bytes)"

# Other libraries that replace malloc().
for library in libjemalloc.so.2 libtcmalloc_minimal.so.4; do
    if ! LD_PRELOAD=$library ./memory > /dev/null 2> errors || [ -s errors ]; then
        echo "left out: no $library here"
        continue
    fi
    LD_PRELOAD=$library record trace --calls memory -- ./memory
    expect "$library" "$(cat out)" "$(memory_of trace)"
    file=$(ldconfig -p | sed -n "s/.*$library .*=> //p" | head -n 1)
    "$CXX" -std=c++17 -O2 -pthread -rdynamic -o with "$sources/memory.cc" -ldl \
        -Wl,--no-as-needed "$file"
    record trace --calls memory -- ./with
    expect "linked with $library" "$(cat out)" "$(memory_of trace)"
done
finish
