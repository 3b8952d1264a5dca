# The example web server under wrk, observed from outside: shared by the short test and the
# campaign. Sourced after common.bash. The references are the server's scoreboard
# (examples/httpd/scoreboard.h) and the count of wrk, which sends requests for a fixed time and then
# waits for every response.
#
# A round: soak_start, soak_load, soak_stop or soak_kill, then soak_hits and the other checks.

SOAK_WORKERS=4
SOAK_CONNECTIONS=16
# How much a server's memory may grow in the second half of a round, by least squares.
SOAK_GROWTH_KIB=${SOAK_GROWTH_KIB:-128}

# In the modes trace and ring the program records stages. In mode profile it counts functions and
# has no probes, so its trace does not grow either. $1 mode
soak_build() {
    server=$BUILD/examples/httpd
    [ "$1" = profile ] || return 0
    server=$WORK/httpd-functions
    [ ! -x "$server" ] || return 0
    # shellcheck disable=SC2086
    "$CC" -std=gnu11 -O2 -g -pthread -D_GNU_SOURCE -DFN_INSTRUMENT -DPROBITY_DISABLE ${SANITIZE_FLAGS:-} \
        -I"$SOURCE/include" "$SOURCE"/examples/httpd/*.c "$BUILD/lib/libprobity.a" -o "$server"
}

soak_root() {
    mkdir -p root/cgi-bin
    head -c 300 /dev/urandom > root/small.bin
    head -c 102400 /dev/urandom > root/large.bin
    printf '<title>a page</title>\n' > root/index.html
    printf '#!/bin/sh\nprintf "\\n%%s\\n" "$QUERY_STRING"\n' > root/cgi-bin/echo
    chmod +x root/cgi-bin/echo
}

# Each thread of wrk sends requests for some seconds, with a pause between requests on a connection,
# and ends after the response to its last request, so that no request is counted on one side only.
soak_script() {
    cat > load.lua << 'EOF'
local threads = {}
issued, answered = 0, 0

function setup(thread)
    table.insert(threads, thread)
end

function init(args)
    last = os.time() + tonumber(args[1])
    pause = tonumber(args[2])
    plain = wrk.format("GET", "/")
    small = wrk.format("GET", "/small.bin")
    large = wrk.format("GET", "/large.bin")
    closing = wrk.format("GET", "/small.bin", {["Connection"] = "close", ["Host"] = "x"})
    program = wrk.format("GET", "/cgi-bin/echo?x")
end

function delay()
    if os.time() >= last then
        if answered == issued then
            wrk.thread:stop()
        end
        return 3600000
    end
    issued = issued + 1
    return pause
end

function request()
    -- Early, so that each worker has met all that it will meet.
    if issued % 997 == 0 or (issued < 500 and issued % 20 == 0) then
        return program
    elseif issued % 101 == 0 then
        return closing
    elseif issued % 10 == 0 then
        return large
    end
    return issued % 2 == 0 and plain or small
end

function response()
    answered = answered + 1
    if answered == issued and os.time() >= last then
        wrk.thread:stop()
    end
end

function done(summary)
    local sent, got = 0, 0
    for _, thread in ipairs(threads) do
        sent = sent + thread:get("issued")
        got = got + thread:get("answered")
    end
    local errors = summary.errors
    io.write(string.format("sent %d\nanswered %d\ncounted %d\nerrors %d\n", sent, got,
        summary.requests,
        errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
EOF
}

# $1 mode, $2 trace, which is replaced
soak_start() {
    rm -f "$2"
    local settings=("PROBITY_OUT=$WORK/$2")
    [ "$1" != ring ] || settings+=(PROBITY_MODE=ring)
    [ "$1" != profile ] || settings+=(PROBITY_PROFILE=1)
    : > server.out
    env "${settings[@]}" "$server" --root root --port 0 --threads $SOAK_WORKERS --idle 60 \
        --scoreboard scoreboard > server.out 2> server.err &
    server_pid=$!
    await_port "$server_pid"
    [ -n "$port" ] || fail "$1: the server did not start"
}

# $1 seconds, $2 ms between requests on a connection
soak_load() {
    wrk -t2 -c$SOAK_CONNECTIONS -d$(($1 + 300))s --timeout 120s -s load.lua "http://127.0.0.1:$port" \
        -- "$1" "$2" > load.out 2>&1 &
    load_pid=$!
}

threads_of() {
    sed -n 's/^Threads:[^0-9]*//p' "/proc/$1/status" 2> /dev/null
}

