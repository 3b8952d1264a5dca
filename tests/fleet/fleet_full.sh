#!/usr/bin/env bash
# `probity ship --watch` takes turns among running programs while the disk with the traces and their
# ledgers is full, then while the server's disk is full: errors are reported, and each row arrives
# once when there is space again.
# timeout: 300
if [ "${OWN_MOUNTS:-}" = "" ]; then
    if ! unshare -m true 2> /dev/null; then
        echo "may not mount here"
        exit 77
    fi
    OWN_MOUNTS=1 exec unshare -m bash "$0"
fi
. "$(dirname "$0")/../common.bash"
. "$SOURCE/tests/fleet/clickhouse.bash"
. "$SOURCE/tests/fleet/living.bash"
mkdir -p server disk
mount -t tmpfs -o size=300m none server || exit 77
mount -t tmpfs -o size=32m none disk || exit 77
starts_database
trap '[[ $BASHPID != $$ ]] || { stop_server KILL; cd /; umount -l "$WORK/server" "$WORK/disk"
    rm -rf "$WORK" "$SPOOL"; }' EXIT
probity "tables" 0 ship --to "$url" --init

# Fills the disk: nothing more can be written to it. $1 directory
fills() { dd if=/dev/zero of="$1/filler" bs=64k > /dev/null 2>&1 || true; }

starts_three disk

# Returns whether the traces have the records of all rounds, which then need no more space.
are_written() {
    for i in 1 2 3; do
        "$PROBITY" info --json "disk/$i" 2> /dev/null | grep -q '"records_in_spool": 0,' || return
    done
}

# ---- The disk with the traces

all_do 500
wait_until "${recorders[0]}" are_written || fail "not written"
fills disk
"$PROBITY" ship --to "$url" --watch disk --senders 1 --flush 1 > watch.out 2> watch.err &
watcher=$!
wait_until "$watcher" grep -q 'cannot write .*shipped.*No space left' watch.err ||
    fail "a full disk: not reported: $(cat watch.err)"
rm disk/filler
all_do_until 500 disk 20

# ---- The server's disk

reports=$(wc -l < watch.err)
fills server
all_do 500
has_report() { [ "$(wc -l < watch.err)" -gt "$reports" ]; }
wait_until "$watcher" has_report || fail "the server's full disk: not reported: $(cat watch.err)"
rm server/filler
is_up || { stop_server KILL; start_server; }
all_do_until $((rounds + 100)) disk 20
ends_three disk
kill -s KILL "$watcher"
wait "$watcher" 2> /dev/null || true
sort -u watch.err
finish
