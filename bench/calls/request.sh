#!/usr/bin/env bash
# request.sh BUILD_DIR [OTHER_BUILD_DIR]: the cost of recording calls for a request of a web server
# in its own thread, by parts: request.c alone, with libraries that do only a part of the work
# (stub.c), and recorded with and without each part. All run at the same time and take turns of a
# few milliseconds, WINDOWS each, since the machine's speed changes within seconds. Each row is the
# median of the differences from the program alone in the same round. With a second build, its rows
# follow. RT=1: with real-time priority, for a machine that is busy with other work. x86-64 only.
set -eu
bench=$(cd "$(dirname "$0")" && pwd)
windows=${WINDOWS:-400}
builds=("$(cd "$1" && pwd)")
[ $# -eq 1 ] || builds+=("$(cd "$2" && pwd)")
directory=$(mktemp -d /tmp/probity-bench.XXXXXX)
processes=() priority=()
[ -z "${RT:-}" ] || priority=(chrt -r 1)
clean_up() {
    kill "${processes[@]}" 2> /dev/null || true
    rm -rf "$directory"
}
trap '[[ $BASHPID != $$ ]] || clean_up' EXIT
cd "$directory"
mkdir root
head -c 4096 /dev/zero | tr '\0' 'x' > root/page.html
"${CC:-gcc}" -O2 -pthread -o request "$bench/request.c"

# $1 name, $2 words of a record, $3 words of a buffer
stub() {
    "${CC:-gcc}" -O2 -fPIC -shared -DRECORD_WORDS="$2" -DBUFFER_WORDS="$3" -o "$1.so" \
        "$bench/stub.c" -ldl
}
stub passing 0 8
stub small 2 4096
stub records 6 4096
stub spool 6 524288

rows=() commands=()
# $1 what is measured, the rest: the command that runs the program
variant() {
    rows+=("$1")
    commands+=("${*:2}")
}
# $1 build, $2 suffix of the rows
of_build() {
    local record="$1/bin/probity record -f --calls" number=${#rows[@]}
    variant "off: the library, nothing recorded$2" env LD_PRELOAD="$1/lib/libprobity-calls.so.0"
    variant "locks recorded, without CPU time$2" \
        env PROBITY_CPU_TIME=0 "$record" locks -o "trace$number.1" --
    variant "io recorded, without CPU time$2" \
        env PROBITY_CPU_TIME=0 "$record" io -o "trace$number.2" --
    variant "locks, io, threads recorded, without CPU time$2" \
        env PROBITY_CPU_TIME=0 "$record" locks,io,threads -o "trace$number.3" --
    variant "locks, io, threads recorded$2" "$record" locks,io,threads -o "trace$number.4" --
    variant "locks, io, threads in a ring, which nothing reads$2" \
        "$record" locks,io,threads -o "trace$number.5" --ring 64M --
    variant "locks, io, threads with a budget of 3 %$2" \
        "$record" locks,io,threads -o "trace$number.6" --budget 3% --
}
variant "one request, alone" env
variant "a stub that only calls libc's functions" env LD_PRELOAD="$directory/passing.so"
variant "a stub that stores 23 records of 16 bytes in 32 KiB" env LD_PRELOAD="$directory/small.so"
variant "a stub that stores 23 records of 48 bytes in 32 KiB" \
    env LD_PRELOAD="$directory/records.so"
variant "a stub that stores 23 records of 48 bytes in 4 MiB" env LD_PRELOAD="$directory/spool.so"
of_build "${builds[0]}" ""
[ "${#builds[@]}" -eq 1 ] || of_build "${builds[1]}" " (other build)"

count=${#rows[@]}
for ((i = 0; i < count; i++)); do
    mkfifo "turn$i"
done
for ((i = 0; i < count; i++)); do
    # shellcheck disable=SC2086 # words of a command
    "${priority[@]}" ${commands[i]} ./request root "$windows" "turn$i" "turn$(((i + 1) % count))" \
        > "result$i" 2> "errors$i" &
    processes+=($!)
done
printf x 1<> turn0 >&1
for ((i = 0; i < count; i++)); do
    wait -n || { cat errors* >&2; exit 1; }
done
processes=()

median() { sort -g | awk '{ v[NR] = $1 } END { printf "%.0f\n", v[int((NR + 1) / 2)] }'; }
printf 'row\trequest\t%s\t%s\tns\t\n' "${rows[0]}" "$(median < result0)"
for ((i = 1; i < count; i++)); do
    printf 'row\trequest\tadds: %s\t%s\tns\t\n' "${rows[i]}" \
        "$(paste "result$i" result0 | awk '{ print $1 - $2 }' | median)"
done
