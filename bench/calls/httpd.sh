#!/usr/bin/env bash
# httpd.sh BUILD_DIR: the example web server without probes at full load on loopback, with calls and
# the scheduler's states recorded, alone and together, and with a budget. The kernel records wakings
# of all programs, so there is only one server at a time; and the machine's speed changes within
# seconds, so each run is compared with runs without recording just before and after it. Server and
# client share the CPUs. There are ROUNDS of each of PARTS. In a run, the first WARM_UP responses
# are not counted, so that a budget has taken effect; the next REQUESTS are. RT=1: real-time
# priority, for a machine that is busy with other work; set for all threads, since the library's
# writer thread does not inherit it and would make the program wait.
set -eu
build=$(cd "$1" && pwd)
rounds=${ROUNDS:-15} warm_up=${WARM_UP:-20000} requests=${REQUESTS:-10000}
priority=() && [ -z "${RT:-}" ] || priority=(chrt -r 1)
directory=$(mktemp -d /tmp/probity-bench.XXXXXX)
server=
trap '[[ $BASHPID != $$ ]] || { [ -z "$server" ] || kill "$server"; rm -rf "$directory"; }' EXIT

# $1 description, $2 value, $3 unit, $4 target
row() { printf 'row\tcalls\tweb server: %s\t%s\t%s\t%s\n' "$@"; }

# Prints the CPU time of the living threads of a process, in ns: all, those of the library, and
# those of the command that records the process. The server's threads live as long as it does. $1
# process id, $2 that of the command
cpu_of() {
    local task all=0 library=0 command=0 ns
    for task in "/proc/$1/task/"*; do
        read -r ns _ < "$task/schedstat"
        all=$((all + ns))
        ! grep -q ^probity "$task/comm" || library=$((library + ns))
    done
    for task in "/proc/$2/task/"*; do
        [ "$1" != "$2" ] || break
        read -r ns _ < "$task/schedstat"
        command=$((command + ns))
    done
    echo "$all $library $command"
}

# $1 port, $2 number of responses. Prints responses per second
ask() {
    "${priority[@]}" "$build/examples/httpd_load" --connections 16 --seconds 60 \
        --requests "$2" "$1" /page.html | sed -n 's/^answers per second: //p'
}

# Starts a server, loads it, and ends it. Appends responses per second to a file, and CPU times per
# request in us (cpu_of) to another. $1 file, then the command that runs the server
load() {
    local result=$1 port='' process before after
    shift
    : > out
    "${priority[@]}" "$@" "$build/examples/httpd-plain" --root root --port 0 --threads 4 \
        > out 2> errors &
    server=$!
    until port=$(sed -n 's/^listening on 127.0.0.1://p' out); [ -n "$port" ]; do
        kill -0 "$server"
        read -rt 0.02 < <(:) || true
    done
    process=$(pgrep -P "$server" -x httpd-plain || echo "$server")
    [ -z "${RT:-}" ] || chrt -a -r -p 1 "$process"
    ask "$port" "$warm_up" > /dev/null
    before=$(cpu_of "$process" "$server")
    ask "$port" "$requests" >> "$result"
    after=$(cpu_of "$process" "$server")
    kill -TERM "$server"
    wait "$server" || true
    server=
    echo "$before $after" |
        awk -v n="$requests" '{ for (i = 1; i < 4; i++) printf "%s ", ($(i + 3) - $i) / n / 1e3
                                print "" }' >> "$result.cpu"
}

# $1 file, $2 column
median() {
    awk -v column="${2:-1}" '{ print $column }' "$1" | sort -g |
        awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

# Compares each run with the mean of the runs without recording before and after it: the median and
# the quartiles. $1 name
ratio() {
    paste "$1" "$1.before" "$1.after" | awk '{ print 2 * $1 / ($2 + $3) }' | sort -g |
        awk '{ v[NR] = $1 }
             END { printf "%.3f %.3f %.3f\n", v[int((NR + 1) / 2)], v[int((NR + 3) / 4)],
                       v[int((3 * NR + 1) / 4)] }'
}
# The added CPU time, in the same way
added() {
    paste -d ' ' "$1.cpu" "$1.before.cpu" "$1.after.cpu" |
        awk '{ print $1 - ($4 + $7) / 2 }' > added
    median added
}

cd "$directory"
mkdir root
head -c 4096 /dev/zero | tr '\0' 'x' > root/page.html
record=("$build/bin/probity" record -f -o trace)
calls=(--calls "locks,io,threads")
read -ra names <<< "${PARTS:-same states calls all calls-budget all-budget}"
for ((i = 0; i < rounds; i++)); do
    for name in "${names[@]}"; do
        case $name in
        same) recorded=(env) ;;
        states) recorded=("${record[@]}" --sched --) ;;
        calls) recorded=("${record[@]}" "${calls[@]}" --) ;;
        all) recorded=("${record[@]}" "${calls[@]}" --sched --) ;;
        calls-budget) recorded=("${record[@]}" "${calls[@]}" --budget 3% --) ;;
        all-budget) recorded=("${record[@]}" "${calls[@]}" --sched --budget 3% --) ;;
        esac
        load "$name.before" env
        load "$name" "${recorded[@]}"
        load "$name.after" env
        rm -f trace trace.*
    done
done
row "requests a second, alone" "$(median "${names[0]}.before")" 1/s ""
row "CPU of the server per request, alone" "$(median "${names[0]}.before.cpu")" us ""
while IFS='|' read -r name what target; do
    [ -s "$name" ] || continue
    read -r middle low high < <(ratio "$name")
    row "requests a second, $what / alone" "$middle" x "$target"
    row "first quartile" "$low" x ""
    row "third quartile" "$high" x ""
    row "CPU of the server per request, added by $what" "$(added "$name")" us ""
    row "of which the library's threads" "$(median "$name.cpu" 2)" us ""
    row "CPU of the command per request" "$(median "$name.cpu" 3)" us ""
done << 'ROWS'
same|nothing: another run alone|
states|states|
calls|locks, io, threads|
all|locks, io, threads, states|>= 0.90
calls-budget|locks, io, threads with a budget of 3 %|
all-budget|locks, io, threads, states with a budget of 3 %|>= 0.97
ROWS
