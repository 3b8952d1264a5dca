#!/usr/bin/env bash
# Runs the tests. `make test` runs all of them in every variant of the build; `make check` runs the
# quick tier: unit tests, a smoke test of each command and the style checks, with gcc alone. Before
# the end it prints the 20 slowest tests and the time of each group. The last line of its output is
# "N passed, N failed", with ", N skipped" if tests were skipped; exit status 1 if one failed.
#
# If only a few tests failed, they are run again one at a time: a machine that stalls for a moment
# can break a measurement. Those that then pass are reported as flaky.
#
#   TIER    check, test (default) or aarch64 (everything that runs in qemu: tests/aarch64/left_out
#           names the rest, tests/aarch64/slow what runs there in full only with CAMPAIGN=yes,
#           tests/aarch64/by_name what requires Linux 6.7)
#   BUILD   build directory of the gcc variant; the others are BUILD-clang, BUILD-asan, BUILD-tsan
#   ONLY    a regular expression: run only the tests whose name (as printed) matches
#   AGAIN   the largest number of failed tests to run again; 0: none, 6 if not set
#   CAMPAIGN  yes: scripts also run in the variants that their line "# campaign: tsan" names, those
#           in tests/aarch64/slow run in qemu, and tests/shortened is ignored
#
# The tests: tests/unit/test_*.c (cmocka; in all variants) and the scripts in tests/SUBJECT
# (tools/test_scripts.sh; in gcc and clang, or in gcc and those that a line "# variants: clang asan
# tsan" names). A script receives PROBITY (the tool), BUILD (absolute), CC, CXX, VARIANT and LINKED
# (forms_of in tests/common.bash); it exits with 0 for passed, 77 for skipped. "# serial" prevents
# other tests from running at the same time, "# timeout: 600" sets its time limit in seconds.
# tests/shortened lists the tests that a variant leaves out or repeats less often.
# tests/windows/*.sh run under Wine, one after another, if it is installed.
set -eu
cd "$(dirname "$0")/.."
# The outer make's flags would name a job server that is not available here.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES

BUILD=${BUILD:-build}
mkdir -p "$BUILD/test-logs"
BUILD=$(cd "$BUILD" && pwd)
LOGS=$BUILD/test-logs
RESULTS=$LOGS/results
export LOGS RESULTS
ONLY=${ONLY:-}
TIER=${TIER:-test}
CAMPAIGN=${CAMPAIGN:-}
AGAIN=${AGAIN:-6}
cores=$(nproc)
# Tests spend a quarter of their time waiting.
workers=$((cores + 1))
# Lines "NAME SECONDS": how long each test took when it last ran here.
TIMES=$BUILD/test-times
touch "$TIMES"
# Unchanged sources are not recompiled.
for directory in /usr/lib/ccache/bin /usr/lib/ccache /usr/lib64/ccache; do
    if [ -x "$directory/gcc" ]; then PATH=$directory:$PATH && break; fi
done
# Makes a miss cheaper: no preprocessing for the cache's key (figures: tests/README.md).
export CCACHE_DEPEND=1
# The interpreter itself: a version manager's wrapper takes longer than most of our scripts.
python=$(python3 -c 'import os, sys; print(os.path.dirname(sys.executable))' 2> /dev/null || true)
[ ! -x "$python/python3" ] || PATH=$python:$PATH
# Warnings are errors only here, since users have other compilers. Exported, so that a script that
# calls make rebuilds nothing.
export WERROR=${WERROR--Werror}
# Inherited settings must not reach the traced programs.
for name in "${!PROBITY_@}"; do unset "$name"; done