# wrk sleeps until its time is up even if its threads have ended; a signal makes it report.
soak_await_load() {
    local threads=3
    for threads in 3 1; do
        while is_running "$load_pid" && [ "$(threads_of "$load_pid")" != $threads ]; do
            sleep 0.1
        done
    done
    signal_job INT "$load_pid" || true
    wait "$load_pid" || fail "wrk: status $?: $(cat load.out)"
}

# Prints one line per second until the server receives the signal to end: second, KiB resident, KiB
# of private memory, descriptors, threads, mappings, KiB of the spool, bytes of the trace. A sample
# during which the file "ended" appears is dropped: at its end, the server writes all counts of a
# profile, closes files and ends threads. $1 trace
soak_sample() {
    local trace=$1 status sample
    while status=$(awk '/^VmRSS/ { rss = $2 } /^RssAnon/ { own = $2 } /^Threads/ { threads = $2 }
            END { if (rss == "" || own == "") exit 1
                print rss, own, threads }' "/proc/$server_pid/status" 2> /dev/null); do
        # shellcheck disable=SC2012 # names of descriptors are numbers
        sample=$(printf '%s %s %s %s %s %s\n' $SECONDS "$status" \
            "$(ls "/proc/$server_pid/fd" 2> /dev/null | wc -l)" \
            "$(wc -l 2> /dev/null < "/proc/$server_pid/maps" || echo 0)" \
            "$(du -sk "$SPOOL" | cut -f 1)" "$(stat -c %s "$trace" 2> /dev/null || echo 0)")
        [ ! -e ended ] || break
        echo "$sample"
        sleep 1
    done > samples
}

# Evaluates the second half of the samples: growth of memory by least squares, minimum and maximum
# of the other values. Prints "NAME GROWTH MIN MAX" for each.
soak_trends() {
    awk '$5 > 0 && $6 > 0 { for (i = 1; i <= 8; i++) at[NR, i] = $i; n = NR }
        END {
            split("seconds rss own threads descriptors maps spool trace", name, " ")
            for (i = 2; i <= 8; i++) {
                count = x = y = xx = xy = 0; least = most = ""
                for (row = int(n / 2) + 1; row <= n; row++) {
                    value = at[row, i]; count++
                    x += row; y += value; xx += row * row; xy += row * value
                    if (least == "" || value < least) least = value
                    if (most == "" || value > most) most = value
                }
                slope = count > 1 ? (count * xy - x * y) / (count * xx - x * x) : 0
                printf "%s %.1f %d %d\n", name[i], slope * (count - 1), least, most
            }
        }' samples
}

# Fails if something grows. $1 mode
soak_flat() {
    [ "$(wc -l < samples)" -ge 3 ] || fail "$1: $(wc -l < samples) samples only"
    soak_trends > trends
    awk -v limit="$SOAK_GROWTH_KIB" -v mode="$1" -v connections=$SOAK_CONNECTIONS \
        -v workers=$SOAK_WORKERS '
        # A ring takes more chunks while threads request them, up to a limit.
        BEGIN { ring = mode == "ring" ? 4096 : 0 }
        $1 == "rss" && $2 > limit + ring { print $1 " grew by " $2 " KiB" }
        $1 == "own" && $2 > limit { print $1 " grew by " $2 " KiB" }
        $1 == "threads" && $3 != $4 { print $1 " between " $3 " and " $4 }
        $1 == "spool" && $4 - $3 > ring { print $1 " between " $3 " and " $4 }
        # One stack for each program that is being started.
        $1 == "maps" && ($2 > 1 || $4 - $3 > 2 * workers) { print $1 " between " $3 " and " $4 }
        # One for a connection, one for a file being sent, four for the two pipes of a program.
        $1 == "descriptors" && $4 - $3 > 6 * connections { print $1 " between " $3 " and " $4 }
        # The first hit of a site adds its declaration, which may be late on a busy machine. All
        # declarations take less than 1.5 KiB; records of the requests would take 50 KiB.
        $1 == "trace" && (mode == "trace" ? $4 <= $3 : $4 - $3 > 2048) { print $1 " from " $3 " to " $4 }' \
        trends > steep
    [ ! -s steep ] || fail "$1: resource usage grows: $(tr '\n' ';' < steep)"
}

# Prints the server's work, from its scoreboard: lines "THREAD STAGE TIMES". In profile mode,
# functions summed over all threads replace stages. $1 mode
soak_done() {
    od -An -v -w64 -tu8 scoreboard | awk -v mode="$1" '
        function line(thread, stage, count) { if (count > 0) print thread, stage, count }
        mode == "profile" {
            calls["worker_serve_connection"] += $4; calls["cgi_run"] += $6
            calls["worker_serve_request"] += $5; calls["worker_resolve"] += $5
            calls["response_send_header"] += $5
            next
        }
        {
            line($1, 1, $2); line($1, 2, $3); line($1, 3, $4); line($1, 12, $7)
            for (stage = 4; stage <= 9; stage++) line($1, stage, $5)
            line($1, 10, $6); line($1, 11, $6)
        }
        END { for (name in calls) line("all", name, calls[name]) }' | sort
}

# Prints the same from the trace. $1 mode, $2 trace
soak_reported() {
    if [ "$1" = profile ]; then
        "$PROBITY" report --json "$2" |
            jq -r '.functions[] | select(.calls > 0) | "all \(.name) \(.calls)"'
    else
        "$PROBITY" csv "$2" | awk -F , '$3 ~ /^[0-9]+$/ { times[$2 " " $3]++ }
            END { for (key in times) print key, times[key] }'
    fi | sort
}

# Each thread and stage has as many hits as the scoreboard, or one more if it was killed between the
# two. In a profile after a kill, calls that had not ended may be missing, and each worker may have
# one call that is not yet on the scoreboard. $1 mode, $2 trace, $3 "killed" or ""
soak_hits() {
    soak_done "$1" > made
    soak_reported "$1" "$2" > reported
    awk -v killed="$3" -v least="$([ "$1" = profile ] && echo -$SOAK_WORKERS || echo 0)" \
        -v most="$([ "$1" = profile ] && echo $SOAK_WORKERS || echo 1)" '
        NR == FNR { done[$1 " " $2] = $3; next }
        { key = $1 " " $2; off = $3 - done[key]; seen[key] = 1; sum += $3 }
        off != 0 && (killed == "" || off < least || off > most) { print key, done[key], $3 }
        END {
            for (key in done) if (!(key in seen)) print key, done[key], 0
            print sum + 0 > "sum"
        }' made reported > off
    [ ! -s off ] || fail "$1 $3: thread, stage, done, recorded: $(head -n 5 off | tr '\n' ';')"
    [ "$(cat sum)" -gt 0 ] || fail "$1 $3: nothing was recorded"
}

# Checks the contents of a ring that has wrapped: for each worker, the stages in order without a
# gap, up to the last one. $1 trace, $2 "killed" or ""
soak_ring() {
    "$PROBITY" csv --columns thread,probe,role,correlation "$1" > ring.csv
    awk -F , -v turns="$(od -An -v -w64 -tu8 scoreboard | awk '{ sum += $3 } END { print sum }')" \
        -v killed="$2" '
        BEGIN {
            split("3:3 3:4 3:12 4:5 5:6 6:7 6:10 10:11 11:7 7:8 8:9 9:4 9:3 9:12 12:3", pair, " ")
            for (i in pair) follows[pair[i]] = 1
        }
        $2 == 2 { if (queued && $4 != queued + 1) print "turn " $4 " behind " queued; queued = $4 }
        $2 == 1 || $2 == 2 { listener = $1 }
        $2 !~ /^([3-9]|1[012])$/ || $1 == listener { next }
        { hits++ }
        $1 in stage && !((stage[$1] ":" $2) in follows) { print $1 ": " $2 " after " stage[$1] }
        { stage[$1] = $2 }
        END {
            off = queued - turns
            if (off != 0 && (killed == "" || off != 1)) print "last turn " queued ", not " turns
            if (hits < 1000) print hits + 0 " hits only"
            print hits > "sum"
        }' ring.csv > off
    [ ! -s off ] || fail "ring $2: $(head -n 5 off | tr '\n' ';')"
}

# Checks that the trace is complete. $1 mode, $2 trace
soak_whole() {
    "$PROBITY" check "$2" > check.out 2>&1 || fail "$1: check: $(tail -n 3 check.out)"
    "$PROBITY" info --json "$2" > info.json || fail "$1: info"
    expect "$1: complete, dropped, missing, damaged" "true 0 0 0" "$(jq -r '.[0] | .counts as $c |
        "\(.complete) \([$c | to_entries[] | select(.key | startswith("dropped")).value] | add) \(
        $c.records_missing) \($c.damaged_places + $c.cut_bytes)"' info.json)"
}

