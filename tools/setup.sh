#!/usr/bin/env bash
# Installs packages that GROUPs of tasks need and that are not installed:
#
#   tools/setup.sh [GROUP...]              default: build page test
#   tools/setup.sh --list [--for MANAGER] GROUP...
#                                          print the packages instead, one per line
#
# On Debian and its derivatives they are installed with apt-get, as root or with sudo. With dnf,
# pacman or apk the command to run is printed, and the exit status is 1 until nothing is missing.
# Packages unknown to apt-get are reported on stderr, with the features that are missing without
# them; the others are installed. If nothing is missing, nothing is printed.
set -eu
export LC_ALL=C

# Each paragraph has a group and the tasks that need its packages, then the packages with each
# system's names.
table() {
    cat <<'TABLE'
build: the libraries and the tool
    apt     gcc g++ libc6-dev binutils make libjansson-dev libdw-dev libsqlite3-dev zlib1g-dev
    apt     libprotobuf-c-dev protobuf-c-compiler
    dnf     gcc gcc-c++ glibc-devel binutils make jansson-devel elfutils-devel sqlite-devel
    dnf     zlib-devel protobuf-c-devel protobuf-c-compiler
    pacman  gcc glibc binutils make jansson libelf sqlite zlib protobuf-c
    apk     bash gcc g++ musl-dev linux-headers binutils make jansson-dev elfutils-dev sqlite-dev
    apk     zlib-dev protobuf-c-dev protobuf-c-compiler
build: sending exports over HTTP
    apt     libcurl4-openssl-dev
    dnf     libcurl-devel
    pacman  curl
    apk     curl-dev
build: serving the page of `probity view`
    apt     libmicrohttpd-dev
    dnf     libmicrohttpd-devel
    pacman  libmicrohttpd
    apk     libmicrohttpd-dev
demo: the text tools of tools/demo.sh
    apt     coreutils grep sed
    dnf     coreutils gawk grep sed
    pacman  coreutils gawk grep sed
    apk     coreutils gawk grep sed
page: building the page of `probity view` from its sources
    apt     nodejs npm
    dnf     nodejs npm
    pacman  nodejs npm
    apk     nodejs npm
test: unit tests
    apt     libcmocka-dev
    dnf     libcmocka-devel
    pacman  cmocka
    apk     cmocka-dev
test: the builds with clang and its sanitizers
    apt     clang libclang-rt-dev
    dnf     clang compiler-rt
    pacman  clang compiler-rt
    apk     clang compiler-rt
test: the test scripts
    apt     jq python3 procps strace curl wrk
    dnf     jq python3 procps-ng strace curl wrk
    pacman  jq python procps-ng strace curl wrk
    apk     jq python3 procps strace curl wrk
test: compiling only what has changed
    apt     ccache
    dnf     ccache
    pacman  ccache
    apk     ccache
test: the checks of scripts, manual pages and installation
    apt     shellcheck mandoc pkg-config cmake
    dnf     ShellCheck mandoc pkgconf-pkg-config cmake
    pacman  shellcheck mandoc pkgconf cmake
    apk     shellcheck mandoc pkgconf cmake
test: reading exports back with the tools that they are for
    apt     sqlite3 graphviz babeltrace2 golang-go protobuf-compiler
    apt     python3-prometheus-client
    dnf     sqlite graphviz babeltrace2 golang protobuf-compiler
    dnf     python3-prometheus_client
    pacman  sqlite graphviz babeltrace2 go protobuf
    pacman  python-prometheus_client
    apk     sqlite graphviz babeltrace2 go protobuf py3-prometheus-client
test: races under Helgrind, and callgrind's reader
    apt     valgrind
    dnf     valgrind
    pacman  valgrind
    apk     valgrind
test: programs whose malloc() is another library's
    apt     libjemalloc2 libtcmalloc-minimal4
    dnf     jemalloc gperftools-libs
    pacman  jemalloc gperftools
    apk     jemalloc gperftools
test: programs whose clock is replaced by libfaketime
    apt     faketime
    dnf     libfaketime
    pacman  libfaketime
    apk     libfaketime
test: the page in a browser
    apt     chromium
    dnf     chromium
    pacman  chromium
    apk     chromium
test: the model of the spool's protocol
    apt     spin
test: file systems that are full, and programs with capabilities
    apt     e2fsprogs xfsprogs btrfs-progs libcap2-bin
    dnf     e2fsprogs xfsprogs btrfs-progs libcap
    pacman  e2fsprogs xfsprogs btrfs-progs libcap
    apk     e2fsprogs xfsprogs btrfs-progs libcap
test: AArch64
    apt     g++-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user
    dnf     gcc-aarch64-linux-gnu qemu-user
    pacman  aarch64-linux-gnu-gcc qemu-user
campaign: servers and languages whose calls are recorded
    apt     redis-server nginx-light rustc golang-go default-jdk-headless
fleet: a ClickHouse server for the tests of `probity ship` and `make fleet-demo`
    apt     clickhouse-server curl jq zookeeper
cross: AArch64
    apt     gcc-aarch64-linux-gnu g++-aarch64-linux-gnu libc6-dev-arm64-cross
windows: the libraries and the tool for Windows, and their tests
    apt     gcc-mingw-w64-x86-64-win32 g++-mingw-w64-x86-64-win32 libz-mingw-w64-dev wine wine64
    apt     clang jq nodejs npm protobuf-c-compiler python3 sqlite3
    dnf     mingw64-gcc mingw64-gcc-c++ mingw64-zlib-static wine
    pacman  mingw-w64-gcc wine
    apk     mingw-w64-gcc wine
test: other C libraries
    apt     musl-tools
    dnf     musl-gcc
    pacman  musl
fuzz: libFuzzer
    apt     clang libclang-rt-dev
    dnf     clang compiler-rt
    pacman  clang compiler-rt
    apk     clang compiler-rt
fuzz: the programs that traces to begin with come from
    apt     libcmocka-dev
    dnf     libcmocka-devel
    pacman  cmocka
    apk     cmocka-dev
campaign: AFL++
    apt     afl++
    dnf     american-fuzzy-lop
    pacman  afl++
bench: load for the web server
    apt     wrk
    dnf     wrk
    pacman  wrk
    apk     wrk
bench: the other tracers
    apt     clang libclang-rt-dev uftrace lttng-tools liblttng-ust-dev
    dnf     clang compiler-rt uftrace lttng-tools lttng-ust-devel
    pacman  clang compiler-rt uftrace
    apk     clang compiler-rt lttng-tools lttng-ust-dev
bench: allocations under another tool
    apt     heaptrack
    dnf     heaptrack
    pacman  heaptrack
    apk     heaptrack
bench: the source of a real program
    apt     nodejs npm jq
    dnf     nodejs npm jq
    pacman  nodejs npm jq
    apk     nodejs npm jq
bench: the page in a browser
    apt     chromium nodejs npm
    dnf     chromium nodejs npm
    pacman  chromium nodejs npm
    apk     chromium nodejs npm
TABLE
}

