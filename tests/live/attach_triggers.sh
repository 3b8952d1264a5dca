#!/usr/bin/env bash
# `probity attach` with --ring, --when and the limits of dumps: a stall in a program that was
# already running is in a dump, and `why` names it; after a detach, other conditions apply. Invalid
# options are rejected before a request is made. Also through the control page, in a program whose
# memory may not be written, and with a full disk.
# variants: clang
. "$(dirname "$0")/../common.bash"
# shellcheck source=tests/live/attach.bash
. "$SOURCE/tests/live/attach.bash"

# Each line of the input is the duration in ms of a call of slow(). `closed`: other processes may
# not write to its memory, even those of its user.
cat > slowed.c << 'END'
#include "FnTrace.h"
#include "probity.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static int is_over;

static __attribute__((noinline)) void slow(int ms)
{
    FN_FUNC(void, FN_1);
    usleep((useconds_t)ms * 1000);
}

static void *tick(void *unused)
{
    while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
        PROBITY_PROBE(1);
        usleep(1000);
    }
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    char line[32];

    if (argc > 1 && strcmp(argv[1], "closed") == 0)
        prctl(PR_SET_DUMPABLE, 0);
    pthread_create(&thread, NULL, tick, NULL);
    slow(0);
    puts("ready");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin) != NULL) {
        slow(atoi(line));
        printf("slept %s", line);
        fflush(stdout);
    }
    __atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
    return pthread_join(thread, NULL);
}
END
compile() {
    # shellcheck disable=SC2086 # several flags
    "$CC" $SANITIZE_FLAG -g -O1 -DFN_INSTRUMENT -I"$SOURCE/include" "$@" -pthread
}
compile -o static slowed.c "$BUILD/lib/libprobity.a" -Wl,-u,probity_snapshot
compile -o shared slowed.c -L"$BUILD/lib" -Wl,-rpath,"$BUILD/lib" -lprobity
compile -o without_dumps slowed.c "$BUILD/lib/libprobity.a"

# Checks that there is a dump $1 of a call of slow() that took at least $2 ms.
is_dump_of_slow() {
    local took
    "$PROBITY" check "$1" > output 2>&1 || fail "$1: $(tail -n 1 output)"
    "$PROBITY" info "$1" > output 2>&1 || fail "$1: $(cat output)"
    grep -q '^complete *yes: a dump' output || fail "$1: $(grep '^complete' output)"
    took=$(sed -n 's/^because.*: slow took \([0-9]*\).*/\1/p' output)
    [ "${took:-0}" -ge "$2" ] || fail "$1: $(grep '^because' output)"
    "$PROBITY" report --csv "$1" > output 2> errors || fail "$1: $(cat errors)"
    grep -q '\bslow\b' output || fail "$1: the call is missing: $(cat output)"
    says "why $1" 0 "slow: " why "$1"
}

# ---- A stall, and other conditions after that ----

