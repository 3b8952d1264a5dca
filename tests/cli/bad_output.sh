#!/usr/bin/env bash
# When recording is not possible, the program prints at most one line and otherwise runs as if not
# traced; earlier records remain readable.
# variants: clang
. "$(dirname "$0")/../common.bash"

# Runs "hostile go_on", which must not be affected. $1 description, $2 word expected on stderr, $3
# ...
unnoticed() {
    local what=$1 word=$2 hits=$3 status=0
    shift 3
    timeout 300 "$@" "$PROGRAMS/hostile" go_on "$hits" > output 2> errors || status=$?
    expect "$what: status" 5 "$status"
    expect "$what: output" "done" "$(cat output)"
    expect "$what: lines on stderr" 1 "$(wc -l < errors)"
    grep -qF -- "$word" errors || fail "$what: stderr does not name '$word': $(cat errors)"
}

nothing_made() {
    expect "$1: traces" "" "$(find "$WORK" -name '*trace*' -not -name 'kept*')"
    no_leftovers "$1"
}

out=(env "PROBITY_OUT=$WORK/trace")

fresh
unnoticed "missing directory" "$WORK/none/trace" 20000 env "PROBITY_OUT=$WORK/none/trace"
nothing_made "missing directory"
touch file
unnoticed "file for a directory" "file/trace" 20000 env "PROBITY_OUT=$WORK/file/trace"
long=$(printf 'x%.0s' $(seq 300))
unnoticed "name too long" "xxx" 20000 env "PROBITY_OUT=$WORK/$long"
long=$(printf 'x%.0s' $(seq 5000))
unnoticed "path too long" "PROBITY_OUT" 20000 env "PROBITY_OUT=$WORK/$long"
# Only the trace's name, which is longer than the CSV file's, is too long.
ln -s loop loop
long=$WORK/loop/$(printf 'x%.0s' $(seq $((4085 - ${#WORK}))))
unnoticed "path of the trace too long" "out of range" 20000 env "PROBITY_OUT=$long.csv"
if [ "$(id -u)" = 0 ]; then
    chmod 755 "$WORK"
    chmod 777 "$SPOOL"
    mkdir -m 755 locked
    unnoticed "locked directory" "$WORK/locked/trace" 20000 setpriv --reuid 65534 --clear-groups \
        env "PROBITY_OUT=$WORK/locked/trace"
    nothing_made "locked directory"
    chmod 700 "$SPOOL"
fi

# Existing files are not overwritten by default.
echo kept > kept
PROBITY_OUT=$WORK/kept "$PROGRAMS/hostile" go_on 1000 > output 2> errors || true
expect "taken name" kept "$(cat kept)"
expect "taken name: other trace" 3000 "$("$PROBITY" csv kept.* | wc -l)"
quiet "taken name"
PROBITY_OUT=$WORK/kept PROBITY_OVERWRITE=1 "$PROGRAMS/hostile" go_on 1000 > output 2> errors || true
expect "overwritten" 3000 "$("$PROBITY" csv kept | wc -l)"

# Links and special files are neither followed nor replaced, and the message identifies them as
# such.
fresh
echo kept > kept
for name in trace.csv trace.csv.probity trace; do
    ln -s "$WORK/kept" "$name"
    for overwrite in 0 1; do
        unnoticed "$name is a link" "$WORK/$name: exists, and is a symbolic link or" \
            20000 env "PROBITY_OUT=$WORK/${name%.probity}" PROBITY_OVERWRITE=$overwrite
    done
    rm "$name"
    mkdir "$name"
    unnoticed "$name is a directory" "$WORK/$name: exists, and is a symbolic link or" \
        20000 env "PROBITY_OUT=$WORK/${name%.probity}"
    rmdir "$name"
done
expect "the target of links" kept "$(cat kept)"
nothing_made "links"

# Spool directories that do not exist, or are a file, a link, open to others, or owned by another
# user.
fresh
unnoticed "spool: missing" "none/below" 20000 "${out[@]}" PROBITY_SPOOL_DIR=/dev/shm/none/below
touch file
unnoticed "spool: a file" "$WORK/file" 20000 "${out[@]}" "PROBITY_SPOOL_DIR=$WORK/file"
mkdir -m 700 real
ln -s real link
unnoticed "spool: a link" "$WORK/link" 20000 "${out[@]}" "PROBITY_SPOOL_DIR=$WORK/link"
mkdir -m 777 open
chmod 777 open
unnoticed "spool: open to others" "$WORK/open" 20000 "${out[@]}" \
    "PROBITY_SPOOL_DIR=$WORK/open"
if [ "$(id -u)" = 0 ]; then
    mkdir -m 700 foreign
    chown 1 foreign
    unnoticed "spool: foreign" "$WORK/foreign" 20000 \
        "${out[@]}" "PROBITY_SPOOL_DIR=$WORK/foreign"
fi
nothing_made "spool's directory"

# A trace cannot be a stream, and no file is named like one.
unnoticed "standard output" "output '-': cannot be standard output" 2000 \
    env PROBITY_OUT=-
nothing_made "standard output"
[ ! -e - ] || fail "standard output: there is a file named '-'"
for command in "record -o - true" "attach -o - $$" "snapshot -o - $$"; do
    status=0
    # shellcheck disable=SC2086 # words
    "$PROBITY" $command > output 2> errors || status=$?
    expect "$command: status" 2 "$status"
    grep -qF "a trace cannot be written to standard output" errors ||
        fail "$command: $(cat errors)"
    [ ! -e - ] || fail "$command: there is a file named '-'"
done

# Invalid settings.
for setting in PROBITY_MODE=blok PROBITY_WALL_TIME=2 PROBITY_CPU_TIME=yes PROBITY_OVERWRITE=x \
    PROBITY_CHUNK_RECORDS=63 PROBITY_CHUNK_RECORDS=65537 PROBITY_CHUNK_RECORDS=1k \
    PROBITY_SPOOL_RECORDS=1 PROBITY_SPOOL_RECORDS=999999999999 PROBITY_SPOOL_BYTES_MAX=1 \
    PROBITY_CPU_GAP_NS=1 PROBITY_CPU_GAP_NS=-5 PROBITY_CPU_GAP_NS=99999999999999999999999 \
    PROBITY_CPU_BUDGET_PERMILLE=1001 PROBITY_CLOCK=sundial; do
    unnoticed "$setting" "${setting%%=*}" 2000 env "PROBITY_OUT=$WORK/trace" "$setting"
    nothing_made "$setting"
done

# A size limit or a full disk truncates the trace during recording: trace and spool together are
# readable without a gap from the first hit on.
readable() {
    local status=0
    "$PROBITY" csv "$1" > csv.out 2> csv.err || status=$?
    [ "$status" -le 3 ] || fail "$2: csv status $status"
    "$PROGRAMS/check_hits" < csv.out > found || fail "$2: what is left is not a prefix of the hits"
    [ "$(wc -l < csv.out)" -gt 100000 ] || fail "$2: only $(wc -l < csv.out) hits"
}

fresh
export PROBITY_SPOOL_RECORDS=65536 PROBITY_CHUNK_RECORDS=1024
unnoticed "size limit for the spool" "" 20000 env "PROBITY_OUT=$WORK/trace" prlimit --fsize=65536
nothing_made "size limit"
unnoticed "size limit for the trace" "$WORK/trace" 4000000 "${out[@]}" prlimit --fsize=3000000
readable trace "size limit for the trace"

mounts() {
    [ "$(id -u)" = 0 ] && unshare -m true 2> /dev/null
}
if mounts; then
    fresh
    mkdir full
    # shellcheck disable=SC2016
    in_small_disk='mount -t tmpfs -o size=2m none "$1" && shift && "$@"; status=$?
        cp full/trace* . ; exit $status'
    unnoticed "full disk" "full/trace" 4000000 unshare -m bash -c "$in_small_disk" - "$WORK/full" \
        env "PROBITY_OUT=$WORK/full/trace"
    readable trace "full disk"

    # The disk is full before the first byte is written, but the name can still be created.
    fresh
    mkdir full
    # shellcheck disable=SC2016
    in_full_disk='mount -t tmpfs -o size=8k none "$1" && head -c 8192 /dev/zero > "$1/all" &&
        shift && "$@"'
    unnoticed "disk that is full" "full/trace" 20000 unshare -m bash -c "$in_full_disk" - \
        "$WORK/full" env "PROBITY_OUT=$WORK/full/trace"
    nothing_made "disk that is full"

    fresh
    mkdir full
    # shellcheck disable=SC2016
    in_small_spool='mount -t tmpfs -o size=32k,mode=700 none "$1" && shift && "$@"; status=$?
        ls -A full >&2; exit $status'
    unnoticed "small spool" "full" 20000 unshare -m bash -c "$in_small_spool" - "$WORK/full" \
        env "PROBITY_OUT=$WORK/trace" "PROBITY_SPOOL_DIR=$WORK/full"
    nothing_made "small spool"

    # Without a usable /dev/shm, the spool is next to the trace.
    fresh
    # shellcheck disable=SC2016
    without_shm='mount -t tmpfs -o size=64k none /dev/shm && "$@"'
    status=0
    env -u PROBITY_SPOOL_DIR unshare -m bash -c "$without_shm" - env "PROBITY_OUT=$WORK/trace" \
        "$PROGRAMS/hostile" close_all > expected 2> errors || status=$?
    expect "small /dev/shm: status" 5 "$status"
    quiet "small /dev/shm"
    same_hits "small /dev/shm" trace
    expect "small /dev/shm: left" "" "$(find . -name '.probity*')"
else
    echo "no mounts here: full disks are not tested"
fi
finish
