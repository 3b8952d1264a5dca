#!/usr/bin/env bash
# fleet.sh BUILD_DIR: measures the targets of doc/fleet.md and prints them as a table: with Debian's
# ClickHouse server on loopback and packaging/clickhouse/probity-compression.xml. ROWS (100,000,000)
# calls, and as many hits with ids, are copies of one trace, made by the server; it takes 2 GB of
# disk below BUILD_DIR and ten minutes. Other programs that run meanwhile change all figures except
# sizes; the load is printed with each time.
set -eu
build=$(cd "${1:?usage: fleet.sh BUILD_DIR}" && pwd)
source_root=$(cd "$(dirname "$0")/.." && pwd)
rows=${ROWS:-100000000}
rounds=${ROUNDS:-500000}
asked=${ASKED:-50}
PATH=$PATH:/usr/sbin
unset PROBITY_FLEET PROBITY_FLEET_PASSWORD PROBITY_LABEL
export no_proxy='*'
work=$(mktemp -d "$build/bench-fleet.XXXXXX")
export PROBITY_SPOOL_DIR=$work
server=0 sink=0
cd "$work"

clean_up() {
    local job
    for job in $server $sink; do
        [ "$job" = 0 ] || { kill -KILL "$job" && wait "$job"; } 2> /dev/null || true
    done
    rm -rf "$work"
}
trap '[[ $BASHPID != $$ ]] || clean_up' EXIT

fail() {
    echo "fleet.sh: $*" >&2
    exit 1
}

# $1 description, $2 target, $3 measured value
row() { printf '| %s | %s | %s |\n' "$@"; }

load() { cut -d ' ' -f 1 /proc/loadavg; }

# $1 statement, $2 database
sql() {
    curl -sS --noproxy '*' --fail-with-body --data-binary "$1" \
        "http://127.0.0.1:$port/?database=${2:-probity}"
}

is_up() { sql 'SELECT 1' default > /dev/null 2>&1; }

