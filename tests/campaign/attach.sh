#!/usr/bin/env bash
# Attach and detach at full load: functions are patched, by changing rules, and restored while 16
# threads run them. After every tenth cycle, and at the end, all code in memory is compared with
# what it was; the program checks its own results.
# shellcheck source=tests/campaign/campaign.bash
. "$(dirname "$0")/campaign.bash"
[ "$(uname -m)" = x86_64 ] || { echo "skipped: entries are replaced on x86-64 only"; exit 77; }

CYCLES=${CYCLES:-10000}
AT_ONCE=${AT_ONCE:-250}
THREADS=16

libraries=(-I"$SOURCE/include" -L"$BUILD/lib" '-Wl,--no-as-needed' -lprobity-functions
    -lprobity-calls -lprobity "-Wl,-rpath,$BUILD/lib" -pthread)
cat > second.c << 'END'
#include <stdint.h>
__attribute__((noinline)) uint64_t elsewhere(uint64_t value) { __asm__ volatile(""); return value; }
END
gcc -O2 -g -fpatchable-function-entry=5 -o patchable "$SOURCE/tests/functions/attached.c" \
    second.c "${libraries[@]}"
clang -O2 -g -fpatchable-function-entry=5 -o patchable_clang "$SOURCE/tests/functions/attached.c" \
    second.c "${libraries[@]}"
clang -O2 -g -fxray-instrument -fxray-instruction-threshold=1 -o xray \
    "$SOURCE/tests/functions/attached.c" second.c "${libraries[@]}"

code() {
    python3 "$SOURCE/tests/functions/text_of.py" "$1"
}

# Every tenth recording has each call; the others only count calls, so that little is written. $1
# process, $2 number of the cycle
cycle() {
    local options=(--functions --function=middle --exclude=leaf --file=second.c) how=--profile
    [ $(($2 % 10)) != 5 ] || how=--mode=drop
    "$PROBITY" attach "${options[$2 % 4]}" "$how" -o trace "$1" > output &&
        "$PROBITY" detach "$1" > output || return 1
    rm trace
}

# $1 program, $2 number of cycles. Prints "cycles N", "differences N".
cycles() {
    local before i differences=0 job gate
    rm -f go out && mkfifo go
    "./$1" "$THREADS" < go > out &
    job=$!
    exec {gate}> go
    wait_until "$job" test -s out
    before=$(code "$job")
    for ((i = 1; i <= $2; i++)); do
        cycle "$job" "$i" || return 1
        [ $((i % 10)) != 0 ] || [ "$before" = "$(code "$job")" ] || differences=$((differences + 1))
    done
    exec {gate}>&-
    wait "$job" || return 1
    echo "cycles $2"
    echo "differences $differences"
    [ -z "$(find "$SPOOL" -mindepth 1)" ] || return 1
}

for ((n = 0; n < CYCLES / 3; n += AT_ONCE)); do
    for kind in patchable patchable_clang xray; do
        step "${kind}_$n" cycles "$kind" "$AT_ONCE" || true
    done
done
cd "$STATE"
sum_of() {
    cat ./*.out 2> /dev/null | awk -v what="$1" '$1 == what { sum += $2 } END { print sum + 0 }'
}
row "Cycles of attach and detach, of a program with 16 busy threads" "≥ 10,000" "$(sum_of cycles)"
row "Programs that crashed, computed something else, or gave no answer" 0 \
    "$(find . -name '*.running' | wc -l)"
row "Comparisons in which code differed from what it was before" 0 "$(sum_of differences)"
finish
