#!/usr/bin/env bash
# An idle web server with a ring and six conditions: when its threads wake up, they allocate no
# memory and write nothing, so nothing grows with time. strace lists its system calls.
. "$(dirname "$0")/../common.bash"
strace -o trace.log true 2> /dev/null || { echo "skipped: no strace"; exit 77; }
WAKES=${WAKES:-60}

mkdir root
head -c 4096 /dev/zero > root/page.html
"$CC" -O2 -pthread -DFN_INSTRUMENT -I"$SOURCE/include" -o httpd "$SOURCE"/examples/httpd/*.c \
    -L"$BUILD/lib" "-Wl,-rpath,$BUILD/lib" -lprobity
conditions='function worker_serve_request > 10s;function worker_serve_request > p99.9;request > 20s'
conditions+=';gap worker_serve_request > 600min;rate 7 > 1000000/1s;signal USR2'
PROBITY_OUT=trace PROBITY_RING=30s,8M PROBITY_DUMP=dump-%i.probity PROBITY_WHEN=$conditions \
    ./httpd --root root --port 0 --threads 4 > server.out 2> errors < /dev/null &
server=$!
await_port "$server"
# shellcheck disable=SC2154 # await_port sets it
"$BUILD/examples/httpd_load" --connections 4 --requests 3000 "$port" /page.html > answers
grep -q '^errors: 0' answers || fail "requests: $(cat answers)"
writer=$(grep -lx probity-writer "/proc/$server"/task/*/comm | cut -d/ -f5)
if [ -z "$writer" ]; then
    fail "no writer thread: $(cat errors)"
    finish
fi

# The writer checks records ten times a second. The first wake-ups handle the last requests.
strace -f -o calls -p "$server" 2> strace.err &
tracer=$!
woken() {
    [ -e calls ] && [ "$(grep -c "^$writer .*futex" calls)" -ge "$1" ]
}
wait_until "$tracer" woken 30 || fail "strace: $(cat strace.err)"
before=$(wc -l < calls)
bytes=$(stat -c %s trace)
wait_until "$tracer" woken $((30 + WAKES))
tail -n +$((before + 1)) calls > idle
kill "$tracer"
wait "$tracer" || true
expect "the trace" "$bytes" "$(stat -c %s trace)"
grep -Eo '^[0-9]+ +(<\.\.\. )?[a-z0-9_]+' idle | sed 's/.* //' | sort | uniq -c > names
for name in mmap brk mremap write pwrite64 writev fallocate ftruncate open openat clone clone3; do
    ! grep -q " $name\$" names || fail "while idle: $(grep " $name" idle | head -n 2)"
done
# The number of calls per wake-up does not grow, either.
half=$((($(wc -l < idle) + 1) / 2))
first=$(head -n "$half" idle | grep -c "^$writer")
second=$(tail -n +$((half + 1)) idle | grep -c "^$writer")
[ "$second" -le $((first + first / 4 + 10)) ] || fail "calls: first $first, then $second"
echo "idle: $(paste -sd, names | tr -s ' ')"
signal_job TERM "$server"
wait "$server" || fail "status $?"
no_leftovers "idle"
finish
