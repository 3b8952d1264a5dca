#!/usr/bin/env bash
# Malicious traces with valid checksums, and files that are not traces: each command ends within CPU
# and memory limits derived from the size of the file, not from its contents. COUNT: the number of
# scopes, threads, names ... in a trace.
# variants: gcc
# timeout: 1800
. "$(dirname "$0")/../common.bash"
count=${COUNT:-2000}
# Limits per file and per MiB of it; bounded() adds more.
base_mib=48 mib_per_mib=24 base_s=2
commands=("csv" "log" "report --json" "report --corrected" "info" "check" "tree --callers *"
    "threads" "blocks" "blocks --by correlation" "model" "hist *" "list" "timeline" "view -o -")
for format in chrome speedscope callgrind folded graphviz perfetto pprof otlp \
    openmetrics; do
    commands+=("export --format $format")
done
if [ "$count" -le 5000 ]; then # short run: one command per kind of code
    commands=("csv" "log" "report --corrected" "info" "check" "tree" "blocks" "model" "view -o -"
        "export --format chrome")
fi
worst_ms=0 worst_kib=0 runs=0

# $1 file, $2 its size in bytes, $3 command
bounded() {
    local file=$1 mib=$(($2 / 1048576)) status ms kib seconds words
    read -ra words <<< "$3"
    seconds=$((base_s + mib / 8 + count / 25000))
    read -r status ms kib <<< "$("$PROGRAMS/bounded" "$seconds" 8192 \
        "$PROBITY" "${words[@]}" "$file" 2>&1 < /dev/null | tail -n 1)"
    case $status in
        0 | 1 | 3) ;;
        *) fail "$file: $3: status $status after $ms ms" ;;
    esac
    [ "$kib" -le $(((base_mib + mib_per_mib * mib + count * 3 / 1000) * 1024)) ] ||
        fail "$file: $3: $kib KiB for a file of $mib MiB"
    runs=$((runs + 1))
    if [ "$ms" -gt "$worst_ms" ]; then worst_ms=$ms worst_time="$file, $3"; fi
    if [ "$kib" -gt "$worst_kib" ]; then worst_kib=$kib worst_memory="$file, $3"; fi
}

for kind in $("$PROGRAMS/gen_adversarial_traces_internal" list); do
    "$PROGRAMS/gen_adversarial_traces_internal" "$kind" "$count" > "$kind"
    for command in "${commands[@]}"; do
        bounded "$kind" "$(stat -c %s "$kind")" "$command"
    done
    rm "$kind"
done

# Keys chosen to collide cost no more than others. Prints the fastest run in ms. $1 kind of trace,
# $2 command
least_ms() {
    local status ms rest least=999999
    for _ in 1 2 3; do
        # shellcheck disable=SC2086
        read -r status ms rest <<< "$("$PROGRAMS/bounded" 60 8192 \
            "$PROBITY" $2 "$1" 2>&1 < /dev/null | tail -n 1)"
        [ "$status" = 0 ] || fail "$1: $2: status $status $rest"
        if [ "$ms" -lt "$least" ]; then least=$ms; fi
    done
    echo "$least"
}
for kind in sites threads; do
    "$PROGRAMS/gen_adversarial_traces_internal" $kind 30000 > plain
    "$PROGRAMS/gen_adversarial_traces_internal" ${kind}_colliding 30000 > colliding
    for command in timeline "view -o -"; do
        plain=$(least_ms plain "$command")
        colliding=$(least_ms colliding "$command")
        [ "$colliding" -le $((4 * plain + 50)) ] ||
            fail "$command: $colliding ms for colliding $kind, $plain ms for others"
    done
done
rm plain colliding

# Files that are not traces are rejected or read; the tool never blocks on them.
: > nothing
mkdir directory
mkfifo pipe
ln -s loop loop
"$PROGRAMS/gen_adversarial_traces_internal" hits 100 > "$SPOOL/sparse"
truncate -s 8T "$SPOOL/sparse" 2> /dev/null || echo "no file of 8 TiB here: not tried"
for command in "${commands[@]}"; do
    for file in nothing directory pipe loop /dev/zero /dev/urandom /dev/null "$SPOOL/sparse"; do
        bounded "$file" 0 "$command"
    done
done
echo "bounds: $base_s s and $base_mib MiB; for each MiB of file 1/8 s and $mib_per_mib MiB;" \
    "for each 1,000 of COUNT 1/25 s and 3 MiB"
echo "worst: $runs runs of $count; longest $worst_ms ms ($worst_time), largest $worst_kib KiB" \
    "($worst_memory)"
finish
