#!/usr/bin/env bash
# Debian's redis and nginx under load with all calls recorded: they reply as they do without a
# recording, are killed under load, and their traces have no errors. Servers that are not installed
# are skipped.
# variants: gcc
# timeout: 300
. "$(dirname "$0")/../common.bash"
base=$((20000 + $$ % 12000)) # below the ports that the kernel assigns
record=("$PROBITY" record --calls all -o "$WORK/%n.%p.probity" --)

# Kills the processes that $1 started, and their descendants.
kill_children_of() {
    local child
    for child in $(pgrep -P "$1" || true); do
        kill_children_of "$child"
        kill -KILL "$child" 2> /dev/null || true
    done
}

# $1 description: each trace is free of errors, once recovered, and one has calls of $2
check_traces() {
    local trace found=0
    for trace in *.probity; do
        "$PROBITY" recover "$trace" > output 2>&1 || true
        "$PROBITY" check "$trace" > output 2>&1 || fail "$1: $trace: $(cat output)"
        "$PROBITY" report --json "$trace" > report.json 2> errors || fail "$1: $(cat errors)"
        jq -e ".functions[] | select(.name == \"$2\" and .calls > 0)" report.json > output &&
            found=1
    done
    expect "$1: a trace with calls of $2" 1 "$found"
    rm -f ./*.probity
}

# Ends the server, job $server, while a load is running. $1 what the load prints; the rest: the load
kill_under() {
    local shows=$1 load
    shift
    "$@" > load 2>&1 &
    load=$!
    wait_until "$load" grep -q "$shows" load || fail "no load: $(cat load)"
    kill_children_of "$server"
    wait "$server" 2> /dev/null || true
    kill "$load" 2> /dev/null || true
    wait "$load" 2> /dev/null || true
}

# ---- Redis ---------------------------------------------------------------------------------------

ask_redis() { timeout 60 redis-cli -p "$base" "$@"; }

# $@: the command that runs it
start_redis() {
    "$@" redis-server --port "$base" --bind 127.0.0.1 --save '' --dir "$WORK" --io-threads 2 \
        > redis.log 2>&1 &
    server=$!
    wait_until "$server" ask_redis ping > pinged 2>&1 || fail "redis: $(cat redis.log)"
}

# Its replies, and a digest of everything it stores.
use_redis() {
    seq 1 300 | sed 's/.*/set key& value&/' | ask_redis | sort | uniq -c
    ask_redis lpush list a b c
    ask_redis lrange list 0 -1
    ask_redis sort list alpha
    ask_redis dbsize
    ask_redis save
    cksum < dump.rdb | cut -d ' ' -f 2
    rm -f dump.rdb
}

if command -v redis-server > /dev/null && command -v redis-benchmark > /dev/null; then
    start_redis env
    use_redis > alone
    ask_redis shutdown nosave || true
    wait "$server" || true
    start_redis "${record[@]}"
    use_redis > recorded
    diff alone recorded > difference || fail "redis: other answers: $(cat difference)"
    timeout 200 redis-benchmark -p "$base" -n 1000 -c 10 -q -t set,get,lpush > load 2>&1 ||
        fail "redis: load: $(cat load)"
    ask_redis shutdown nosave || true
    wait "$server" || fail "redis: status $?"
    check_traces "redis, shut down" epoll_wait
    start_redis "${record[@]}"
    kill_under rps redis-benchmark -p "$base" -n 10000000 -c 10 -t set
    check_traces "redis, killed" epoll_wait
else
    echo "left out: no redis here"
fi

# ---- nginx ---------------------------------------------------------------------------------------

port=$((base + 1))
start_nginx() {
    "$@" "$nginx" -p "$WORK" -c nginx.conf > nginx.log 2>&1 &
    server=$!
    wait_until "$server" curl -sf "http://127.0.0.1:$port/page" -o page ||
        fail "nginx: $(cat nginx.log)"
}

nginx=$(PATH=$PATH:/usr/sbin command -v nginx || true)
if [ -n "$nginx" ] && command -v wrk > /dev/null; then
    mkdir -p root temporary
    seq 5000 > root/page
    cat > nginx.conf << END
daemon off;
worker_processes 2;
$([ "$(id -u)" != 0 ] || echo "user $(id -un);")
pid nginx.pid;
error_log stderr;
events { worker_connections 64; }
http {
    access_log off;
    client_body_temp_path temporary; proxy_temp_path temporary; fastcgi_temp_path temporary;
    uwsgi_temp_path temporary; scgi_temp_path temporary;
    server { listen 127.0.0.1:$port; root root; }
}
END
    start_nginx "${record[@]}"
    cmp page root/page || fail "nginx: another page"
    wrk -t1 -c8 -d1s "http://127.0.0.1:$port/page" > load 2>&1 || fail "nginx: load: $(cat load)"
    grep -q 'requests in' load || fail "nginx: load: $(cat load)"
    ! grep -E 'Non-2xx|Socket errors' load || fail "nginx: load: $(cat load)"
    kill -TERM "$server"
    wait "$server" || fail "nginx: status $?"
    check_traces "nginx, ended" epoll_wait
    start_nginx "${record[@]}"
    kill_under Running wrk -t1 -c8 -d60s "http://127.0.0.1:$port/page"
    check_traces "nginx, killed" epoll_wait
else
    echo "left out: no nginx or no wrk here"
fi
finish
