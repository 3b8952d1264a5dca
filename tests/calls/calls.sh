#!/usr/bin/env bash
# Calls to libc in programs without probes: counts and values equal the program's own, and a
# program's output is unchanged.
# variants: gcc clang
. "$(dirname "$0")/../common.bash"
sources=$SOURCE/tests/calls
. "$sources/record.bash"

# Prints the calls of each function, sorted.
counts() {
    "$PROBITY" report --json "$1" > report.json || fail "$1: no report"
    jq -r '.functions[] | select(.calls > 0) | "\(.name) \(.calls)"' report.json |
        sed 's/^[^(]* \([a-z]*\)(.*) /\1 /' |
        awk '{ all[$1] += $2 } END { for (i in all) print i, all[i] }' | LC_ALL=C sort
}

# $1 description, $2 trace, $3: a function that is not compared
same_counts() {
    grep -v '^peer' out | grep -v "^${3:--} " | LC_ALL=C sort > expected
    counts "$2" | grep -v "^${3:--} " > found
    diff expected found > difference || fail "$1: own (<) and recorded (>): $(cat difference)"
}

# ---- I/O and sleeps ------------------------------------------------------------------------------
"$CC" -O2 -D_FORTIFY_SOURCE=2 -o io "$sources/io.c"
"$CC" -O2 -pthread -fPIC -shared -o plugin.so "$sources/plugin.c"

for families in io,sleep all; do
    record trace --calls "$families" -- ./io
    same_counts "$families" trace
done
"$PROBITY" log trace > lines
for line in 'path = "no/such/file"' 'return (result = -1, errno = 2)' \
    'return (result = 0, fd = [0-9]*, fd2 = [0-9]*)' 'limit_ns = 1000$' \
    "peer = \"$(sed -n 's/^peer //p' out)\"" 'result = [0-9]*, peer = "127.0.0.1:' \
    'descriptor1' 'path = NULL'; do
    grep -q -- "$line" lines || fail "no '$line' in the log"
done
record sleeps --calls sleep -- ./io
expect "a family" "clock_nanosleep nanosleep sched_yield select usleep" \
    "$(counts sleeps | cut -d' ' -f1 | paste -sd' ')"

# Similar calls, and programs that are run with a list of arguments, each in a separate trace.
"$CC" -D_GNU_SOURCE -O2 -o relatives "$sources/relatives.c" 2> errors ||
    fail "relatives.c: $(cat errors)"
HOME=/ ./relatives > /dev/null 2> errors || fail "relatives fails without the library"
expect "arguments without the library" "args a b" "$(cat errors)"
rm -f relatives.*.probity
HOME=/ "$PROBITY" record --calls io,threads -- ./relatives > out 2> errors ||
    fail "relatives: $(cat errors)"
expect "arguments" "args a b" "$(cat errors)"
: > lists
for trace in relatives.*.probity; do
    counts "$trace" | sed -n 's/^\(exec[a-z]*\) .*/\1/p' | paste -sd' ' >> lists
    grep -q execl$ <<< "$(tail -n 1 lists)" && first=$trace
done
expect "lists of arguments" "execl,execle,execlp," "$(sort lists | paste -sd,),"
[ -z "${first:-}" ] || same_counts relatives "$first" execl

# Waits, checked by the numbers that several kinds of functions return.
"$CC" -D_GNU_SOURCE -O2 -pthread -o descriptors "$sources/descriptors.c"
for how in close_range closefrom; do
    record trace --calls io -- ./descriptors "$how"
    "$PROBITY" waits --json trace > waits.json || fail "waits: status $?"
    expect "peers, $how" "127.0.0.1:9 127.0.0.1:9 descriptor 60 socket timerfd" \
        "$(jq -r '.rows[] | .name as $name | .worst[] | select(.function == "read" or
            .call == "read") | $name' waits.json | sort | paste -sd' ')"
    expect "calls of $how" 1 "$("$PROBITY" report --csv trace | grep -c "^[^,]*$how")"
done
record trace --calls io -- ./descriptors kept
"$PROBITY" waits --json trace > waits.json || fail "waits: status $?"
expect "peer, kept" 127.0.0.1:9 "$(jq -r '.rows[] | .name as $name | .worst[] |
    select(.function == "read" or .call == "read") | $name' waits.json)"