rm -rf "${LOGS:?}"/*
: > "$RESULTS"

build_of() {
    case $1 in
        gcc) echo "$BUILD" ;;
        aarch64) echo "$BUILD/aarch64/qemu" ;;
        *) echo "$BUILD-$1" ;;
    esac
}

# Prints the settings of a variant, one per line.
settings_of() {
    echo "BUILD=$(build_of "$1")"
    case $1 in
        gcc) printf '%s\n' CC=gcc CXX=g++ SANITIZE= ;;
        clang) printf '%s\n' CC=clang CXX=clang++ SANITIZE= ;;
        asan) printf '%s\n' CC=gcc CXX=g++ SANITIZE=address,undefined ;;
        tsan) printf '%s\n' CC=clang CXX=clang++ SANITIZE=thread TOOL_FLAGS=-O0 ;;
        aarch64)
            printf '%s\n' CC=aarch64-linux-gnu-gcc CXX=aarch64-linux-gnu-g++ SANITIZE= \
                "NATIVE=$BUILD" "EMULATOR=$(command -v qemu-aarch64)" \
                "EMULATOR_ROOT=$BUILD/aarch64-root"
            ;;
    esac
}

# Prints the tool that a variant's scripts use. The scripts run with clang to test code compiled
# into programs; clang compiles the tool itself for tsan, with the same warnings.
tool_of() {
    case $1$CAMPAIGN in
        clang) echo "$BUILD/bin/probity" ;;
        *) echo "$(build_of "$1")/bin/probity" ;;
    esac
}

# Prints the prefix of a test's command. With strong address space randomization, there may be
# mappings where sanitizers need their shadow memory. The thread sanitizer would kill the children
# of programs with threads, which it cannot follow.
prefix_of() {
    local command=(env "PROBITY=$(tool_of "$1")" "VARIANT=$1")
    mapfile -t -O ${#command[@]} command < <(settings_of "$1")
    # Both libraries consist of the same objects.
    case $1$CAMPAIGN in
        asan) command+=(LINKED=static) ;;
        tsan) command+=(LINKED=shared) ;;
    esac
    [ "$1" != tsan ] ||
        command+=("TSAN_OPTIONS=die_after_fork=0:suppressions=$PWD/tests/tool/tsan.supp")
    case $1 in
        asan | tsan) if setarch -R true 2> /dev/null; then command+=(setarch -R); fi ;;
    esac
    printf '%q ' "${command[@]}"
}

# Settings in the scripts' headers: header[SCRIPT:KEY] is the value of a line "# KEY: VALUE", or
# "yes" for "# KEY".
mapfile -t scripts < <(tools/test_scripts.sh)
declare -A header
read_headers() {
    local script key value
    while IFS=: read -r script key value; do
        header[$script:$key]=${header[$script:$key]-$value}
    done < <(awk 'FNR <= 15 && /^# (campaign|timeout|variants):/ {
            sub(/^# /, ""); sub(/: */, ":"); print FILENAME ":" $0 }
        FNR <= 15 && $0 == "# serial" { print FILENAME ":serial:yes" }' \
        "${scripts[@]}")
}

# ---- tests/shortened: lines "VARIANTS NAME WHAT REASON" ----

short_in=() short_name=() short_how=()

# Each line must name tests that exist.
read_shortened() {
    local variants name how reason
    while read -r variants name how reason; do
        if [ -z "$reason" ] || ! compgen -G "tests/$name" > /dev/null &&
            ! compgen -G "tests/$name.c" > /dev/null; then
            echo "test.sh: tests/shortened: no such test, or no reason: $variants $name" >&2
            exit 2
        fi
        short_in+=(",$variants,") short_name+=("$name") short_how+=("$how")
    done < <(grep -v '^\(#\|$\)' tests/shortened)
}

# Sets "how" to the value in the table's first line for a test: "out", "whole" or settings for it. A
# test without a line runs in full. $1 variant, $2 name
find_shortened() {
    local i
    how=whole
    for i in "${!short_in[@]}"; do
        # shellcheck disable=SC2053 # a pattern
        if [[ ${short_in[i]} == *",$1,"* && $2 == ${short_name[i]} ]]; then
            how=${short_how[i]}
            return
        fi
    done
}

# ---- Lists of tests: lines "NAME <tab> LIMIT IN SECONDS <tab> COMMAND" ----

job() {
    if [[ $1 =~ $ONLY ]]; then printf '%s\t%s\t%s\n' "$1" "$2" "$3"; fi
}

# The same for a test of a variant, with the settings of tests/shortened. $1 variant, $2 name, $3
# limit, $4 command
variant_job() {
    local how
    find_shortened "$1" "$2"
    case $how in
        out) ;;
        whole) job "$1/$2" "$3" "$4" ;;
        *) job "$1/$2" "$3" "env ${how//,/ } $4" ;;
    esac
}

style_jobs() {
    job check/scripts 600 "env RECENT=$([ -n "$CAMPAIGN" ] || echo 20) tools/check_scripts.sh"
    job check/style 600 tools/check_style.sh
    job check/words 600 tools/check_words.sh
    job check/manual 600 "mandoc -T lint -W warning man/*.[137]"
    job check/options 600 "tools/check_options.sh $BUILD/bin/probity"
}

