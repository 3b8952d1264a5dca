#!/usr/bin/env bash
# `probity attach --functions`, `--function` and `--calls`, and the control page: functions are
# patched while 16 threads run them, and restored byte for byte; no record is lost between attach
# and detach; missing features of a program are named; a page made by another user is rejected.
# variants: clang
# timeout: 900
. "$(dirname "$0")/../common.bash"
# shellcheck source=tests/live/attach.bash
. "$SOURCE/tests/live/attach.bash"
[ "$(uname -m)" = x86_64 ] || { echo "skipped: entries are replaced on x86-64 only"; exit 77; }

CYCLES=${CYCLES:-30}
THREADS=16

# Prints checksums of all code in the memory of the program.
code() {
    python3 "$SOURCE/tests/functions/text_of.py" "$job"
}

# Prints the names of the functions that were called in a trace.
functions_of() {
    "$PROBITY" report --json "$1" 2> errors |
        jq -r '[.functions[] | select(.calls > 0) | .name] | sort | @csv'
}

# Checks that all functions in $2, from functions_of, were called in the trace $1.
has_functions() {
    local found name
    found=$(functions_of "$1" | tr , '\n')
    for name in ${2//,/ }; do
        grep -qxF -- "$name" <<< "$found" || return 1
    done
}

libraries=(-I"$SOURCE/include" -L"$BUILD/lib" '-Wl,--no-as-needed' -lprobity-functions
    -lprobity-calls -lprobity "-Wl,-rpath,$BUILD/lib" -pthread)
cat > second.c << 'END'
#include <stdint.h>
__attribute__((noinline)) uint64_t elsewhere(uint64_t value) { __asm__ volatile(""); return value; }
END
"$CC" -O2 -g -fpatchable-function-entry=5 -o patchable "$SOURCE/tests/functions/attached.c" \
    second.c "${libraries[@]}"
kinds=(patchable)
if clang -O2 -g -fxray-instrument -fxray-instruction-threshold=1 -o xray \
    "$SOURCE/tests/functions/attached.c" second.c "${libraries[@]}" 2> errors; then
    kinds+=(xray)
else
    echo "left out: no clang with XRay: $(head -n 1 errors)"
fi

all='"elsewhere","leaf","middle","other"'

# ---- What is selected ----

for kind in "${kinds[@]}"; do
    start "$kind" "./$kind" 2 paced
    before=$(code)
    for what in "--functions:$all" "--function=middle:\"middle\"" \
        "--exclude=leaf:\"elsewhere\",\"middle\",\"other\"" ":" \
        "--file=second.c:\"elsewhere\"" "--file=attached.c:\"leaf\",\"middle\",\"other\"" \
        "--file=second.c:\"elsewhere\""; do
        option=${what%%:*}
        # shellcheck disable=SC2086
        says "$kind $option" 0 "$job: " attach $option -o trace "$job"
        wait_until "$job" "$PROBITY" level "$job" > /dev/null
        wait_until "$job" has_functions trace "${what#*:}"
        says "$kind $option" 0 "$job: " detach "$job"
        expect "$kind $option" "${what#*:}" "$(functions_of trace | sed 's/"work",\|,"work"//g')"
        is_whole trace
        rm trace
        expect "$kind $option: code" "$before" "$(code)"
    done
    says "$kind: calls" 0 "$job: " attach --calls all -o trace "$job"
    says "$kind: calls" 0 "$job: " detach "$job"
    is_whole trace
    rm trace
    stop "$kind"
done

# ---- Cycles under load ----

for kind in "${kinds[@]}"; do
    start "$kind" "./$kind" "$THREADS"
    before=$(code)
    for ((i = 1; i <= CYCLES; i++)); do
        says "$kind: cycle $i" 0 "$job: " attach --functions -o trace "$job"
        says "$kind: cycle $i" 0 "$job: " detach "$job"
        [ $((i % 50)) != 1 ] || is_whole trace
        rm trace
        [ "${failures:?}" = 0 ] || break
    done
    expect "$kind: code after $CYCLES cycles" "$before" "$(code)"
    stop "$kind"
    no_leftovers "$kind"
done

# ---- Calls ----

# Detached as soon as calls and locks have been recorded.
LD_PRELOAD=$BUILD/lib/libprobity-calls.so.0 "$PROGRAMS/slow_causes.shared" 1000000 > truth \
    2> errors.program &
job=$!
wait_until "$job" grep -q libprobity-calls "/proc/$job/maps"
has_calls() {
    "$PROBITY" report --json trace > report.json 2> errors &&
        "$PROBITY" csv --columns name trace > names 2> errors &&
        jq -e '[.functions[] | select(.name == "write" and .calls > 0)] | length == 1' \
            report.json > is_so && grep -q '^mutex:hold' names
}
says "calls" 0 "$job: " attach --calls io,locks -o trace "$job"
wait_until "$job" has_calls || true
says "calls" 0 "$job: " detach "$job"
signal_job KILL "$job" || fail "slow_causes has ended early: $(cat errors.program)"
wait "$job" 2> /dev/null || true
has_calls || fail "calls: no writes, or no locks: $(sort names | uniq -c | head -n 5)"
rm trace

# ---- Missing features of a program ----

start counted "$PROGRAMS/counted.shared" 1
says "no functions" 1 "does not have libprobity-functions" attach --functions "$job"
says "no calls" 1 "does not have libprobity-calls" attach --calls io "$job"
says "not recording" 1 "is not recording" detach "$job"
says "no family" 2 "invalid --calls" attach --calls some "$job"
stop counted

# By source file, which needs debugging information: a message reports its absence, and nothing is
# recorded.
cp patchable bare
strip -g bare
start bare ./bare 2 paced
before=$(code)
says "no sources" 1 "has no debugging information" attach --file second.c -o trace "$job"
says "no sources" 1 "is not recording" detach "$job"
expect "no sources: code" "$before" "$(code)"
rm -f trace
says "no sources needed" 0 "$job: " attach --function middle -o trace "$job"
says "no sources needed" 0 "$job: " detach "$job"
rm trace
stop bare

# ---- Conditions on calls without ends ----

# Calls recorded by entries have no ends, so a condition on their duration could never be met,
# unless the function is recorded in another way, or the condition is of a different kind. $1
# program, the rest: options of `attach`
begins() {
    says "$*" 0 "$job: " attach "${@:2}" -o trace "$job"
    says "$*" 0 "$job: " detach "$job"
    rm trace
}
start patchable ./patchable 2 paced
before=$(code)
for condition in 'function leaf > 1min' 'function m*[d-e]le > p99'; do
    for option in --functions --function='[lm]*' --exclude=other; do
        what="$option: $condition"
        says "$what" 1 "without the end of its calls" attach "$option" \
            --when 'gap x > 1min' --when "$condition" -o trace "$job"
        says "$what" 1 "is not recording" detach "$job"
        expect "$what: code" "$before" "$(code)"
        rm -f trace
    done
done
begins patchable --exclude leaf --when 'function leaf > 1min'
begins patchable --function leaf --when 'function middle > 1min'
begins patchable --functions --when 'gap leaf > 1min' --when 'rate middle > 1000000/1s'
begins patchable --functions --when 'function [x-z]* > 1min'
begins patchable --when 'function leaf > 1min'
expect "conditions: code" "$before" "$(code)"
stop patchable
if [ -e xray ]; then # records ends
    start xray ./xray 2 paced
    begins xray --functions --when 'function leaf > 1min'
    stop xray
fi

# ---- A budget of calls ----

# In a program that was started without --calls, operations on free locks are only counted, and so
# are their releases.
cat > locks.c << 'END'
#include <pthread.h>
#include <stdio.h>
#include "probity.h"
static int is_over;
static void *lock_and_unlock(void *unused)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static volatile unsigned sum;
    while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
        PROBITY_PROBE(1);
        for (int i = 0; i < 1000; i++) {
            pthread_mutex_lock(&lock);
            sum += 1;
            pthread_mutex_unlock(&lock);
        }
    }
    return unused;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, lock_and_unlock, NULL);
    puts("ready");
    fflush(stdout);
    getchar();
    __atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
    return pthread_join(thread, NULL);
}
END
"$CC" -O2 -o locks locks.c "${libraries[@]}"
start locks ./locks
log_says_counted() {
    "$PROBITY" log trace > log 2>&1 && grep -q 'hits such as mutex:.* are only counted' log
}
for ((i = 1; i <= 2; i++)); do
    says "locks" 0 "$job: " attach --calls locks --budget 1% -o trace "$job"
    wait_until "$job" log_says_counted
    "$PROBITY" csv --columns name trace > names 2> errors
    before=$(grep -c 'mutex:' names)
    sleep 0.2 # more of them, not a wait for something
    says "locks" 0 "$job: " detach "$job"
    "$PROBITY" csv --columns name trace > names 2> errors
    holds=$(grep -c 'mutex:hold' names)
    releases=$(grep -c 'mutex:release' names)
    [ "$releases" -le $((holds + 10)) ] ||
        fail "locks: $before records, then $holds holds and $releases releases"
    rm trace
