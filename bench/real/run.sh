#!/usr/bin/env bash
# run.sh BUILD_DIR [ROWS]: the cost of recording in two real programs from npm packages, a database
# engine of 2,500 functions (SQLite) and an interpreter (QuickJS): plain, with FN_FUNC inserted into
# every function by a script, patchable or not, compiled with -finstrument-functions and with -pg
# -mfentry -minstrument-return=call, and compiled by clang with XRay sleds in all functions, each
# recorded and not, compared with uftrace, LTTng's hooks, XRay's own basic mode and, if FUNTRACE is
# a directory with its sources, funtrace. Also prints how many loaded bytes one FN_FUNC adds to a
# program.
set -eu
bench=$(cd "$(dirname "$0")" && pwd)
tree=$(cd "$bench/../.." && pwd)
build=$(cd "$1" && pwd)
rows=${2:-40000}
pairs=15
rounds=7
work=$(mktemp -d)
trap '[[ $BASHPID != $$ ]] || rm -rf "$work"' EXIT
export LD_LIBRARY_PATH=$build/lib

row() { printf 'row\treal\t%s\t%s\t%s\t%s\n' "$@"; }
ratio() { awk "BEGIN { print $1 / $2 }"; }

# A function body begins with a brace that ends a line starting in the first column, or that is
# alone on a line after the parameters.
add_scopes() {
    awk '/^[A-Za-z_].*\)[ \t]*\{[ \t]*$/ || /^\)\{[ \t]*$/ ||
            (/^\{[ \t]*$/ && before ~ /\)[ \t]*$/) {
            sub(/\{[ \t]*$/, "{ FN_FUNC(, FN_1);")
        }
        { print; before = $0 }' "$1"
}

# Each program is one large source file, instrumented, and further files, which are not
# instrumented.
use_engine() {
    program=engine
    sources=$packages/better-sqlite3/deps/sqlite3
    large=$sources/sqlite3.c
    flags=(-DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION)
    further=("$bench/workload.c")
    size=$rows
}
use_interpreter() {
    program=interpreter
    sources=$packages/react-native-quickjs/cpp/engine
    large=$sources/quickjs.c
    flags=(-DCONFIG_VERSION='""' -w)
    further=("$bench/interpreter.c" "$sources"/lib*.c "$sources/cutils.c"
        -DSCRIPT="\"$bench/script.js\"")
    size=$((rows / 2))
}

# $1 name, $2 source, the rest: flags. COMPILER: gcc; LINK: flags
compile() {
    local name=$1 source=$2
    shift 2
    "${COMPILER:-gcc}" -O2 -D_GNU_SOURCE "${flags[@]}" -I"$sources" -I"$tree/include" "$@" \
        -c "$source" -o "$work/$name.o"
    # shellcheck disable=SC2086 # flags
    "${COMPILER:-gcc}" -O2 -D_GNU_SOURCE "${flags[@]}" -I"$sources" "${further[@]}" \
        "$work/$name.o" -L"$build/lib" ${LINK:-} -lprobity -lm -o "$work/$name"
}

# Prints the wall time of one run of the program in a new process.
once() { "$@" "$size"; }

text_of() { size "$work/$1.o" | awk 'NR == 2 { print $1 / 1024 }'; }
calls_in() { "$build/bin/probity" report --json "$1" | jq '[.functions[].calls] | add'; }

declare -A least_of calls_of
keep_least() { least_of[$1]=$(printf '%s\n' ${least_of[$1]:-} "$2" | sort -g | head -n 1); }

# Sets least_of[NAME] for the programs $@, which run in turn.
in_turn() {
    local name
    for ((i = 0; i < pairs; i++)); do
        for name; do
            keep_least "$name" "$(once "$work/$name")"
        done
    done
}

# Runs the program once while recording, one of several in turn, since the speed of a virtual
# machine changes from second to second. $1 name, the rest: the command. Sets least_of[NAME] and, if
# there is a trace, calls_of[NAME].
record() {
    local name=$1 value
    shift
    rm -rf "$work/trace"*
    value=$(cd "$work" && PROBITY_OUT=$work/trace once "$@" 2> "$work/errors") ||
        { cat "$work/errors" >&2; exit 1; }
    keep_least "$name" "$value"
    if [ -z "${calls_of[$name]:-}" ] && [ -e "$work/trace" ]; then
        calls_of[$name]=$(calls_in "$work/trace")
    fi
}

# Prints the minimum wall time of three runs that record. $@ the command
recorded() {
    local best='' value
    for _ in 1 2 3; do
        rm -rf "$work/trace"* "$work/uftrace.data"
        value=$(cd "$work" && PROBITY_OUT=$work/trace once "$@" 2> "$work/errors") ||
            { cat "$work/errors" >&2; exit 1; }
        best=$(printf '%s\n' $best "$value" | sort -g | head -n 1)
    done
    echo "$best"
}

# $1 description, $2 wall time, $3 that of the plain program, $4 calls, $5 target
added() {
    row "$1: a call adds" "$(awk "BEGIN { print ($2 - $3) / $4 * 1e9 }")" ns "$5"
}

loaded_bytes() {
    readelf -SW "$1" | awk '{ sub(/^ *\[ *[0-9]+\] */, "") }
        $7 ~ /A/ && $2 != "NOBITS" && $5 ~ /^[0-9a-f]+$/ { print "0x" $5 }' |
        while read -r bytes; do echo $((bytes)); done | awk '{ sum += $1 } END { print sum }'
}

# 1,000 functions with and without a scope. $1 the scope, $2 label, $3 target, the rest: flags
bytes_of_scope() {
    local which scope=$1 label=$2 target=$3
    shift 3
    for which in plain scope; do
        {
            if [ $which = scope ]; then echo "#define FN_INSTRUMENT"; fi
            echo '#include <FnTrace.h>'
            for ((i = 1000; i < 2000; i++)); do
                echo "int f$i(int a, int b, int c, int d) { int r = a;"
                if [ $which = scope ]; then echo "$scope;"; fi
                echo '__asm__ volatile("" : "+r"(r), "+r"(b), "+r"(c), "+r"(d)); return r; }'
            done
            echo 'int main(void) { return 0; }'
        } > "$work/scopes.c"
        gcc -O2 -I"$tree/include" "$@" "$work/scopes.c" -L"$build/lib" -lprobity-functions \
            -lprobity -o "$work/scopes.$which"
    done
    row "$label adds, loaded" "$((($(loaded_bytes "$work/scopes.scope") - \
        $(loaded_bytes "$work/scopes.plain")) / 1000))" bytes "$target"
}

bytes_of_scope 'FN_FUNC(int, FN_1)' "FN_FUNC" "<= 160"
bytes_of_scope 'FN_FUNC(int, FN_1)' "FN_FUNC, patchable," "" -DPROBITY_PATCHABLE
bytes_of_scope 'FN_FUNC_PARAMS(int, r, FN_1, 4, a, b, c, d)' "with return value, 4 ints," "<= 320"
bytes_of_scope 'FN_FUNC_PARAMS(int, r, FN_1, 4, a, b, c, d)' "the same, patchable," "<= 320" \
    -DPROBITY_PATCHABLE

# For react-native-quickjs: React Native is not needed.
"$tree/tools/npm_install.sh" "$bench" "$build/npm-real" --omit=optional --legacy-peer-deps
packages=$build/npm-real/node_modules

# Hooks that only return: the cost of the calls that the compiler inserts.
cat > "$work/empty.s" << 'END'
        .globl  __fentry__, __return__
__fentry__:
__return__:
        ret
        .section .note.GNU-stack, "", @progbits
END

# funtrace keeps only the newest records.
compile_funtrace() {
    local link="$work/runtime_of_funtrace.o -Wl,--dynamic-list=${FUNTRACE:-}/funtrace.dyn"
    link+=" -lstdc++ -ldl -pthread"
    if [ -z "${FUNTRACE:-}" ]; then
        printf 'note\treal\tFUNTRACE is not set to a directory with the sources of funtrace\n'
        return
    fi
    g++ -w -O2 -g -pthread -c -o "$work/runtime_of_funtrace.o" "$FUNTRACE/funtrace.cpp"
    LINK=$link compile funtrace "$large" -finstrument-functions
    gcc -c -o "$work/hooks_of_funtrace.o" "$FUNTRACE/funtrace_pg.S"
    LINK="$work/hooks_of_funtrace.o $link" compile funtrace_pg "$large" -pg -mfentry \
        -minstrument-return=call
}

# LTTng discards events if its session daemon is too slow. $1 time of the plain program, $2 calls
by_lttng() {
    local time session=probity-real-$$
    if ! {
        lttng --no-sessiond list &&
            lttng create "$session" --output="$work/lttng" &&
            lttng enable-channel --userspace --subbuf-size=8M --num-subbuf=8 calls &&
            lttng enable-event --userspace --channel=calls 'lttng_ust_cyg_profile_fast:*' &&
            lttng start
    } > "$work/said" 2>&1; then
        printf 'note\treal\tno session of LTTng (lttng-sessiond must be running)\n'
        return
    fi
    time=$(LTTNG_UST_REGISTER_TIMEOUT=5000 recorded env -u PROBITY_OUT \
        LD_PRELOAD=liblttng-ust-cyg-profile-fast.so "$work/hooks")
    lttng stop "$session" > "$work/said" 2>&1 || true
    added "LTTng's hooks, -finstrument-functions" "$time" "$1" "$2" ""
    row "LTTng's hooks: events discarded, three runs" "$(lttng list "$session" --channel=calls |
        awk '/Discarded events:/ { n += $NF } END { print n / 1e6 }')" M ""
    lttng destroy "$session" > "$work/said" 2>&1 || true
    rm -rf "$work/lttng"
}

