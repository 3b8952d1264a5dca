#!/usr/bin/env bash
# Programs without macros, compiled with -fpatchable-function-entry by gcc, whose entries are five
# instructions, and by clang, whose entries are one: calls to selected functions are counted as the
# program counts them, the code of others is unchanged, and code is changed while threads run it.
# variants: clang
# timeout: 300
. "$(dirname "$0")/../common.bash"
sources=$SOURCE/tests/functions
[ "$(uname -m)" = x86_64 ] || { echo "skipped: entries are replaced on x86-64 only"; exit 77; }

# $1 what, the rest: options and a program
record() {
    local what=$1
    shift
    rm -rf trace
    "$PROBITY" record --functions -o trace "$@" > out 2> errors ||
        fail "$what: status $?: $(tail -n 3 errors)"
    "$PROBITY" check trace > /dev/null 2> check.err || fail "$what: $(cat check.err)"
    "$PROBITY" report --json trace > report.json || fail "$what: no report"
}

# Prints "NAME CALLS" of functions with only entries, or of $1: a jq filter of functions
entries() {
    jq -r ".functions[] | select(.calls > 0 and ${1:-(.calls_entries == .calls)}) |
        \"\\(.name) \\(.calls)\"" report.json | LC_ALL=C sort
}

cat > program.c << 'END'
#include <stdio.h>
#include <string.h>

static volatile int sink;
static double sum;

#define NOINLINE __attribute__((noinline))
NOINLINE double leaf(double x, int y) { sink += y; return x + y; }
NOINLINE double middle(double x) { for (int i = 0; i < 10; i++) x = leaf(x, i); return x; }
NOINLINE static int hex(const void *code)
{
    const unsigned char *at = code;
    if (memcmp(at, "\xf3\x0f\x1e\xfa", 4) == 0)
        at += 4;
    return at[0] == 0xe8;
}

int main(void)
{
    for (int i = 0; i < 100; i++)
        sum = middle(sum);
    printf("%.0f %d %d\n", sum, hex((const void *)leaf), hex((const void *)middle));
    return 0;
}
END

for compiler in gcc clang; do
    "$compiler" --version > version.out 2>&1 || { echo "skipped: no $compiler here"; continue; }
    for flags in -O0 -O2 -O3 "-O2 -fPIE -pie" "-O2 -fno-pie -no-pie" "-O2 -fcf-protection" \
        "-O2 -fomit-frame-pointer" "-Os -fno-align-functions" "-O2 -fipa-ra" "-O2 -flto" \
        "-O2 -Wl,--strip-all"; do
        what="$compiler $flags"
        # shellcheck disable=SC2086
        "$compiler" $flags -fpatchable-function-entry=5 -o program program.c 2> errors ||
            { echo "skipped: $what: $(tail -n 1 errors)"; continue; }
        record "$what" ./program
        grep -q 'functions\? by patchable entries in 1 object' errors ||
            fail "$what: message: $(cat errors)"
        expect "$what: what it computed" "4500 1 1" "$(cat out)"
        if [[ $flags == *strip-all ]]; then
            expect "$what: calls" "1000 100 2 1" "$(entries | sed 's/.* //' | sort -nr | xargs)"
            continue
        fi
        expect "$what: calls" "hex 2 leaf 1000 main 1 middle 100" "$(entries | xargs)"
        record "$what, selected" --function 'l*f' ./program
        expect "$what, selected: what it computed" "4500 1 0" "$(cat out)"
        expect "$what, selected: calls" "leaf 1000" "$(entries | xargs)"
        grep -q ', 1 selected$' errors || fail "$what, selected: message: $(cat errors)"
    done
    expect "$compiler: nothing recorded" "4500 0 0" \
        "$(LD_PRELOAD=$BUILD/lib/libprobity-functions.so.0 ./program 2> errors)"

    # With the hook at the end of functions, which gcc supports: scopes.
    if [ $compiler = gcc ]; then
        gcc -g -O2 -fno-pie -fpatchable-function-entry=5 -pg -mfentry -mnop-mcount \
            -minstrument-return=call -c -o returns.o program.c &&
            gcc -no-pie -o returns returns.o -L"$BUILD/lib" -Wl,-rpath,"$BUILD/lib" \
                -lprobity-functions || fail "with returns: does not compile"
        record "with returns" ./returns
        expect "with returns: calls" "hex 2 leaf 1000 main 1 middle 100" \
            "$(entries '.calls_entries == 0' | xargs)"
        expect "with returns: repairs" 0 "$(jq '[.repairs[]] | add' report.json)"
        expect "with returns: what it computed" "4500 1 1" "$(cat out)"
    fi

    # Code that runs while it is changed, in a library that is loaded ten times.
    what="$compiler, while it runs"
    "$compiler" -O2 -fPIC -shared -DPATCHABLE -fpatchable-function-entry=5 -o running.so \
        "$sources/patched_running.c" || fail "$what: does not compile"
    cat > running.c << 'END'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int main(int argc, char **argv)
{
    for (int i = 0; i < (argc > 1 ? atoi(argv[1]) : 0); i++) {
        void *library = dlopen("./running.so", RTLD_NOW);
        if (library == 0)
            return 1;
        while (argc > 2 && clock() < CLOCKS_PER_SEC / 2)
            continue;
        printf("%lu\n", ((unsigned long (*)(void))dlsym(library, "finish"))());
        if (dlclose(library) != 0)
            return 1;
    }
    return 0;
}
END
    gcc -o running running.c -ldl
    record "$what" ./running 10
    calls=$(entries | sed -n 's/^called //p')
    jumps=$(entries | sed -n 's/^jumping //p')
    all=$(awk '{ n += $1 } END { print n }' out)
    [ "${calls:-0}" -ge 600000 ] && [ "$calls" -le "$all" ] || fail "$what: $calls of $all"
    [ "${jumps:-0}" -ge 600000 ] && [ "$jumps" -le "$all" ] || fail "$what: jumps: $jumps of $all"

    # Loaded often, mostly at the same address as before.
    what="$compiler, loaded 30 times"
    printf 'int number;\nvoid counted(void) { number++; }\n' > often.c
    "$compiler" -O2 -fPIC -shared -fpatchable-function-entry=5 -o often.so often.c
    cat > loads.c << 'END'