# Hits with and without ids take 8 bytes on average. In modes without records, the trace has their
# lists and at most one spool's worth of data. $1 mode; reads the output of soak_whole
soak_size() {
    local limits='.bytes_per_record > 3 and .bytes_per_record < 12'
    [ "$1" = trace ] || limits='.file_bytes < 4194304'
    jq -e ".[0].counts | $limits" info.json > /dev/null ||
        fail "$1: trace of $(jq -r '.[0].counts | "\(.file_bytes) bytes, \(.records)"' info.json)"
}

soak_compare() {
    if [ "$1" = ring ]; then
        soak_ring "$2" "$3"
    else
        soak_hits "$1" "$2" "$3"
    fi
}

# Runs a server under load from start to SIGTERM, which is sent after the last response.
soak_round() {
    local sampler served
    rm -f ended
    soak_start "$1" "$2"
    soak_load "$3" "$4"
    soak_sample "$2" &
    sampler=$!
    soak_await_load
    : > ended
    kill -TERM "$server_pid"
    wait "$server_pid" || fail "$1: the server's status is $?"
    wait "$sampler"
    [ ! -s server.err ] || fail "$1: on stderr: $(cat server.err)"
    served=$(sed -n 's/^requests served: //p' server.out)
    expect "$1: sent, answered, counted by wrk, errors" \
        "sent $served answered $served counted $served errors 0 " \
        "$(grep -E '^(sent|answered|counted|errors) ' load.out | tr '\n' ' ')"
    ! grep -q Non-2xx load.out || fail "$1: error responses"
    soak_flat "$1"
    soak_whole "$1" "$2"
    soak_size "$1"
    soak_compare "$1" "$2" ""
    no_leftovers "$1"
}

# Restarts the server, then ends it in the middle of its load. $1 mode, $2 trace, $3 TERM or KILL,
# $4 number of requests before
soak_end_early() {
    local status=0 killed='' begun
    soak_start "$1" "$2"
    soak_load 600 0
    while begun=$(od -An -v -w64 -tu8 scoreboard | awk '{ sum += $5 } END { print sum + 0 }') &&
        [ "$begun" -lt "$4" ] && is_running "$load_pid"; do
        sleep 0.05
    done
    kill "-$3" "$server_pid"
    { wait "$server_pid"; } 2> /dev/null || status=$?
    signal_job KILL "$load_pid" || true
    { wait "$load_pid"; } 2> /dev/null || true
    expect "$1, $3: status" "$([ "$3" = KILL ] && echo 137 || echo 0)" "$status"
    if [ "$3" = KILL ]; then
        killed=killed
        soak_compare "$1" "$2" killed
        "$PROBITY" recover "$2" > recover.out 2>&1 || fail "$1: recover: $(cat recover.out)"
    fi
    soak_whole "$1" "$2"
    soak_compare "$1" "$2" "$killed"
    no_leftovers "$1, $3"
}