# $1 target of a program with FN_FUNC, off / plain
by_gcc() {
    local plain time calls
    least_of=() calls_of=()
    add_scopes "$large" > "$work/scopes_source.c"
    compile plain "$large"
    compile scopes "$work/scopes_source.c" -DFN_INSTRUMENT -include FnTrace.h
    LINK=-lprobity-functions compile patchable "$work/scopes_source.c" -DFN_INSTRUMENT \
        -DPROBITY_PATCHABLE -include FnTrace.h
    compile hooks "$large" -finstrument-functions
    LINK=-lprobity-functions compile hooks_linked "$large" -finstrument-functions
    LINK=-lprobity-functions compile fentry "$large" -pg -mfentry -minstrument-return=call
    LINK="$work/empty.s" compile empty "$large" -pg -mfentry -minstrument-return=call
    LINK="-Wl,--as-needed -Wl,-Bstatic -lprobity-functions -lprobity -Wl,-Bdynamic -pthread" \
        compile static "$large" -pg -mfentry -minstrument-return=call
    row "$program, plain: text" "$(text_of plain)" KiB ""
    row "with FN_FUNC: text" "$(text_of scopes)" KiB ""
    row "with FN_FUNC, patchable: text" "$(text_of patchable)" KiB ""
    row "with -mfentry: text" "$(text_of fentry)" KiB ""
    in_turn plain scopes patchable hooks hooks_linked empty static fentry
    plain=${least_of[plain]}
    row "with FN_FUNC, nothing recorded / plain" "$(ratio "${least_of[scopes]}" "$plain")" x "$1"
    row "with FN_FUNC, patchable, nothing recorded / plain" \
        "$(ratio "${least_of[patchable]}" "$plain")" x "$1"
    row "-finstrument-functions, no library / plain" "$(ratio "${least_of[hooks]}" "$plain")" x ""
    row "-finstrument-functions, nothing recorded / plain" "$(ratio "${least_of[hooks_linked]}" \
        "$plain")" x ""
    row "-mfentry, empty hooks / plain" "$(ratio "${least_of[empty]}" "$plain")" x ""
    row "-mfentry, static libraries, nothing recorded / plain" "$(ratio "${least_of[static]}" \
        "$plain")" x ""
    row "-mfentry, nothing recorded / plain" "$(ratio "${least_of[fentry]}" "$plain")" x ""

    compile_funtrace
    for ((i = 0; i < rounds; i++)); do
        keep_least plain_beside "$(once "$work/plain")"
        record scopes_on "$work/scopes"
        record scopes_ring env PROBITY_RING=16M "$work/scopes"
        record patchable_on "$work/patchable"
        record hooks_on "$build/bin/probity" record -o "$work/trace" --functions -- "$work/hooks"
        record fentry_on "$work/fentry"
        if [ -n "${FUNTRACE:-}" ]; then
            record funtrace env -u PROBITY_OUT "$work/funtrace"
            record funtrace_pg env -u PROBITY_OUT "$work/funtrace_pg"
        fi
    done
    plain=${least_of[plain_beside]}
    calls=${calls_of[hooks_on]}
    row "FN_FUNC: calls" "$(awk "BEGIN { print ${calls_of[scopes_on]} / 1e6 }")" M ""
    added "FN_FUNC, recorded" "${least_of[scopes_on]}" "$plain" "${calls_of[scopes_on]}" "<= 25"
    added "FN_FUNC, recorded in a ring" "${least_of[scopes_ring]}" "$plain" \
        "${calls_of[scopes_on]}" ""
    added "FN_FUNC, patchable, recorded" "${least_of[patchable_on]}" "$plain" \
        "${calls_of[patchable_on]}" ""
    added "-finstrument-functions, recorded" "${least_of[hooks_on]}" "$plain" "$calls" ""
    row "-mfentry: calls" "$(awk "BEGIN { print ${calls_of[fentry_on]} / 1e6 }")" M ""
    added "-mfentry, recorded" "${least_of[fentry_on]}" "$plain" "${calls_of[fentry_on]}" ""
    if [ -n "${FUNTRACE:-}" ]; then
        added "funtrace, -finstrument-functions" "${least_of[funtrace]}" "$plain" "$calls" ""
        added "funtrace, -mfentry" "${least_of[funtrace_pg]}" "$plain" "${calls_of[fentry_on]}" ""
    fi
    if command -v uftrace > /dev/null; then
        time=$(recorded uftrace record --no-libcall --no-event "$work/hooks")
        added "uftrace, the same program" "$time" "$plain" "$calls" ""
    else
        printf 'note\treal\tno uftrace here\n'
    fi
    by_lttng "$plain" "$calls"
}