done
stop locks

# ---- Code that cannot be changed ----

# A policy forbids it, from the start or once the recording has begun; forked children. The message
# gives the reason, and the program is unchanged.
cat > limited.c << 'END'
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "probity.h"
#define PLAIN __attribute__((no_instrument_function, patchable_function_entry(0, 0)))

__attribute__((noinline)) void called(void) { __asm__ volatile(""); }

/* Mappings that can be written and executed are refused. */
PLAIN static void forbid(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PROT_READ | PROT_WRITE | PROT_EXEC, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const struct sock_fprog program = {sizeof code / sizeof code[0], code};

    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
}

PLAIN static void *sleeper(void *unused)
{
    pause();
    return unused;
}

/* Each line of the input is a filter to be installed, the end of the input that of the program. */
PLAIN static void *reader(void *unused)
{
    char line[16];

    while (fgets(line, sizeof line, stdin) != NULL)
        forbid();
    _exit(0);
    return unused;
}

PLAIN int main(int argc, char **argv)
{
    pthread_t thread;

    if (argc < 2)
        return 2;
    if (strcmp(argv[1], "threads") == 0)
        pthread_create(&thread, NULL, sleeper, NULL);
    if (strcmp(argv[1], "forbid") == 0)
        forbid();
    if ((strcmp(argv[1], "threads") == 0 || strcmp(argv[1], "fork") == 0) && fork() != 0)
        pause();
    pthread_create(&thread, NULL, reader, NULL);
    printf("%d\n", (int)getpid());
    fflush(stdout);
    for (;;) {
        PROBITY_PROBE(1);
        called();
        usleep(1000);
    }
}
END
"$CC" -O2 -g -D_GNU_SOURCE -fpatchable-function-entry=5 -o limited_patchable limited.c \
    "${libraries[@]}"
