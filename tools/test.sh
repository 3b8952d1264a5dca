#!/usr/bin/env bash
# Runs every test in every variant of the build. `make test` calls it. The last line of its output
# is "N passed, N failed", with ", N skipped" where some were; exit status 1 when one failed.
#
#   BUILD   build directory of the gcc variant; the others are BUILD-clang, BUILD-asan, BUILD-tsan
#   ONLY    a regular expression: run only the tests whose name (as printed) matches
#   CAMPAIGN  yes: scripts also run in the variants that a line "# campaign: tsan" of theirs names
#
# The tests: tests/unit/test_*.c (cmocka; in all variants) and the scripts tests/run/*.sh and
# tests/*/test_*.sh (in gcc and clang, or in gcc and those that a line "# variants: clang asan tsan"
# names). A script gets PROBITY (the tool), BUILD (absolute), CC, CXX and VARIANT; it exits 0 for
# passed, 77 for skipped. "# serial" keeps other tests from running beside it, "# timeout: 600"
# gives it that many seconds.
set -eu
cd "$(dirname "$0")/.."
# Inherited, the outer make's flags would name a job server that is not ours.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES

BUILD=${BUILD:-build}
mkdir -p "$BUILD/test-logs"
BUILD=$(cd "$BUILD" && pwd)
LOGS=$BUILD/test-logs
RESULTS=$LOGS/results
export LOGS RESULTS
ONLY=${ONLY:-}
CAMPAIGN=${CAMPAIGN:-}
cores=$(nproc)
# Inherited settings must not reach the traced programs.
for name in "${!PROBITY_@}"; do unset "$name"; done

rm -rf "${LOGS:?}"/*
: > "$RESULTS"

build_of() {
    case $1 in
        gcc) echo "$BUILD" ;;
        *) echo "$BUILD-$1" ;;
    esac
}

# Settings of a variant, one a line.
settings_of() {
    echo "BUILD=$(build_of "$1")"
    case $1 in
        gcc) printf '%s\n' CC=gcc CXX=g++ SANITIZE= ;;
        clang) printf '%s\n' CC=clang CXX=clang++ SANITIZE= ;;
        asan) printf '%s\n' CC=gcc CXX=g++ SANITIZE=address,undefined ;;
        tsan) printf '%s\n' CC=clang CXX=clang++ SANITIZE=thread ;;
    esac
}

# What stands before a test's command. Sanitizers need their shadow memory where a strongly
# randomized address space may have put something else. The thread sanitizer would end the children
# of programs with threads, as it cannot follow them.
prefix_of() {
    local command=(env "PROBITY=$(build_of "$1")/bin/probity" "VARIANT=$1")
    mapfile -t -O ${#command[@]} command < <(settings_of "$1")
    [ "$1" != tsan ] ||
        command+=("TSAN_OPTIONS=die_after_fork=0:suppressions=$PWD/tests/tool/tsan.supp")
    case $1 in
        asan | tsan) if setarch -R true 2> /dev/null; then command+=(setarch -R); fi ;;
    esac
    printf '%q ' "${command[@]}"
}

header_of() {
    sed -n "1,15s/^# $2\$/yes/p; 1,15s/^# $2: *//p" "$1" | head -n 1
}

# ---- What there is to run: lines "NAME <tab> SECONDS <tab> COMMAND" ----

job() {
    if [[ $1 =~ $ONLY ]]; then printf '%s\t%s\t%s\n' "$1" "$2" "$3"; fi
}

check_jobs() {
    job check/style-selftest 120 tools/check_style_selftest.sh
    job check/style 120 tools/check_style.sh
    job check/headers 300 tools/check_headers.sh
    job check/symbols 120 "tools/check_symbols.sh $BUILD"
    job check/scripts 300 "tools/check_scripts.sh"
    job check/manual 120 "mandoc -T lint -W warning man/*.[13]"
    job check/options 60 "tools/check_options.sh $BUILD/bin/probity"
    job check/aarch64 300 "BUILD=$BUILD tools/check_aarch64.sh"
    job check/page 300 "BUILD=$BUILD tools/check_page.sh"
    job check/install 300 "BUILD=$BUILD tools/check_install.sh"
}

unit_jobs() {
    local source name prefix
    prefix=$(prefix_of "$1")
    for source in tests/unit/test_*.c; do
        [ -e "$source" ] || continue
        name=$(basename "$source" .c)
        job "$1/unit/$name" 300 "$prefix $(build_of "$1")/tests/unit/$name"
    done
}

# $1 variant, $2 "yes" for the scripts that must run alone, "" for the others
script_jobs() {
    local script variants seconds prefix
    prefix=$(prefix_of "$1")
    for script in tests/run/*.sh tests/*/test_*.sh; do
        if [ ! -e "$script" ] || [ "$(header_of "$script" serial)" != "$2" ]; then continue; fi
        variants=$(header_of "$script" variants)
        variants="${variants:-clang} ${CAMPAIGN:+$(header_of "$script" campaign)}"
        [[ " gcc $variants " == *" $1 "* ]] || continue
        seconds=$(header_of "$script" timeout)
        job "$1/${script#tests/}" "${seconds:-300}" "$prefix bash $script"
    done
}

# ---- Running ----

run_jobs() {
    xargs -r -d '\n' -P "$1" -n 1 tools/test_one.sh
}

# All of one variant: build, then what may run side by side, then what must not.
run_variant() {
    local settings jobs
    jobs=$(unit_jobs "$1"; script_jobs "$1" ""; script_jobs "$1" yes)
    if [ -z "$jobs" ] && [ "$1" != gcc ]; then
        return 0
    fi
    mapfile -t settings < <(settings_of "$1")
    # Always built, whatever ONLY says: everything else stands on it.
    printf '%s\t%s\t%s\n' "$1/build" 900 \
        "make -j$cores $(printf '%q ' "${settings[@]}") all test-programs" | run_jobs 1
    grep -q "^pass 1 0 $1/build$" "$RESULTS" || return 0
    { unit_jobs "$1"; script_jobs "$1" ""; } | run_jobs "$cores"
    script_jobs "$1" yes | run_jobs 1
}

run_variant gcc
check_jobs | run_jobs "$cores"
for variant in clang asan tsan; do
    run_variant "$variant"
done

# Once more at the end, where one looks first: what the failed tests said last.
awk '$1 == "fail" { print $4 }' "$RESULTS" | head -n 5 | while read -r name; do
    echo "the end of $name:"
    tail -n 6 "$LOGS/$name.log" | cut -c 1-300 | sed 's/^/    | /'
done
awk '{ passed += $2; failed += $3; skipped += ($1 == "skip") }
     $1 == "fail" { print "failed: " $4 }
     $1 == "skip" { print "skipped: " $4 }
     END {
         printf "%d passed, %d failed%s\n", passed, failed, skipped ? ", " skipped " skipped" : ""
         exit failed > 0 || passed == 0
     }' "$RESULTS"