# $1 target of sleds that are off / plain
by_clang() {
    local library=$build/lib/libprobity-functions.so plain time calls
    least_of=()
    if ! COMPILER=clang LINK=-fxray-instrument compile sleds "$large" \
        -fxray-instrument -fxray-instruction-threshold=1 2> "$work/errors"; then
        printf 'note\treal\tno clang with XRay here\n'
        return
    fi
    COMPILER=clang compile plain_clang "$large"
    row "$program by clang, plain: text" "$(text_of plain_clang)" KiB ""
    row "with sleds: text" "$(text_of sleds)" KiB ""
    in_turn plain_clang sleds
    plain=${least_of[plain_clang]}
    row "sleds, nothing recorded / plain" "$(ratio "${least_of[sleds]}" "$plain")" x "$1"
    time=$(LD_PRELOAD=$library PROBITY_LEVEL=0 PROBITY_START=first recorded "$work/sleds")
    row "sleds, replaced, level 0 / plain" "$(ratio "$time" "$plain")" x ""
    time=$(recorded "$build/bin/probity" record -o "$work/trace" --functions -- "$work/sleds")
    calls=$(calls_in "$work/trace")
    row "sleds: calls" "$(awk "BEGIN { print $calls / 1e6 }")" M ""
    added "sleds, recorded" "$time" "$plain" "$calls" "<= 25"
    time=$(XRAY_OPTIONS="patch_premain=true xray_mode=xray-basic xray_logfile_base=$work/trace" \
        XRAY_BASIC_OPTIONS=func_duration_threshold_us=0 \
        recorded env -u PROBITY_OUT "$work/sleds")
    added "XRay's basic mode, the same program" "$time" "$plain" "$calls" ""
}

use_engine
by_gcc "<= 1.05"
by_clang "<= 1.05"
use_interpreter
by_gcc "<= 1.20"
by_clang "<= 1.20"