limited=(patchable)
if [ "${#kinds[@]}" = 2 ]; then
    clang -O2 -g -D_GNU_SOURCE -fxray-instrument -fxray-instruction-threshold=1 -o limited_xray \
        limited.c "${libraries[@]}"
    limited+=(xray)
fi

# $1 kind, $2 argument
start_limited() {
    start "limited" "./limited_$1" "$2"
    parent=$job
    job=$(head -n 1 limited.out)
}

stop_limited() {
    exec {gate}>&-
    [ "$job" = "$parent" ] || kill "$parent"
    wait "$parent" 2> /dev/null || true
}

for kind in "${limited[@]}"; do
    start_limited "$kind" forbid
    before=$(code)
    for ((i = 0; i < 10; i++)); do
        says "$kind, forbidden" 1 "Permission denied" attach --functions -o trace "$job"
        expect "$kind, forbidden: code" "$before" "$(code)"
        rm -f trace
    done
    says "$kind, forbidden" 0 "$job: " attach -o trace "$job"
    says "$kind, forbidden" 0 "$job: " detach "$job"
    rm trace
    stop_limited
    start_limited "$kind" plain
    says "$kind, forbidden later" 0 "$job: " attach --functions -o trace "$job"
    echo >&"$gate"
    wait_until "$parent" grep -q '^Seccomp:.*2' "/proc/$job/status"
    says "$kind, forbidden later" 1 "could not restore its code: Permission denied" detach "$job"
    rm trace
    stop_limited
    start_limited "$kind" threads
    says "$kind, forked" 1 "was forked from one with threads" attach --functions -o trace "$job"
    rm -f trace
    stop_limited
    start_limited "$kind" fork
    before=$(code)
    says "$kind, forked from one thread" 0 "$job: " attach --functions -o trace "$job"
    wait_until "$parent" has_functions trace '"called"'
    says "$kind, forked from one thread" 0 "$job: " detach "$job"
    expect "$kind, forked from one thread: code" "$before" "$(code)"
    rm trace
    stop_limited
