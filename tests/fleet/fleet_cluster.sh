#!/usr/bin/env bash
# `probity ship --init --cluster` with two ClickHouse servers on loopback, each a shard, and
# ZooKeeper: runs are on both, either one is asked, answers are those of the traces; while one is
# killed, the sender reports that and waits, and afterwards every row is there once.
# variants: gcc
# timeout: 600
. "$(dirname "$0")/../common.bash"
. "$SOURCE/tests/fleet/clickhouse.bash"
need_clickhouse
jar=/usr/share/java/zookeeper.jar
if ! command -v java > /dev/null || [ ! -e $jar ]; then
    echo "no ZooKeeper here (tools/setup.sh fleet)"
    exit 77
fi
unset PROBITY_FLEET PROBITY_FLEET_PASSWORD PROBITY_LABEL
export no_proxy='*'
OUTAGE=${OUTAGE:-7} # seconds for which a shard is away

# Several ports at once, so that they differ.
read -r keeper_port http1 http2 tcp1 tcp2 inter1 inter2 < <(python3 -c 'import socket
sockets = [socket.socket() for i in range(7)]
for s in sockets: s.bind(("127.0.0.1", 0))
print(*(s.getsockname()[1] for s in sockets))')
servers=(0 0 0)
http=(0 "$http1" "$http2")
tcp=(0 "$tcp1" "$tcp2")
inter=(0 "$inter1" "$inter2")

cat > zoo.cfg << END
tickTime=2000
dataDir=$WORK/keeper
clientPort=$keeper_port
clientPortAddress=127.0.0.1
admin.enableServer=false
END
mkdir keeper
for i in 1 2; do
    mkdir "server$i"
    cat > "server$i/config.xml" << END
<yandex><logger><level>warning</level><log>$WORK/server$i/log</log>
<errorlog>$WORK/server$i/errors</errorlog></logger>
<http_port>${http[i]}</http_port><tcp_port>${tcp[i]}</tcp_port>
<interserver_http_port>${inter[i]}</interserver_http_port>
<interserver_http_host>127.0.0.1</interserver_http_host><listen_host>127.0.0.1</listen_host>
<path>$WORK/server$i/data/</path><tmp_path>$WORK/server$i/tmp/</tmp_path>
<users_config>$WORK/users.xml</users_config><default_profile>default</default_profile>
<default_database>default</default_database><mark_cache_size>5368709</mark_cache_size>
<zookeeper><node><host>127.0.0.1</host><port>$keeper_port</port></node></zookeeper>
<macros><shard>$i</shard><replica>one</replica></macros>
<distributed_ddl><path>/clickhouse/task_queue/ddl</path></distributed_ddl>
<remote_servers><two>
<shard><internal_replication>true</internal_replication>
<replica><host>127.0.0.1</host><port>$tcp1</port></replica></shard>
<shard><internal_replication>true</internal_replication>
<replica><host>127.0.0.1</host><port>$tcp2</port></replica></shard>
</two></remote_servers></yandex>
END
done
cat > users.xml << END
<yandex><profiles><default></default></profiles><users><default><password></password>
<networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default>
</users><quotas><default></default></quotas></yandex>
END

# $1 server, $2 statement, $3 database
sql_of() {
    curl -sS --fail-with-body --data-binary "$2" \
        "http://127.0.0.1:${http[$1]}/?database=${3:-probity}"
}

is_up_at() { sql_of "$1" 'SELECT 1' default > /dev/null 2>&1; }

# $1 server
starts_shard() {
    clickhouse-server --config-file="$WORK/server$1/config.xml" > "server$1/out" 2>&1 &
    servers[$1]=$!
    wait_until "${servers[$1]}" is_up_at "$1" || fail "no server $1: $(tail -n 3 "server$1/out")"
}

kills() {
    [ "$1" = 0 ] || kill -s KILL "$1" 2> /dev/null || true
    wait "$1" 2> /dev/null || true
}

keeper=0
trap '[[ $BASHPID != $$ ]] || { kills "${servers[1]}"; kills "${servers[2]}"; kills "$keeper"
    rm -rf "$WORK" "$SPOOL"; }' EXIT
java -cp "$jar:/usr/share/java/slf4j-simple.jar" \
    org.apache.zookeeper.server.quorum.QuorumPeerMain zoo.cfg > keeper.out 2>&1 &
keeper=$!
is_open() { python3 -c "import socket; socket.create_connection(('127.0.0.1', $1)).close()"; }
wait_until "$keeper" is_open "$keeper_port" 2> /dev/null || fail "$(tail -n 3 keeper.out)"
for i in 1 2; do
    starts_shard $i
    sql_of $i 'CREATE DATABASE probity' default