check_jobs() {
    job check/style-selftest 600 tools/check_style_selftest.sh
    job check/words-selftest 600 tools/check_words_selftest.sh
    job check/headers 600 "env SHARE=$([ -n "$CAMPAIGN" ] || echo 3) tools/check_headers.sh"
    job check/symbols 600 "tools/check_symbols.sh $BUILD"
    job check/page 600 "BUILD=$BUILD tools/check_page.sh"
    job check/install 600 "BUILD=$BUILD tools/check_install.sh"
    job check/packages 600 "BUILD=$BUILD tools/check_packages.sh"
}

# For the tests in qemu, the check uses an existing build, if there is one.
aarch64_check_job() {
    job check/aarch64 600 "BUILD=$BUILD tools/check_aarch64.sh"
}

unit_jobs() {
    local source name prefix
    prefix=$(prefix_of "$1")
    for source in tests/unit/test_*.c; do
        [ -e "$source" ] || continue
        name=$(basename "$source" .c)
        variant_job "$1" "unit/$name" 600 "$prefix $(build_of "$1")/tests/unit/$name"
    done
}

# $1 variant, $2 "yes" for the scripts that must run alone, "" for the others, $3 a script: only it
script_jobs() {
    local script variants prefix
    prefix=$(prefix_of "$1")
    for script in ${3:-"${scripts[@]}"}; do
        [ "${header[$script:serial]-}" = "$2" ] || continue
        variants=${header[$script:variants]-}
        variants="${variants:-clang} ${CAMPAIGN:+${header[$script:campaign]-}}"
        [[ " gcc $variants " == *" $1 "* ]] || continue
        variant_job "$1" "${script#tests/}" "${header[$script:timeout]-600}" \
            "$prefix bash $script"
    done
}

# ---- Running ----

run_jobs() {
    tee -a "$LOGS/jobs" | xargs -r -d '\n' -P "$1" -n 1 tools/test_one.sh
}

# The slowest tests of the last run come first, so that no core is idle while the last test runs.
# Tests without a last run are sorted by their limit.
longest_first() {
    awk -F '\t' 'FILENAME != "-" { split($0, part, " "); seconds[part[1]] = part[2]; next }
        { print ($1 in seconds ? seconds[$1] : $2 / 20) "\t" $0 }' "$TIMES" - |
        sort -s -t $'\t' -k 1,1nr | cut -f 2-
}

# Returns whether the build of a variant, aarch64 or windows has succeeded. $1 its name
is_built() {
    grep -q "^pass 1 0 $1/build " "$RESULTS"
}

# Returns 0 on success. $1 variant, then targets of make. ONLY does not apply: all tests need it.
build_variant() {
    local variant=$1 settings
    shift
    mapfile -t settings < <(settings_of "$variant")
    printf '%s\t%s\t%s\n' "$variant/build" 1800 \
        "make -j$cores $(printf '%q ' "${settings[@]}") $*" | run_jobs 1
    is_built "$variant"
}

