#!/usr/bin/env bash
# run.sh BUILD_DIR: a function whose enter and leave are recorded by other tools, each compared with
# the floor. Builds the programs, runs each recorder for at most 60 s, and removes everything. If a
# peer cannot run here, a note gives the reason, and the others still run.
set -eu
build=$(cd "${1:?usage: run.sh BUILD_DIR}" && pwd)
peers=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$peers/../.." && pwd)
CC=${CC:-gcc}
CLANG=${CLANG:-clang}
programs=$build/bench/peers
data=$(mktemp -d "$PWD/bench.peers.XXXXXX")
session=probity-peers-$$
daemon=

clean_up() {
    [ -z "$daemon" ] || { kill -TERM "$daemon" && wait "$daemon"; } 2>/dev/null || true
    rm -rf "$data"
}
trap '[[ $BASHPID != $$ ]] || clean_up' EXIT
mkdir -p "$programs"

note() { printf 'note\tpeers\t%s\n' "$*"; }
row() { printf 'row\tpeers\t%s\t%s\t%s\t%s\n' "$@"; }

# $1 peer, $2 file with its messages (the last line is the reason), $3 default reason
not_here() {
    local said
    said=$(grep -av '^row' "$2" | grep -av '^ *$' | tail -n 1 | cut -c 1-160)
    note "$1: not measured: ${said:-$3}"
}

has() {
    command -v "$2" >/dev/null && return
    note "$1: not measured: $2 is not installed"
    return 1
}

# $1 peer, $2 program, $3 compiler, $4 source, the rest: options for that source only
build_peer() {
    local peer=$1 program=$programs/$2 compiler=$3 source=$4
    shift 4
    if "$compiler" -std=gnu11 -O2 -g -I"$peers" -I"$root/include" "$@" \
        -c -o "$program.o" "$peers/$source" >"$data/said" 2>&1 &&
        "$compiler" -o "$program" "$programs/main.o" "$program.o" "$build/obj/bench/common.o" \
            "$build/lib/libprobity.a" $LINK -pthread -ldl -lm >>"$data/said" 2>&1; then
        return
    fi
    not_here "$peer" <(grep -aE 'error|cannot|undefined' "$data/said") "does not build"
    return 1
}

# $1 peer, the rest: a command that prints its rows
run_peer() {
    local peer=$1 status=0
    shift
    timeout 60 "$@" >"$data/rows" 2>"$data/said" </dev/null || status=$?
    if [ "$status" -eq 0 ] && grep -aq '^row' "$data/rows"; then
        grep -a '^row' "$data/rows"
        [ ! -s "$data/said" ] ||
            note "$peer says: $(tail -n 1 "$data/said" | sed 's/^==[0-9]*==//' | cut -c 1-160)"
        return
    fi
    not_here "$peer" <(cat "$data/said" "$data/rows") "exit status $status"
    return 1
}

in_mega_bytes() { du -sb "$@" | awk '{ bytes += $1 } END { print bytes / 1e6 }'; }

bare() {
    LINK='' build_peer call bare "$CC" plain.c || return 0
    run_peer "call alone" "$programs/bare" "call alone" || true
}

probity() {
    LINK='' build_peer Probity probity "$CC" probity.c || return 0
    run_peer Probity "$programs/probity" Probity probity || true
}

# stderr, with the program's other messages, goes to a file on disk.
print() {
    LINK='' build_peer fprintf print "$CC" print.c || return 0
    # shellcheck disable=SC2016
    run_peer fprintf bash -c '"$1" fprintf 2>"$2"' - "$programs/print" "$data/stderr" || true
}

# $1 program, the rest: the compiler's instrumentation options
uftrace_of() {
    local name="uftrace $2"
    has "$name" uftrace || return 0
    LINK='' build_peer "$name" "$1" "$CC" plain.c "${@:2}" || return 0
    run_peer "$name" uftrace record --no-libcall --no-event -d "$data/uftrace" \
        "$programs/$1" "$name" || return 0
    timeout 60 uftrace report --no-pager -d "$data/uftrace" >"$data/report" 2>"$data/said" || true
    row "$name: scopes found in its data" \
        "$(awk '$NF == "peer_scope" { n = $(NF - 1) } END { print n + 0 }' "$data/report")" "" ""
    rm -rf "$data/uftrace"
}

