#!/usr/bin/env bash
# `probity model` and `probity blocks --by correlation`: checks every number against awk's result
# from `probity csv`, for traces of the web server and of a program with a queue; output formats,
# golden outputs, and traces in every state.
# variants: clang asan
# campaign: tsan
. "$(dirname "$0")/../common.bash"
tests=$(cd "$OLDPWD" && cd "$(dirname "$0")/.." && pwd)
columns=tid,cpu_s,cpu_ns,wall_s,wall_ns,role,correlation,object,probe

# $1 description, $2 status, $3 command; then its arguments. Writes "output" and "errors".
tool() {
    local what=$1 expected=$2 status=0
    shift 2
    "$PROBITY" "$@" > output 2> errors || status=$?
    expect "$what: status ($(cat errors))" "$expected" "$status"
}

# Parses a line into wall and cpu in ns (-1: unknown), role, id, object, probe (whose name may
# contain commas), thread. Seconds count from the first hit, so that sums are exact.
# shellcheck disable=SC2016 # for awk
parse='{
    split($0, field, ",")
    probe = $0
    for (i = 0; i < 8; i++) sub(/^[^,]*,/, "", probe)
    if (NR == 1) base = field[4]
    wall = (field[4] - base) * 1000000000 + field[5]
    cpu = field[3] == "" ? -1 : field[2] * 1000000000 + field[3]
    thread = field[1]; role = field[6]; id = field[7]; object = field[8]
}'

# Lines "block GROUP;FROM;TO COUNT WALL CPU_COUNT CPU OFF" of a trace, then "row GROUP;FROM
# FOLLOWED"; "names" has thread ids and names. Groups with equal names are added up.
# shellcheck disable=SC2016
blocks_awk='
    function group_of(thread,    name) {
        name = names[thread]
        gsub(/[0-9]+/, "*", name)
        return name
    }
    BEGIN { while ((getline line < "names") > 0) { split(line, f, " "); names[f[1]] = f[2] } }
    '$parse'
    {
        if (thread in last) {
            group = group_of(thread)
            pair = group ";" last[thread] ";" probe
            followed[group ";" last[thread]]++
            count[pair]++
            spent = wall > walls[thread] ? wall - walls[thread] : 0
            wall_sum[pair] += spent
            if (cpu >= 0 && cpus[thread] >= 0) {
                used = cpu > cpus[thread] ? cpu - cpus[thread] : 0
                cpu_count[pair]++
                cpu_sum[pair] += used
                off_sum[pair] += spent > used ? spent - used : 0
            }
        }
        last[thread] = probe
        walls[thread] = wall
        cpus[thread] = cpu
    }
    END {
        for (pair in count)
            printf "block %s %d %.0f %d %.0f %.0f\n", pair, count[pair], wall_sum[pair],
                cpu_count[pair], cpu_sum[pair], off_sum[pair]
        for (row in followed)
            printf "row %s %d 0 0 0 0\n", row, followed[row]
    }'

# Lines for queues, locks and requests: kind; arrivals and departures; number, total and maximum of
# stays; mean and maximum number present; time between arrivals.
# shellcheck disable=SC2016
stations_awk=$parse'
    NR == 1 { begin = wall }
    { now = end = wall }
    function change(station, by) {
        area[station] += level[station] * (now - since[station])
        since[station] = now
        level[station] += by
        if (level[station] > most[station]) most[station] = level[station]
    }
    function arrive(station, key) {
        if (arrivals[station]++) gaps[station] += now - latest[station]
        latest[station] = now
        open[key] = station
        at[key] = now
        change(station, 1)
    }
    function depart(station, key,    stay) {
        stay = now - at[key]
        departures[station]++
        stays[station]++
        stay_sum[station] += stay
        if (stay > longest[station]) longest[station] = stay
        delete open[key]
        change(station, -1)
    }
    role == "queue-put" { arrive("queue " object, "q" object ";" id) }
    role == "queue-get" { depart("queue " object, "q" object ";" id) }
    role == "lock-wait" { waiting[thread] = object; wait_at[thread] = wall }
    role == "lock-hold" {
        if (waiting[thread] == object) {
            waits["lock " object]++
            wait_sum["lock " object] += wall - wait_at[thread]
            delete waiting[thread]
        }
        arrive("lock " object, "l" object ";" thread)
    }
    role == "lock-release" { depart("lock " object, "l" object ";" thread) }
    role == "request-begin" { arrive("request " probe, "r" id) }
    role == "request-end" { depart(open["r" id], "r" id) }
    END {
        now = end
        for (station in arrivals) {
            change(station, 0)
            printf "%s %d %d %d %.0f %.0f %.17g %d %.0f %d %.0f\n", station, arrivals[station],
                departures[station], stays[station], stay_sum[station], longest[station],
                area[station] / (end - begin), most[station], gaps[station], waits[station],
                wait_sum[station]
        }
    }'

