# Makes system calls of a test program or the tool fail: each call in turn, once and from then on.
# Sourced by tests/faults/fault_inject*.sh and tests/campaign/fault_inject.sh, which differ in the
# number of calls that they try.
#
# No `< <(...)` here: if a later command gets the process id of such a substitution, bash may
# confuse their statuses. This happens within thousands of runs.
# shellcheck source=tests/common.bash
if [ "$(uname -m)" != x86_64 ]; then
    echo "skipped: fault injection supports only x86-64"
    exit 77
fi
FAULT_INJECT=$BUILD/tests/fault_inject
runs=0 refusals=0
(cd "$SOURCE" && "${CC:-gcc}" -std=gnu11 -O2 -g -Wall -Wextra -D_GNU_SOURCE -Itests -o "$FAULT_INJECT.$$" \
    tests/tool/fault_inject.c && mv "$FAULT_INJECT.$$" "$FAULT_INJECT")
if ! "$FAULT_INJECT" -n 1 -k membarrier true 2> /dev/null; then
    echo "no ptrace or no seccomp here"
    exit 77
fi

# The smallest chunks and spool, so that a few records reach all paths.
export PROBITY_CHUNK_RECORDS=512 PROBITY_SPOOL_RECORDS=4096

# Prints the settings for `env` that request each way of recording, in addition to the program's
# argument. $1 way
settings_of() {
    case $1 in
        control) ;;
        csv) echo "PROBITY_OUT=$WORK/trace.csv" ;;
        profile) echo "PROBITY_OUT=$WORK/trace PROBITY_PROFILE=1 PROBITY_LEVEL=5" ;;
        scopes) echo "PROBITY_OUT=$WORK/trace PROBITY_LEVEL=5" ;;
        ring) echo "PROBITY_OUT=$WORK/trace PROBITY_MODE=ring" ;;
        log) echo "PROBITY_OUT=$WORK/trace PROBITY_LOG=$WORK/log PROBITY_LEVEL=5" ;;
        summary) echo "PROBITY_OUT=$WORK/trace PROBITY_SUMMARY=$WORK/summary PROBITY_LEVEL=5" ;;
        *) echo "PROBITY_OUT=$WORK/trace" ;;
    esac
}

# Prints the program's argument for each way.
program_way_of() {
    case $1 in
        profile | log | summary) echo scopes ;;
        csv) echo hits ;;
        *) echo "$1" ;;
    esac
}

# Prints the contents of the traces here in the program's own format: "PID STREAM HITS" or "FUNCTION
# CALLS".
found_in() {
    local way=$1 trace
    shift
    case $way in
        scopes | profile | log | summary)
            "$PROBITY" report --csv "$@" 2> /dev/null |
                awk -F, '{ gsub(/"[^"]*"/, "") } $1 == "branch" { n[1] += $8 + $9 }
                    $1 == "leaf" { n[2] += $8 + $9 }
                    END { print "branch", n[1] + 0; print "leaf", n[2] + 0 }' ;;
        typed)
            "$PROBITY" csv "$@" 2> /dev/null | awk -F, '{ sub(/:.*/, "", $3); n[$3]++ }
                END { for (name in n) print name, n[name] }' ;;
        csv)
            # A trace that still exists could not be converted to CSV.
            if [ -e trace.csv ]; then cat trace.csv; else "$PROBITY" csv "$@"; fi 2> /dev/null |
                "$PROGRAMS/check_hits" 2>> faults ;;
        *)
            for trace; do
                # Dropped hits leave gaps, which is correct; the counts account for them.
                "$PROBITY" csv "$trace" 2> /dev/null | "$PROGRAMS/check_hits" -f 2>> faults
            done | awk '{ n[$1 " " $2] += $3 } END { for (key in n) print key, n[key] }' ;;
    esac
}

# Prints the total of dropped records in all traces here.
dropped_in() {
    "$PROBITY" info "$@" 2> /dev/null | awk '$1 == "dropped" { n += $2 } END { print n + 0 }'
}