groups_of_table() { table | sed -n 's/^\([a-z]*\): .*/\1/p' | sort -u | tr '\n' ' '; }

# Prints lines "PACKAGE <tab> TASK THAT NEEDS IT". $1 manager, then groups
wanted() {
    local manager=$1
    shift
    table | awk -v manager="$manager" -v groups=" $* " '
        /^[a-z]/ { group = $1; sub(":", "", group); use = $0; sub("^[a-z]*: ", "", use) }
        /^ / && $1 == manager && index(groups, " " group " ") {
            for (i = 2; i <= NF; i++) print $i "\t" use
        }'
}

packages_of() { wanted "$@" | cut -f 1 | sort -u; }

manager_here() {
    local manager
    if command -v dpkg-query > /dev/null && command -v apt-get > /dev/null; then
        echo apt
        return
    fi
    for manager in dnf pacman apk; do
        if command -v "$manager" > /dev/null; then
            echo "$manager"
            return
        fi
    done
    echo none
}

# Prints the packages in the arguments that are not installed. $1 manager
missing_of() {
    local manager=$1 package
    shift
    case $manager in
        apt)
            comm -23 <(printf '%s\n' "$@" | sort) <(
                { dpkg-query -W -f '${Package} ${db:Status-Status}\n' "$@" 2> /dev/null || true; } |
                    sed -n 's/ installed$//p' | sort)
            ;;
        pacman) pacman -T "$@" || true ;;
        dnf) for package; do rpm -q --quiet --whatprovides "$package" || echo "$package"; done ;;
        apk) for package; do apk info -q -e "$package" > /dev/null || echo "$package"; done ;;
    esac
}

