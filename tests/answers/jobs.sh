#!/usr/bin/env bash
# Reading in two threads, ahead or in lanes, does not change the output: every command and export,
# whole and in ranges, with one thread and with two, on good and damaged traces, of a stopped
# program and a killed one, and on several traces at once. With one CPU there is no second thread.
# The result does not depend on whether an analysis takes runs of events or single ones, either.
# SHARE=N: one comparison in N, chosen by SEED; by default all.
# variants: gcc clang asan tsan
# timeout: 900
. "$(dirname "$0")/../common.bash"

# $1 number of threads, $2 prefix of the files with the command's output, then the command
one() {
    local jobs=$1 prefix=$2 status=0
    shift 2
    "$PROBITY" --jobs "$jobs" "$@" > "$prefix.out" 2> "$prefix.err" < /dev/null || status=$?
    echo "status $status" >> "$prefix.err"
}

# The thread sanitizer can find something only if there are two threads. Outputs are compared in
# the other variants.
compared=0
seed=${SEED:-$RANDOM}
echo "seed $seed"
RANDOM=$seed
same() {
    ((RANDOM % ${SHARE:-1} == 0)) || return 0
    if [ "${VARIANT:-gcc}" = tsan ] && [ -z "${CAMPAIGN:-}" ]; then
        one 2 two "$@"
        ! grep -q ThreadSanitizer two.err || fail "$*: $(head -n 20 two.err)"
        compared=$((compared + 1))
        return
    fi
    one 1 one "$@"
    one 2 two "$@"
    cmp -s one.out two.out && cmp -s one.err two.err ||
        fail "$*: $(diff one.err two.err | head -n 5; cmp one.out two.out)"
    compared=$((compared + 1))
}

# The data of a page, legibly, without the list of the chosen threads.
data_of() {
    python3 -c 'import base64, json, re, sys, zlib
text = re.search(r"id=\"probity-data\">([^<]*)<", sys.stdin.read())[1]
data = json.loads(zlib.decompress(base64.b64decode(text)))
del data["timeline"]["tids"]
json.dump(data, sys.stdout, indent=1)' < "$1" > data && mv data "$1"
}

# If threads are selected, even all, each event is taken alone. $1 trace, then further commands
same_alone() {
    local tids jobs words command
    [ "${VARIANT:-gcc}" != tsan ] || return 0
    tids=$("$PROBITY" threads --json "$1" 2> reported |
        jq -r '[.. | objects | .tid // empty] | unique | join(",")')
    [ -n "$tids" ] || { fail "$1: no threads"; return; }
    for words in report 'report --by-thread' 'report --json' 'report --corrected' tree \
                 'tree --by-thread' 'tree --json' threads 'threads --json' 'hist *' \
                 'hist --self *' 'hist --cpu *' 'report --columns calls,elapsed,parallelism' \
                 'hist --start-probe 1 --end-probe 3' timeline 'timeline --json' \
                 'timeline --since 30% --until 70%' \
                 'why --function * --limit 3' 'why --function * --since 40%' \
                 'view -o -' 'view --since 30% --until 70% -o -' "${@:2}"; do
        ((RANDOM % ${SHARE:-1} == 0)) || continue
        read -ra command <<< "$words"
        one 1 alone "${command[@]}" --tid "$tids" "$1"
        [[ $words != view* ]] || data_of alone.out || fail "$words --tid $1: no data"
        for jobs in 1 2; do
            one "$jobs" runs "${command[@]}" "$1"
            [[ $words != view* ]] || data_of runs.out || fail "$words $1: no data"
            cmp -s runs.out alone.out && cmp -s runs.err alone.err ||
                fail "--jobs $jobs ${command[*]} $1: with --tid: $(diff runs.err alone.err |
                    head -n 5; diff runs.out alone.out | head -n 10)"
            compared=$((compared + 1))
        done
    done
}

