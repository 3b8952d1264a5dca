#!/usr/bin/env bash
# httpd.sh BUILD_DIR: the example web server without probes at full load on loopback, run in turn
# without recording, with calls and the scheduler's states recorded, and the same with a budget.
# Server and client share the CPUs. ROUNDS of SECONDS each. RT=1: with real-time priority, for a
# machine that is busy with other work; all threads, since the library's writer thread does not
# inherit it and would make the program wait.
set -eu
build=$(cd "$1" && pwd)
rounds=${ROUNDS:-15} seconds=${SECONDS_EACH:-2}
priority=() && [ -z "${RT:-}" ] || priority=(chrt -r 1)
directory=$(mktemp -d /tmp/probity-bench.XXXXXX)
server=
trap '[[ $BASHPID != $$ ]] || { [ -z "$server" ] || kill "$server"; rm -rf "$directory"; }' EXIT

# $1 description, $2 value, $3 unit, $4 target
row() { printf 'row\tcalls\tweb server: %s\t%s\t%s\t%s\n' "$@"; }

if ! command -v wrk > /dev/null; then
    printf 'note\tcalls\tweb server left out: there is no wrk\n'
    exit 0
fi

# CPU time of the threads of a process that are alive, in ns: all, those of the library, and those
# of the command that records the process. The server's threads live as long as it does. $1 process
# id, $2 that of the command
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

# Real-time priority for all threads, including those that start soon. $1 process id
raise() {
    for ((k = 0; k < 5; k++)); do
        chrt -a -r -p 1 "$1" 2> /dev/null || true
        sleep 0.1
    done
}

# Loads a server. Appends requests per second to a file, and CPU times per request in us (cpu_of) to
# another. $1 file, then the command that runs the server
load() {
    local result=$1 port='' process
    shift
    : > "$directory/out"
    "${priority[@]}" "$@" "$build/examples/httpd-plain" --root "$directory/root" --port 0 \
        --threads 4 > "$directory/out" 2> "$directory/errors" &
    server=$!
    until port=$(sed -n 's/^listening on 127.0.0.1://p' "$directory/out"); [ -n "$port" ]; do
        kill -0 "$server"
        read -rt 0.05 < <(:) || true
    done
    process=$(pgrep -P "$server" -x httpd-plain || echo "$server")
    [ -z "${RT:-}" ] || raise "$process" &
    "${priority[@]}" wrk -t1 -c16 -d "${seconds}s" "http://127.0.0.1:$port/page.html" |
        awk '/ requests in / { all = $1 } /^Requests\/sec:/ { print all, $2 }' \
            > "$directory/answers"
    cpu_of "$process" "$server" > "$directory/cpu"
    kill -TERM "$server"
    wait "$server" || true
    wait
    server=
    awk '{ print $2 }' "$directory/answers" >> "$result"
    paste "$directory/answers" "$directory/cpu" |
        awk '{ print $3 / $1 / 1e3, $4 / $1 / 1e3, $5 / $1 / 1e3 }' >> "$result.cpu"
}

# $1 file, $2 column
median() {
    awk -v column="${2:-1}" '{ print $column }' "$1" | sort -g |
        awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

# Median of the ratios of successive runs. $1, $2 files
ratio() {
    paste "$1" "$2" | awk '{ print $1 / $2 }' > "$directory/ratios"
    median "$directory/ratios"
}

mkdir "$directory/root"
head -c 4096 /dev/zero | tr '\0' 'x' > "$directory/root/page.html"
cd "$directory"
recorded=("$build/bin/probity" record -f -o trace --calls "locks,io,threads")
for ((i = 0; i < rounds; i++)); do
    load plain env
    load calls "${recorded[@]}" --
    load all "${recorded[@]}" --sched --
    load budget "${recorded[@]}" --sched --budget 3% --
done
row "requests a second, alone" "$(median plain)" 1/s ""
row "locks, io, threads / alone" "$(ratio calls plain)" x ""
row "locks, io, threads, states / alone" "$(ratio all plain)" x ">= 0.90"
row "the same, with a budget of 3 % / alone" "$(ratio budget plain)" x ">= 0.97"
for run in plain calls all budget; do
    row "CPU of the server per request, $run" "$(median "$run.cpu")" us ""
done
for run in calls all budget; do
    row "of which the library's threads, $run" "$(median "$run.cpu" 2)" us ""
done
row "CPU of the command that records states, per request, all" "$(median all.cpu 3)" us ""
row "CPU of the command that records states, per request, budget" "$(median budget.cpu 3)" us ""