# A Node.js from another source conflicts with Debian's, and works, too.
without_node() {
    if command -v node > /dev/null && command -v npm > /dev/null; then
        grep -vxE 'nodejs|npm' || true
    else
        cat
    fi
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

# $1 manager, then the missing packages
print_command() {
    local root='' command
    [ "$(id -u)" -eq 0 ] || root='sudo '
    case $1 in
        apt) command='apt-get install --no-install-recommends' ;;
        dnf) command='dnf install' ;;
        pacman) command='pacman -S --needed' ;;
        apk) command='apk add' ;;
    esac
    shift
    echo "setup: packages are missing; install them, or set SETUP=no to try without:" >&2
    echo "    $root$command $*" >&2
}

# ---- apt-get -----------------------------------------------------------------------------------

# Prints the packages in the arguments that can be installed.
known_of() {
    apt-cache policy "$@" |
        awk '/^[^ ]/ { sub(":$", ""); name = $0 } /^  Candidate: / && $2 != "(none)" { print name }'
}

# Verbose output is shown only if the command fails. $1 log
quietly() {
    local log=$1
    shift
    "$@" > "$log" 2>&1 < /dev/null || {
        tail -n 20 "$log" >&2
        return 1
    }
}

# $1 groups, as one word; then packages unknown to apt-get
report_unknown() {
    local groups=$1 use
    shift
    echo "setup: apt-get does not have $*; left out:" >&2
    # shellcheck disable=SC2086
    wanted apt $groups | awk -F '\t' -v unknown=" $* " 'index(unknown, " " $1 " ") { print $2 }' |
        sort -u | while read -r use; do echo "setup:   $use" >&2; done
}

# $1 log, then packages
install_with_apt() {
    local log=$1
    shift
    echo "setup: installing with apt-get: $*"
    { apt-get install --assume-no --no-install-recommends "$@" 2> /dev/null || true; } |
        awk '/^[0-9]+ upgraded/ { count = $3 }
             /^Need to get/ { sub("Need to get ", ""); sub(" of archives.*", ""); size = $0 }
             /^After this operation/ { disk = $4 " " $5 }
             END {
                 if (count) print "setup: " count " packages with their dependencies: " size \
                     " to download, " disk " on disk"
             }'
    quietly "$log" as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -q -y --no-install-recommends "$@"
}

# $1 groups, as one word; then the missing packages
use_apt() {
    local groups=$1 log known unknown
    shift
    if [ "$(id -u)" -ne 0 ] && ! command -v sudo > /dev/null; then
        print_command apt "$@"
        return 1
    fi
    log=$(mktemp)
    mapfile -t known < <(known_of "$@")
    # If the lists contain a compiler but none of these, an update is unlikely to help.
    if [ ${#known[@]} -gt 0 ] || [ -z "$(known_of gcc)" ]; then
        quietly "$log" as_root apt-get update -q ||
            echo "setup: apt-get update failed; continuing with the existing lists" >&2
        mapfile -t known < <(known_of "$@")
    fi
    mapfile -t unknown < <(printf '%s\n' "$@" | grep -vxF -f <(printf '%s\n' "${known[@]}"))
    [ ${#unknown[@]} -eq 0 ] || report_unknown "$groups" "${unknown[@]}"
    [ ${#known[@]} -eq 0 ] || install_with_apt "$log" "${known[@]}" || return 1
    rm -f "$log"
}

# ---- The whole command ---------------------------------------------------------------------------

usage() {
    echo "usage: tools/setup.sh [--list [--for apt|dnf|pacman|apk]] [GROUP...]" >&2
    echo "groups: $(groups_of_table)" >&2
    exit 2
}

is_list=
manager=$(manager_here)
while [ $# -gt 0 ]; do
    case $1 in
        --list) is_list=yes ;;
        --for) manager=${2:-}; shift ;;
        -*) usage ;;
        *) break ;;
    esac
    shift || usage
done
[ $# -gt 0 ] || set -- build page test
for group; do
    [[ " $(groups_of_table)" == *" $group "* ]] || usage
done

if [ "$manager" = none ]; then
    echo "setup: no apt-get, dnf, pacman or apk here; these packages are needed (Debian's names):" \
        "$(packages_of apt "$@" | tr '\n' ' ')" >&2
    exit 0
fi
mapfile -t packages < <(packages_of "$manager" "$@")
if [ -n "$is_list" ]; then
    printf '%s\n' "${packages[@]}"
    exit 0
fi
mapfile -t missing < <(missing_of "$manager" "${packages[@]}" | without_node)
[ ${#missing[@]} -gt 0 ] || exit 0
if [ "$manager" != apt ]; then
    print_command "$manager" "${missing[@]}"
    exit 1
fi
use_apt "$*" "${missing[@]}"