# Prints the words in a variant's scripts and in the shared files that these name. $1 variant
words_of() {
    { script_jobs "$1" ""; script_jobs "$1" yes; } | sed 's,.* ,,' |
        xargs -r awk -v shared="$(echo tests/*.bash tests/*/*.bash)" '
            BEGIN {
                count = split(shared, files, " ")
                for (i = 1; i <= count; i++) {
                    name = files[i]
                    sub(/.*\//, "", name)
                    path[name] = files[i]
                }
            }
            {
                while (match($0, /[A-Za-z0-9_]+([.]bash)?/)) {
                    word = substr($0, RSTART, RLENGTH)
                    $0 = substr($0, RSTART + RLENGTH)
                    if (word in seen) continue
                    seen[word]
                    if (word in path) ARGV[ARGC++] = path[word]
                    print word
                }
            }'
}

# Prints the traced programs that a variant's scripts name, as a setting of make. "fntrace_$name"
# names all that begin with "fntrace_"; programs load plugins by name. $1 variant
traced_of() {
    local word source name names=plugin%
    declare -A words=()
    while read -r word; do words[$word]=yes; done < <(words_of "$1")
    for source in tests/programs/*.c tests/programs/*.cc; do
        name=$(basename "${source%.*}")
        [ -z "${words[$name]-}${words[${name%%_*}_]-}" ] || names+=,$name
    done
    echo "TRACED=$names"
}

# Prints the make targets that a variant's tests need. gcc compiles all sources, the others only the
# traced programs that their scripts name, except in a campaign. Clang's scripts use gcc's tool
# (tool_of).
targets_of() {
    case $1$CAMPAIGN in
        gcc | *yes) echo all test-programs ;;
        clang)
            echo UNIT_LIBRARY=1 lib examples traced-programs trace-generators death-programs ;;
        asan) echo lib tool examples traced-programs trace-generators fuzz-programs ;;
        tsan) echo lib tool examples traced-programs ;;
    esac
    case $1$CAMPAIGN in
        clang | asan | tsan) traced_of "$1" ;;
    esac
    unit_jobs "$1" | sed "s,.* ,,"
}

# Prints the tests of a variant that may run in parallel.
parallel_jobs() {
    { unit_jobs "$1"; script_jobs "$1" ""; } | longest_first
}

# Builds a variant that has tests to run. The gcc variant is always built, because other tests need
# it.
build_for_tests() {
    local targets
    [ "$1" = gcc ] || [ -n "$(parallel_jobs "$1"; script_jobs "$1" yes)" ] || return 0
    mapfile -t targets < <(targets_of "$1" | tr ' ' '\n')
    build_variant "$1" "${targets[@]}" || true
}

# ---- AArch64, in qemu ----

# Returns whether a test does not run in qemu: "NAME REASON" in tests/aarch64/left_out, or, except
# in a campaign, a line of tests/aarch64/slow, and no settings in tests/shortened. $1 name
is_left_out() {
    local how
    ! grep -q "^${1//./[.]} " tests/aarch64/left_out || return 0
    [ -z "$CAMPAIGN" ] && grep -q "^${1//./[.]} " tests/aarch64/slow || return 1
    find_shortened aarch64 "$1"
    [ "$how" = whole ]
}

# Prints a test's time limit in seconds. $1 name, $2 the limit of tests that are not slow, or
# shortened
limit_in_qemu() {
    if [ -n "$CAMPAIGN" ] && grep -q "^${1//./[.]} " tests/aarch64/slow; then
        echo 21600
    else
        echo "$2"
    fi
}

# Prints the prefix of a script in tests/aarch64/by_name. $1 its tool, as in that file
prefix_by_name() {
    local command tool=$BUILD/aarch64/bin/probity
    [ "$1" = emulated ] || tool=$BUILD/bin/probity
    command=(tests/tool/emulated_exec.py qemu-aarch64 "$BUILD/aarch64-root" env VARIANT=aarch64)
    mapfile -t -O ${#command[@]} command < <(settings_of aarch64)
    command+=("BUILD=$BUILD/aarch64" "PROBITY=$tool")
    printf '%q ' "${command[@]}"
}

# $1 names of tests, as a regular expression; "" for all
aarch64_jobs() {
    local source name script prefix tool limit
    for source in tests/unit/test_*.c; do
        name=$(basename "$source" .c)
        if is_left_out "unit/$name" || ! [[ unit/$name =~ ${1:-.} ]]; then continue; fi
        job "aarch64/unit/$name" "$(limit_in_qemu "unit/$name" 600)" \
            "$(prefix_of aarch64) $(build_of aarch64)/tests/unit/$name"
    done
    for script in "${scripts[@]}"; do
        name=${script#tests/}
        if is_left_out "$name" || ! [[ $name =~ ${1:-.} ]]; then continue; fi
        tool=$(awk -v name="$name" '$1 == name { print $2 }' tests/aarch64/by_name)
        limit=$(limit_in_qemu "$name" 1800)
        prefix=$(if [ -n "$tool" ]; then prefix_by_name "$tool"; else prefix_of aarch64; fi)
        variant_job aarch64 "$name" "$limit" "$prefix ROUNDS=${ROUNDS:-20} bash $script"
    done
    for script in tests/aarch64/*.sh; do
        [[ ${script#tests/} =~ ${1:-.} ]] || continue
        job "aarch64/${script##*/}" 900 "$(prefix_of aarch64) ROUNDS=${ROUNDS:-20} bash $script"
    done
}

# Skipped without the cross compiler or the emulator. $1 as above, the rest: settings of make
build_aarch64() {
    local wrap
    [ -n "$(aarch64_jobs "$1")" ] || return 0
    shift
    if ! command -v aarch64-linux-gnu-g++ > /dev/null || ! command -v qemu-aarch64 > /dev/null; then
        printf 'aarch64/build\t10\techo needs g++-aarch64-linux-gnu and qemu-user; exit 77\n' |
            run_jobs 1
        return 0
    fi
    wrap="tools/emulated.sh $BUILD/aarch64 $BUILD/aarch64/qemu qemu-aarch64 -L $BUILD/aarch64-root"
    printf 'aarch64/build\t1800\tmake -j%s SETUP=no %s aarch64-programs && %s\n' "$cores" \
        "$(printf '%q ' "BUILD=$BUILD" "$@")" "$wrap" | run_jobs 1
}

