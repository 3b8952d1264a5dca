# Shared by the short test and the campaign of the same name. Sourced after common.bash.

# Builds a library or a program without the Makefile, as users do. $1 output, the rest: arguments of
# the compiler.
build() {
    local out=$1
    shift
    "${CC:-gcc}" -O2 -g -I"$SOURCE/include" -I"$SOURCE/tests" -o "$out" "$@" -lm -pthread -ldl ||
        fail "cannot build $out"
}

# Compares the numbered hits in the given traces with the file "expected". Writes the lines of named
# hits to "named". $1 description
same_numbers() {
    local what=$1
    shift
    "$PROBITY" csv "$@" > all.csv 2> csv.err || true
    grep -v '[a-z]' all.csv > csv.out || true
    grep '[a-z]' all.csv > named || true
    "$PROGRAMS/check_hits" < csv.out > found 2> faults || fail "$what: $(cat faults)"
    sort -n -k1,1 -k2,2 expected | cmp -s - found ||
        fail "$what: expected hits (<) and found hits (>): $(sort -n -k1,1 -k2,2 expected |
            diff - found | head -n 10)"
    [ -s found ] || fail "$what: nothing was recorded"
}

# Checks that the trace is complete, and that nothing was dropped. $1 description, $2 trace
complete() {
    expect "$1: complete, dropped" "true 0" "$("$PROBITY" info --json "$2" | jq -r '.[0] |
        "\(.complete) \(.counts | [to_entries[] | select(.key | startswith("dropped")).value] | add)"')"
}

# Compares the output of resource_usage.h (file "errors") with limits. $1 description, $2 mappings,
# $3 descriptors,
grown() {
    awk -v maps="$2" -v files="$3" -v size="$4" -v resident="$5" '
        $1 == "grown" { found++; if ($2 > maps || $3 > files || $4 > size || $5 > resident) bad = 1 }
        END { exit bad || found != 1 }' errors || fail "$1: $(cat errors)"
}

