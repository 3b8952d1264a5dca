# Things that may happen to files and to the machine while a program records. Sourced after
# fault_inject.bash, by fault_inject_filesystem.sh and tests/campaign/fault_inject.sh.

# Controls a program that runs in steps (tests/programs/refused.c). begin_steps [SETTING]... starts
# it; `go` makes it record its next 500 hits; `go_to_end` ends it and sets $steps_status.
begin_steps() {
    fresh
    mkfifo in
    : > output
    env "PROBITY_OUT=$WORK/trace" "$@" "$PROGRAMS/refused" steps 500 < in > output 2> errors &
    steps_pid=$!
    exec 9> in
    wait_for_steps 1
}

# Same as above, under fault_inject with these options. Its process id is not known, so it cannot be
# killed.
begin_refused() {
    fresh
    mkfifo in
    : > output
    env "PROBITY_OUT=$WORK/trace" "$FAULT_INJECT" "$@" "$PROGRAMS/refused" steps 500 \
        < in > output 2> errors &
    steps_pid=$!
    exec 9> in
    wait_for_steps 1
}

# $1 expected number of lines
wait_for_steps() {
    wait_until "$steps_pid" has_lines output "$1" || true
}

go() {
    local lines
    lines=$(wc -l < output)
    printf x >&9
    wait_for_steps $((lines + 1))
}

go_to_end() {
    exec 9>&-
    steps_status=0
    wait "$steps_pid" || steps_status=$?
    sed -i '/^at /d' output
}

# ---- Existing files ------------------------------------------------------------------------------

# $1 description, $2 word of its message, the rest: a command that must fail with one line
way_is_refused() {
    local what=$1 name=$2 status=0
    shift 2
    timeout 300 "$@" > stdout 2> refused.errors < /dev/null || status=$?
    [ "$status" -ge 1 ] && [ "$status" -le 3 ] || fail "$what: status $status"
    grep -q "$name" refused.errors || fail "$what: does not name '$name': $(cat refused.errors)"
    [ "$(wc -l < refused.errors)" -le 2 ] || fail "$what: more than a line: $(cat refused.errors)"
}

# A file named like a partial output may belong to the user, or to another user.
links_in_the_way() {
    fresh
    PROBITY_OUT=$WORK/whole PROBITY_LEVEL=5 "$PROGRAMS/refused" mixed 5 > /dev/null || true
    local how command
    for how in symbolic hard; do
        echo precious > target
        if [ $how = hard ]; then ln target out.tmp; else ln -s target out.tmp; fi
        for command in csv report 'export --format sqlite' 'export --format ctf'; do
            # shellcheck disable=SC2086
            timeout 300 "$PROBITY" $command -o out whole 2> errors ||
                fail "$how link, $command: $(cat errors)"
            [ -s out ] || fail "$how link, $command: no output"
            rm -r out
        done
        if [ $how = hard ]; then ln target x.csv.tmp; else ln -s target x.csv.tmp; fi
        PROBITY_OUT=$WORK/x.csv "$PROGRAMS/refused" hits 100 > output 2> errors || true
        expect "$how link: target" precious "$(cat target)"
        expect "$how link, CSV of a program" 300 "$(wc -l < x.csv)"
        expect "$how link, CSV of a program: stderr" "" "$(cat errors)"
        rm -f x.csv x.csv.tmp out.tmp target
    done
}

pipes_in_the_way() {
    fresh
    PROBITY_OUT=$WORK/whole "$PROGRAMS/refused" hits 100 > /dev/null || true
    mkfifo out.tmp x.csv.tmp
    timeout 300 "$PROBITY" csv -o out whole || fail "pipe, csv: status $?"
    local status=0
    PROBITY_OUT=$WORK/x.csv timeout 300 "$PROGRAMS/refused" hits 100 > output 2> errors || status=$?
    expect "pipe, CSV of a program: status" 5 "$status"
    expect "pipe, CSV of a program: hits" 300 "$(wc -l < x.csv)"
    # At the path of the trace itself: an existing file is neither replaced nor written to.
    local kind
    for kind in pipe device directory socket link; do
        fresh
        case $kind in
            pipe) mkfifo trace ;;
            device) mknod trace c 1 3 2> /dev/null || continue ;;
            directory) mkdir trace ;;
            socket) python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("trace")' ;;
            link) echo precious > target && ln -s target trace ;;
        esac
        status=0
        PROBITY_OUT=$WORK/trace PROBITY_OVERWRITE=1 timeout 300 "$PROGRAMS/refused" hits 100 \
            > output 2> errors || status=$?
        expect "$kind for a trace: status" 5 "$status"
        expect "$kind for a trace: lines" 1 "$(wc -l < errors)"
        [ $kind != link ] || expect "link for a trace" precious "$(cat target)"
        no_leftovers "$kind for a trace"
    done
}

