#!/usr/bin/env bash
# The cost of each compiler flag of probity-functions(7): the loaded bytes that it adds to a
# function, the time of a call when nothing is recorded, and the time that recording adds. The
# programs run in turn; the minimum of RUNS (default 7) CPU times of the calling thread counts.
set -eu
cd "$(dirname "$0")/.."
BUILD=$(realpath "${BUILD:-build}")
runs=${RUNS:-7}
calls=${CALLS:-2000000}
work=$(mktemp -d)
trap '[[ $BASHPID != $$ ]] || rm -rf "$work"' EXIT
library="-L$BUILD/lib -Wl,-rpath,$BUILD/lib -lprobity-functions -lprobity"

names=(plain instrument fentry patchable plain_clang instrument_clang after_inlining
    patchable_clang xray)
declare -A flags_of=(
    [plain]="gcc" [plain_clang]="clang"
    [instrument]="gcc -finstrument-functions"
    [fentry]="gcc -pg -mfentry -minstrument-return=call"
    [patchable]="gcc -fpatchable-function-entry=5"
    [instrument_clang]="clang -finstrument-functions"
    [after_inlining]="clang -finstrument-functions-after-inlining"
    [patchable_clang]="clang -fpatchable-function-entry=5"
    [xray]="clang -fxray-instrument -fxray-instruction-threshold=1"
)

# $1 name, $2 source, $3 program
build() {
    local compiler flags link=
    read -r compiler flags <<< "${flags_of[$1]}"
    [[ $1 != fentry ]] || link=$library
    [[ $1 != xray ]] || link=-fxray-instrument
    # shellcheck disable=SC2086
    "$compiler" -O2 $flags -c -o "$3.o" "$2"
    # shellcheck disable=SC2086
    "$compiler" -o "$3" "$3.o" $link
}

loaded_bytes() {
    readelf -SW "$1" | awk '{ sub(/^ *\[ *[0-9]+\] */, "") }
        $7 ~ /A/ && $2 != "NOBITS" && $5 ~ /^[0-9a-f]+$/ { print "0x" $5 }' |
        while read -r bytes; do echo $((bytes)); done | awk '{ sum += $1 } END { print sum }'
}

# $1 number of functions, of different sizes, since the compiler aligns them
functions() {
    local i
    for ((i = 0; i < $1; i++)); do
        echo "int f$i(int a, int b) { __asm__ volatile(\".skip $((16 + i % 16)), 0x90\" :"
        echo '"+r"(a), "+r"(b)); return a; }'
    done
    echo 'int main(void) { return 0; }'
}

declare -A bytes_of off_of on_of
functions 0 > "$work/none.c"
functions 1000 > "$work/many.c"
for name in "${names[@]}"; do
    build "$name" "$work/none.c" "$work/none"
    build "$name" "$work/many.c" "$work/many"
    bytes_of[$name]=$((($(loaded_bytes "$work/many") - $(loaded_bytes "$work/none")) / 1000))
    build "$name" bench/flags.c "$work/$name"
done

least() { printf '%s\n' "$@" | sort -g | head -n 1; }
for ((i = 0; i < runs; i++)); do
    for name in "${names[@]}"; do
        preload=$BUILD/lib/libprobity-functions.so.0
        [[ $name != plain* && $name != fentry ]] || preload=
        # shellcheck disable=SC2086 # the first time, there is no value
        off_of[$name]=$(least ${off_of[$name]:-} "$(LD_PRELOAD=$preload "$work/$name" "$calls")")
        [[ $name != plain* ]] || continue
        # shellcheck disable=SC2086
        on_of[$name]=$(least ${on_of[$name]:-} "$(LD_PRELOAD=$preload PROBITY_START=first \
            PROBITY_OUT=$work/trace PROBITY_OVERWRITE=1 "$work/$name" "$calls" 2> "$work/errors")")
    done
done
echo "load average $(cut -d' ' -f1-3 /proc/loadavg);" \
    "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1)"
printf '%-18s %15s %12s %12s %18s\n' flag "bytes/function" "ns a call" "off / plain" \
    "recorded adds, ns"
for name in "${names[@]}"; do
    plain=plain
    [[ ${flags_of[$name]} != clang* ]] || plain=plain_clang
    awk -v name="$name" -v bytes="$((bytes_of[$name] - bytes_of[$plain]))" \
        -v off="${off_of[$name]}" -v plain="${off_of[$plain]}" -v on="${on_of[$name]:-}" 'BEGIN {
            printf "%-18s %15d %12.1f %12.2f %18s\n", name, bytes, off, off / plain,
                on == "" ? "" : sprintf("%.1f", on - off) }'
done
