#!/usr/bin/env bash
# Compares the call counts of `probity report` with valgrind's callgrind, for the same run, by each
# compiler's flag that needs no macros, and by patched scopes of FN_FUNC, of two real programs: a
# database engine (SQLite) under load, and the example web server. FLAGS_OPTIMIZE: how the engine is
# compiled, -O0 by default, which takes a quarter of the time; FLAGS_KEYS: only some of flags_of;
# ENGINES, SERVERS: the number of flags, chosen by SEED, with which the engine and the server are
# compiled, by default all.
# variants: gcc
# timeout: 1800
. "$(dirname "$0")/../common.bash"
. "$SOURCE/tests/functions/callgrind.bash"
for tool in valgrind curl; do
    command -v $tool > /dev/null || { echo "no $tool here"; exit 77; }
done
[ "$(uname -m)" = x86_64 ] || { echo "not for this CPU"; exit 77; }
[ -z "${SANITIZE:-}" ] || { echo "callgrind does not run sanitized libraries"; exit 77; }
packages=${BUILD%"-$VARIANT"}/npm-real
"$SOURCE/tools/npm_install.sh" "$SOURCE/bench/real" "$packages" --omit=optional --legacy-peer-deps
engine=$packages/node_modules/better-sqlite3/deps/sqlite3
library=$BUILD/lib/libprobity-functions.so
linked="-L$BUILD/lib -Wl,-rpath,$BUILD/lib -lprobity-functions -lprobity"

# Inlined functions are not called, so callgrind does not count them, but hooks do. Callgrind may or
# may not count a jump to a function at the end of another one as a call. Valgrind 3.19 cannot read
# DWARF 5 of clang.
declare -A flags_of=(
    [instrument]="gcc -finstrument-functions -fno-inline"
    [fentry]="gcc -pg -mfentry -minstrument-return=call"
    [patchable]="gcc -fpatchable-function-entry=5"
    [instrument_clang]="clang -gdwarf-4 -finstrument-functions -fno-inline"
    [after_inlining]="clang -gdwarf-4 -finstrument-functions-after-inlining"
    [patchable_clang]="clang -gdwarf-4 -fpatchable-function-entry=5"
    [xray]="clang -gdwarf-4 -fxray-instrument -fxray-instruction-threshold=1"
    [scopes]="gcc -fno-inline -DFN_INSTRUMENT -DPROBITY_PATCHABLE -include FnTrace.h"
    [scopes_clang]="clang -gdwarf-4 -fno-inline -DFN_INSTRUMENT -DPROBITY_PATCHABLE
        -include FnTrace.h"
)