# $1 mode, $2 source. By default both modes drop short calls, which must not happen here.
xray_of() {
    local name="XRay $1" log
    has "$name" "$CLANG" || return 0
    LINK='-fxray-instrument' build_peer "$name" "xray-$1" "$CLANG" "$2" -fxray-instrument \
        -fxray-instruction-threshold=1 || return 0
    run_peer "$name" env \
        "XRAY_OPTIONS=patch_premain=true xray_mode=xray-$1 xray_logfile_base=$data/xray." \
        "XRAY_BASIC_OPTIONS=func_duration_threshold_us=0" "$programs/xray-$1" "$name" || return 0
    log=$(find "$data" -name 'xray.*' -print -quit)
    if [ -z "$log" ]; then
        note "$name: it wrote no data; its figures are those of a recorder that failed"
        return
    fi
    row "$name: data" "$(in_mega_bytes "$log")" MB ""
    rm -f "$log"
}

# Starts a session daemon unless one is running.
lttng_start() {
    has LTTng-UST lttng || return 1
    has LTTng-UST lttng-sessiond || return 1
    timeout 20 lttng --no-sessiond list >"$data/said" 2>&1 && return
    # The daemon must not inherit descriptor 9, the lock of this script's caller.
    lttng-sessiond --no-kernel >"$data/daemon" 2>&1 9>&- &
    daemon=$!
    for _ in $(seq 100); do
        timeout 20 lttng --no-sessiond list >"$data/said" 2>&1 && return
        kill -0 "$daemon" 2>/dev/null || break
        sleep 0.05
    done
    not_here LTTng-UST <(cat "$data/said" "$data/daemon") "no session daemon"
    return 1
}

# 64 MiB per CPU hold everything; dropped events would be cheaper.
lttng_session() {
    lttng create "$session" --output="$data/lttng" &&
        lttng enable-channel --userspace --session="$session" --subbuf-size=8M --num-subbuf=8 \
            peers &&
        lttng enable-event --userspace --session="$session" --channel=peers "$1" &&
        lttng start "$session"
}

# $1 peer, $2 event, the rest: its program
lttng_run() {
    local name=$1 event=$2 ran=0
    shift 2
    export -f lttng_session
    if ! session=$session data=$data timeout 60 bash -c 'lttng_session "$1"' - "$event" \
        >"$data/said" 2>&1; then
        not_here "$name" "$data/said" "no session"
        ran=1
    else
        run_peer "$name" env LTTNG_UST_REGISTER_TIMEOUT=5000 "$@" "$name" || ran=1
    fi
    timeout 60 lttng stop "$session" >"$data/stop" 2>&1 || true
    if [ "$ran" -eq 0 ]; then
        row "$name: data" "$(in_mega_bytes "$data/lttng")" MB ""
        row "$name: events dropped" "$(timeout 60 lttng list "$session" --channel=peers |
            awk '/Discarded events:/ { n += $NF } END { print n + 0 }')" "" ""
    fi
    timeout 60 lttng destroy "$session" >"$data/said" 2>&1 || true
    rm -rf "$data/lttng"
}

lttng_all() {
    lttng_start || return 0
    if LINK=-llttng-ust build_peer "LTTng-UST tracepoints" lttng "$CC" lttng.c; then
        lttng_run "LTTng-UST tracepoints" 'peer:*' "$programs/lttng"
    fi
    local name="LTTng-UST cyg-profile-fast"
    if LINK='' build_peer "$name" cyg "$CC" plain.c -finstrument-functions; then
        lttng_run "$name" 'lttng_ust_cyg_profile_fast:*' \
            env LD_PRELOAD=liblttng-ust-cyg-profile-fast.so "$programs/cyg"
    fi
}

"$CC" -std=gnu11 -O2 -g -I"$root/bench" -I"$root/include" -D_GNU_SOURCE \
    -c -o "$programs/main.o" "$peers/peer.c"
cd "$data"
bare
probity
uftrace_of uftrace-pg -pg
uftrace_of uftrace-cyg -finstrument-functions
xray_of fdr xray_fdr.c
xray_of basic plain.c
lttng_all
print