# Several copies of the library in one process. If their names are shared, all probes record to one
# trace; otherwise each copy has its own trace and prints its path. $1 rounds
copies() {
    local rounds=$1 host plugin traces
    build plugin_static.so -fPIC -shared "$SOURCE/tests/programs/plugin_hits.c" \
        "$BUILD/lib/libprobity.a"
    build loader.exporting -rdynamic "$SOURCE/tests/programs/loader.c" "$BUILD/lib/libprobity.a"
    ln -s "$PROGRAMS/loader" loader.static
    ln -s "$PROGRAMS/loader.shared" loader.shared
    ln -s "$PROGRAMS/plugin_hits.so" plugin_shared.so
    for host in static shared exporting; do
        for plugin in static shared; do
            rm -rf trace* errors "${SPOOL:?}"/*
            PROBITY_OUT=$WORK/trace "./loader.$host" "./plugin_$plugin.so" "$rounds" \
                > expected 2> errors || fail "copies, $host with $plugin: status $?"
            traces=1
            [ "$host" != static ] || traces=2
            [ "$host.$plugin" != static.static ] || traces=$((rounds + 1))
            expect "copies, $host with $plugin: traces" "$traces" \
                "$(find . -name 'trace*' | wc -l)"
            expect "copies, $host with $plugin: lines on stderr" "$((traces - 1))" \
                "$(grep -c 'output exists; recording to' errors)"
            same_numbers "copies, $host with $plugin" trace*
            expect "copies, $host with $plugin: named" "$((rounds * 10))" \
                "$(grep -c "plugin's own name" named)"
            no_leftovers "copies, $host with $plugin"
        done
    done
    # In one program: the static library in the executable, and the shared one in a library whose
    # destructor runs after the program's recording has ended and is not recorded.
    build libplugin.so -fPIC -shared "$SOURCE/tests/programs/plugin_hits.c" -L"$BUILD/lib" \
        -Wl,-rpath,"$BUILD/lib" -lprobity
    cat > linked.c <<'END'
#include <unistd.h>
#include "programs/hits.h"
void plugin_make(uint32_t stream, uint64_t first, uint64_t count);
int main(void)
{
    hits_make(0, 0, 100);
    plugin_make(1, 0, 100);
    PROBITY_PROBE_NAMED("the program's own name");
    hits_make(0, 100, 100);
    hits_expect(getpid(), 0, 200);
    hits_expect(getpid(), 1, 100);
    return 0;
}
END
    for host in "$BUILD/lib/libprobity.a -L. -lplugin" "-L. -lplugin $BUILD/lib/libprobity.a"; do
        rm -rf trace* errors
        # shellcheck disable=SC2086
        build linked linked.c $host -Wl,-rpath,"$WORK" \
            -Wl,-rpath-link,"$BUILD/lib"
        PROBITY_OUT=$WORK/trace ./linked > expected 2> errors || fail "linked: status $?"
        expect "linked together: stderr" "" "$(cat errors)"
        expect "linked together: traces" 1 "$(find . -name 'trace*' | wc -l)"
        same_numbers "linked together" trace
        expect "linked together: named" 11 "$(wc -l < named)"
        no_leftovers "linked together"
    done
}

# A copy in another namespace (dlmopen) has a separate libc, and must not access the program's
# thread data.
namespaces() {
    local plugin
    cat > spaces.c <<'END'
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static void (*make)(uint32_t stream, uint64_t first, uint64_t count);
static pthread_key_t key;
static int found;
static void destroy(void *data)
{
    found = data == (void *)&found;
}
static void *run(void *unused)
{
    pthread_setspecific(key, &found);
    make(3, 0, 100);
    return unused;
}
int main(int argc, char **argv)
{
    pthread_t thread;
    pthread_key_create(&key, destroy);
    void *plugin = argc > 1 ? dlmopen(LM_ID_NEWLM, argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    void *symbol = plugin != NULL ? dlsym(plugin, "plugin_make") : NULL;
    if (symbol == NULL)
        return 1;
    memcpy(&make, &symbol, sizeof make);
    for (int i = 0; i < 300; i++) {
        found = -1;
        pthread_create(&thread, NULL, run, NULL);
        pthread_join(thread, NULL);
        if (found != 1)
            return 2;
    }
    printf("%d\n", (int)getpid());
    return 0;
}
END
    build spaces -D_GNU_SOURCE spaces.c
    build plugin_static.so -fPIC -shared "$SOURCE/tests/programs/plugin_hits.c" \
        "$BUILD/lib/libprobity.a"
    for plugin in "$PROGRAMS/plugin_hits.so" ./plugin_static.so; do
        rm -rf trace*
        PROBITY_OUT=$WORK/trace ./spaces "$plugin" > pid || fail "namespaces: status $?"
        # The same hundred in each thread, and five when the library is unloaded.
        "$PROBITY" csv trace | grep -v '[a-z]' > all.csv || true
        expect "namespaces: hits" "$((300 * 100 + 5))" "$(grep -vc '[a-z]' all.csv)"
        expect "namespaces: threads" 301 "$("$PROBITY" info --json trace |
            jq '.[0].counts.threads')"
        complete "namespaces" trace
    done
}

# Two libraries that differ only in names, loaded in turn, mostly at the same address. $1 rounds, a
# multiple of 20; more than there are site numbers, which would run out if each load took new ones
reloads() {
    local rounds=$1 name scopes="$SOURCE/tests/programs/plugin_hits.c"
    for name in odd_one even_one; do
        build "plugin_$name.so" -fPIC -shared -DPLUGIN_SCOPE=$name "$scopes" \
            -L"$BUILD/lib" -Wl,-rpath,"$BUILD/lib" -lprobity
    done
    for program in loader loader.shared; do
        rm -rf trace* errors
        [ $program = loader ] && build loader.now -rdynamic "$SOURCE/tests/programs/loader.c" \
            "$BUILD/lib/libprobity.a"
        [ $program = loader ] || ln -sf "$PROGRAMS/loader.shared" loader.now
        PROBITY_OUT=$WORK/trace ./loader.now ./plugin_odd_one.so "$rounds" ./plugin_even_one.so \
            grown > expected 2> errors || fail "reloads: status $?"
        same_numbers "reloads, $program" trace
        for name in odd_one even_one; do
            expect "reloads, $program: named $name" $((rounds / 2)) "$(grep -c "$name" named)"
            expect "reloads, $program: calls of $name" $((rounds / 2)) \
                "$("$PROBITY" report --json trace |
                    jq "[.functions[] | select(.name == \"$name\") | .calls] | add")"
        done
        complete "reloads, $program" trace
        grown "reloads, $program" 0 0 0 1024
    done
}

# Compares the traces with the file "expected" that their program wrote, before and after recovery.
# $1 description
same_before_and_after() {
    local what=$1
    shift
    same_numbers "$what" "$@"
    "$PROBITY" check "$@" > checked 2>&1 || fail "$what: check: $(grep -v ': ok: ' checked | head -n 3)"
    "$PROBITY" recover "$@" > recovered 2>&1 || fail "$what: recover: $(tail -n 3 recovered)"
    mv all.csv before.csv
    same_numbers "$what, recovered" "$@"
    cmp -s before.csv all.csv || fail "$what: recovering changed the traces"
    "$PROBITY" check "$@" > checked 2>&1 || fail "$what, recovered: check: $(tail -n 1 checked)"
    no_leftovers "$what"
}

# Threads that probe and fork at random moments (storm.c), with small chunks that are often
# replaced. Adds to `processes` and `hits`. $1 program, $2 seed, $3 rounds, $4 threads
storm() {
    local what="$1 $2 $3 $4"
    fresh
    PROBITY_CHUNK_RECORDS=512 PROBITY_SPOOL_RECORDS=16384 PROBITY_OUT=$WORK/trace \
        "$PROGRAMS/$1" ledger "$2" "$3" "$4" > expected 2> errors || fail "$what: status $?"
    # If a child does not fork again, it reports that its parent has taken the name.
    grep -v ': output exists; recording to ' errors > others || true
    expect "$what: stderr" "" "$(cat others)"
    same_before_and_after "$what" trace*
    processes=$((${processes:-0} + $(cut -d' ' -f1 expected | sort -u | wc -l)))
    hits=$((${hits:-0} + $(awk '{ sum += $3 } END { print sum }' expected)))
}

# Threads that start and end: the trace is complete, and no resource leaks. $1 program, $2 threads,
# $3 hits of each in crowds
many_threads() {
    local how
    for how in "one_by_one $2 20" "crowds $2 $3"; do
        fresh
        # shellcheck disable=SC2086
        PROBITY_OUT=$WORK/trace "$PROGRAMS/$1" $how > expected 2> errors ||
            fail "$1 $how: status $?"
        same_numbers "$1 $how" trace
        complete "$1 $how" trace
        no_leftovers "$1 $how"
        # Many threads at once may need two more segments if the writer is late.
        if [ "${how%% *}" = crowds ]; then
            grown "$1 $how" 4 0 17408 10240
        else
            # The spool of 4 MiB gets its pages on demand.
            grown "$1 $how" 0 0 256 5120
        fi
    done
}

# Programs that wait for the writer thread while they may hold malloc's lock.
own_malloc() {
    fresh
    cat > own_malloc.c <<'END'
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
static int by_writer;
static void look(void)
{
    char name[16] = "";
    prctl(PR_GET_NAME, name);
    if (strcmp(name, "probity-writer") == 0)
        __atomic_add_fetch(&by_writer, 1, __ATOMIC_RELAXED);
}
void *malloc(size_t bytes)
{
    look();
    return __libc_malloc(bytes);
}
void *calloc(size_t count, size_t bytes)
{
    look();
    return __libc_calloc(count, bytes);
}
__attribute__((destructor)) static void print_counts(void)
{
    fprintf(stderr, "allocated by the writer: %d\n", by_writer);
}
END
    build own_malloc own_malloc.c "$SOURCE/tests/programs/threads.c" "$BUILD/lib/libprobity.a"
    PROBITY_OUT=$WORK/trace PROBITY_CHUNK_RECORDS=512 ./own_malloc crowds 1000 6000 > expected \
        2> errors || fail "own malloc: status $?"
    same_numbers "own malloc" trace
    expect "own malloc" "allocated by the writer: 0" "$(grep allocated errors)"
}

# Callbacks of libc, such as exit handlers. $1 program, $2 rounds
handlers() {
    fresh
    # A library that is used by nothing else and has no effect.
    build plugin_idle.so -fPIC -shared -x c /dev/null
    PROBITY_OUT=$WORK/trace PROBITY_SPOOL_RECORDS=32768 "$PROGRAMS/$1" ledger \
        ./plugin_idle.so "$2" > expected 2> errors || fail "$1: status $?"
    expect "$1: stderr" "" "$(cat errors)"
    same_before_and_after "$1" trace*
}

# Threads that exit inside scopes, in C with and without -fexceptions, and through the destructors
# of thread data. gcc's tables for unwinding are right at each instruction only with
# -fnon-call-exceptions, which clang does not have. $1 threads
thread_exit_in_scope() {
    local flags how calls threads found exact=-fnon-call-exceptions
    [[ $CC != *clang* ]] || exact=
    for flags in "-fexceptions $exact" -fno-exceptions; do
        # shellcheck disable=SC2086 # several flags
        build thread_exit_in_scope $flags "$SOURCE/tests/programs/thread_exit_in_scope.c" \
            "$BUILD/lib/libprobity.a"
        for how in exit deferred anywhere; do
            rm -rf trace
            PROBITY_OUT=$WORK/trace ./thread_exit_in_scope $how "$1" > made ||
                fail "thread_exit_in_scope $flags $how: $?"
            read -r calls threads < made
            "$PROBITY" report --json trace > report.json ||
                fail "thread_exit_in_scope $flags $how: no report"
            found=$(jq '[.functions[].calls] | add' report.json)
            # A thread cancelled between entering a scope and counting it made one more call.
            [ "$how" = anywhere ] || threads=0
            if [ "$found" -lt "$calls" ] || [ "$found" -gt $((calls + threads)) ]; then
                fail "thread_exit_in_scope $flags $how: $calls calls, found $found"
            fi
            complete "thread_exit_in_scope $flags $how" trace
            echo "thread_exit_in_scope $flags $how: $calls calls: $(jq -c .repairs report.json)"
        done
    done
}

# The arguments for programs with another libc: all, and a selection.
all_ways=("forks plain" "forks chain" "forks threads" "forks vfork" "forks raw" "forks daemon"
    "forks vfork_first" "forks vfork_full" "forks vfork_start" "forks short" "threads alive 300 20"
    "threads beside 2000" "threads pthread_exit 30 500" "threads cancel 30 500"
    "threads destructor 30 500" "ends exit" "ends _exit" "ends kill")
some_ways=("forks plain" "forks daemon" "threads cancel 30 500" "threads destructor 30 500"
    "ends kill")

# Programs linked differently, or with another libc, which run with the arguments in `ways`. $1
# name, $2 compiler, $3 library, the rest: flags
other_link() {
    local name=$1 compiler=$2 archive=$3 program how
    shift 3
    for program in forks threads ends logged; do
        CC=$compiler build "$program.$name" "$@" "$SOURCE/tests/programs/$program.c" "$archive"
    done
    for how in "${ways[@]}"; do
        rm -rf trace* errors "${SPOOL:?}"/*
        # shellcheck disable=SC2086
        (PROBITY_CHUNK_RECORDS=512 PROBITY_OUT=trace exec "./${how%% *}.$name" ${how#* }) \
            > expected 2> errors || [ "${how%% *}" = ends ] || fail "$name, $how: status $?"
        same_numbers "$name, $how" trace*
    done
    for how in one_by_one crowds; do
        rm -rf trace* errors "${SPOOL:?}"/*
        PROBITY_OUT=$WORK/trace "./threads.$name" $how 1500 20 > expected 2> errors ||
            fail "$name, $how: status $?"
        same_numbers "$name, $how" trace
        complete "$name, $how" trace
        grown "$name, $how" 4 0 17408 10240
        no_leftovers "$name, $how"
    done
    # The library's own output, printed from a thread with musl's small stack.
    rm -rf trace* log summary
    PROBITY_OUT=$WORK/trace PROBITY_LOG=$WORK/log PROBITY_SUMMARY=$WORK/summary \
        "./logged.$name" steps 3 > /dev/null || fail "$name, logged: status $?"
    "$PROBITY" log --color=never trace | sed 's/(.*//' > reported
    sed 's/(.*//' log | cmp -s - reported || fail "$name: the log differs: $(diff log reported | head -n 5)"
    [ -s log ] && [ -s summary ] || fail "$name: no log or no summary"
}