# Compares the hits that the program reports in "output" with those found: "MADE FOUND INVENTED".
balance() {
    awk 'NR == FNR { made[$1 ($3 != "" ? " " $2 : "")] += $NF; all += $NF; next }
         { key = $1 ($3 != "" ? " " $2 : ""); found += $NF
           if ($NF > made[key]) invented += $NF - made[key] }
         END { print all + 0, found + 0, invented + 0 }' output found
}

# Checks the files that a program left: output, errors, trace*; $1 description, $2 way, $3 status.
# ALL: nothing may be missing.
judge_program() {
    local what=$1 way=$2 status=$3 traces made found invented dropped left
    expect "$what: status" 5 "$status"
    ! grep -q noticed output || fail "$what: $(cat output)"
    local lines
    lines=$(wc -l < errors)
    # A child reports its own failures; a log and its trace can fail independently.
    [ "$lines" -le 1 ] || { [[ $way =~ child|log|summary ]] && [ "$lines" -le 2 ]; } ||
        fail "$what: more than a line on stderr: $(cat errors)"
    traces=$(find . -maxdepth 1 -name 'trace*' | sort)
    : > faults
    if [ -z "$traces" ]; then
        [ -z "${ALL:-}" ] || fail "$what: no trace: $(cat errors)"
        [ "$lines" -gt 0 ] || [ "$(awk '{ n += $NF } END { print n + 0 }' output)" = 0 ] ||
            fail "$what: no trace and no message"
        return 0
    fi
    # shellcheck disable=SC2086
    "$PROBITY" recover $traces > recovered 2>&1 || true
    # shellcheck disable=SC2086
    "$PROBITY" check $traces > checked 2>&1 || true
    # A trace that could not be completed is marked as such, and is not damaged.
    ! grep -v ': 0 faults in \|: ok: \|is a finished CSV' checked > damaged || fail "$what: check: $(head -n 3 damaged)"
    # shellcheck disable=SC2086
    found_in "$way" $traces > found
    read -r made found invented <<< "$(balance)"
    # shellcheck disable=SC2086
    dropped=$(dropped_in $traces)
    [ "$invented" = 0 ] || fail "$what: $invented hits more than were made: $(cat found)"
    if [ $((found + dropped)) -lt "$made" ] &&
        ! grep -q 'not recording\|recover\|no CPU\|memory' errors; then
        fail "$what: $made made, $found found, $dropped dropped, and no message: $(cat errors)"
    fi
    if [ -n "${ALL:-}" ] && [ "$found" -lt "$made" ]; then
        fail "$what: $made made, $found found: $(cat errors)"
    fi
    if [ "$dropped" = 0 ] && [ -s faults ]; then fail "$what: $(head -n 2 faults)"; fi
    # Dropped hits leave gaps but cause no other error.
    ! grep 'twice\|back' faults > damaged || fail "$what: $(head -n 2 damaged)"
    left=$(find "$SPOOL" -type f; find . -name '*.tmp*')
    [ -z "$left" ] || fail "$what: files left over: $(head -n 3 <<< "$left")"
    if [ "$lines" = 0 ] && [ "$dropped" = 0 ]; then judge_texts "$what" "$way"; fi
}

# A log or summary is complete unless a failure was reported. $1 description, $2 way
judge_texts() {
    case $2 in
        log)
            expect "$1: log" "$(cat output)" "branch $(grep -c ' void branch$' log)
leaf $(grep -c ' int leaf$' log)" ;;
        summary)
            while read -r name calls; do
                grep -q "^ *$calls .* $name\$" summary || fail "$1: summary: $(cat summary)"
            done < output ;;
    esac
}

# Makes one call after another fail in a program. $1 program, $2 way, $3 hits, $4 step between
# calls, the rest: options of fault_inject
sweep_program() {
    local program=$1 way=$2 hits=$3 stride=$4 n=1 status reached refused name what settings
    shift 4
    read -ra settings <<< "$(settings_of "$way")"
    while :; do
        fresh
        status=0
        env "${settings[@]}" timeout 300 "$FAULT_INJECT" -n $n "$@" -o report "$PROGRAMS/$program" \
            "$(program_way_of "$way")" "$hits" > output 2> errors < /dev/null || status=$?
        runs=$((runs + 1))
        read -r reached refused name < report || true
        [ "$refused" != 0 ] || break
        refusals=$((refusals + 1))
        what="$program $way $* call $n of $reached ($name)"
        judge_program "$what" "$way" "$status"
        n=$((n + stride))
    done
}

