#!/usr/bin/env bash
# Attach and detach at full load: functions are patched, by changing rules, and restored while 16
# threads run them. After every tenth cycle, and at the end, all code in memory is compared with
# what it was; the program checks its own results.
#
# In a cycle, the tool and two threads of the program wait for each other in turn. If they also had
# to wait for all 16 busy threads each time, waiting would take nearly the whole cycle. So the busy
# threads run with SCHED_IDLE, which gives them only the time that the cycle does not use, and three
# programs, or 3 x PROGRAMS_EACH, run at the same time. In every second batch of AT_ONCE cycles the
# program has a control page, so that its own thread handles the requests; in the others a busy
# thread does.
# shellcheck source=tests/campaign/campaign.bash
. "$(dirname "$0")/campaign.bash"
[ "$(uname -m)" = x86_64 ] || { echo "skipped: entries are replaced on x86-64 only"; exit 77; }

CYCLES=${CYCLES:-10000}
AT_ONCE=${AT_ONCE:-100}
PROGRAMS_EACH=${PROGRAMS_EACH:-1}
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

# Prints the code of the process on one line. The checker is started once, since starting it takes
# longer than the rest of a cycle.
code() {
    local line
    echo "$1" >&"${checker[1]}"
    read -r line <&"${checker[0]}" && [ -n "$line" ] || return 1
    echo "$line"
}

# Every tenth recording contains each call; the others only count calls, so that little is written.
# $1 process, $2 number of the cycle
cycle() {
    local options=(--functions --function=middle --exclude=leaf --file=second.c) how=--profile
    [ $(($2 % 10)) != 5 ] || how=--mode=drop
    rm -f trace
    "$PROBITY" attach "${options[$2 % 4]}" "$how" -o trace "$1" > output &&
        "$PROBITY" detach "$1" > output || return 1
    [ $(($2 % 10)) != 5 ] || "$PROBITY" check trace > output || {
        cat output
        return 1
    }
}

# $1 program, $2 number of cycles, $3 value of PROBITY_CONTROL, $4 number of the job. Prints
# "cycles N", "compared N", "differences N", and "rounds N" of each thread.
cycles() {
    local before now i compared=0 differences=0 job gate
    export PROBITY_SPOOL_DIR=$SPOOL/$1.$4
    rm -rf "$1.$4" && mkdir -p "$1.$4" "$PROBITY_SPOOL_DIR" && cd "$1.$4" || return 1
    mkfifo go
    # Before the gate is opened: the program would keep it open.
    coproc checker { exec python3 "$SOURCE/tests/functions/text_of.py" -; }
    PROBITY_CONTROL=$3 "../$1" "$THREADS" low < go > out &
    job=$!
    exec {gate}> go
    wait_until "$job" test -s out
    before=$(code "$job") || return 1
    for ((i = 1; i <= $2; i++)); do
        cycle "$job" "$i" || return 1
        [ $((i % 10)) = 0 ] || continue
        now=$(code "$job") || return 1
        compared=$((compared + 1))
        [ "$before" = "$now" ] || differences=$((differences + 1))
    done
    exec {gate}>&-
    wait "$job" || return 1
    echo "cycles $2"
    echo "compared $compared"
    echo "differences $differences"
    grep '^rounds' out
    [ -z "$(find "$PROBITY_SPOOL_DIR" -mindepth 1)" ] || return 1
}

for ((n = 0; n < CYCLES / 3; n += AT_ONCE * PROGRAMS_EACH)); do
    jobs=()
    for ((i = 0; i < PROGRAMS_EACH; i++)); do
        for kind in patchable patchable_clang xray; do
            step "${kind}_$((n + i * AT_ONCE))" cycles "$kind" "$AT_ONCE" \
                $(((n / AT_ONCE + i) % 2)) "$i" &
            jobs+=($!)
        done
    done
    for one in "${jobs[@]}"; do wait "$one" || failures=$((failures + 1)); done
done
cd "$STATE"
sum_of() {
    cat ./*.out 2> /dev/null | awk -v what="$1" '$1 == what { sum += $2 } END { print sum + 0 }'
}
row "Cycles of attach and detach, of a program with 16 busy threads" "≥ 10,000" "$(sum_of cycles)"
row "Programs that crashed, computed something else, or did not answer a request" 0 \
    "$(find . -name '*.running' | wc -l)"
row "Comparisons in which code differed from the original, of $(sum_of compared)" 0 \
    "$(sum_of differences)"
row "Calls of instrumented functions meanwhile, each result checked" "" \
    "$(sum_of rounds | awk '{ printf "%.1e", $1 * 13 }')"
finish
