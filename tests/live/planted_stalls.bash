# The web server at full load, with injected stalls: each must be in a complete dump, and `probity
# why` must name its cause. Sourced after common.bash.

# Ends server and load. Scripts that use this file call it at exit.
stalls_stop() {
    [ -z "$stalls_load" ] || kill -KILL "$stalls_load" 2> /dev/null || true
    [ -z "$stalls_server" ] || kill -KILL "$stalls_server" 2> /dev/null || true
}
stalls_load=
stalls_server=

# Injects $1 stalls of 3 to 50 ms, one after the other, from a random seed $2. Writes "truth": kind,
# CLOCK_REALTIME in ns before and after, answer.
stalls_plant() {
    # shellcheck disable=SC2154 # await_port sets it
    "${PYTHON:-python3}" - "$1" "$2" "$port" > truth << 'PYTHON'
import http.client, random, sys, time
count, seed, port = map(int, sys.argv[1:])
random.seed(seed)
client = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
for i in range(count):
    kind = ("lock", "cpu", "fault", "write")[i % 4]
    begin = time.time_ns()
    client.request("GET", f"/stall/{kind}/{random.randint(3, 50)}")
    answer = client.getresponse()
    answer.read()
    print(kind, begin, time.time_ns(), answer.status, flush=True)
    time.sleep(random.uniform(0.01, 0.1))
PYTHON
}

# Functions are recorded as scopes, and with the shared library, which is required for recording
# calls to libc.
stalls_build() {
    "${CC:-gcc}" -O1 -g -pthread -DFN_INSTRUMENT -I"$SOURCE/include" -o httpd \
        "$SOURCE"/examples/httpd/*.c -L"$BUILD/lib" -Wl,-rpath,"$BUILD/lib" -lprobity
}

# $1 how many, $2 seed. Leaves dumps stall-*.probity.
stalls_record() {
    stalls_build || fail "httpd: not built"
    mkdir -p root
    head -c 4096 /dev/zero > root/page.html
    rm -f server.out
    "$PROBITY" record -f --calls io --when 'function worker_serve_request > 2ms' --ring 10s,256M \
        --before 30ms --at-most 1000/1s --dump-limit 4G -o 'stall-%i.probity' -- \
        ./httpd --root root --port 0 --threads 8 --plant > server.out 2> errors &
    stalls_server=$!
    await_port "$stalls_server"
    "$BUILD/examples/httpd_load" --connections 16 --seconds 3600 "$port" /page.html \
        > load.out 2>&1 &
    stalls_load=$!
    stalls_plant "$1" "$2" || fail "planting: $(tail -n 1 truth)"
    kill -TERM "$stalls_load"
    wait "$stalls_load" || true
    kill -TERM "$stalls_server" # it forwards the signal
    wait "$stalls_server" || fail "server: status $?: $(cat errors)"
    stalls_load=
    stalls_server=
}

# Prints how many were injected, dumped, named correctly, and lost their CPU for longer than the
# injected duration; then the errors. A stall counts as dumped if a complete dump has its call from
# enter to leave. Without thread states, descheduled threads and late pages are both off the CPU in
# no recorded wait.
stalls_judge() {
    "${PYTHON:-python3}" - "$PROBITY" << 'PYTHON'
import glob, json, subprocess, sys
tool = sys.argv[1]
accepted = {"lock": {"lock"}, "write": {"io"}, "cpu": {"off-cpu", "descheduled"},
            "fault": {"off-cpu", "blocked"}}
def run(*words):
    return json.loads(subprocess.run([tool, *words], capture_output=True, text=True).stdout or "{}")
truth = [line.split() for line in open("truth")]
truth = [t for t in truth if t[3] == "200"]  # a kernel may refuse userfaultfd
def cases_of(dump, function):
    return run("why", "--function", function, "--slowest", "1000", "--json", dump).get("cases", [])
def holds(outer, inner):
    return (outer["tid"] == inner["tid"] and
            outer["at_ns"] <= inner["at_ns"] < outer["at_ns"] + outer["ns"])
found = [[] for _ in truth]
for dump in glob.glob("stall-*.probity"):
    stalls = cases_of(dump, "plant_stall")
    if not stalls or not run("info", "--json", dump)[0]["dump"]["whole"]:
        continue
    requests = cases_of(dump, "worker_serve_request")
    for stall in stalls:
        of = [n for n, t in enumerate(truth) if int(t[1]) <= stall["at_ns"] <= int(t[2])]
        for request in requests:
            if of and holds(request, stall):
                found[of[0]].append(request)
def part(request, names):
    return max(request["parts"][name]["ns"] for name in names)
dumped = right = taken = 0
wrong = []
for (kind, begin, _, _), mine in zip(truth, found):
    dumped += bool(mine)
    causes = {request["cause"]["kind"] for request in mine}
    off = {"off-cpu", "descheduled"}
    if mine and causes <= accepted[kind]:
        right += 1
    # On a busy machine, the thread lost the CPU for longer than the injected duration, and `why`
    # names that.
    elif mine and causes <= off | accepted[kind] and all(
            part(request, off & request["parts"].keys()) >
            part(request, accepted[kind] & request["parts"].keys()) for request in mine):
        taken += 1
    else:
        wrong.append(f"{kind} at {begin}: {[r['parts'] for r in mine] or 'not dumped'}")
print(len(truth), dumped, right, taken)
print("\n".join(wrong[:10]))
PYTHON
}