# The same lines from the model in "output".
# shellcheck disable=SC2016
blocks_jq='.groups[] | (.name | gsub("[0-9]+"; "*")) as $group |
    (.blocks[] | "block \($group);\(.from);\(.to) \(.count) \(.wall.total_ns // 0) " +
        "\(.cpu.count) \(.cpu.total_ns // 0) \(.off_cpu.total_ns // 0)"),
    (.probes[] | select(.followed > 0) | "row \($group);\(.probe) \(.followed) 0 0 0 0")'
# shellcheck disable=SC2016
stations_jq='def times: "\(.count) \(.total_ns // 0) \(.max_ns // 0)";
    (.queues[] | "queue \(.object) \(.puts) \(.gets) \(.waiting | times) \(.length.mean) " +
        "\(.length.max) \(.interarrival.total_ns // 0) 0 0"),
    (.locks[] | "lock \(.object) \(.holds) \(.releases) \(.held | times) \(.holders.mean) " +
        "\(.holders.max) \(.interarrival.total_ns // 0) \(.waiting.count) " +
        "\(.waiting.total_ns // 0)"),
    (.requests[] | "request \(.probe) \(.begins) \(.ends) \(.response | times) " +
        "\(.concurrency.mean) \(.concurrency.max) \(.interarrival.total_ns // 0) 0 0")'

# Field 8 of "expected" and "found" is a quotient, so its last digits may differ.
same_stations() {
    [ "$(wc -l < expected)" = "$(wc -l < found)" ] && paste -d ' ' expected found | awk '
        {
            for (i = 1; i <= NF / 2; i++) {
                other = $(i + NF / 2)
                apart = i == 8 ? ($i - other) ^ 2 > 1e-16 * ($i ^ 2) : $i != other
                if (apart) exit 1
            }
        }'
}

# $1 description, $2 trace. Writes "lines", "names" and "model".
same_model() {
    "$PROBITY" csv --columns "$columns" "$2" > lines 2> errors || fail "$1: $(cat errors)"
    "$PROBITY" threads --csv "$2" 2> errors | awk -F, 'NR > 1 { print $2, $3 }' > names
    tool "$1" 0 model "$2"
    mv output model
    awk "$blocks_awk" lines | sort > expected
    jq -r "$blocks_jq" model |
        awk '{ k = $1 " " $2; n[k] += $3; w[k] += $4; c[k] += $5; u[k] += $6; o[k] += $7 }
            END { for (k in n) printf "%s %d %.0f %d %.0f %.0f\n", k, n[k], w[k], c[k], u[k],
                o[k] }' | sort > found
    [ -s found ] || fail "$1: no blocks"
    cmp -s expected found ||
        fail "$1: blocks of awk (<) and the model (>): $(diff expected found | head -n 8)"
    awk "$stations_awk" lines | sort > expected
    jq -r "$stations_jq" model | sort > found
    same_stations ||
        fail "$1: queues of awk (<) and the model (>): $(diff expected found | head -n 8)"
}