starts_server() {
    command -v clickhouse-server > /dev/null || fail "no clickhouse-server (tools/setup.sh fleet)"
    port=$(python3 -c 'import socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    mkdir config.d
    cp "$source_root/packaging/clickhouse/probity-compression.xml" config.d
    cat > config.xml << END
<yandex><logger><level>warning</level><log>$work/log</log><errorlog>$work/errors</errorlog></logger>
<http_port>$port</http_port><listen_host>127.0.0.1</listen_host><path>$work/data/</path>
<tmp_path>$work/tmp/</tmp_path><users_config>$work/users.xml</users_config>
<default_profile>default</default_profile><default_database>default</default_database>
<mark_cache_size>5368709120</mark_cache_size></yandex>
END
    cat > users.xml << END
<yandex><profiles><default></default></profiles><users><default><password></password>
<networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default>
</users><quotas><default></default></quotas></yandex>
END
    clickhouse-server --config-file="$work/config.xml" > out 2>&1 &
    server=$!
    for _ in $(seq 600); do
        ! is_up || break
        sleep 0.1
    done
    is_up || fail "no server: $(tail -n 3 out errors)"
    sql 'CREATE DATABASE probity' default
    sql 'CREATE DATABASE days' default
    url=http://127.0.0.1:$port/probity
    days=http://127.0.0.1:$port/days
    "$build/bin/probity" ship --to "$url" --init 2> /dev/null
    "$build/bin/probity" ship --to "$days" --init 2> /dev/null
}

server_cpu() { awk '{ print ($14 + $15) / 100 }' "/proc/$server/stat"; }

# Reads numbers, one per line. Prints "LEAST MEDIAN"
spread() { sort -n | awk '{ a[NR] = $1 } END { print a[1], a[int((NR + 1) / 2)] }'; }

rate() { awk -v n="$1" -v s="$2" 'BEGIN { printf "%.2f M", n / s / 1e6 }'; }

# ---- Sending

sends() {
    local wall cpu peak before sent total
    # Sends to a server that discards everything.
    python3 "$source_root/tests/fleet/fleet_server.py" > sink.port 2> sink.errors &
    sink=$!
    until [ -s sink.port ]; do sleep 0.1; done
    read -r wall cpu peak < <("$build/bench/usage" --all-cpus "$build/bin/probity" ship \
        --to "http://127.0.0.1:$(cat sink.port)/a" steady)
    rm -f steady.shipped
    before=$(server_cpu)
    read -r wall sent _ < <("$build/bench/usage" --all-cpus "$build/bin/probity" ship --to "$url" \
        steady)
    total=$("$build/bin/probity" fleet --from-fleet "$url" --json |
        jq '[.runs[0] | to_entries[] | select(.key | endswith("_rows")) | .value] | add')
    row "sender: rows/s of CPU time" "≥ 2 M" "$(rate "$total" "$cpu"), $total rows"
    row "sender: memory" "≤ 64 MiB" "$((peak / 1024)) MiB"
    row "sender and server: rows/s" "≥ 0.8 M" "$(rate "$total" "$wall") in $wall s; CPU \
time: sender $sent s, server $(awk "BEGIN { print $(server_cpu) - $before }") s; load $(load)"
}

# A trace of the example web server with its functions, under load for 2 s.
makes_web() {
    local site
    "${CC:-cc}" -std=gnu11 -O2 -g -pthread -D_GNU_SOURCE -DFN_INSTRUMENT -I"$source_root/include" \
        -o httpd "$source_root"/examples/httpd/*.c "$build/lib/libprobity.a" -lm -ldl
    mkdir root
    cp "$source_root"/doc/*.md root
    : > httpd.out
    PROBITY_MODE=block PROBITY_OUT=$work/web ./httpd --root root --port 0 --threads 4 > httpd.out &
    site=$!
    until grep -q '^listening on' httpd.out; do sleep 0.1; done
    "$build/examples/httpd_load" --connections 8 --seconds 2 \
        "$(sed -n 's/^listening on 127.0.0.1://p' httpd.out)" /fleet.md > /dev/null 2>&1 || true
    kill -TERM "$site"
    wait "$site" || true
}

# $1 description, $2 table, $3 target, $4 database
size_of() {
    local count bytes
    sql "OPTIMIZE TABLE $2 FINAL" "$4"
    read -r count bytes < <(sql "SELECT sum(rows), sum(bytes_on_disk) FROM system.parts WHERE active
        AND database = '$4' AND table = '$2'" default)
    row "$1" "$3" "$(awk "BEGIN { printf \"%.2f of %d\", $bytes / $count, $count }")"
}

sizes() {
    local records bytes
    size_of "bytes a call" probity_calls "≤ 6, better 4" probity
    size_of "bytes a block" probity_blocks "≤ 6, better 4" probity
    size_of "bytes a hit with an id" probity_requests "≤ 6, better 4" probity
    sql 'CREATE DATABASE web' default
    "$build/bin/probity" ship --to "http://127.0.0.1:$port/web" --init --detail records web \
        > /dev/null 2>&1 || fail "the trace of the web server"
    size_of "web server's trace: bytes a call" probity_calls "≤ 6, better 4" web
    size_of "web server's trace: bytes a block" probity_blocks "≤ 6, better 4" web
    sql "OPTIMIZE TABLE probity_records FINAL" web
    read -r records bytes < <(sql "SELECT sum(records), any(b) FROM probity_records CROSS JOIN
        (SELECT sum(bytes_on_disk) AS b FROM system.parts WHERE active AND database = 'web' AND
         table = 'probity_records')" web)
    row "web server's trace: bytes a record" "≤ 4" \
        "$(awk "BEGIN { printf \"%.2f of %d\", $bytes / $records, $records }")"
}

# ---- Queries

# $1 table, $2 column with its shift by one copy, $3 another one, or nothing. Copies its rows until
# there are enough.
copies() {
    local columns count other=${3:-}
    count=$(sql "SELECT count() FROM $1")
    columns=$(sql "SELECT arrayStringConcat(groupArray(multiIf(name = '${2%% *}', '$2',
        name = '${other%% *}', '$other', name)), ', ') FROM system.columns
        WHERE database = 'probity' AND table = '$1' AND default_kind != 'ALIAS'")
    sql "INSERT INTO $1 SELECT $columns FROM $1 ARRAY JOIN range(toUInt32(ceil($rows / $count)))
         AS n WHERE n > 0"
    sql "OPTIMIZE TABLE $1"
}

# Runs commands, given as arguments of `probity`, one per line on standard input. Prints "LEAST
# MEDIAN" in ms.
times() {
    local line words
    while read -r line; do
        read -r -a words <<< "$line"
        "$build/bench/usage" --all-cpus "$build/bin/probity" "${words[@]}" | cut -d ' ' -f 1
    done | awk '{ print 1000 * $1 }' | spread
}

# A copy is 100 s later, and its ids are higher.
stories() {
    local least median count copies before used
    copies probity_calls "at_ns + n * 100000000000"
    copies probity_requests "id + n * 10000000" "at_ns + n * 100000000000"
    count=$(sql "SELECT count() FROM probity_requests")
    copies=$((count / (3 * rounds)))
    before=$(server_cpu)
    read -r least median < <(for _ in $(seq "$asked"); do
        echo "fleet --from-fleet $url --request" \
            $((RANDOM * 32768 % copies * 10000000 + (RANDOM * 32768 + RANDOM) % rounds + 1))
    done | times)
    used=$(awk "BEGIN { print 1000 * ($(server_cpu) - $before) / $asked }")
    row "story of a request among $count hits and as many calls" "≤ 50 ms" \
        "median $median ms, least $least ms of $asked; server: $used ms of CPU; load $(load)"
}

# A day of 10 runs of 100 functions: 10^8 calls, 17 buckets in each row.
makes_day() {
    local columns sums="17 * each AS calls, 0, 0, 0, 0, 0, 0" common
    sql "INSERT INTO probity_functions (function, declared, name, file) SELECT number, 1,
         concat('f', toString(number)), 'a.c' FROM system.numbers LIMIT 100" days
    columns=$(sql "SELECT arrayStringConcat(groupArray(multiIf(name = 'run', 'run + n AS run',
        name = 'started_ns', '(toUInt64(toUInt32(toDateTime(today() - 1))) * 1000000000) AS s',
        name = 'ended_ns', 's + 86400000000000', name)), ', ') FROM system.columns
        WHERE database = 'probity' AND table = 'probity_runs'")
    sql "INSERT INTO days.probity_runs SELECT $columns FROM probity.probity_runs
         ARRAY JOIN range(10) AS n WHERE finished LIMIT 10"
    first=$(sql "SELECT min(run) FROM probity_runs" days)
    common="0, calls * 1000, 0, calls * 900, 0, 0, 0, calls * 1000, 900, 12000,
        arrayMap(x -> toUInt16(900 + number % 7 + 3 * x), range(17)),
        arrayMap(x -> toUInt64(each), range(17))"
    sql "INSERT INTO probity_hours SELECT today() - 1, $first + intDiv(number, 2400), 0,
         toDateTime(today() - 1) + 3600 * (number % 24), intDiv(number, 24) % 100, $sums, $common
         FROM (SELECT number, toUInt64(240) AS each FROM system.numbers LIMIT 24000)" days
}

day() {
    local least median before used calls
    makes_day
    calls=$(sql 'SELECT sum(calls) FROM probity_hours' days)
    before=$(server_cpu)
    read -r least median < <(for i in $(seq "$asked"); do
        echo "hist f$((i % 100)) --from-fleet $days"
    done | times)
    used=$(awk "BEGIN { print 1000 * ($(server_cpu) - $before) / $asked }")
    row "percentiles of a function over a day of $calls calls, from hours" "≤ 100 ms" \
        "median $median ms, least $least ms of $asked; server: $used ms of CPU; load $(load)"
}

exactness() {
    local exact found
    exact=$(sql "SELECT quantileExact(0.99)(total_ns) FROM probity_calls WHERE function =
        (SELECT any(function) FROM probity_functions WHERE name = 'work')")
    found=$("$build/bin/probity" report --json --from-fleet "$url" |
        jq '.functions[] | select(.name == "work") | .p99_ns')
    row "p99 from sums, less the exact one" "≤ 1 %" \
        "$(awk "BEGIN { printf \"%.2f %%\", 100 * ($found - $exact) / $exact }")"
}

[ -x "$build/tests/programs/steady" ] || {
    echo "fleet: no $build/tests/programs/steady: run \`make all test-programs\` first" >&2
    exit 1
}
starts_server
printf '%s\n' "$rounds" end | PROBITY_MODE=block PROBITY_LABEL=steady PROBITY_OUT=$work/steady \
    "$build/tests/programs/steady" > /dev/null
makes_web
printf '%s, %d CPUs; load at the beginning: %s\n\n' \
    "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" "$(nproc)" "$(load)"
echo "| What | Target | Measured |"
echo "|---|---|---|"
sends
sizes
exactness
stories
day
printf '\nLoad at the end: %s\n' "$(load)"
