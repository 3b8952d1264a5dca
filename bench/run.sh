#!/usr/bin/env bash
# run.sh BUILD_DIR [NAME]: runs all benchmarks, or one, in the working directory, which needs 5 GB.
# Prints a table, and saves it as BUILD_DIR/bench.txt and BUILD_DIR/bench.json. Exit status 1 if a
# figure misses its target. doc/overhead.md describes the method.
set -eu
build=${1:?usage: run.sh BUILD_DIR [NAME]}
only=${2:-}
bench=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$build" && pwd)
rows=$build/bench.rows
for variable in $(env | sed -n 's/^\(PROBITY_[A-Z_]*\)=.*/\1/p'); do
    unset "$variable"
done

command_of() {
    case $1 in
        cputime) echo "$build/bench/cputime" "$build/bin/probity" ;;
        answers | compile | corrected | csv | diff | export | httpd | self | view)
            echo "$bench/$1.sh" "$build"
            ;;
        external) echo "$build/bench/sustained" 512 "$build/bin/probity" ;;
        calls | peers | real) echo "$bench/$1/run.sh" "$build" ;;
        *) echo "$build/bench/$1" ;;
    esac
}

all='burst sustained external inside threads between start off
    locks baseline_logger cputime memory csv httpd
scope compile calls real self answers corrected export diff view peers'
machine=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
system="$(nproc) CPUs, Linux $(uname -r), $(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release)"
started="$(date -u +%Y-%m-%dT%H:%MZ)"
before="$(cut -d ' ' -f 1-3 /proc/loadavg)"
: >"$rows"
rm -f "$build/bench.missed"
for name in ${only:-$all}; do
    echo "bench: $name" >&2
    # shellcheck disable=SC2046
    set -- $(command_of "$name")
    "$@" >>"$rows" || printf 'row\t%s\tfailed\t1\t\t= 0\n' "$name" >>"$rows"
done
after="$(cut -d ' ' -f 1-3 /proc/loadavg)"

awk -F '\t' -v machine="$machine" -v system_text="$system" -v started="$started" \
    -v load="$before before, $after after" -v json="$build/bench.json" \
    -v missed_file="$build/bench.missed" '
function quoted(text) {
    gsub(/\\/, "\\\\", text)
    gsub(/"/, "\\\"", text)
    return "\"" text "\""
}
function verdict(value, target,    part) {
    if (split(target, part, " ") != 2)
        return ""
    if (part[1] == "<=")
        return value + 0 <= part[2] + 0 ? "met" : "MISSED"
    if (part[1] == ">=")
        return value + 0 >= part[2] + 0 ? "met" : "MISSED"
    return value + 0 == part[2] + 0 ? "met" : "MISSED"
}
BEGIN {
    printf "%s, %s, %s; load average %s\n", machine, system_text, started, load
    printf "{\"machine\": %s, \"system\": %s, \"started\": %s, \"load\": %s, \"rows\": [",
        quoted(machine), quoted(system_text), quoted(started), quoted(load) >json
}
$1 == "note" {
    print "  note: " $3
}
$1 == "row" {
    if ($2 != before)
        printf "\n%-10s %-56s %12s %-7s %-9s\n", $2, "", "", "", "target"
    before = $2
    result = verdict($4, $6)
    misses += result == "MISSED"
    printf "%-10s %-56s %12.4g %-7s %-9s %s\n", "", $3, $4, $5, $6, result
    printf "%s\n  {\"bench\": %s, \"what\": %s, \"value\": %s, \"unit\": %s, \"target\": %s, " \
        "\"result\": %s}", count++ ? "," : "", quoted($2), quoted($3), $4, quoted($5), quoted($6),
        quoted(result) >json
}
END {
    print "\n]}" >json
    printf "\n%d figures, %d targets missed\n", count, misses
    if (misses)
        print "missed" >missed_file
}' "$rows" | tee "$build/bench.txt"
[ ! -e "$build/bench.missed" ]