# Runs every command that reads events on the given traces.
all_commands() {
    local command format
    for command in csv log report tree threads blocks hist timeline model list info; do
        same "$command" "$@"
    done
    same report --json --by-thread "$@"
    same report --by-thread --sort name "$@"
    same report --columns calls,elapsed,parallelism "$@"
    same tree --by-thread --sort calls "$@"
    same tree --fold-recursion "$@"
    same hist --self '*' "$@"
    same report --json --corrected "$@"
    same blocks --json --by correlation "$@"
    same tree --folded "$@"
    same tree --json "$@"
    same tree --csv --by-thread "$@"
    same report --corrected "$@"
    same report --corrected --by-thread "$@"
    same blocks --json --by-thread "$@"
    same blocks --csv --sort name "$@"
    same blocks --slowest 3 "$@"
    same blocks --start-probe 2,taken --end-probe 4 "$@"
    same blocks --probe 1,3,nothing "$@"
    same hist --start-probe 1 --end-probe 3 "$@"
    same threads --json "$@"
    same timeline --json "$@"
    for format in chrome speedscope callgrind folded graphviz perfetto pprof otlp otlp-json \
                  openmetrics; do
        same export --format "$format" "$@"
    done
}

# $@ traces
ranges() {
    local range command
    for range in '--since 20% --until 60%' '--since 70%' '--until 30%' '--since 49% --until 51%'; do
        for command in csv log report tree blocks 'hist --list'; do
            # shellcheck disable=SC2086
            same $command $range "$@"
        done
        # For a range of an indexed trace, the second thread makes the timeline of a page.
        # shellcheck disable=SC2086
        same view --force -o - $range "$@"
        # shellcheck disable=SC2086
        same view --force -o - --spans 300 $range "$@"
    done
}

# $1 name of the trace, then program and arguments
record() {
    local trace=$1
    shift
    PROBITY_OUT=$trace PROBITY_CHUNK_RECORDS=512 "$@" > /dev/null || fail "$*: status $?"
}

small=${VARIANT:-gcc}
[[ $small == tsan || $small == asan ]] && small=1 || small=
record typed "$PROGRAMS/typed" 2000
record exported "$PROGRAMS/exported" 4 300
record jumps "$PROGRAMS/jumps" loop 2000
record varied "$PROGRAMS/varied" 0 20
[ -n "$small" ] || record scopes "$BUILD/bench/gen_scopes" scopes 4 1 values
[ -n "$small" ] || record hits "$BUILD/bench/gen" hits 4 1
for trace in typed exported jumps varied; do all_commands "$trace"; done
record paused "$PROGRAMS/fntrace_scopes" pauses
for trace in typed exported jumps varied paused; do same_alone "$trace"; done
if [ -z "$small" ]; then
    same_alone scopes
    same_alone hits
    # An allocation has the call path of the scopes that are open, which runs open and leave.
    "$PROBITY" record -o heap --calls memory -- "$PROGRAMS/heap.shared" 100 2> reported ||
        fail "record --calls memory: $(cat reported)"
    expect "allocations in copy()" true "$("$PROBITY" memory --json heap |
        jq 'any(.rows[]; .path == ["main", "load", "add", "copy"] and .allocations == 200)')"
    middle=$("$PROBITY" csv --columns wall_s,wall_ns heap |
        awk -F , 'NR == 250 { printf "@%d.%09d", $1, $2 }')
    same_alone heap memory 'memory --json' 'memory --json --function add' \
        "memory --json --until $middle" "memory --json --since $middle"
fi
all_commands typed varied exported
same diff typed -- typed
same view --force -o - exported
ranges typed
ranges varied jumps
if [ -z "$small" ]; then
    for command in csv log report tree blocks 'hist inner' 'export --format speedscope' \
                   'report --by-thread' 'report --wide' 'report --columns self,p99,distribution' \
                   'tree --by-thread' 'tree --folded' 'tree --callers inner' 'hist --cpu outer' \
                   'tree --json' 'report --corrected' 'blocks --by-thread --csv' \
                   'blocks --corrected --slowest 5' 'blocks --probe 1,3,9' \
                   'blocks --start-probe 2,5 --end-probe 4,8 --json' \
                   'hist --start-probe 1 --end-probe 3' 'hist --cpu --start-probe 4'; do
        # shellcheck disable=SC2086
        same $command scopes
        # shellcheck disable=SC2086
        same $command hits scopes
    done
    ranges scopes
    ranges hits
fi