# glibc linked statically, and musl. $1 "all" or "some"
libcs() {
    local kernel=$BUILD/musl/kernel directory ways=("${some_ways[@]}")
    local print=-Wl,-u,probity_print_hooks
    [ "$1" = some ] || ways=("${all_ways[@]}")
    fresh
    other_link static "${CC:-gcc}" "$BUILD/lib/libprobity.a" -static $print \
        "$BUILD/lib/libprobity-print.a"
    if ! command -v musl-gcc > /dev/null; then
        echo "skipped: musl: there is no musl-gcc"
        return 0
    fi
    # Debian's musl lacks the kernel headers.
    mkdir -p "$kernel"
    ln -sfn /usr/include/linux "$kernel/linux"
    ln -sfn /usr/include/asm-generic "$kernel/asm-generic"
    for directory in /usr/include/*-linux-gnu/asm; do ln -sfn "$directory" "$kernel/asm"; done
    make -s -C "$SOURCE" BUILD="$BUILD/musl" CC=musl-gcc CFLAGS="-isystem $kernel" lib > made 2>&1 ||
        fail "musl: $(tail -n 5 made)"
    other_link musl musl-gcc "$BUILD/musl/lib/libprobity.a" $print \
        "$BUILD/musl/lib/libprobity-print.a"
    [ "$1" = all ] || return 0
    other_link musl_static musl-gcc "$BUILD/musl/lib/libprobity.a" -static $print \
        "$BUILD/musl/lib/libprobity-print.a"
    other_link musl_shared musl-gcc -lprobity -L"$BUILD/musl/lib" -Wl,-rpath,"$BUILD/musl/lib"
}

# More concurrent threads than chunks, and no memory for more: threads with a chunk are complete,
# and every hit and name of the others is counted. The CPU clock is off, because its readings, one
# per gap, would fill chunks, which would then go to other threads. $1 threads, $2 hits of each
too_many_threads() {
    fresh
    PROBITY_CPU_TIME=0 PROBITY_CHUNK_RECORDS=512 PROBITY_SPOOL_RECORDS=4096 PROBITY_SPOOL_BYTES_MAX=40000 \
        PROBITY_OUT=$WORK/trace "$PROGRAMS/threads" alive "$1" "$2" > all.expected ||
        fail "too many threads: status $?"
    "$PROBITY" csv trace 2> /dev/null | cut -d, -f3 | awk -v hits="$2" '{ stream[int($1 / 262144)]++ }
        END { for (i in stream) { n++; if (stream[i] != hits) bad = 1 }; print n; exit bad }' \
        > streams || fail "too many threads: a thread with a chunk is incomplete"
    expect "too many threads: that have a chunk" 8 "$(cat streams)"
    expect "too many threads: dropped" $((($1 - 8) * ($2 + 1))) "$("$PROBITY" info --json trace |
        jq '.[0].counts.dropped_no_memory_or_limit')"
    no_leftovers "too many threads"
}
