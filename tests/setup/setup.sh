#!/usr/bin/env bash
# Runs tools/setup.sh with stubs for package managers that log their calls: checks what it installs,
# what it skips and reports, and what it prints on systems other than Debian.
# variants: gcc
set -u
SETUP=$(cd "$(dirname "$0")/../.." && pwd)/tools/setup.sh
work=$(mktemp -d)
trap '[[ $BASHPID != $$ ]] || rm -rf "$work"' EXIT
# shellcheck source=tests/counted.bash
. "$(dirname "$0")/../counted.bash"

# Makes a directory with the basic tools but no package manager. $1 its name
make_path() {
    local tool
    mkdir -p "$work/$1"
    for tool in awk bash cat comm cut env grep head mktemp rm sed sort tail tr; do
        ln -s "$(command -v $tool)" "$work/$1/$tool"
    done
    stub "$1" id 'echo "${USER_ID:-0}"'
}

stub() { # DIRECTORY NAME BODY
    printf '#!/usr/bin/env bash\n%s\n' "$3" > "$work/$1/$2"
    chmod +x "$work/$1/$2"
}

# Sets status; writes out, err and calls. $1 directory of commands; then arguments of setup.sh
setup() {
    local path=$1
    shift
    : > "$work/calls"
    status=0
    env -i PATH="$work/$path" TMPDIR="$work" CALLS="$work/calls" USER_ID="${USER_ID:-0}" \
        THERE="${THERE:-}" UNKNOWN="${UNKNOWN:-}" FAILS="${FAILS:-}" "$work/$path/bash" "$SETUP" \
        "$@" > "$work/out" 2> "$work/err" || status=$?
}

# Prints a file as one line. $1 file
line_of() { tr '\n' ' ' < "$work/$1"; }

is_listed() { # GROUP PACKAGE
    setup apt --list "$1"
    grep -cxF -e "$2" "$work/out"
}

# THERE: installed packages; UNKNOWN: packages that do not exist; FAILS: "update" or "install".
make_apt() {
    make_path apt
    stub apt dpkg-query 'for name in "${@:4}"; do
        [[ " $THERE " != *" $name "* ]] || echo "$name installed"; done'
    stub apt apt-cache 'for name in "${@:2}"; do [[ " $UNKNOWN " == *" $name "* ]] ||
        printf "%s:\n  Installed: (none)\n  Candidate: 1.0\n" "$name"; done'
    stub apt apt-get '[[ " $* " == *" --assume-no "* ]] && exit 1
        echo "apt-get $*" >> "$CALLS"; echo "what apt-get says of $1"; [ "$1" != "$FAILS" ]'
}

test_lists() {
    local package
    check "build needs gcc" 1 "$(is_listed build gcc)"
    check "tests need a browser" 1 "$(is_listed test chromium)"
    for package in chromium npm nodejs clang valgrind wrk curl; do
        check "make demo installs no $package" 00 \
            "$(is_listed build $package)$(is_listed demo $package)"
    done
    setup apt --list --for apk page
    check "for another system" "nodejs npm " "$(line_of out)"
    setup apt --list nonsense
    check "no such group" 2 $status
    check "the known groups" 1 "$(grep -c '^groups: .*build.*demo.*test' "$work/err")"
}

test_apt() {
    local all
    setup apt --list build
    all=$(line_of out)
    THERE=$all setup apt build
    check "none missing: all outputs" 0 "$status$(line_of out)$(line_of err)$(line_of calls)"
    THERE=${all/libdw-dev/} setup apt build
    check "one is missing" \
        "0 apt-get update -q apt-get install -q -y --no-install-recommends libdw-dev " \
        "$status $(line_of calls)"
    check "the missing one is named" "setup: installing with apt-get: libdw-dev " "$(line_of out)"
    THERE=${all/libdw-dev/} FAILS=update setup apt build
    check "without updating the lists" "0 2" "$status $(wc -l < "$work/calls")"
    THERE=${all/libdw-dev/} FAILS=install setup apt build
    check "install fails" "1 what apt-get says of install " "$status $(line_of err)"
    USER_ID=1000 THERE=${all/libdw-dev/} setup apt build
    check "neither root nor sudo" "1 " "$status $(line_of calls)"
    check "the command for root" 1 \
        "$(grep -c 'apt-get install --no-install-recommends libdw-dev$' "$work/err")"
}

test_unknown() {
    local all
    setup apt --list build
    all=$(line_of out)
    THERE='' UNKNOWN='libcurl4-openssl-dev' setup apt build
    check "one is unknown" "0" $status
    check "the others are installed" \
        "$(tr ' ' '\n' <<< "$all" | grep -cvxE 'libcurl4-openssl-dev|')" \
        "$(sed -n 's/^apt-get install .*recommends //p' "$work/calls" | tr ' ' '\n' | grep -c .)"
    check "and the unknown one is named" "setup: apt-get does not have libcurl4-openssl-dev; \
left out: setup:   sending exports over HTTP " "$(line_of err)"
    THERE=${all/libcurl4-openssl-dev/} UNKNOWN='libcurl4-openssl-dev' setup apt build
    check "nothing else is missing" "0 " "$status $(line_of calls)"
}

# $1 manager, $2 command that installs
test_other() {
    local packages
    setup "$1" --list build demo
    packages=$(line_of out)
    setup "$1" build demo
    check "$1: status" 1 $status
    check "$1: the command" "    $2 ${packages% }" "$(tail -n 1 "$work/err")"
    THERE=$packages setup "$1" build demo
    check "$1: none missing" 0 "$status$(line_of out)$(line_of err)"
    USER_ID=1000 THERE=${packages/ grep / } setup "$1" build demo
    check "$1: one is missing" "    sudo $2 grep" "$(tail -n 1 "$work/err")"
}

test_others() {
    local manager
    for manager in dnf pacman apk none; do make_path $manager; done
    stub dnf dnf 'exit 1'
    stub dnf rpm '[[ " $THERE " == *" ${*: -1} "* ]]'
    stub pacman pacman 'shift; for name; do
        [[ " $THERE " == *" $name "* ]] || { echo "$name"; bad=1; }; done; exit ${bad:-0}'
    stub apk apk '[[ " $THERE " == *" ${*: -1} "* ]]'
    test_other dnf 'dnf install'
    test_other pacman 'pacman -S --needed'
    test_other apk 'apk add'
    setup none build
    check "no known package manager" "0 1" "$status $(grep -c 'are needed .*gcc' "$work/err")"
}

make_apt
test_lists
test_apt
test_unknown
test_others
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