# ---- The trace during recording ------------------------------------------------------------------

# $1 description, $2 hits expected at the end, or "" for no trace; $3 word on stderr
changed_so() {
    local what=$1 hits=$2 word=$3
    go_to_end
    expect "$what: status" 5 "$steps_status"
    if [ -n "$word" ]; then
        expect "$what: lines" 1 "$(wc -l < errors)"
        grep -q "$word" errors || fail "$what: expected '$word' on stderr, found: $(cat errors)"
    else
        expect "$what: stderr" "" "$(cat errors)"
    fi
    [ -z "$hits" ] || expect "$what: hits" "$hits" "$("$PROBITY" csv trace 2> /dev/null | wc -l)"
}

trace_changed() {
    begin_steps; go
    rm trace
    go; go
    changed_so "trace removed" "" removed
    no_leftovers "trace removed"

    # The writer thread cannot start, so the exiting thread has no descriptor of the trace.
    begin_refused -n 1 -a -k clone,clone3; go
    rm trace
    changed_so "trace removed, no writer" "" removed
    no_leftovers "trace removed, no writer"

    begin_refused -n 1 -a -k clone,clone3; go
    mv trace moved
    go_to_end
    expect "trace moved, no writer: lines" 1 "$(wc -l < errors)"
    grep -q "run 'probity recover' on it" errors || fail "trace moved, no writer: $(cat errors)"
    "$PROBITY" recover moved > recovered 2>&1 || fail "trace moved, no writer: $(cat recovered)"
    expect "trace moved, no writer: hits" 500 "$("$PROBITY" csv moved | wc -l)"
    no_leftovers "trace moved, no writer"

    begin_steps; go
    : > trace
    go; go
    changed_so "trace emptied" "" truncated
    expect "trace emptied: bytes" 0 "$(stat -c %s trace)"
    no_leftovers "trace emptied"

    begin_steps; go; go
    truncate -s $(($(stat -c %s trace) - 10)) trace
    go
    # The hits in the truncated block are lost; later ones are in the spool.
    go_to_end
    expect "trace cut: status" 5 "$steps_status"
    expect "trace cut: lines" 1 "$(wc -l < errors)"
    "$PROBITY" csv trace > csv.out 2> /dev/null || true
    [ "$(wc -l < csv.out)" -ge 500 ] || fail "truncated trace: $(wc -l < csv.out) hits left"
    "$PROGRAMS/check_hits" -f < csv.out > /dev/null 2> faults || true
    ! grep -q 'twice\|steps back' faults || fail "truncated trace: $(cat faults)"

    begin_steps; go
    mv trace moved
    go
    mv moved trace
    changed_so "trace moved" 1000 ""
    no_leftovers "trace moved"

    begin_steps; go
    rm -rf "${SPOOL:?}"/*
    go
    changed_so "spool removed" 1000 ""
}

# Replaces the trace before the writer thread opens it; its start fails at first.
trace_replaced() {
    local how
    for how in file symbolic hard; do
        begin_refused -n 1 -k clone,clone3
        rm trace
        echo precious > target
        case $how in
            file) cp target trace ;;
            symbolic) ln -s target trace ;;
            hard) ln target trace ;;
        esac
        go
        go_to_end
        expect "trace replaced by $how: status" 5 "$steps_status"
        expect "trace replaced by $how: lines" 1 "$(wc -l < errors)"
        expect "trace replaced by $how" "precious" "$(cat trace)"
    done
    fresh
}

# ---- The spool directory -------------------------------------------------------------------------

can_mount() {
    [ "$(id -u)" = 0 ] && unshare -m true 2> /dev/null
}

# Another user owns the directory in /dev/shm, so the spool goes next to the trace.
spool_taken() {
    if ! can_mount; then
        echo "no mounts here: other users' directories in /dev/shm are not tested"
        return 0
    fi
    local how script
    # shellcheck disable=SC2016
    script='mount -t tmpfs -o mode=1777 none /dev/shm && cd /dev/shm && mkdir theirs && case $0 in
        foreign) mkdir probity-0 && chown 1 probity-0 ;;
        open) mkdir -m 777 probity-0 && chmod 777 probity-0 ;;
        link) ln -s theirs probity-0 ;;
        file) touch probity-0 ;;
        pipe) mkfifo probity-0 ;;
        esac; cd "$1" && "$2" hits 500 > output 2> errors; echo $? > status
        find /dev/shm -type f -size +0 > theirs'
    for how in foreign open link file pipe; do
        fresh
        (unset PROBITY_SPOOL_DIR
            PROBITY_OUT=$WORK/trace timeout 300 unshare -m bash -c "$script" $how "$WORK" \
                "$PROGRAMS/refused")
        expect "spool's directory, $how: status" 5 "$(cat status)"
        expect "spool's directory, $how: stderr" "" "$(cat errors)"
        expect "spool's directory, $how: in it" "" "$(cat theirs)"
        expect "spool's directory, $how: hits" 1500 "$("$PROBITY" csv trace | wc -l)"
        expect "spool's directory, $how: left" "" "$(find . -name '.probity*')"
    done
}

# The owner of a spool, or a process with the same rights, truncates it while a tool has it mapped:
# the tool reports an error.
spool_cut() {
    local command status
    for command in csv 'csv --header' recover; do
        fresh
        (PROBITY_OUT=$WORK/trace PROBITY_SPOOL_RECORDS=4194304 PROBITY_CHUNK_RECORDS=8192 \
            "$PROGRAMS/ends" kill 2 100000 || true) > output 2> errors
        [ "$command" != recover ] || break
        mkfifo pipe
        # shellcheck disable=SC2086
        timeout 300 "$PROBITY" $command trace > pipe 2> stderr &
        local tool=$!
        exec 8< pipe
        # After its first byte of output, the tool is in the middle of the spool, blocked on the
        # pipe.
        head -c 1 <&8 > first
        find "$SPOOL" -type f -exec truncate -s 8192 {} +
        cat <&8 > rest
        exec 8<&-
        status=0
        wait $tool || status=$?
        expect "$command, spool cut: status" 3 "$status"
        grep -q 'was truncated while it was being read' stderr ||
            fail "$command, truncated spool: $(cat stderr)"
        [ "$(wc -l < rest)" -lt 200000 ] || fail "$command, truncated spool: nothing is missing"
    done
    # Truncated before the tool starts.
    cp trace before
    find "$SPOOL" -type f -exec truncate -s 8192 {} +
    status=0
    timeout 300 "$PROBITY" recover trace > stdout 2> stderr || status=$?
    expect "recover, spool cut: status" 3 "$status"
    grep -q 'the spool of .* was truncated' stderr || fail "recover, truncated spool: $(cat stderr)"
    cmp before trace || fail "recover, truncated spool: the trace has changed"

    begin_steps; go
    timeout 300 "$PROBITY" log --follow trace > rest 2> stderr &
    tool=$!
    await_file "$tool" rest stderr
    find "$SPOOL" -type f -exec truncate -s 0 {} +
    signal_job KILL "$steps_pid" || true
    status=0
    wait $tool || status=$?
    expect "log --follow, spool cut: status" 3 "$status"
    grep -q 'was truncated while it was being read' stderr ||
        fail "log --follow, truncated spool: $(cat stderr)"
    wait "$steps_pid" 2> /dev/null || true
}

# ---- The machine ---------------------------------------------------------------------------------

# The trace of a stopped program is read without waiting.
stopped() {
    begin_steps PROBITY_LEVEL=5; go
    stop_process "$steps_pid"
    local command
    for command in csv info check report log; do
        local status=0
        timeout 300 "$PROBITY" $command trace > stdout 2> stderr || status=$?
        [ "$status" -le 3 ] || fail "stopped: $command: status $status"
    done
    expect "stopped: hits" 500 "$("$PROBITY" csv trace 2> /dev/null | wc -l)"
    way_is_refused "stopped: recover" "still being recorded" "$PROBITY" recover trace
    way_is_refused "stopped: level" "$steps_pid" "$PROBITY" level "$steps_pid" 1
    kill -CONT "$steps_pid"
    go
    changed_so "stopped, and going on" 1000 ""
    no_leftovers "stopped"

    # Stopped and continued repeatedly from the start, because a stop interrupts system calls.
    fresh
    PROBITY_OUT=$WORK/trace PROBITY_SPOOL_RECORDS=4194304 "$PROGRAMS/refused" many 20000 \
        > output 2> errors &
    local program=$! status=0
    while signal_job STOP $program 2> /dev/null; do kill -CONT $program 2> /dev/null || true; done
    wait $program || status=$?
    judge_program "stopped all the time" many "$status"
    expect "stopped all the time: stderr" "" "$(cat errors)"
}

# Recording makes only the system calls that probity(3) lists.
under_a_filter() {
    local program status
    for program in refused refused.shared; do
        fresh
        status=0
        PROBITY_OUT=$WORK/trace timeout 300 "$PROGRAMS/$program" filter 5000 > output 2> errors ||
            status=$?
        judge_program "$program under a filter" filter "$status"
        expect "$program under a filter: hits" 15000 "$("$PROBITY" csv trace | wc -l)"
    done
}

# The wall clock is set during recording: order and counts are unaffected, and the trace reports the
# jump.
clock_jumps() {
    local jump
    for jump in +3600 -3600; do
        echo +0 > "$SPOOL.clock"
        begin_steps "LD_PRELOAD=$PROGRAMS/plugin_wall_clock.so" "WALL_CLOCK=$SPOOL.clock"
        go
        echo "$jump" > "$SPOOL.clock"
        go
        go_to_end
        expect "clock $jump: status" 5 "$steps_status"
        judge_program "clock $jump" steps 5
        expect "clock $jump: steps reported" 1 \
            "$("$PROBITY" info --json trace | jq '[.. | .wall_steps? // empty] | max')"
    done
    rm -f "$SPOOL.clock"
}

# Limits on address space and descriptors, raised step by step until they suffice. $1 number of
# steps
limits() {
    local step value status
    for step in $(seq 0 "$1"); do
        value=$(((3 + step * 24 / $1) * 1048576))
        fresh
        status=0
        PROBITY_OUT=$WORK/trace timeout 300 prlimit --as=$value "$PROGRAMS/refused" scopes 500 \
            > output 2> errors || status=$?
        # Not enough even for the program itself.
        if [ "$status" = 127 ] || ! grep -q leaf output; then continue; fi
        judge_program "address space $value" scopes "$status"
    done
    if command -v setpriv > /dev/null && [ "$(id -u)" = 0 ]; then
        fresh
        chmod 777 "$WORK" "$SPOOL"
        chmod 711 "$(dirname "$PROGRAMS")" 2> /dev/null || true
        cp "$PROGRAMS/refused" program
        mkdir -m 700 "$SPOOL/own"
        chown 54321 "$SPOOL/own"
        status=0
        PROBITY_SPOOL_DIR=$SPOOL/own PROBITY_OUT=$WORK/trace timeout 300 setpriv --reuid 54321 \
            --clear-groups prlimit --nproc=1 ./program scopes 500 > output 2> errors || status=$?
        # Without a writer thread, records that do not fit in the spool are dropped and counted.
        judge_program "no further process" scopes "$status"
        expect "no further process: stderr" "" "$(cat errors)"
        rm -rf "${SPOOL:?}/own"
        chmod 700 "$WORK" "$SPOOL"
    fi
}

# The tool with limits on file size, descriptors and address space.
outputs_limited() {
    local command status value
    make_inputs
    while read -r command; do
        case $command in
            *'-o out'*) ;;
            *) continue ;;
        esac
        prepare "$command"
        usual=$(run_command "$command")
        answer_of "$command" > "$INPUTS/answer"
        for value in fsize=300 nofile=3 nofile=5 nofile=8 as=12000000 as=24000000; do
            prepare "$command"
            status=$(run_command "$command" prlimit "--$value" --core=0)
            # Too little memory to load the libraries, which the dynamic linker reports.
            [ "$status" != 127 ] || continue
            judge_limited "$command at $value" "$command" "$status" "$usual"
        done
    done <<< "$(commands)"
}

# A failed allocation inside libdw or SQLite may end the process, but must not leave partial output.
judge_limited() {
    if [[ $1 = *as=* ]] && [ "$3" -ge 128 ]; then
        [ -z "$(find . -name '*.tmp')" ] || fail "$1: files left over: $(find . -name '*.tmp')"
        return 0
    fi
    cp "$INPUTS/answer" "$INPUTS/answer.alone"
    [[ $1 = *nofile=* || $1 = *as=* ]] && learn_alone "$2"
    judge_tool "$@"
}

# The output without the traced program, whose file may be the one that cannot be opened.
learn_alone() {
    mkdir -p "$INPUTS/kept"
    cp -r . "$INPUTS/kept/"
    mv "$INPUTS/program" "$INPUTS/moved"
    prepare "$1"
    run_command "$1" > /dev/null
    answer_of "$1" > "$INPUTS/answer.alone"
    mv "$INPUTS/moved" "$INPUTS/program"
    rm -rf "${WORK:?}"/*
    cp -r "$INPUTS/kept/." .
    rm -rf "$INPUTS/kept"
}

# A program with more rights than its user ignores the environment.
privileged() {
    if [ "$(id -u)" != 0 ] || ! command -v setcap > /dev/null || ! command -v setpriv > /dev/null; then
        echo "no setcap, or not root: programs with capabilities are not tested"
        return 0
    fi
    fresh
    chmod 777 "$WORK"
    cp "$PROGRAMS/hostile" program
    if ! setcap cap_net_raw+ep program 2> /dev/null; then
        echo "this file system keeps no capabilities"
        return 0
    fi
    expect "with capabilities: threads" 1 "$(PROBITY_OUT=$WORK/trace PROBITY_LOG=$WORK/log \
        PROBITY_SUMMARY=$WORK/summary setpriv --reuid 65534 --clear-groups ./program count_threads)"
    expect "with capabilities: files" "" "$(find . -newer program -type f)"
    chmod 700 "$WORK"
}

# ---- File systems --------------------------------------------------------------------------------

# Runs a function in a mount namespace with a file system of a few MiB at $WORK/disk. $1 file
# system,
with_disk() {
    local kind=$1 size=$2
    shift 2
    mkdir -p disk
    if [ "$kind" = tmpfs ]; then
        mount -t tmpfs -o "size=${size}m,mode=700" none disk || return 1
    else
        truncate -s "${size}m" image
        case $kind in
            ext4) mkfs.ext4 -q -m 0 image ;;
            xfs) mkfs.xfs -q image ;;
            btrfs) mkfs.btrfs -q image > /dev/null ;;
        esac && mount -o loop image disk || return 1
        chmod 700 disk
    fi
    "$@"
    umount disk
}

# Fills the disk up to some reserved space. $1 KiB to leave
fill_disk() {
    head -c $(($1 * 1024)) /dev/zero > disk/room 2> /dev/null
    sync disk/room
    # Some file systems gain space once written data has reached the disk.
    for _ in 1 2 3; do
        cat /dev/zero >> disk/filler 2> /dev/null || true
        sync disk/filler 2> /dev/null || true
    done
    rm disk/room
}

# Trace, spool and outputs on a disk that fills up at various moments. $1 file system, KiB...
fill_under_way() {
    local kind=$1 room status records
    shift
    for room; do
        rm -rf disk/* disk/.probity*
        fill_disk "$room"
        rm -rf "${SPOOL:?}"/* trace output errors
        status=0
        PROBITY_OUT=$WORK/disk/trace timeout 300 "$PROGRAMS/refused" hits 50000 > output 2> errors ||
            status=$?
        rm -f disk/filler
        if compgen -G 'disk/trace*' > /dev/null; then
            # Recovers once there is space again, if the spool exists.
            "$PROBITY" recover disk/trace > recovered 2>&1 || true
            cp disk/trace* .
        fi
        judge_program "trace on $kind, $room KiB left" hits "$status"

        # The larger spool gets its pages during use.
        for records in "$PROBITY_SPOOL_RECORDS" $((PROBITY_CHUNK_RECORDS * 256)); do
            rm -rf disk/* "${SPOOL:?}"/* trace
            fill_disk "$room"
            status=0
            mkdir -m 700 disk/spool 2> /dev/null || true
            PROBITY_SPOOL_RECORDS=$records PROBITY_SPOOL_DIR=$WORK/disk/spool \
                PROBITY_OUT=$WORK/trace timeout 300 "$PROGRAMS/refused" many 1000 \
                > output 2> errors || status=$?
            judge_program "spool of $records records on $kind, $room KiB left" many "$status"
            expect "spool of $records records on $kind, $room KiB: left" "" \
                "$(find disk/spool -type f 2> /dev/null)"
            rm -f trace disk/filler
        done
    done
}

# Every output on a full disk: an existing file is kept.
fill_outputs() {
    local command status
    while read -r command; do
        case $command in
            *'-o out'*) ;;
            *) continue ;;
        esac
        rm -rf disk/* out
        cp -r "$INPUTS/old.ctf" disk/out
        [[ $command = *ctf* ]] || { rm -r disk/out; echo old > disk/out; }
        fill_disk 0
        status=0
        # shellcheck disable=SC2001
        command=$(sed "s#-o out#-o disk/out#; s#TRACES#$INPUTS#g" <<< "$command")
        # shellcheck disable=SC2086
        timeout 300 "$PROBITY" $command > stdout 2> stderr < /dev/null || status=$?
        [ "$status" = 1 ] || [ "$status" = 0 ] || fail "$1 full: $command: status $status"
        if [ "$status" = 1 ]; then
            grep -q '^probity' stderr || fail "$1 full: $command: no message"
            [ "$(cat disk/out 2> /dev/null || cat disk/out/* | cksum)" = \
                "$([[ $command = *ctf* ]] && cat "$INPUTS"/old.ctf/* | cksum || echo old)" ] ||
                fail "$1 full: $command: $(cat stderr), and the output has changed"
            full=$((full + 1))
        fi
        [ -z "$(find disk -name '*.tmp')" ] ||
            fail "$1 full: $command: files left over: $(find disk -name '*.tmp')"
        rm -f disk/filler
    done <<< "$(commands)"
    [ "$full" -gt 0 ] || fail "$1 full: no output ever failed"
}

# $1 file system. Everything runs in a separate mount namespace, which passes failures back in a
# file.
on_file_system() {
    local kind=$1 size=4
    case $kind in
        ext4) size=16 ;;
        xfs) size=300 ;;
        btrfs) size=120 ;;
    esac
    if ! can_mount || { [ "$kind" != tmpfs ] && ! command -v "mkfs.$kind" > /dev/null; }; then
        echo "no mounts, or no mkfs.$kind: $kind is not tested"
        return 0
    fi
    fresh
    [ -n "${INPUTS:-}" ] || make_inputs
    local counted
    counted=$(unshare -m bash -c '
        failures=0 full=0
        set +e
        source "$1" && shift
        cd "$WORK"
        with_disk "$@" 1>&2 && echo "$failures $full"' - <(declare -p WORK SPOOL INPUTS PROBITY \
        PROGRAMS PROBITY_CHUNK_RECORDS PROBITY_SPOOL_RECORDS; declare -f) "$kind" $size on_disk "$kind" |
        tail -n 1)
    if [ -z "$counted" ]; then
        echo "skipped: $kind cannot be mounted here"
        return 0
    fi
    failures=$((failures + ${counted% *}))
    echo "$kind: ${counted#* } outputs did not fit"
}

on_disk() {
    # shellcheck disable=SC2086
    fill_under_way "$1" ${ROOMS:-0 4 40 200 1000}
    full=0
    fill_outputs "$1"
}

# Trace, spool and output on a read-only file system.
not_to_be_written() {
    if ! can_mount; then
        echo "no mounts here: read-only file systems are not tested"
        return 0
    fi
    fresh
    [ -n "${INPUTS:-}" ] || make_inputs
    local status=0
    # shellcheck disable=SC2016
    unshare -m bash -c 'mkdir -m 700 still && mount -t tmpfs -o ro none still && "$1" csv -o still/out \
        "$3/one" 2> tool.errors; echo $? > tool.status
        PROBITY_OUT=$PWD/still/trace "$2" hits 500 > output 2> errors; echo $? > status
        PROBITY_SPOOL_DIR=$PWD/still PROBITY_OUT=$PWD/trace "$2" hits 500 > output 2> more; echo $? >> status' \
        - "$PROBITY" "$PROGRAMS/refused" "$INPUTS" || status=$?
    expect "read-only: tool" 1 "$(cat tool.status)"
    grep -q 'Read-only' tool.errors || fail "read-only: tool: $(cat tool.errors)"
    expect "read-only: program" "5 5" "$(tr '\n' ' ' < status | sed 's/ $//')"
    grep -q 'Read-only' errors || fail "read-only: trace: $(cat errors)"
    expect "read-only: lines" 2 "$(cat errors more | wc -l)"
}
