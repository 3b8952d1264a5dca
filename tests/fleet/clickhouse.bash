# A ClickHouse server on loopback, with its data in the test's directory. Sourced after common.bash.
# ENGINE=current: a recent engine behind tests/engine/front.mjs, in place of Debian's server.

is_current() { [ "${ENGINE:-}" = current ]; }

# Skips the test if there is no server here.
need_clickhouse() {
    if is_current; then
        command -v node > /dev/null && [ -e "$BUILD/engine/installed" ] && return
        echo "no current engine in $BUILD/engine (tests/engine/install.sh $BUILD/engine)"
        exit 77
    fi
    PATH=$PATH:/usr/sbin
    if ! command -v clickhouse-server > /dev/null; then
        echo "no clickhouse-server here (tools/setup.sh fleet)"
        exit 77
    fi
}

free_port() {
    python3 -c 'import socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# Writes the configuration: user "default" without a password, user "closed" with "s3cret!".
configure_server() {
    mkdir -p server
    ! is_current || return 0
    http_port=$(free_port)
    cat > server/config.xml << END
<yandex><logger><level>warning</level><log>$WORK/server/log</log>
<errorlog>$WORK/server/errors</errorlog></logger>
<http_port>$http_port</http_port><listen_host>127.0.0.1</listen_host>
<path>$WORK/server/data/</path><tmp_path>$WORK/server/tmp/</tmp_path>
<users_config>$WORK/server/users.xml</users_config><default_profile>default</default_profile>
<default_database>default</default_database><mark_cache_size>5368709</mark_cache_size></yandex>
END
    cat > server/users.xml << END
<yandex><profiles><default></default></profiles><users>
<default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile>
<quota>default</quota></default>
<closed><password>s3cret!</password><networks><ip>127.0.0.1</ip></networks>
<profile>default</profile><quota>default</quota></closed>
</users><quotas><default></default></quotas></yandex>
END
}

# Prints the result of a statement. $1 statement, $2 database
sql() {
    curl -sS --noproxy '*' --fail-with-body --data-binary "$1" \
        "http://127.0.0.1:$http_port/?database=${2:-probity}"
}

is_up() { sql 'SELECT 1' default > /dev/null 2>&1; }

# Starts the server; sets "server", its job.
start_server() {
    if is_current; then
        : > server/out
        node "$SOURCE/tests/engine/front.mjs" "$BUILD/engine" "$WORK/server" > server/out 2>&1 &
        server=$!
        wait_until "$server" grep -q '^listening' server/out || fail "$(tail -n 3 server/out)"
        http_port=$(sed -n 's/^listening on 127.0.0.1://p' server/out)
        return
    fi
    clickhouse-server --config-file="$WORK/server/config.xml" > server/out 2>&1 &
    server=$!
    wait_until "$server" is_up || fail "no server: $(tail -n 3 server/out server/errors)"
}

# $1 signal
stop_server() {
    kill -s "$1" "$server" 2> /dev/null || true
    wait "$server" 2> /dev/null || true
}

# Starts a server with an empty database "probity", whose URL is "url"; it ends with the script.
# Skips the test if there is no server here.
starts_database() {
    need_clickhouse
    unset PROBITY_FLEET PROBITY_FLEET_PASSWORD PROBITY_LABEL
    export no_proxy='*'
    configure_server
    start_server
    trap '[[ $BASHPID != $$ ]] || { stop_server KILL; rm -rf "$WORK" "$SPOOL"; }' EXIT
    sql 'CREATE DATABASE probity' default
    # shellcheck disable=SC2034 # for the scripts
    url=http://127.0.0.1:$http_port/probity
}

# $1 description, $2 expected status; then a command. Writes "output" and "errors".
probity() {
    local what=$1 expected=$2 status=0
    shift 2
    "$PROBITY" "$@" > output 2> errors || status=$?
    expect "$what: status ($(head -c 1000 errors))" "$expected" "$status"
}

# $1 description, $2 text that the errors of the latest command must have
reported() {
    grep -qF -- "$2" errors || fail "$1: $(head -c 1000 errors)"
}

# Records a trace. $1 label, and name of the trace; then a program
record() {
    local label=$1
    shift
    PROBITY_LABEL=$label PROBITY_OUT=$WORK/$label "$@" > /dev/null 2>&1 || true
} 2> /dev/null