# The quick part: the library's atomic instructions, kills, and traces read on the other machine.
quick_units=(pool segment control counts drain stream block live)
quick_tests="^((cli/smoke|runtime/(early|threads|usdt)|faults/killed_at_start|fntrace/log)[.]sh|\
aarch64/(calls|jumps|kill|traces)[.]sh|\
unit/test_($(
    IFS='|'; echo "${quick_units[*]}")))\$"

build_aarch64_quick() {
    local programs
    programs=({tree,typed,planted,waiting,victim,kill_rounds,kill_scopes,ends,own_log,early,logged}
        {threads,usdt,count_marks,check_hits}
        {heap,ends,own_log,early,loader,logged,threads}.shared
        plugin_{kill_at_link,hits}.so)
    programs=("${programs[@]/#/tests/programs/}" "${quick_units[@]/#/tests/unit/test_}")
    build_aarch64 "$quick_tests" "AARCH64_ALL=lib tool examples" "TOOL_FLAGS=$quick_flags" \
        "AARCH64_PROGRAMS=${programs[*]/#/$BUILD/aarch64/}"
}

# For a tool that another variant compiles with optimization, without which gcc gives false alarms.
quick_flags="-O0 -g0 -Wno-maybe-uninitialized"

# ---- Windows, under Wine ----

# Runs the tests of `make windows-test`, with few kills, one after another, because they share a
# Wine prefix. Skipped without the cross compiler or Wine.
windows_jobs() {
    local script how
    for script in tests/windows/*.sh; do
        find_shortened windows "${script#tests/}"
        [ "$how" != out ] || continue
        job "windows/${script##*/}" 1800 "env PROBITY=$BUILD/bin/probity \
WINDOWS=$BUILD-windows ROUNDS=${ROUNDS:-2} QUICK=$([ -n "$CAMPAIGN" ] || echo yes) bash $script"
    done
}

build_windows() {
    local cached
    [ -n "$(windows_jobs)" ] || return 0
    if ! command -v x86_64-w64-mingw32-g++ > /dev/null || ! command -v wine > /dev/null; then
        printf 'windows/build\t10\techo needs %s; exit 77\n' "mingw-w64 and wine" | run_jobs 1
        return 0
    fi
    # Packages of ccache have links to it only for some compilers: not for this one.
    cached=$(command -v ccache > /dev/null && echo "ccache " || true)
    printf 'windows/build\t1800\tmake -j%s SETUP=no %s %s windows\n' "$cores" "BUILD=$BUILD" \
        "WINDOWS_SQLITE_OPTIMIZE=-O0 'TOOL_FLAGS=$quick_flags' \
'WINDOWS_CC=${cached}x86_64-w64-mingw32-gcc'" | run_jobs 1
}

# ---- All of it ----

run_check() {
    build_variant gcc tool lib examples unit-tests \
        "$BUILD"/tests/programs/{heap.shared,planted,tree,typed,waiting} ||
        return 0
    { style_jobs; script_jobs gcc "" tests/cli/smoke.sh; unit_jobs gcc; } | longest_first |
        run_jobs "$workers"
}

# Builds all variants except gcc, one after another, while tests run with higher priority.
build_others() {
    renice -n 5 -p "$BASHPID" > /dev/null
    build_for_tests clang
    build_windows
    build_for_tests asan
    build_aarch64_quick
    build_for_tests tsan
}

# Waits for a build, then runs a command and prints its output. $1 name of the build, $2 its job,
# then the command
when_built() {
    local name=$1 builder=$2
    shift 2
    until grep -q " $name/build " "$RESULTS"; do
        # The build has ended without anything to do.
        kill -0 "$builder" 2> /dev/null || break
        sleep 1
    done
    ! is_built "$name" || "$@"
}

run_all() {
    local variant builder
    build_for_tests gcc
    is_built gcc || return 0
    build_others &
    builder=$!
    when_built windows "$builder" windows_jobs | run_jobs 1 &
    {
        parallel_jobs gcc
        { check_jobs; style_jobs; } | longest_first
        when_built clang "$builder" parallel_jobs clang
        when_built asan "$builder" parallel_jobs asan
        when_built aarch64 "$builder" aarch64_jobs "$quick_tests"
        aarch64_check_job
        when_built tsan "$builder" parallel_jobs tsan
    } | run_jobs "$workers"
    wait
    for variant in gcc clang asan tsan; do
        ! is_built "$variant" || script_jobs "$variant" yes | run_jobs 1
    done
}