done
url1=http://127.0.0.1:$http1/probity
url2=http://127.0.0.1:$http2/probity
# This old server may crash while it makes tables on a cluster: then it is started again, as a
# service would be.
makes_tables() {
    local try i
    for try in 1 2 3; do
        ! "$PROBITY" ship --to "$1" --init --cluster two 2> errors || return 0
        for i in 1 2; do
            is_running "${servers[i]}" || { kills "${servers[i]}"; starts_shard $i; }
        done
    done
    fail "tables, try $try: $(cat errors)"
}
makes_tables "$url1"
makes_tables "$url2"

# ---- Rows on both shards, and the same answers from each server

# $1 trace. Prints on which shard its run is; only a few are tried until both are found.
shard_of() {
    local run
    run=$("$PROBITY" ship --to "$url1" --json "$1" 2> /dev/null | jq -r '.[0].run')
    for i in 1 2; do
        [ "$(sql_of $i "SELECT count() FROM probity_calls_local WHERE run =
            reinterpretAsUInt64(reverse(unhex('$run')))")" = 0 ] || echo $i
    done
}

found=' ' traces=0
until [[ $found == *' 1 '* && $found == *' 2 '* ]] || ((traces == 40)); do
    traces=$((traces + 1))
    PROBITY_LABEL=trace$traces PROBITY_OUT=$WORK/trace$traces "$PROGRAMS/tree"
    "$PROBITY" ship --to "$url1" "trace$traces" > output 2> errors || fail "$(cat errors)"
    found+="$(shard_of "trace$traces" | tr '\n' ' ')"
done
[[ $found == *' 1 '* && $found == *' 2 '* ]] || fail "all runs on one shard: $found"

times='[.functions[] | {name, calls, self_ns, total_ns, min_ns, max_ns}] | sort_by(.name)'
for i in 1 "$traces"; do
    "$PROBITY" report --json "trace$i" 2> /dev/null | jq -S "$times" > from.file
    for url in "$url1" "$url2"; do
        "$PROBITY" report --json --from-fleet "$url" --label "trace$i" 2> errors |
            jq -S "$times" > from.fleet || true
        cmp -s from.file from.fleet || fail "trace$i: $(cat errors) $(diff from.file from.fleet)"
    done
done
for command in list tree blocks threads "hist *" "report --by-thread --since 1%" "runs list" fleet
do
    set -f
    # shellcheck disable=SC2086
    "$PROBITY" $command --from-fleet "$url2" > output 2> errors || fail "$command: $(cat errors)"
    set +f
done
"$PROBITY" diff --from-fleet "$url2" @trace1 -- "@trace$traces" > output 2> errors ||
    fail "diff: $(cat errors)"

# ---- One shard is killed while traces are sent

# More than one run, so that some are on either shard.
mkdir sent
for i in 1 2 3 4; do
    PROBITY_LABEL=many "$BUILD/bench/gen_scopes" "sent/$i" 2 1 > /dev/null
done
"$PROBITY" ship --to "$url1" --block-rows 5000 --retry 300 sent/? > shipped.out 2> shipped.err &
sender=$!
has_some() { [ "$(sql_of 1 "SELECT count() FROM probity_calls" 2> /dev/null)" -gt 20000 ]; }
wait_until "$sender" has_some || fail "nothing was sent: $(cat shipped.err)"
kills "${servers[2]}"
servers[2]=0
wait_until "$sender" grep -q 'retrying for up to' shipped.err ||
    fail "not reported: $(cat shipped.err)"
is_running "$sender" || fail "the sender gave up: $(cat shipped.err)"
sleep "$OUTAGE" # the length of an outage, not a wait for something
starts_shard 2
wait "$sender" || fail "the sender failed: $(cat shipped.err)"
expect "calls" "$("$PROBITY" report --json sent/? 2> /dev/null |
    jq '[.functions[].calls] | add')" \
    "$(sql_of 2 "SELECT count() FROM probity_calls WHERE run GLOBAL IN
        (SELECT run FROM probity_runs WHERE label = 'many')")"
"$PROBITY" report --json sent/? 2> /dev/null | jq -S '[.functions[] | {name, calls}] |
    sort_by(.name)' > from.file
"$PROBITY" report --json --from-fleet "$url2" --label many 2> errors |
    jq -S '[.functions[] | {name, calls}] | sort_by(.name)' > from.fleet || true
cmp -s from.file from.fleet || fail "afterwards: $(cat errors) $(diff from.file from.fleet)"
finish