#include <dlfcn.h>
int main(void)
{
    for (int i = 0; i < 30; i++) {
        void *library = dlopen("./often.so", RTLD_NOW);
        void (*counted)(void) = (void (*)(void))dlsym(library, "counted");
        for (int j = 0; j < 100; j++)
            counted();
        dlclose(library);
    }
    return 0;
}
END
    gcc -o loads loads.c -ldl
    record "$what" ./loads
    expect "$what: calls" "counted 3000" "$(entries | grep '^counted ')"

    # The same while a budget removes the calls.
    what="$compiler, while calls are taken out"
    record "$what" --budget 0.01% ./running 1 wait
    expect "$what: what is a lower bound" called "$(entries .calls_are_least | sed -n 's/ .*//p' |
        grep -x called)"

    # Static programs, which cannot be preloaded.
    for flags in -static "-fPIE -static-pie"; do
        # shellcheck disable=SC2086
        "$compiler" -O2 -fpatchable-function-entry=5 $flags -o program program.c \
            -Wl,-u,__cyg_profile_func_enter "$BUILD/lib/libprobity-functions.a" \
            "$BUILD/lib/libprobity.a" 2> errors ||
            { echo "skipped: $compiler $flags: $(tail -n 1 errors)"; continue; }
        rm -rf trace
        PROBITY_OUT=trace ./program > out 2> errors || fail "$compiler $flags: $(cat errors)"
        "$PROBITY" report --json trace > report.json
        expect "$compiler $flags: calls" "hex 2 leaf 1000 main 1 middle 100" "$(entries | xargs)"
        expect "$compiler $flags: what it computed" "4500 1 1" "$(cat out)"
    done
done

# A condition on the duration of calls whose ends are not recorded is reported, once.
rm -rf trace
gcc -g -O2 -fpatchable-function-entry=5 -o program program.c
"$PROBITY" record --functions --ring 10s --when 'function leaf > 1min' --when 'function m* > 1min' \
    -o trace ./program > out 2> errors || fail "endless: status $?: $(tail -n 3 errors)"
expect "endless: messages" 1 "$(grep -c "^probity: 'function .* > 1min' is never met by '.*': \
-fpatchable-function-entry records no ends of calls; see probity-functions(7)" errors)"

# A damaged or malicious section: only entries are changed.
gcc -O2 -fno-pie -no-pie -fpatchable-function-entry=5 -o program program.c
objcopy -O binary -j __patchable_function_entries program section 2> errors || true
if [ -s section ]; then
    bytes=$(stat -c %s section)
    for pattern in '\x00' '\xff' '\x01\x10\x40\x00\x00\x00\x00\x00' \
        '\x16\x10\x40\x00\x00\x00\x00\x00'; do
        for ((i = 0; i < bytes; i++)); do printf '%b' "$pattern"; done | head -c "$bytes" > other
        objcopy --update-section __patchable_function_entries=other program damaged 2> errors ||
            fail "objcopy: $(cat errors)"
        rm -rf trace
        status=0
        "$PROBITY" record --functions -o trace ./damaged > out 2> errors || status=$?
        expect "damaged section: what it computed" "4500 0 0" "$(cat out)"
        expect "damaged section: status" 0 $status
    done
fi
finish