done

# ---- The control page ----

# Attached to again at once, when the trace is complete but its spool is still being removed, which
# takes 300 ms here.
cat > slow_end.c << 'EOF'
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
void *mmap(void *at, size_t bytes, int rights, int flags, int file, off_t offset)
{
    if ((flags & MAP_FIXED) && (flags & MAP_ANONYMOUS) && (flags & MAP_NORESERVE))
        usleep(300000);
    return (void *)syscall(SYS_mmap, at, bytes, rights, flags, file, offset);
}
EOF
"$CC" -O2 -shared -fPIC -o slow_end.so slow_end.c
for control in 0 1; do
    start again env LD_PRELOAD="$WORK/slow_end.so" PROBITY_CONTROL=$control "./${kinds[0]}" 2
    for i in 1 2 3; do
        says "again, $i" 0 "$job: " attach -o trace "$job"
        says "again, $i" 0 "$job: " detach "$job"
        rm -f trace
    done
    stop again
done
start quiet "./${kinds[0]}" 2 quiet paced
says "quiet" 1 "PROBITY_CONTROL=1" attach --functions --wait 100ms -o trace "$job"
stop quiet
start page env PROBITY_CONTROL=1 "./${kinds[0]}" 2 quiet paced
page=$SPOOL/$job.control
expect "page: mode" "600 12288" "$(stat -c '%a %s' "$page")"
says "page" 0 "$job: " attach --functions -o trace "$job"
says "page twice" 1 "already recording" attach -o other "$job"
says "page: level" 0 "$job: levels 2" level "$job" 2
wait_until "$job" has_functions trace "$all"
says "page" 0 "$job: " detach "$job"
expect "page" "$all" "$(functions_of trace | sed 's/"work",\|,"work"//g')"
rm trace
# Attached to again at once, when the last recording has been closed but is still being removed.
for ((i = 1; i <= 20; i++)); do
    says "page: at once, $i" 0 "$job: " attach --profile -o trace "$job"
    says "page: at once, $i" 0 "$job: " detach "$job"
    rm -f trace
done
# Without permission to use ptrace.
if [ "$(id -u)" = 0 ]; then
    says "page: no ptrace" 0 "$job: " attach --functions -o trace "$job"
    says "page: no ptrace" 0 "$job: " detach "$job"
    rm trace
fi
# A page that is made by another user, truncated, accessible to others or a link is ignored: the
# tool uses the program's memory.
cp "$page" good
for how in cut open link planted; do
    rm -f "$page"
    case $how in
    cut) head -c 4096 good > "$page" && chmod 600 "$page" ;;
    open) cp good "$page" && chmod 666 "$page" ;;
    link) ln -s "$WORK/good" "$page" ;;
    planted) cp good "$page" && chmod 600 "$page" ;;
    esac
    says "page: $how" 1 "hit no probe in time" attach --wait 100ms -o trace "$job"
done
stop page
[ ! -e "$page" ] || fail "page: not removed at exit"
# The page of a killed program is replaced by the next program with its id; no tool uses it.
start killed env PROBITY_CONTROL=1 "./${kinds[0]}" 1 quiet paced
page=$SPOOL/$job.control
kill -KILL "$job"
wait "$job" 2> /dev/null || true
exec {gate}>&-
says "killed" 1 "no process" attach "$job"
# Such a page can be removed, but not that of a running program, nor a link or any other file.
dead=$page
start alive env PROBITY_CONTROL=1 "./${kinds[0]}" 1 quiet paced
page=$SPOOL/$job.control
ln -s "$WORK/good" "$SPOOL/1.control"
cp good "$SPOOL/1x.control"
says "ps of pages" 0 '"processes": [' ps --json
expect "ps of pages" 0 "$(jq '.processes | length' output)"
says "top of pages" 1 'no program is recording' top --json --count 1
says "removal" 0 "$dead: removed" spools --remove
expect "removal: lines" 1 "$(wc -l < output)"
[ -e "$page" ] && [ -e good ] && [ ! -e "$dead" ] || fail "removal: $(ls "$SPOOL")"
says "after the removal" 0 "$job: " attach --functions -o trace "$job"
stop alive
rm -f "$SPOOL/1.control" "$SPOOL/1x.control" trace
no_leftovers "at the end"
finish