# With an index, the part after the range is not read.
for trace in typed varied ${small:+exported} $([ -n "$small" ] || echo scopes hits); do
    "$PROBITY" index --force --every 1 "$trace" 2> reported || { cat reported; continue; }
    ranges "$trace"
    rm -f "$trace.index"
done

# A name that changes while events refer to it, damaged traces, and malicious ones.
n=0
for trace in "$SOURCE"/tests/golden/good/*.probity "$SOURCE"/tests/golden/bad/*.probity; do
    same csv "$trace"
    n=$((n + 1))
    [ -z "$small" ] || [ $((n % 4)) = 0 ] || continue
    same report "$trace"
    same log "$trace"
    same blocks "$trace"
done
for trace in with_ids sites late listed; do
    all_commands "$SOURCE/tests/golden/good/$trace.probity"
done
# In lanes, damage is found while each half of the threads is read.
for byte in ${small:-30000 90000 400000}; do
    [ -z "$small" ] || break
    cp scopes damaged
    printf 'XXXX' | dd of=damaged bs=1 seek="$byte" conv=notrunc 2> dd.log
    for command in report 'report --by-thread' tree 'hist inner'; do
        # shellcheck disable=SC2086
        same $command damaged
    done
done
for byte in 30000 90000; do
    cp varied damaged
    printf 'XXXX' | dd of=damaged bs=1 seek=$byte conv=notrunc 2> dd.log
    all_commands damaged
    same_alone damaged
    same csv damaged typed
done

# The spool of a program that is stopped, and of the same program after it was killed.
mkfifo ready go
PROBITY_OUT=$WORK/alive.probity "$PROGRAMS/alive" first_thread_ends > expected 2> errors &
alive=$!
cat ready > path &
await_file "$alive" path errors
trace=$(cat path)
stop_process "$alive"
all_commands "$trace"
kill -KILL "$alive"
wait "$alive" 2> killed || true
all_commands "$trace" typed

# Output that cannot be written ends the command while the second thread is still reading.
for trace in typed varied; do
    same csv -f -o /dev/full "$trace"
    same export --format chrome -f -o /dev/full "$trace"
done

# The emulator has an additional thread.
emulators=0
[ "${VARIANT:-gcc}" != aarch64 ] || emulators=1

# Prints the number of threads while csv waits for its output to be read. $1 CPUs or all, then
# arguments
threads_of() {
    local run=() command
    [ "$1" = all ] || run=(taskset -c "$1")
    mkfifo slow
    "${run[@]}" "$PROBITY" "${@:2}" > slow 2> slow.err &
    command=$!
    exec 5< slow
    head -c 1 <&5 > first
    # Its state is S once it waits, or it has ended.
    wait_until "$command" waits "$command" || true
    echo $(($(find "/proc/$command/task" -mindepth 1 -maxdepth 1 | wc -l) - emulators))
    cat <&5 > rest
    exec 5<&-
    wait "$command"
    rm slow
}

waits() {
    [ "$(cut -d ' ' -f 3 "/proc/$1/stat" 2> /dev/null)" != R ]
}

if [ -z "$small" ]; then
    first=$(taskset -cp $$ | sed 's/.*: //; s/[,-].*//')
    expect "one CPU" 1 "$(threads_of "$first" csv hits)"
    expect "--jobs 1" 1 "$(threads_of all --jobs 1 csv hits)"
    expect "--jobs 2" 2 "$(threads_of all --jobs 2 csv hits)"
    expect "PROBITY_JOBS" 1 "$(PROBITY_JOBS=1 threads_of all csv hits)"
    expect "--jobs=2 before PROBITY_JOBS" 2 \
        "$(PROBITY_JOBS=1 threads_of "$first" --jobs=2 csv hits)"
fi

# Usage errors
for option in '--jobs 0' '--jobs x' '--jobs' '--jobs=' '--jobs 2'; do
    # shellcheck disable=SC2086
    status=0; "$PROBITY" $option > reported 2>&1 || status=$?
    expect "$option: status" 2 "$status"
done
status=0
PROBITY_JOBS=-1 "$PROBITY" csv typed > reported 2>&1 || status=$?
expect "PROBITY_JOBS=-1: status" 2 "$status"
echo "$compared comparisons"
finish
