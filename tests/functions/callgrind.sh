#!/usr/bin/env bash
# Compares the call counts of `probity report` with valgrind's callgrind, for the same run of two
# real programs: the example web server, and the tool itself writing a CSV. All functions in a copy
# of their sources, for the tool in the directories that a CSV runs through, are instrumented and
# compiled without inlining.
# Also the unmodified tool, optimized, with the same directories compiled with -pg -mfentry
# -minstrument-return=call.
# variants: gcc
# timeout: 1800
. "$(dirname "$0")/../common.bash"
. "$SOURCE/tests/functions/callgrind.bash"
tree=$(cd "$OLDPWD" && cd "$(dirname "$0")/../.." && pwd)
CC=${CC:-gcc}
for tool in valgrind curl; do
    command -v $tool > /dev/null || { echo "no $tool here"; exit 77; }
done

# Copies directory $1 of the tree to ./$1. In this tree, a lone brace in the first column always
# opens a function body. The tool's own scope macros are renamed in the copy, which uses those of
# FnTrace.h, and the server's own counts are removed. error.c is not instrumented: the program's
# copy would override the library's functions, which are called while recording starts.
instrument() {
    local source
    mkdir -p "$1"
    for source in "$tree/$1"/*.[ch]; do
        [ "$source" != "$tree/src/base/error.c" ] || { cp "$source" "$1" && continue; }
        sed '/^    FN_FUNC(/d; s/^{$/{ FN_FUNC(, FN_1);/; s/always_inline/noinline/
            s/\bstruct probity_scope\b/struct scope_of_tool/' \
            "$source" > "$1/$(basename "$source")"
    done
}

# $1 program, $2 library and further objects and libraries, $3 flags, the rest: sources to compile
build() {
    local program=$1 libraries=$2 flags=$3
    shift 3
    flags+=" -std=gnu11 -g -pthread -D_GNU_SOURCE -I$tree/include -I$BUILD/generated"
    # shellcheck disable=SC2016
    printf '%s\n' "$@" | FLAGS="$flags" xargs -P 2 -n 4 bash -c '
        for source in "$@"; do
            $CC $FLAGS -I"$PWD/src" -c -o "${source%.c}.o" "$PWD/$source" || exit 255
        done' -
    # shellcheck disable=SC2086
    "$CC" -pthread -o "$program" "${@/%.c/.o}" -L"$BUILD/lib" -Wl,-rpath,"$BUILD/lib" $libraries
}

scopes="-O0 -fno-inline -fexceptions -DFN_INSTRUMENT -include $tree/include/FnTrace.h"

# The sources of the tool that are compiled here: those that writing a CSV executes.
directories=(src/base src/base/linux src/cli src/format src/print src/reader src/exports/csv)
# Sets "sources" to them, and "others" to the existing objects of the other sources.
sources_of_tool() {
    local source
    sources=() others=("$BUILD"/obj/generated/exports/*/*.o "$BUILD/obj/src/page/view_page.o")
    for source in $(cd "$tree" && find src -name '*.c' | LC_ALL=C sort); do
        if [[ $source =~ ^src/(runtime|embed|embed_print|functions|calls|base/windows)/ ||
            $source == src/writer/writer.c ]]; then
            continue
        elif [[ " ${directories[*]} " == *" ${source%/*} "* ]]; then
            sources+=("$source")
        else
            others+=("$BUILD/obj/${source%.c}.o")
        fi
    done
    others+=("$(sed -n 's/^TOOL_LIBS = \(.*\) \$.*/\1/p' "$tree/Makefile")")
}

# $1 description, $2 trace, $3 callgrind file, $4 minimum number of functions
same_counts() {
    callgrind_counts "$3" > counts.callgrind
    report_counts "$2" > counts.report
    cmp -s counts.callgrind counts.report ||
        fail "$1: calls by callgrind (<) and report (>): $(diff counts.callgrind counts.report)"
    echo "$1: $(wc -l < counts.report) functions, $(awk '{ n += $2 } END { print n }' \
        counts.report) calls"
    [ "$(wc -l < counts.report)" -ge "$4" ] || fail "$1: too few functions were called"
}

check_server() {
    local port server
    instrument examples/httpd
    build server -lprobity "$scopes" examples/httpd/*.c ||
        { fail "server: does not build"; return; }
    mkdir -p root
    seq 500 > root/page.html
    PROBITY_OUT=server.probity under_callgrind server.callgrind ./server --root root --port 0 \
        --threads 2 > server.out 2> server.err &
    server=$!
    await_port "$server"
    for _ in $(seq 10); do
        curl -s "http://127.0.0.1:$port/page.html" "http://127.0.0.1:$port/none" \
            "http://127.0.0.1:$port/" > curl.out || fail "server: no answer: $(cat server.err)"
    done
    curl -s -I "http://127.0.0.1:$port/page.html" > curl.out || fail "server: no answer to HEAD"
    kill -TERM "$server"
    wait "$server" || fail "server: $(cat server.err)"
    same_counts "server" server.probity server.callgrind 40
}

# In a subshell, because it execs valgrind.
run_tool() {
    (PROBITY_OUT=tool.probity under_callgrind tool.callgrind ./tool csv logger.probity)
}

check_tool() {
    local directory
    PROBITY_OUT=logger.probity "$BUILD/examples/logger"
    cp -r "$tree/src" .
    find src -name '*.h' -exec sed -i 's/\bstruct probity_scope\b/struct scope_of_tool/' {} +
    for directory in "${directories[@]}"; do
        instrument "$directory"
    done
    build tool "-lprobity ${others[*]}" "$scopes" "${sources[@]}" ||
        { fail "tool: does not build"; return; }
    run_tool > tool.csv || fail "tool: status $?"
    "$PROBITY" csv logger.probity | cmp - tool.csv || fail "tool: the CSV differs"
    same_counts "tool" tool.probity tool.callgrind 60
}

# Copied, so that callgrind's files are below this directory.
check_fentry() {
    [ "$(uname -m)" = x86_64 ] || { echo "no -mfentry here"; return; }
    rm -rf src && cp -r "$tree/src" .
    build tool "-lprobity-functions ${others[*]}" "-O2 -fno-optimize-sibling-calls \
        -DPROBITY_DISABLE -pg -mfentry -minstrument-return=call" "${sources[@]}" ||
        { fail "fentry: does not build"; return; }
    rm -f tool.probity
    run_tool > tool.csv || fail "fentry: status $?"
    "$PROBITY" csv logger.probity | cmp - tool.csv || fail "fentry: not the CSV of the tool"
    same_counts_by_name fentry tool.probity tool.callgrind 40
}

export CC
sources_of_tool
check_server
check_tool
check_fentry
finish
