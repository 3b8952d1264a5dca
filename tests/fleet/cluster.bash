# ClickHouse servers on loopback with ZooKeeper, as the cluster "two". Sourced after clickhouse.bash.
# shellcheck disable=SC2034,SC2154 # for the scripts

# $1 server, $2 statement, $3 database
sql_of() {
    curl -sS --noproxy '*' --fail-with-body --data-binary "$2" \
        "http://127.0.0.1:${http[$1]}/?database=${3:-probity}"
}

is_up_at() { sql_of "$1" 'SELECT 1' default > /dev/null 2>&1; }

# $1 server
starts_member() {
    clickhouse-server --config-file="$WORK/server$1/config.xml" > "server$1/out" 2>&1 &
    servers[$1]=$!
    wait_until "${servers[$1]}" is_up_at "$1" || fail "no server $1: $(tail -n 3 "server$1/out")"
}

# $1 process id; 0: none
kills() {
    [ "$1" = 0 ] || kill -s KILL "$1" 2> /dev/null || true
    wait "$1" 2> /dev/null || true
}

starts_keeper() {
    mkdir keeper
    cat > zoo.cfg << END
tickTime=2000
dataDir=$WORK/keeper
clientPort=$keeper_port
clientPortAddress=127.0.0.1
admin.enableServer=false
END
    java -cp "$jar:/usr/share/java/slf4j-simple.jar" \
        org.apache.zookeeper.server.quorum.QuorumPeerMain zoo.cfg > keeper.out 2>&1 &
    keeper=$!
    wait_until "$keeper" is_open "$keeper_port" 2> /dev/null || fail "$(tail -n 3 keeper.out)"
}

is_open() { python3 -c "import socket; socket.create_connection(('127.0.0.1', $1)).close()"; }

# $1 server, $2 its shard, $3 its replica, $4 all shards as XML
configures_member() {
    mkdir "server$1"
    cat > "server$1/config.xml" << END
<yandex><logger><level>warning</level><log>$WORK/server$1/log</log>
<errorlog>$WORK/server$1/errors</errorlog></logger>
<http_port>${http[$1]}</http_port><tcp_port>${tcp[$1]}</tcp_port>
<interserver_http_port>${inter[$1]}</interserver_http_port>
<interserver_http_host>127.0.0.1</interserver_http_host><listen_host>127.0.0.1</listen_host>
<path>$WORK/server$1/data/</path><tmp_path>$WORK/server$1/tmp/</tmp_path>
<users_config>$WORK/users.xml</users_config><default_profile>default</default_profile>
<default_database>default</default_database><mark_cache_size>5368709</mark_cache_size>
<zookeeper><node><host>127.0.0.1</host><port>$keeper_port</port></node></zookeeper>
<macros><shard>$2</shard><replica>$3</replica></macros>
<distributed_ddl><path>/clickhouse/task_queue/ddl</path></distributed_ddl>
<remote_servers><two>$4</two></remote_servers></yandex>
END
}

# $1 "shards": each of two servers is a shard; "replicas": both are replicas of one. Starts them,
# with an empty database "probity" on each; they end with the script. Sets "url1" and "url2".
# Skips the test if there is no server or no ZooKeeper here.
starts_cluster() {
    local next='</shard><shard><internal_replication>true</internal_replication>' all
    need_clickhouse
    jar=/usr/share/java/zookeeper.jar
    if ! command -v java > /dev/null || [ ! -e $jar ]; then
        echo "no ZooKeeper here (tools/setup.sh fleet)"
        exit 77
    fi
    unset PROBITY_FLEET PROBITY_FLEET_PASSWORD PROBITY_LABEL
    export no_proxy='*'
    # Allocates several ports at once, so that they differ.
    read -r keeper_port http1 http2 tcp1 tcp2 inter1 inter2 < <(python3 -c 'import socket
sockets = [socket.socket() for i in range(7)]
for s in sockets: s.bind(("127.0.0.1", 0))
print(*(s.getsockname()[1] for s in sockets))')
    servers=(0 0 0) http=(0 "$http1" "$http2") tcp=(0 "$tcp1" "$tcp2") keeper=0
    inter=(0 "$inter1" "$inter2")
    [ "$1" = shards ] || next=
    all="<shard><internal_replication>true</internal_replication>
<replica><host>127.0.0.1</host><port>$tcp1</port></replica>$next
<replica><host>127.0.0.1</host><port>$tcp2</port></replica></shard>"
    cat > users.xml << END
<yandex><profiles><default></default></profiles><users><default><password></password>
<networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default>
</users><quotas><default></default></quotas></yandex>
END
    if [ "$1" = shards ]; then
        configures_member 1 1 one "$all"
        configures_member 2 2 one "$all"
    else
        configures_member 1 1 one "$all"
        configures_member 2 1 two "$all"
    fi
    trap '[[ $BASHPID != $$ ]] || { kills "${servers[1]}"; kills "${servers[2]}"; kills "$keeper"
        rm -rf "$WORK" "$SPOOL"; }' EXIT
    starts_keeper
    for i in 1 2; do
        starts_member $i
        sql_of $i 'CREATE DATABASE probity' default
    done
    url1=http://127.0.0.1:$http1/probity
    url2=http://127.0.0.1:$http2/probity
}

# This old server may crash while it fetches. It is then restarted, as a service would be. $1 server
revive() {
    is_running "${servers[$1]}" || { kills "${servers[$1]}"; starts_member "$1"; }
}

# Waits until server $1 has $2 calls.
arrive() {
    local try
    for try in 1 2 3; do
        ! wait_until "${servers[$1]}" has_calls_at "$1" "$2" || return 0
        revive "$1"
    done
    fail "server $1 has not $2 calls, try $try"
}

# $1 URL. This old server may crash while it creates tables on a cluster. It is then restarted, as a
# service would be.
makes_tables() {
    local try i
    for try in 1 2 3; do
        ! "$PROBITY" ship --to "$1" --init --cluster two 2> errors || return 0
        for i in 1 2; do
            revive $i
        done
    done
    fail "tables, try $try: $(cat errors)"
}