# If all calls of a kind fail from some point on, the program must not retry with each record.
# Whether records are dropped depends on thread timing, so a run with few drops is repeated. $1 way,
# $2 calls, $3 first call that fails
asks_seldom() {
    local reached refused name dropped try
    for try in 1 2 3 4 5 6 7 8 9 10; do
        fresh
        PROBITY_OUT=$WORK/trace timeout 300 "$FAULT_INJECT" -n "$3" -a -k "$2" -o report \
            "$PROGRAMS/refused" "$1" 2000 > output 2> errors || true
        runs=$((runs + 1)) refusals=$((refusals + 1))
        judge_program "$1, $2 failing forever, try $try" "$1" 5
        read -r reached refused name < report
        dropped=$(dropped_in trace)
        [ "$dropped" -lt 4000 ] || break
    done
    if [ "$dropped" -lt 4000 ] || [ "$refused" -lt 3 ] || [ "$refused" -gt $((dropped / 20)) ]; then
        fail "$1: $refused of $reached $name failed for $dropped records"
    fi
}

# ---- The tool ------------------------------------------------------------------------------------

MEMORY=$BUILD/tests/fault_inject_memory.so

# Creates traces of all kinds in $INPUTS, and records each command's output without failures.
make_inputs() {
    INPUTS=$(mktemp -d /tmp/probity-test.XXXXXX)
    trap '[[ $BASHPID != $$ ]] || rm -rf "$WORK" "$SPOOL" "$INPUTS"' EXIT
    (cd "$SOURCE" && "${CC:-gcc}" -std=gnu11 -O2 -g -Wall -Wextra -D_GNU_SOURCE -fPIC -shared \
        -o "$MEMORY.$$" tests/tool/fault_inject_memory.c && mv "$MEMORY.$$" "$MEMORY")
    local run
    cp "$PROGRAMS/refused" "$INPUTS/program"
    for run in one two; do
        env PROBITY_LEVEL=5 PROBITY_LABEL=$run PROBITY_OUT="$INPUTS/$run" \
            "$INPUTS/program" mixed 20 > /dev/null || true
    done
    PROBITY_PROFILE=1 PROBITY_LEVEL=5 PROBITY_OUT=$INPUTS/profile \
        "$INPUTS/program" scopes 20 > /dev/null || true
    (PROBITY_OUT=$INPUTS/killed "$PROGRAMS/ends" kill 2 300 || true) > /dev/null 2>&1
    cp "$INPUTS/killed" "$INPUTS/killed.whole"
    mkdir "$INPUTS/spool"
    mv "$SPOOL"/* "$INPUTS/spool/"
    "$PROBITY" export --format ctf -o "$INPUTS/old.ctf" "$INPUTS/two" 2> /dev/null
    (cd "$INPUTS" && "$PROBITY" runs init > /dev/null && "$PROBITY" runs add one > /dev/null &&
        mv .probity history)
}

# Creates a file or directory, of the same kind as each command's output, under the output's name.
prepare() {
    rm -rf "${WORK:?}"/* "${WORK:?}"/.probity "${SPOOL:?}"/*
    case $1 in
        *ctf*) cp -r "$INPUTS/old.ctf" out ;;
        *'-o out'*) echo old > out ;;
    esac
    case $1 in
        recover*)
            # Keep the file (inode) that the spool names: a copy would not get the spool's records.
            cat "$INPUTS/killed.whole" > "$INPUTS/killed"
            ln "$INPUTS/killed" killed
            cp "$INPUTS"/spool/* "$SPOOL/" ;;
        'runs init') ;;
        runs*) cp -r "$INPUTS/history" .probity ;;
    esac
}

# Prints a command's output, without the parts that differ from run to run.
answer_of() {
    case $1 in
        *ctf*) cat out/* ;;
        *sqlite*) [ "$(cat out)" = old ] && echo old || sqlite3 out .dump ;;
        *'-o out'*) cat out ;;
        recover*) "$PROBITY" csv killed | cut -d, -f1-3 ;;
        'runs init') [ -d .probity ] && echo yes ;;
        'runs add'* | 'runs rm'*) "$PROBITY" runs list | cut -c1-60 ;;
        overhead* | record*) ;;
        *) cat stdout ;;
    esac 2> /dev/null | grep -av 'added' || true
}

# The same for the output that existed before the command.
before_of() {
    case $1 in
        *ctf*) cat "$INPUTS"/old.ctf/* ;;
        *'-o out'*) echo old ;;
        'runs init') ;;
        recover*) ;;
        'runs add'* | 'runs rm'*)
            (mkdir -p "$WORK/earlier" && cd "$WORK/earlier" && cp -r "$INPUTS/history" .probity &&
                "$PROBITY" runs list | cut -c1-60) ;;
    esac | grep -av 'added' || true
}

# One command per line; TRACES is replaced by their directory.
commands() {
    cat <<'LIST'
csv -f -o out TRACES/one
csv --header TRACES/one TRACES/two
log -f -o out TRACES/one
log TRACES/one
report -f -o out TRACES/one
report --json TRACES/one
report TRACES/profile
info TRACES/one
info --json TRACES/one
check TRACES/one
recover killed
tree -f -o out TRACES/one
tree --json TRACES/profile
threads -f -o out TRACES/one
blocks -f -o out TRACES/one
blocks --json TRACES/one
hist -f -o out branch TRACES/one
diff -f -o out TRACES/one -- TRACES/two
list -f -o out TRACES/one
model -f -o out TRACES/one
model --dot TRACES/one
overhead TRACES/one
runs init
runs add TRACES/two
runs list
runs show 1
runs rm 1
timeline TRACES/one
timeline --json TRACES/one
view -f -o out TRACES/one
view -f -o out --diff TRACES/two TRACES/one
export --format chrome -f -o out TRACES/one
export --format speedscope -f -o out TRACES/one
export --format callgrind -f -o out TRACES/one
export --format folded -f -o out TRACES/one
export --format sqlite -f -o out TRACES/one
export --format graphviz -f -o out TRACES/one
export --format perfetto -f -o out TRACES/one
export --format pprof -f -o out TRACES/one
export --format ctf -f -o out TRACES/one
export --format otlp -f -o out TRACES/one
export --format otlp-json -f -o out TRACES/one
export --format openmetrics -f -o out TRACES/one
LIST
}

# $1 description, $2 command, $3 status, $4 status without failures
judge_tool() {
    local what=$1 command=$2 status=$3 usual=$4
    if [ "$status" -ge 124 ]; then
        fail "$what: status $status: $(tail -n 2 stderr)"
        return 0
    fi
    [ -z "${ALL:-}" ] || [ "$status" = "$usual" ] || fail "$what: status $status: $(cat stderr)"
    answer_of "$command" > answer
    if [ "$status" = "$usual" ]; then
        cmp -s answer "$INPUTS/answer" || cmp -s answer "$INPUTS/answer.alone" || fail "$what: another answer, and no failure:" \
            "$(diff -a "$INPUTS/answer" answer | head -n 4; cat stderr)"
    else
        grep -q probity stderr || fail "$what: status $status without a message: $(cat stderr)"
        [ "$(grep -vc '^Try ' stderr)" -le 3 ] || fail "$what: too many lines: $(head -n 5 stderr)"
        before_of "$command" > before
        case $command in
            recover*) again_recovers "$what" ;;
            *'-o out'* | 'runs init' | 'runs add'* | 'runs rm'*)
                cmp -s answer before ||
                    { grep -q 'standard output' stderr && cmp -s answer "$INPUTS/answer"; } ||
                    fail "$what: failed ($(cat stderr)), but its output has changed" ;;
        esac
    fi
    judge_left "$what"
}

# Whatever stopped a recovery, the next one succeeds. $1 description
again_recovers() {
    "$PROBITY" recover killed > stdout 2>&1 || fail "$1: second recovery: $(cat stdout)"
    answer_of recover > answer
    cmp -s answer "$INPUTS/answer" || fail "$1: second recovery: different output"
    [ -z "$(ls "$SPOOL")" ] || fail "$1: second recovery: files left over: $(ls "$SPOOL")"
}

# A file that cannot be removed is reported. $1 description
judge_left() {
    local left
    for left in *.tmp*; do
        [ ! -e "$left" ] || grep -q "could not remove temporary .* '$left': " stderr ||
            fail "$1: left over without a message: $left: $(cat stderr)"
    done
}

# $1 command; the rest: prefix of the tool's command line. Writes stdout and stderr; prints the
# status.
run_command() {
    local command=$1 status=0
    shift
    # shellcheck disable=SC2086
    timeout 300 "$@" "$PROBITY" ${command//TRACES/$INPUTS} > stdout 2> stderr < /dev/null || status=$?
    echo "$status"
}

# Saves the command's output without failures, and also without the traced program, whose signatures
# are then missing. $1 command; prints the status.
learn_answer() {
    prepare "$1"
    mv "$INPUTS/program" "$INPUTS/moved"
    run_command "$1" > /dev/null
    answer_of "$1" > "$INPUTS/answer.alone"
    mv "$INPUTS/moved" "$INPUTS/program"
    prepare "$1"
    run_command "$1"
    answer_of "$1" > "$INPUTS/answer"
}

# Makes one system call of the tool after another fail. $1 command, $2 step between calls, the rest:
# options of fault_inject
sweep_tool() {
    local command=$1 stride=$2 n=1 status usual reached refused name
    shift 2
    usual=$(learn_answer "$command")
    while :; do
        prepare "$command"
        status=$(run_command "$command" "$FAULT_INJECT" -n $n "$@" -o "$INPUTS/report")
        runs=$((runs + 1))
        read -r reached refused name < "$INPUTS/report" || true
        [ "$refused" != 0 ] || break
        refusals=$((refusals + 1))
        judge_tool "$command: $* call $n of $reached ($name)" "$command" "$status" "$usual"
        n=$((n + stride))
    done
}

# Replaces a directory on a file system that cannot exchange two names, and makes each later step
# fail: one of the two directories always exists.
directory_in_two_steps() {
    if ! command -v strace > /dev/null; then
        echo "no strace: directories on file systems without exchange are not tested"
        return 0
    fi
    local command='export --format ctf -f -o out TRACES/one' usual fault
    usual=$(learn_answer "$command")
    for fault in rename:error=EIO:when=1 rename:error=EIO:when=2 unlinkat:error=EIO:when=1 \
        rmdir:error=EIO; do
        prepare "$command"
        judge_tool "$command, $fault" "$command" "$(run_command "$command" strace -f -qq \
            -o /dev/null -e inject=renameat2:error=ENOSYS -e "inject=$fault")" "$usual"
        runs=$((runs + 1)) refusals=$((refusals + 1))
    done
}

# Prints the number of allocations of a command. $1 command
allocations_of() {
    prepare "$1"
    head -c 16 /dev/zero > "$INPUTS/report"
    run_command "$1" env "LD_PRELOAD=$MEMORY" "FAULT_INJECT_MEMORY=$INPUTS/report:0" > /dev/null
    od -An -tu8 -N 8 "$INPUTS/report"
}

# Makes one allocation of the tool after another fail. $1 command, $2 step, $3 "" or ":ever", $4
# the first (default 1)
sweep_memory() {
    local command=$1 stride=$2 ever=$3 n=${4:-1} status usual refused
    usual=$(learn_answer "$command")
    while :; do
        prepare "$command"
        head -c 16 /dev/zero > "$INPUTS/report"
        status=$(run_command "$command" env "LD_PRELOAD=$MEMORY" "FAULT_INJECT_MEMORY=$INPUTS/report:$n$ever")
        runs=$((runs + 1))
        refused=$(od -An -tu8 -j 8 -N 8 "$INPUTS/report")
        [ "$refused" -gt 0 ] || break
        refusals=$((refusals + 1))
        judge_tool "$command: allocation $n$ever" "$command" "$status" "$usual"
        n=$((n + stride))
    done
}
