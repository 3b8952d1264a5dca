#!/usr/bin/env bash
# `probity attach` and `detach` with programs that see different files or process ids than the tool:
# in a chroot without /proc, in a mount namespace with its own /dev/shm and an executable that does
# not exist outside, and in a PID namespace. Messages report what the program cannot do, and a spool
# that the tool does not find.
. "$(dirname "$0")/../common.bash"
# shellcheck source=tests/live/attach.bash
. "$SOURCE/tests/live/attach.bash"
if [ "$(id -u)" != 0 ] || ! unshare -m true 2> /dev/null; then
    echo "skipped: requires root"
    exit 77
fi

cat > alive.c << 'EOF'
#include <stdio.h>
#include <unistd.h>
#include "probity.h"
int main(void)
{
    printf("%d\n", (int)getpid());
    fflush(stdout);
    for (int i = 0; i < 100000; i++) {
        PROBITY_PROBE(i);
        usleep(1000);
    }
    return 0;
}
EOF
"$CC" -O2 -static -I"$SOURCE/include" -o alive alive.c "$BUILD/lib/libprobity.a" -pthread \
    2> errors || { echo "skipped: no static program: $(head -n 1 errors)"; exit 77; }

# $1 name, the rest: command that ends as the program. Sets job.
run() {
    local name=$1
    shift
    "$@" > "$name.out" 2> "$name.err" &
    job=$!
    wait_until "$job" test -s "$name.out" || fail "$name: ended early: $(cat "$name.err")"
}

end() {
    kill -KILL "$job"
    wait "$job" 2> /dev/null || true
}

# Attaches and detaches twice. $1 description, $2 process, $3 trace as the program sees it
works() {
    for i in 1 2; do
        says "$1, $i: attach" 0 "$2: " attach -o "$3" "$2"
        expect "$1, $i: messages" "" "$(cat errors)"
        says "$1, $i: again" 1 "is already recording" attach -o "$3" "$2"
        says "$1, $i: detach" 0 "$2: " detach "$2"
    done
}

# ---- chroot ----

root=$WORK/root
mkdir -p "$root/tmp" "$root$SPOOL"
chmod 700 "$root$SPOOL"
cp alive "$root/alive"
run chroot chroot "$root" /alive
says "chroot: no directory" 1 "cannot be created (by the program, in its file system)" \
    attach -o /missing/trace "$job"
works chroot "$job" /tmp/trace
is_whole "$root/tmp/trace"
expect "chroot: outside" "" "$(find /tmp/trace "$SPOOL" -mindepth 1 2> /dev/null)"
end

# ---- Another mount namespace: its own /dev/shm, and an executable that only the program sees ----

# shellcheck disable=SC2016 # for the inner shell
run mount env -u PROBITY_SPOOL_DIR unshare -m sh -c 'mount -t tmpfs none /dev/shm &&
    mount -t tmpfs none /mnt && cp "$0" /mnt/only_here && exec /mnt/only_here' "$WORK/alive"
kept=$PROBITY_SPOOL_DIR
unset PROBITY_SPOOL_DIR
works "mount namespace" "$job" "$WORK/mount.probity"
is_whole "$WORK/mount.probity"
export PROBITY_SPOOL_DIR=$kept
says "other directory" 0 "$job: " attach -o "$WORK/other.probity" "$job"
grep -q 'spool in another directory' errors || fail "other directory: $(cat errors)"
(unset PROBITY_SPOOL_DIR && "$PROBITY" detach "$job" > output) || fail "other directory: detach"
end

# ---- A PID namespace ----

run pid unshare -p -f --mount-proc --kill-child "$WORK/alive"
child=$(pgrep -P "$job")
expect "PID namespace: its own id" 1 "$(head -n 1 pid.out)"
works "PID namespace" "$child" "$WORK/pid.probity"
is_whole "$WORK/pid.probity"
end
finish
