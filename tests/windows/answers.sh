#!/usr/bin/env bash
# probity.exe and the tool on Linux give the same answers, byte for byte and with the same status,
# in text, JSON, CSV and other tools' formats, from traces made on both systems and for AArch64.
# QUICK=yes: fewer commands for each of the golden traces.
# shellcheck source=tests/windows/common.bash
. "$(dirname "${BASH_SOURCE[0]}")/common.bash"
export TZ=UTC COLUMNS=100

# Made under Wine: functions with values; probes of eight threads.
x86_64-w64-mingw32-g++ -std=gnu++17 "${FLAGS[@]}" -o calls.exe \
    "$SOURCE/tests/programs/fntrace_article_cxx.cc" -static "${STATIC[@]}"
x86_64-w64-mingw32-gcc "${FLAGS[@]}" -Wno-infinite-recursion -o probes.exe \
    "$SOURCE/tests/windows/kill_target.c" "${STATIC[@]}"
PROBITY_OUT=calls.probity wine_run calls.exe > out 2>&1
expect "calls.exe: status; $(head -n 3 out)" 0 "$status"
PROBITY_OUT=probes.probity wine_run probes.exe counts exit > out 2>&1
cp "$SOURCE"/tests/golden/{good,systems}/*.probity "$SOURCE"/tests/golden/bad/c*.probity .

# Each line contains the arguments of the tool. One batch file runs all: starting Wine takes long.
lines=()
readings=('info' 'check' 'report' 'list --csv' 'tree' 'blocks --json' 'csv')
[ "${QUICK:-no}" = no ] || readings=('check' 'report' 'csv')
all=('info --json' 'report --json' 'report --csv' 'list' 'list --json' 'tree --json' 'blocks'
    'blocks --csv' 'threads' 'threads --json' 'threads --csv' 'log' 'waits' 'waits --json' 'path'
    'memory' 'model --json' 'timeline' 'spools' 'report --nonsense' 'view -o -')
formats=(chrome speedscope callgrind folded graphviz perfetto openmetrics firefox)
for trace in *.probity; do
    lines+=("${readings[@]/%/ $trace}")
done
for trace in calls.probity sites.probity threads.probity aarch64.probity windows.probity; do
    [ "${QUICK:-no}" = no ] || [[ $trace != threads.* ]] || continue
    lines+=("${all[@]/%/ $trace}" "${formats[@]/#/export $trace --format }"
        "diff sites.probity -- $trace" "diff --csv calls.probity -- $trace")
done
lines+=("hist site-0 sites.probity" "hist --json outer_func calls.probity" "help report"
    "--jobs 2 report calls.probity" "report sites.probity threads.probity missing.probity"
    "check *.probity")

# Linux separates arguments at spaces, as cmd.exe does, and expands names itself.
exe=Z:${WINDOWS//\//\\}\\bin\\probity.exe
mkdir linux windows
for i in "${!lines[@]}"; do
    set -f
    # shellcheck disable=SC2086 # words
    "$PROBITY" ${lines[i]} > "linux/$i.out" 2> "linux/$i.err" && status=0 || status=$?
    set +f
    echo "$status" > "linux/$i.status"
done

# $@ numbers of lines
ask_windows() {
    local i
    echo '@echo off' > run.bat
    for i; do
        printf '%s %s > windows\\%d.out 2> windows\\%d.err\r\n' "$exe" "${lines[i]}" "$i" "$i"
        printf '>windows\\%d.status echo %%errorlevel%%\r\n' "$i"
    done >> run.bat
    echo exit 0 >> run.bat
    LIMIT=1500 wine_run cmd /c run.bat > out 2>&1
    expect "run.bat: status; $(head -n 3 out)" 0 "$status"
    for i; do
        tr -d '\r' < "windows/$i.status" > status
        mv status "windows/$i.status"
    done
}

ask_windows "${!lines[@]}"
# On a busy machine, Wine's cmd.exe sometimes sets 9009, "not found", after a program that ran and
# printed its output. For a program that really cannot be found, a second run sets it again.
again=()
for i in "${!lines[@]}"; do
    [ "$(cat "windows/$i.status")" != 9009 ] || again+=("$i")
done
[ ${#again[@]} = 0 ] || [ ${#again[@]} -gt 3 ] || ask_windows "${again[@]}"
for i in "${!lines[@]}"; do
    for part in status out err; do
        cmp -s "linux/$i.$part" "windows/$i.$part" ||
            fail "probity ${lines[i]}: $part: Linux (<), Windows (>):" \
            "$(diff "linux/$i.$part" "windows/$i.$part" | head -n 10)"
    done
done
echo "${#lines[@]} answers are the same"