# Programs for this machine are built, too, for tests that compare the two.
run_all_aarch64() {
    build_variant gcc tool lib examples "$BUILD"/tests/programs/{tree,typed} || return 0
    build_aarch64 ""
    is_built aarch64 || return 0
    aarch64_jobs "" | longest_first | run_jobs "$cores"
}

# Runs failed tests again, without building. The first run's log is kept next to the second's.
run_failed_again() {
    local failed name
    mapfile -t failed < <(awk '$1 == "fail" && $4 !~ /\/build$/ { print $4 }' "$RESULTS")
    if [ ${#failed[@]} = 0 ] || [ ${#failed[@]} -gt "$AGAIN" ]; then
        return 0
    fi
    echo "again, one at a time:"
    for name in "${failed[@]}"; do
        mv "$LOGS/$name.log" "$LOGS/$name.first.log"
        sed -i "s,^fail [0-9]* [0-9]* $name ,first 0 0 $name ," "$RESULTS"
        awk -F '\t' -v name="$name" '$1 == name' "$LOGS/jobs" | head -n 1 > "$LOGS/job"
        run_jobs 1 < "$LOGS/job"
    done
}

# ---- Reporting ----

# Lines "SECONDS CPU_SECONDS NAME": the 20 tests that took longest.
print_slowest() {
    echo "slowest tests (elapsed and CPU seconds):"
    sort -k 5,5nr "$RESULTS" | head -n 20 | awk '{ printf "%8.1f %8.1f  %s\n", $5, $6, $4 }'
}

# A group is a variant and a kind: gcc/unit, asan/run; or check.
print_groups() {
    echo "groups (tests, elapsed and CPU seconds, summed; tests run $workers at a time):"
    awk '{
             split($4, part, "/")
             group = part[1] == "check" ? "check" : part[1] "/" part[2]
             if (!(group in tests)) order[++n] = group
             tests[group] += $2 + $3; elapsed[group] += $5; cpu[group] += $6
             all_tests += $2 + $3; all_elapsed += $5; all_cpu += $6
         }
         END {
             for (i = 1; i <= n; i++) {
                 group = order[i]
                 printf "%6d %8.1f %8.1f  %s\n", tests[group], elapsed[group], cpu[group], group
             }
             printf "%6d %8.1f %8.1f  all, in %d s\n", all_tests, all_elapsed, all_cpu, SECONDS
         }' SECONDS="$SECONDS" "$RESULTS"
}

# Timeouts, tolerances and some faults depend on the machine, so the log describes it.
print_machine() {
    local cpu
    cpu=$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1)
    echo "machine: ${cpu:-$(uname -m)}, $cores CPUs, Linux $(uname -r); $SECONDS s"
}

keep_times() {
    awk 'FNR == NR { seconds[$4] = $5; print $4, $5; next } !($1 in seconds)' "$RESULTS" "$TIMES" \
        > "$TIMES.new"
    mv "$TIMES.new" "$TIMES"
}

read_headers
[ -n "$CAMPAIGN" ] || read_shortened
case $TIER in
    check) run_check ;;
    test) run_all ;;
    aarch64) run_all_aarch64 ;;
    *) echo "test.sh: invalid TIER '$TIER' (check, test or aarch64)" >&2; exit 2 ;;
esac
run_failed_again
keep_times
print_slowest
print_groups
# Repeated at the end, where readers look first: the last lines of failed tests' output, from both
# runs.
awk '$1 == "first" { print $4 ".first" } $1 == "fail" { print $4 }' "$RESULTS" | head -n 8 |
    while read -r name; do
        echo "the end of $name:"
        tail -n 15 "$LOGS/$name.log" | cut -c 1-300 | sed 's/^/    | /'
    done
print_machine
awk '{ passed += $2; failed += $3; skipped += ($1 == "skip") }
     $1 == "fail" { print "failed: " $4 }
     $1 == "first" { again[$4] }
     $1 == "pass" && $4 in again { print "flaky, passed when run again: " $4 }
     $1 == "skip" { print "skipped: " $4 }
     END {
         printf "%d passed, %d failed%s\n", passed, failed, skipped ? ", " skipped " skipped" : ""
         exit failed > 0 || passed == 0
     }' "$RESULTS"
