#!/usr/bin/env bash
# fleet_demo.sh BUILD_DIRECTORY: three "hosts" (labels on one machine) run the example web server,
# and their traces are sent to a ClickHouse server on loopback; the sender is killed in the middle
# of one. Then runs typical queries of a team. Run by `make fleet-demo`, after the build. All
# processes are started here and ended by their ids; all files are below BUILD_DIRECTORY/fleet-demo.

set -eu

build=$(cd "${1:?usage: fleet_demo.sh BUILD_DIRECTORY}" && pwd)
seconds=${DEMO_SECONDS:-2}
demo=$build/fleet-demo
source_root=$(cd "$(dirname "$0")/.." && pwd)
engine_pid=
server_pid=
unset PROBITY_FLEET PROBITY_FLEET_PASSWORD
export no_proxy='*'
PATH=$build/bin:$PATH:/usr/sbin

clean_up() {
    [ -z "$server_pid" ] || kill -KILL "$server_pid" 2>/dev/null || true
    [ -z "$engine_pid" ] || { kill "$engine_pid" 2>/dev/null && wait "$engine_pid" || true; }
}
trap '[[ $BASHPID != $$ ]] || clean_up' EXIT

fail() {
    echo "fleet-demo: $*" >&2
    exit 1
}

section() {
    printf '\n==== %s\n%s\n\n' "$1" "$2"
}

show() {
    echo "\$ $*"
    "$@"
}

# Retries a command until it succeeds. $1 number of attempts, then the command
wait_for() {
    local times=$1
    shift
    for _ in $(seq "$times"); do
        ! "$@" || return 0
        sleep 0.1
    done
    return 1
}

is_up() {
    curl -sf --noproxy '*' --data-binary 'SELECT 1' "http://127.0.0.1:$http_port/" >/dev/null
}

start_engine() {
    command -v clickhouse-server >/dev/null || fail "no clickhouse-server (tools/setup.sh fleet)"
    # Another program may take the port in the meantime; then the engine does not start.
    http_port=$((20000 + $$ % 20000))
    mkdir "$demo/config.d"
    cp "$source_root/packaging/clickhouse/probity-compression.xml" "$demo/config.d"
    cat >"$demo/config.xml" <<END
<yandex><logger><level>warning</level><log>$demo/log</log><errorlog>$demo/errors</errorlog></logger>
<http_port>$http_port</http_port><listen_host>127.0.0.1</listen_host><path>$demo/data/</path>
<tmp_path>$demo/tmp/</tmp_path><users_config>$demo/users.xml</users_config>
<default_profile>default</default_profile><default_database>default</default_database>
<mark_cache_size>5368709</mark_cache_size></yandex>
END
    cat >"$demo/users.xml" <<END
<yandex><profiles><default></default></profiles><users><default><password></password>
<networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default>
</users><quotas><default></default></quotas></yandex>
END
    clickhouse-server --config-file="$demo/config.xml" >"$demo/engine.out" 2>&1 &
    engine_pid=$!
    wait_for 300 is_up || fail "the ClickHouse server does not start, see $demo/errors"
    curl -sf --noproxy '*' --data-binary 'CREATE DATABASE probity' "http://127.0.0.1:$http_port/"
    export PROBITY_FLEET=http://127.0.0.1:$http_port/probity
}

# The functions of the example are instrumented by macros, which FN_INSTRUMENT enables.
make_server() {
    "${CC:-cc}" -std=gnu11 -O2 -g -pthread -D_GNU_SOURCE -DFN_INSTRUMENT -I"$source_root/include" \
        -o httpd "$source_root"/examples/httpd/*.c "$build/lib/libprobity.a" -lm -ldl ||
        fail "examples/httpd cannot be built"
}

has_port() {
    port=$(sed -n 's/^listening on 127.0.0.1://p' "$demo/httpd.out")
    [ -n "$port" ]
}

# Records a web server under load. $1 label, $2 number of the run, $3 threads
serve() {
    : >"$demo/httpd.out"
    PROBITY_LABEL=$1 PROBITY_OUT=$1-$2.probity ./httpd --root root \
        --port 0 --threads "$3" >"$demo/httpd.out" &
    server_pid=$!
    wait_for 100 has_port || fail "the web server does not start"
    "$build/examples/httpd_load" --connections 8 --seconds "$seconds" "$port" "${paths[@]}" \
        >"$demo/load.out" 2>&1 || fail "no answer from the web server, see $demo/load.out"
    kill -TERM "$server_pid"
    wait "$server_pid" 2>/dev/null || true
    server_pid=
}

# Sends a trace in many blocks, and kills the sender once the engine has acknowledged some.
ship_and_kill() {
    local trace=$1 sender
    echo "\$ probity ship --block-rows 5000 $trace &"
    probity ship --block-rows 5000 "$trace" >"$demo/ship.out" 2>&1 &
    sender=$!
    wait_for 100 has_blocks "$trace" || fail "nothing was sent: $(cat "$demo/ship.out")"
    echo "\$ kill -KILL \$!"
    kill -KILL "$sender" 2>/dev/null || true
    wait "$sender" 2>/dev/null || true
    echo "its ledger has $(wc -l <"$trace.shipped") blocks; the rest is sent by the next command:"
}

has_blocks() {
    [ -s "$1.shipped" ]
}

serve_all() {
    section "Three hosts" "examples/httpd under load for $seconds s, four times as each of web1, \
web2 (2 workers) and web3 (4 workers); each run is a trace."
    for run in 1 2 3 4; do
        serve web1 $run 2
        serve web2 $run 2
        serve web3 $run 4
    done
    show ls -s --block-size=KiB ./*.probity
}

ship_all() {
    section "To ClickHouse" "On loopback, port $http_port. The sender is killed in the middle of \
the first trace; each row arrives once."
    echo "\$ export PROBITY_FLEET=$PROBITY_FLEET"
    show probity ship --init
    ship_and_kill web1-1.probity
    show probity ship --block-rows 5000 web1-1.probity
    show probity ship web*.probity
}

# The calls in the traces and in the database must be the same.
compare() {
    local here there
    here=$(probity report --json web*.probity | jq '[.functions[].calls] | add')
    there=$(probity report --json | jq '[.functions[].calls] | add')
    echo "calls in the traces: $here, in the database: $there"
    [ "$here" = "$there" ] || fail "they differ"
}

ask() {
    section "What takes the time, on all hosts?" "The engine adds up, the tool prints:"
    show probity report
    echo
    compare
    section "Is web3 different from web1?" "Four runs each, by the run:"
    show probity diff --from-fleet "$PROBITY_FLEET" --statistic mean,p99 @web1 -- @web3
    section "What does it take?" "On the engine's disk:"
    show probity fleet
}

[ -x "$build/bin/probity" ] || fail "there is no $build/bin/probity: build first (make)"
rm -rf "$demo"
mkdir -p "$demo/root"
cp -R "$source_root/doc" "$demo/root/doc"
mapfile -t paths < <(cd "$demo/root" && find . -type f | sort | sed 's,^\.,,')
cd "$demo"
make_server
start_engine
serve_all
ship_all
ask