# Cancellation: each call that waits ends its thread, and its scope.
"$CC" -D_GNU_SOURCE -O1 -pthread -o cancelled "$sources/cancelled.c"
mkfifo fifo
for budget in '' '--budget 0.1%'; do
    # shellcheck disable=SC2086 # two words, or none
    record trace --calls all $budget -- ./cancelled
    expect "cancelled threads $budget" 45 "$(cat out)"
    counts trace > found
    for call in readv recv recvmsg accept poll select epoll_wait nanosleep clock_nanosleep sleep \
        usleep open; do
        expect "cancelled in $call $budget" "$call 3" "$(grep "^$call " found || true)"
    done
done

# Children of fork() have different thread ids, those of vfork() have separate descriptors.
"$CC" -O2 -pthread -o forks "$sources/forks.c" 2> errors || fail "forks.c: $(cat errors)"
record trace --calls io,threads -- ./forks
"$PROBITY" waits --json trace > waits.json || fail "waits: status $?"
expect "standard input" "socket" "$(jq -r '.rows[] | .name as $name | .worst[] |
    select(.function == "read" or .call == "read") | $name' waits.json)"
expect "creator in a child" "$(cat out)" \
    "$("$PROBITY" csv --columns name,correlation trace."$(cat out)" | sed -n 's/^thread:begin,//p')"

"$PROBITY" record -o '%n.%p.named' --calls threads -- ./forks > out 2> errors ||
    fail "forks, named: $(cat errors)"
expect "named after a program that overwrites its name" "forks.$(cat out).named" \
    "$(find . -name "*.$(cat out).named" -printf '%f')"

# Unloaded libraries are not in the traces of children forked later.
for library in first second; do
    echo "int $library(void) { return 1; }" > "$library.c"
    "$CC" -shared -fPIC -o "$library.so" "$library.c"
done
"$CC" -O2 -o loads "$sources/loads.c" -ldl
record trace --calls sleep -- ./loads ./first.so ./second.so
[ "$(cat trace.* | grep -aoE '/(first|second)\.so' | wc -l)" -le 4 ] ||
    fail "libraries that are not there: $(cat trace.* | grep -aoE '/(first|second)\.so' | wc -l)"
[ "$(grep -aoE '/(first|second)\.so' trace | wc -l)" -ge 2 ] || fail "loaded libraries are missing"

# With a budget, all are counted exactly; in profile mode, too.
record budget --calls io,sleep --budget 1% -- ./io 20000
same_counts budget budget
PROBITY_PROFILE=1 record profile --calls io,sleep -- ./io
same_counts "profile mode" profile
record external --calls io,sleep --writer external -- ./io
same_counts "external writer" external

# ---- Without the command -------------------------------------------------------------------------
"$CC" -O2 -o linked "$sources/io.c" -Wl,--no-as-needed -L"$BUILD/lib" -Wl,-rpath,"$BUILD/lib" \
    -lprobity-calls -lprobity
rm -f trace*
PROBITY_OUT=trace PROBITY_CALLS=io,sleep ./linked > out
same_counts linked trace
rm -f trace*
PROBITY_OUT=trace ./linked > out
expect "off" "" "$(counts trace)"
PROBITY_CALLS=io,nonsense ./linked > out 2> errors || fail "an invalid setting ends the program"
expect "an invalid setting" "probity: invalid PROBITY_CALLS 'io,nonsense': no calls are recorded" \
    "$(cat errors)"
"$PROBITY" record --calls io,nonsense -- ./io > out 2> errors && fail "an invalid --calls"
grep -q "invalid --calls 'io,nonsense'" errors || fail "an invalid --calls: $(cat errors)"

# ---- Programs that support only a part -----------------------------------------------------------
"$CC" -O2 -static -o static "$sources/io.c" 2> /dev/null
"$PROBITY" record -o static.trace --calls all -- ./static > out 2> errors ||
    fail "static: $(cat errors)"
grep -q 'is linked statically' errors || fail "static: $(cat errors)"
"$CC" -O1 -fsanitize=address -o asan "$sources/io.c"
record trace --calls io,sleep -- ./asan
same_counts "with AddressSanitizer" trace sched_yield # which the sanitizer calls, too
if [ "$(id -u)" = 0 ] && command -v setpriv > /dev/null; then
    chmod 755 . && cp io setuid && chmod 4755 setuid && mkdir -m 777 open
    (cd open && setpriv --reuid 65534 --clear-groups env PROBITY_CALLS=all PROBITY_OUT=trace \
        LD_PRELOAD="$BUILD/lib/libprobity-calls.so.0" ../setuid > ../out 2> ../errors) ||
        fail "set-user-ID: $(cat errors)"
    expect "set-user-ID" "" "$(find open -name 'trace*')"
else
    echo "left out: set-user-ID programs, which need root"
fi
finish