for program in static shared; do
    rm -f ./*.probity
    start "$program" "./$program"
    says "$program" 0 "$job: " attach -o plain.probity "$job"
    echo 1 >&"$gate"
    wait_until "$job" has_lines "$program.out" 2 # slow() was called without a condition
    says "$program" 0 "$job: " detach "$job"

    says "$program" 0 "$job: $WORK/$program.$job.probity" attach --ring 1s,8M \
        --when 'function slow > 200ms' --before 50ms --at-most 1000/1s -o 'slow-%i.probity' "$job"
    expect "$program: mode" '"ring"' "$("$PROBITY" ps --json | jq -c '.processes[0].mode')"
    echo 300 >&"$gate"
    wait_until "$job" test -e slow-1.probity
    is_dump_of_slow slow-1.probity 200
    says "$program" 0 "$job: " detach "$job"

    # Next to the trace.
    says "$program" 0 "$job: " attach --when 'function slow > 400ms' --when 'gap nothing > 10s' \
        --before 50ms --after 10ms --at-most 1000/1s --keep worst=1 --dump-limit 100M \
        -o again.probity "$job"
    echo 1 >&"$gate"
    echo 500 >&"$gate"
    wait_until "$job" test -e again-1.probity
    is_dump_of_slow again-1.probity 400
    says "$program" 0 "$job: " detach "$job"

    # Without a condition, dumps are made only on request, and mode ring alone has none.
    says "$program" 0 "$job: " attach --ring 1s -o asked.probity "$job"
    echo 300 >&"$gate"
    wait_until "$job" has_lines "$program.out" 6
    says "$program" 0 "asked-out.probity" snapshot -o asked-out.probity "$job"
    says "$program" 0 "$job: " detach "$job"
    expect "$program: dumps" "" "$(find . -name 'asked-[0-9]*')"
    stop "$program"
    no_leftovers "$program"
done

# ---- The control page ----

# Requires no probe, and no permission to write to the memory.
as_other=()
if [ "$(id -u)" = 0 ] && command -v setpriv > /dev/null; then
    as_other=(setpriv --reuid=65534 --clear-groups)
    chown 65534 "$WORK" "$SPOOL"
    chmod 755 "$WORK"
fi
rm -f ./*.probity
if [ "$(id -u)" != 0 ] || [ "${#as_other[@]}" != 0 ]; then
    start shared "${as_other[@]}" ./shared closed
    status=0
    "${as_other[@]}" "$PROBITY" attach --ring 1s "$job" > output 2> errors || status=$?
    expect "closed: status" 1 "$status"
    grep -q 'a process that is not dumpable grants it to root only' errors ||
        fail "closed: $(cat errors)"
    stop shared
fi
start shared "${as_other[@]}" env PROBITY_CONTROL=1 ./shared closed
as_user() {
    "${as_other[@]}" "$PROBITY" "$@" > output 2> errors || fail "closed: $1: $(cat errors)"
}
as_user attach --when 'function slow > 200ms' --before 50ms -o "$WORK/slow-%i.probity" "$job"
echo 300 >&"$gate"
wait_until "$job" test -e slow-1.probity
is_dump_of_slow slow-1.probity 200
as_user detach "$job"
stop shared
chown "$(id -u)" "$WORK" "$SPOOL"

# ---- Rejected ----

rm -f ./*.probity
start shared ./shared
# $1 status, $2 expected in the message, $3... options. The program does not record.
is_refused() {
    local status=$1 message=$2
    shift 2
    says "refused, $message" "$status" "$message" attach "$@" "$job"
    says "refused, $message" 1 "is not recording" detach "$job"
}
is_refused 2 "column 11: expected '>'" --when 'function x'
is_refused 2 "column 17: expected the end" --when 'function a > 3ms; function b > 3ms'
is_refused 2 "column 8: expected USR1, USR2, or the number of" --when 'signal 11'
is_refused 2 "invalid --ring '3'" --ring 3
is_refused 2 "column 2: expected a number of dumps" --when 'wait > 1ms' --at-most 1
is_refused 2 "column 1: expected worst=N or first=N" --when 'wait > 1ms' --keep best=3
is_refused 2 "requires --ring or --when" --before 1s
is_refused 2 "requires --ring or --when" --mode ring --after 1s
is_refused 2 "requires --ring or --when" -o 'x-%i'
is_refused 2 "column $((${#WORK} + 5)): expected n (program)" --ring 3s -o "$WORK/%i%x"
is_refused 2 "mutually exclusive" --mode block --when 'wait > 1ms'
is_refused 2 "--profile and --when are mutually exclusive" --profile --when 'wait > 1ms'
is_refused 1 "cannot write in '$WORK/missing': No such file or directory" \
    --ring 1s -o 'missing/%i.probity'
long=$(printf '%0200d' 0 | tr 0 a)
many=()
for ((i = 0; i < 45; i++)); do
    many+=(--when "function $long > 1s")
done
is_refused 2 "too long: together, a request has room for 8190 bytes" "${many[@]}"
is_refused 2 "too many conditions: at most 64" "${many[@]}" "${many[@]}"
says "fits" 0 "$job: " attach "${many[@]:0:70}" -o fits.probity "$job"
says "fits" 0 "$job: " detach "$job"
stop shared

rm -f ./*.probity
start without_dumps ./without_dumps
is_refused 1 "-Wl,-u,probity_snapshot" --when 'function slow > 200ms'
says "without dumps" 0 "$job: " attach --ring 1s -o ring.probity "$job"
says "without dumps" 0 "$job: " detach "$job"
stop without_dumps

# ---- A full disk ----

# A dump that does not fit is reported on one line on the program's standard error; recording
# continues.
if [ "$(id -u)" = 0 ] && mkdir small && mount -t tmpfs -o size=64k,mode=755 none small; then
    trap '[[ $BASHPID != $$ ]] || { umount -l "$WORK/small"; end_jobs; rm -rf "$WORK" "$SPOOL"; }' \
        EXIT
    start shared ./shared
    says "full disk" 0 "$job: " attach --ring 10s --when 'function slow > 200ms' --before 10s \
        --at-most 1000/1s -o 'small/%i.probity' "$job"
    head -c 65536 /dev/zero > small/zeros 2> errors || true
    echo 300 >&"$gate"
    wait_until "$job" has_lines shared.err 1
    grep -q "dump '%i.probity' was not written: No space left on device; recording continues" \
        shared.err || fail "full disk: $(cat shared.err)"
    expect "full disk: files" "small/zeros" "$(echo small/*)"
    rm small/zeros
    echo 300 >&"$gate"
    wait_until "$job" test -e small/2.probity -o -e small/1.probity
    is_dump_of_slow "$(echo small/*.probity)" 200
    says "full disk" 0 "$job: " detach "$job"
    rm -f shared.err
    touch shared.err
    stop shared
else
    echo "left out: a full disk: it takes root"
fi
finish