# Checks the numbers derived within "model": means, rows of the matrix, buckets, Little's law.
consistent() {
    jq -r '
        def near(a; b): (a - b | fabs) <= 1e-6 * ([a, b, 1] | map(fabs) | max);
        def stations: .queues[], .locks[], .requests[];
        [.. | objects | select(has("buckets"))] as $samples |
        ($samples[] | select(.mean_ns != (.total_ns / .count | floor)) | "mean \(.)"),
        ($samples[] | select(.count != ([.buckets[][2]] | add)) | "buckets \(.)"),
        ($samples[] | select(.min_ns < .buckets[0][0] or
            .max_ns >= .buckets[-1][0] + .buckets[-1][1]) | "extremes \(.)"),
        ($samples[] | select([.min_ns, .p1_ns, .p10_ns, .p25_ns, .p50_ns, .p75_ns, .p90_ns, .p99_ns,
            .p999_ns, .max_ns] | . != sort) | "quantiles \(.)"),
        (.groups[] | .blocks | group_by(.from)[] | select(near(map(.probability) | add; 1) | not) |
            "row \(.)"),
        (.groups[] | . as $group | .blocks[] | . as $block | select(near(.probability; .count /
            ([$group.probes[] | select(.probe == $block.from) | .followed] | add)) | not) |
            "probability \(.)"),
        (.groups[] | .probes[] | select(.hits != .followed + .ends) | "hits \(.)"),
        (.groups[] | select((.probes | map(.starts) | add) != .threads) | "starts \(.)"),
        (. as $model | stations | select(near(.rate_s;
            (.puts // .holds // .begins) / $model.duration_ns * 1e9) | not) | "rate \(.)"),
        (stations.little | select(near(.difference; (.rate_s * .stay_ns / 1e9 - .length) /
            ([.rate_s * .stay_ns / 1e9, .length] | max)) | not) | "little \(.)")' model > wrong
    [ ! -s wrong ] || fail "$1: $(head -c 600 wrong)"
}

# Compares the CPU-time quantiles of each span with sorted times, for groups with unique names. $1
# description
same_quantiles() {
    awk "$parse"'
        thread in last && cpu >= 0 && cpus[thread] >= 0 {
            print last[thread] ";" probe, (cpu > cpus[thread] ? cpu - cpus[thread] : 0)
        }
        { last[thread] = probe; cpus[thread] = cpu }' lines | sort -k1,1 -k2,2n > sorted
    jq -r '[.groups[].blocks[]] | group_by([.from, .to])[] | select(length == 1)[0] |
        "\(.from);\(.to) \(.cpu.p50_ns) \(.cpu.p90_ns) \(.cpu.p99_ns)"' model > quantiles
    awk 'function check(pair, found, per_mille,    exact) {
            exact = times[pair, int((n[pair] * per_mille + 999) / 1000)]
            if (found < exact * 0.99 || found > exact * 1.01)
                print pair, per_mille, "is", found, "and not", exact
            checked++
        }
        FILENAME == "quantiles" { line[++lines] = $0; next }
        { times[$1, ++n[$1]] = $2 }
        END {
            for (i = 1; i <= lines; i++) {
                split(line[i], field, " ")
                check(field[1], field[2], 500)
                check(field[1], field[3], 900)
                check(field[1], field[4], 990)
            }
            if (checked == 0) print "nothing is checked"
        }' quantiles sorted > wrong
    [ ! -s wrong ] || fail "$1: quantiles: $(head -n 5 wrong)"
}

# Compares pairs of successive hits with the same id; a path ends when its request ends.
# $1 description, $2 trace
same_ways() {
    "$PROBITY" csv --columns "$columns" "$2" | awk "$parse"'
        id == "" || role ~ /^lock-/ { next }
        id in last {
            pair = last[id] "," probe
            count[pair]++
            sum[pair] += wall > walls[id] ? wall - walls[id] : 0
            if (threads[id] == thread && cpu >= 0 && cpus[id] >= 0) {
                known[pair]++
                used[pair] += cpu > cpus[id] ? cpu - cpus[id] : 0
            }
        }
        { last[id] = probe; walls[id] = wall; cpus[id] = cpu; threads[id] = thread }
        role == "request-end" { delete last[id] }
        END {
            for (pair in count)
                printf "%s,%d,%.0f,%s\n", pair, count[pair], sum[pair],
                    known[pair] ? sprintf("%.0f", used[pair]) : ""
        }' | sort > expected
    tool "$1: ways" 0 blocks --by correlation --json "$2"
    jq -r '.blocks[] | "\(.from),\(.to),\(.calls),\(.wall_ns),\(.cpu_ns // "")"' output |
        sort > found
    expect "$1: by" correlation "$(jq -r .by output)"
    expect "$1: forgotten" 0 "$(jq .ids_forgotten output)"
    [ -s found ] || fail "$1: no paths"
    cmp -s expected found ||
        fail "$1: paths of awk (<) and blocks (>): $(diff expected found | head -n 8)"
}

# ---- The web server ------------------------------------------------------------------------------

serve() {
    local port server client clients=()
    mkdir -p root
    seq 2000 > root/page.html
    PROBITY_OUT=httpd.probity "$BUILD/examples/httpd" --root root --port 0 --threads 3 \
        > server.out 2> server.err &
    server=$!
    await_port "$server"
    seq 300 | sed "s,.*,url = \"http://127.0.0.1:$port/page.html\"\noutput = /dev/null," > requests
    for client in 1 2 3 4; do
        curl -s -K requests &
        clients+=($!)
    done
    for client in "${clients[@]}"; do
        wait "$client" || fail "server: no answer: $(cat server.err)"
    done
    kill -TERM "$server"
    wait "$server" || fail "server: $(cat server.err)"
}

serve
same_model "server" httpd.probity
consistent "server"
same_quantiles "server"
same_ways "server" httpd.probity
expect "groups of the server" "listener worker-*" \
    "$(jq -r '.groups[].name' model | sort | paste -sd ' ')"
expect "requests" 1200 "$(jq '.requests[0].ends' model)"
expect "item left in the queue" 0 "$(jq '.queues[0].left' model)"
expect "the lock has one holder" 1 "$(jq '.locks[0].holders.max' model)"
expect "Little's law" true "$(jq '.checks.little_difference < 1e-6' model)"
expect "time explained" true "$(jq '.checks.wall_explained > 0.999' model)"

# ---- A program with a queue ----------------------------------------------------------------------

PROBITY_OUT=typed.probity "$PROGRAMS/typed" 3000 > /dev/null
same_model "queue" typed.probity
consistent "queue"
same_ways "queue" typed.probity
expect "groups with one name and different behavior" 2 "$(jq '.groups | length' model)"
expect "the queue never exceeds its capacity" true "$(jq '.queues[0].length.max <= 16' model)"
expect "names of queue and lock" "items items" "$(jq -r '.queues[0].name, .locks[0].name' model |
    paste -sd ' ')"

# From the middle on: items that are already present are reported.
middle=$("$PROBITY" csv --columns wall typed.probity | sed -n 9000p)
tool "from the middle" 0 model --from "@$middle" typed.probity
mv output model
consistent "from the middle"
expect "strays" true "$(jq '.queues[0].gets_without_put > 0 or .checks.ends_without_begin > 0 or
    .locks[0].releases_without_hold > 0' model)"

# ---- Traces without roles, and with a single record ----------------------------------------------

PROBITY_OUT=walk "$PROGRAMS/blocks"
PROBITY_OUT=hello.probity "$BUILD/examples/hello" > /dev/null
same_model "one thread" hello.probity
consistent "one thread"
tool "no roles" 0 model walk
mv output model
consistent "no roles"
expect "blocks of four threads" "$(($("$PROBITY" csv walk | wc -l) - 4))" \
    "$(jq '[.groups[].blocks[].count] | add' model)"
expect "no queues" "0 0 0" "$(jq -r '"\(.queues | length) \(.locks | length) " +
    "\(.requests | length)"' model)"
PROBITY_CPU_TIME=0 PROBITY_OUT=timeless "$PROGRAMS/typed" 100 > /dev/null
same_model "no CPU time" timeless
expect "no CPU time: samples" 0 "$(jq '[.groups[].blocks[].cpu.count] | add' model)"
expect "no CPU time: share" null "$(jq '.checks.cpu_explained' model)"

# The time before the oldest records in a ring does not count for a thread, even if the ring still
# has the thread's name from that time.
PROBITY_MODE=ring PROBITY_CHUNK_RECORDS=512 PROBITY_SPOOL_RECORDS=8192 PROBITY_OUT=ring \
    "$PROGRAMS/typed" 20000 > /dev/null
tool "ring" 0 model ring
mv output model
consistent "ring"
tool "ring: threads" 0 threads --csv ring
expect "ring: time of the threads" "$(awk -F , 'NR > 1 { sum += $6 } END { print sum }' output)" \
    "$(jq '[.groups[].lifetime_ns] | add' model)"

for name in empty one; do
    tool "$name" 0 model "$tests/golden/good/$name.probity"
    mv output model
    consistent "$name"
    expect "$name: hits" "$([ $name = one ] && echo 1 || echo 0)" "$(jq .hits model)"
    tool "$name: text" 0 model --text "$tests/golden/good/$name.probity"
    tool "$name: dot" 0 model --dot "$tests/golden/good/$name.probity"
done

# Several traces: groups with equal names are merged, but not queues of different processes.
PROBITY_OUT=other.probity "$PROGRAMS/typed" 500 > /dev/null
tool "two traces" 0 model typed.probity other.probity
expect "two traces" "2 2 3500" "$(jq -r '"\(.groups | length) \(.queues | length) " +
    "\([.queues[].gets] | add)"' output)"

# ---- Live, killed, truncated ---------------------------------------------------------------------

PROBITY_OUT=live.probity "$PROGRAMS/typed" 50000000 > /dev/null &
program=$!
lines_of() { "$PROBITY" csv "$1" 2> /dev/null | head -n 1000 | wc -l; }
until [ -f live.probity ] && [ "$(lines_of live.probity)" = 1000 ]; do
    is_running "$program" || break
done
"$PROBITY" model live.probity > output 2> errors || fail "live: $(cat errors)"
expect "live: state" live "$(jq -r '.traces[0].state' output)"
expect "live: requests" true "$(jq '.requests[0].begins > 0' output)"
signal_job KILL "$program" || fail "the program has ended early"
wait "$program" 2> /dev/null || true
"$PROBITY" model live.probity > output 2> errors || fail "killed: $(cat errors)"
expect "killed: state" killed "$(jq -r '.traces[0].state' output)"
"$PROBITY" recover live.probity > output 2>&1 || fail "recover: $(cat output)"

head -c $(($(stat -c %s typed.probity) * 2 / 3)) typed.probity > part
tool "cut" 3 model --text part
grep -q 'INCOMPLETE' output || fail "a truncated trace is reported as complete"
tool "cut: dot" 3 model --dot part
grep -q 'INCOMPLETE' output || fail "a truncated trace is drawn as complete"
tool "cut: JSON" 3 model part
expect "cut: complete" false "$(jq '.traces[0].complete' output)"

# ---- Output formats ------------------------------------------------------------------------------

for trace in typed.probity walk; do
    tool "dot" 0 model --dot "$trace"
    dot -Tsvg output > picture 2> errors || fail "dot rejects it: $(head -n 3 errors)"
    expect "stderr of dot" "" "$(cat errors)"
done
tool "dot" 0 model --dot typed.probity
expect "clusters" 2 "$(grep -c 'subgraph cluster_' output)"
expect "boxes" "$("$PROBITY" model typed.probity | jq '[.groups[].probes[]] | length')" \
    "$(grep -cE '^ *g[0-9]+n[0-9]+ \[label' output)"
expect "arrows from the queue" 1 "$(grep -cE '^ *q0 -> g[0-9]+n[0-9]+ ' output)"
tool "text" 0 model --text typed.probity
grep -q '^queue items: 3000 put, 3000 got' output || fail "no queue in: $(cat output)"
grep -q '^trace: typed.probity: complete: ' output || fail "expected the line about completeness"

cd "$tests/golden/good" || exit 1
for name in with_ids threads; do
    "$PROBITY" model $name.probity > "$WORK/$name.json"
    "$PROBITY" model --dot $name.probity > "$WORK/$name.dot"
    "$PROBITY" model --text $name.probity > "$WORK/$name.txt"
done
cd "$WORK" || exit 1
for name in with_ids threads; do
    for form in json dot txt; do
        cmp -s "$tests/golden/model/$name.$form" $name.$form ||
            fail "golden $name.$form (<): $(diff "$tests/golden/model/$name.$form" $name.$form |
                head -n 6)"
    done
done

tool "file" 0 model -o model.json typed.probity
tool "file that exists" 1 model -o model.json typed.probity
tool "replaced" 0 model -f -o model.json typed.probity
status=0
"$PROBITY" model typed.probity > /dev/full 2> errors || status=$?
expect "full disk" 1 "$status"
tool "no thread" 1 model --tid 1 typed.probity
tool "no trace" 2 model
tool "two forms" 2 model --json --dot typed.probity
tool "wrong way" 2 blocks --by name typed.probity
tool "ways without ids" 0 blocks --by correlation walk
grep -q '^no consecutive hits with the same correlation id' output ||
    fail "paths without ids: $(cat output)"
finish