# Inserts FN_FUNC at the beginning of bodies: after a brace that ends a line starting in the first
# column, or that is alone on a line after the parameters.
add_scopes() {
    local source
    for source in *.c; do
        sed '/^    FN_FUNC(/d' "$source" | awk '/^[A-Za-z_].*\)[ \t]*\{[ \t]*$/ ||
                /^\)\{[ \t]*$/ || (/^\{[ \t]*$/ && before ~ /\)[ \t]*$/) {
                sub(/\{[ \t]*$/, "{ FN_FUNC(, FN_1);")
            }
            { print; before = $0 }' > with_scopes
        mv with_scopes "$source"
    done
}

# Compiles ./*.c in this directory. $1 key of a flag, $2 name of the program, the rest: flags
build() {
    local compiler flags name=$2 key=$1 source
    read -r compiler flags <<< "${flags_of[$key]//$'\n'/ }"
    shift 2
    sed -i 's/always_inline/noinline/' ./*.[ch]
    [[ $key != scopes* ]] || add_scopes
    for source in *.c; do
        # shellcheck disable=SC2086
        "$compiler" -g -w -D_GNU_SOURCE -fno-optimize-sibling-calls $flags -I"$SOURCE/include" \
            "$@" -c "$PWD/$source" -o "${source%.c}.o" || return 1
    done
    case $key in
    fentry | scopes*) flags=$linked ;;
    xray) flags=-fxray-instrument ;;
    *) flags= ;;
    esac
    # shellcheck disable=SC2086
    "$compiler" -pthread -o "$name" ./*.o $flags -lm
}

# In a subshell, because it execs valgrind. Functions from libc's headers are not counted as the
# program's. $1 name of the files, then a command
recorded() {
    export PROBITY_OUT=$PWD/$1.probity PROBITY_START=first PROBITY_SELECT='exclude __bswap_*'
    [[ $key = fentry || $key = scopes* ]] || export LD_PRELOAD=$library
    under_callgrind "$PWD/$1.callgrind" "${@:2}"
}

# Restricts the comparison to functions with FN_FUNC, if only those are recorded. $1 trace
listed_functions() {
    [[ $key != scopes* ]] || "$PROBITY" list --json "$1" | jq -r '.sites[].name' |
        sed 's/\..*//' > counts.listed
}

check_engine() {
    mkdir -p engine
    cd engine || return
    cp "$engine"/sqlite3.[ch] "$SOURCE/bench/real/workload.c" .
    # shellcheck disable=SC2086
    build "$key" engine ${FLAGS_OPTIMIZE:--O0} -I. -DSQLITE_THREADSAFE=0 \
        -DSQLITE_OMIT_LOAD_EXTENSION || { fail "$key: the engine does not build"; return; }
    (recorded engine ./engine 60) > engine.out 2> engine.err || fail "$key: $(cat engine.err)"
    listed_functions engine.probity
    same_counts_by_name "$key, engine" engine.probity engine.callgrind 400
    cd ..
}

check_server() {
    local server port disabled=
    mkdir -p server
    cd server || return
    cp "$SOURCE"/examples/httpd/*.[ch] .
    [[ $key = scopes* ]] || disabled=-DPROBITY_DISABLE
    build "$key" server -O2 -I. $disabled ||
        { fail "$key: the server does not build"; return; }
    mkdir -p root
    seq 500 > root/page.html
    recorded server ./server --root root --port 0 --threads 2 > server.out 2> server.err &
    server=$!
    await_port "$server"
    curl -s "http://127.0.0.1:$port/page.html" "http://127.0.0.1:$port/none" \
        "http://127.0.0.1:$port/" > curl.out || fail "$key: no answer: $(cat server.err)"
    kill -TERM "$server"
    wait "$server" || fail "$key: server: $(cat server.err)"
    listed_functions server.probity
    same_counts_by_name "$key, server" server.probity server.callgrind 20
    cd ..
}

# Tests one flag, in its own directory. The status is 0 if it passed.
check_flag() {
    key=$1
    failures=0
    mkdir "$key"
    cd "$key" || exit
    [[ $with_engine != *" $key "* ]] || check_engine
    check_server
    exit $((failures > 0))
}

job_of=()
keys=(instrument instrument_clang xray after_inlining fentry patchable patchable_clang scopes
    scopes_clang)
[ -z "${FLAGS_KEYS:-}" ] || read -r -a keys <<< "$FLAGS_KEYS"
seed=${SEED:-$RANDOM}
echo "seed $seed"
mapfile -t keys < <(printf '%s\n' "${keys[@]}" | awk -v seed="$seed" 'BEGIN { srand(seed) }
    { print rand() "\t" $0 }' | sort | cut -f 2 | head -n "${SERVERS:-99}")
with_engine=" ${keys[*]:0:${ENGINES:-99}} "
for key in "${keys[@]}"; do
    [ "$(jobs -rp | wc -l)" -lt 2 ] || wait -n || true
    (check_flag "$key") > "$key.out" 2>&1 &
    job_of[${#job_of[@]}]=$!
done
for i in "${!keys[@]}"; do
    wait "${job_of[$i]}" || fail "${keys[$i]}"
    cat "${keys[$i]}.out"
done
finish
