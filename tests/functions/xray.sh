#!/usr/bin/env bash
# Programs compiled with clang's -fxray-instrument: sleds are replaced in loaded code, calls are
# counted as the program counts them, registers keep their values, and damaged tables of sleds, or a
# system on which code cannot be changed, are harmless.
# variants: clang
# timeout: 600
. "$(dirname "$0")/../common.bash"
# shellcheck source=tests/functions/functions.bash
. "$SOURCE/tests/functions/functions.bash"
sources=$SOURCE/tests/functions
if [ "$(uname -m)" != x86_64 ]; then
    echo "skipped: sleds are replaced only on x86-64"
    exit 77
fi
echo 'int main(void) { return 0; }' > none.c
# shellcheck disable=SC2086
if ! clang $xray -o none none.c 2> errors; then
    echo "skipped: no clang with XRay: $(cat errors)"
    exit 77
fi
unset XRAY_OPTIONS

# Options of record, --, the program. Its output is in `out`, messages in `errors`.
record() {
    rm -rf trace*
    "$PROBITY" record --functions -o trace "$@" > out 2> errors || fail "$what: $(cat errors)"
}

# $1 the expected text after "probity: "
says() {
    expect "$what: message" "probity: $1" "$(cat errors)"
}

# shellcheck disable=SC2086 # flags
compile() {
    clang -g -pthread $xray "$@" -ldl || fail "$what: does not compile"
}

ulimit -s unlimited 2> /dev/null || ulimit -s 65536 || true

# Counts, with recursion, tail calls, longjmp, variable-length arrays, threads, signal handlers on
# two stacks, and a child.
for flags in -O0 "-O2 -fno-inline" "-O3 -fno-inline -fomit-frame-pointer -no-pie" \
    "-O2 -fno-inline -fcf-protection -flto -fuse-ld=lld" "-Os -fno-inline -fno-omit-frame-pointer"
do
    what=$flags
    [[ $flags != *lld* ]] || command -v ld.lld > /dev/null || continue
    # shellcheck disable=SC2086
    compile $flags -o calls "$sources/calls.c"
    record -- ./calls
    says "18 functions by XRay sleds in 1 object"
    # An optimizing compiler turns one of the two calls in fib() into a loop.
    [ "$flags" = -O0 ] && same_counts out trace || same_counts out trace fib
    expect "$flags: traces" 2 "$(find . -maxdepth 1 -name 'trace*' | wc -l)"
    counts trace.* > child
    grep -qx 'in_child 1' child || fail "$flags: the child's calls: $(cat child)"
done

# Calls after longjmp are not children of the abandoned calls.
"$PROBITY" export --format folded trace 2> errors | sed -n 's/ [0-9]*$//p' > folded
grep 'after_jump$' folded > found || fail "after_jump: $(head -n 3 folded)"
! grep -v ';try_jump;after_jump$' found > other || fail "after_jump is called by: $(cat other)"

# With the compiler's threshold, small functions have no sleds.
what=threshold
clang -O0 -g -pthread -fxray-instrument -o calls "$sources/calls.c" -ldl
record -- ./calls
counts trace "$own" > found
grep -qx 'main 1' found || fail "$what: $(cat found)"
! grep -q 'leaf' found || fail "$what: $(cat found)"
LC_ALL=C sort out | comm -13 - found > other
expect "$what: other counts" "" "$(cat other)"

# Linked, static and shared, with nothing preloaded. Nothing is changed if nothing is recorded.
write_code '"\xeb\x09"'
for libraries in "-Wl,-u,__cyg_profile_func_enter $BUILD/lib/libprobity-functions.a \
$BUILD/lib/libprobity.a" "-L$BUILD/lib -Wl,-rpath,$BUILD/lib -Wl,--no-as-needed \
-lprobity-functions -lprobity"; do
    what="linked with $libraries"
    # shellcheck disable=SC2086
    compile -O1 ${SANITIZE_FLAG:-} -o code code.c $libraries
    ./code > out || fail "$what, not recorded"
    expect "$what, not recorded" 000 "$(cat out)"
    rm -rf trace*
    PROBITY_OUT=trace ./code > out 2> errors || fail "$what: $(cat errors)"
    expect "$what: messages" "" "$(cat errors)"
    expect "$what" "111 get_one 4 get_two 2 put_two 2" "$(cat out) $(counts trace \
        '.name | test("_")' | xargs)"
done

# Only selected functions are changed.
what=selection
compile -O1 -o code code.c
record --function 'get_*' -- ./code
says "3 functions by XRay sleds in 1 object, 2 selected"
expect "$what" "110 get_one 4 get_two 2" "$(cat out) $(counts trace | xargs)"
record --exclude 'get_*' --exclude 'is*' -- ./code
expect "$what" "001 put_two 2" "$(cat out) $(counts trace | xargs)"
record --object 'other*' -- ./code
expect "$what" "000" "$(cat out)"
grep -q 'no function was recorded: none that the program calls is selected' errors ||
    fail "$what: $(cat errors)"

# The level, before the program starts and while it runs.
what=levels
cat > levels.c << 'END'
#define _GNU_SOURCE
#include <dlfcn.h>
__attribute__((noinline)) static int inner(int x) { return x + 1; }
__attribute__((noinline)) static int outer(int x, int (*set)(int, int))
{
    set(4, -1);
    x = inner(x);
    set(5, -1);
    return inner(x);
}
__attribute__((xray_never_instrument)) int main(void)
{
    int (*set)(int, int) = (int (*)(int, int))dlsym(RTLD_DEFAULT, "probity_level_set");
    int x = outer(0, set) + outer(0, set);
    set(4, -1);
    x += outer(0, set) + inner(0);
    return set(4, -1) + inner(x) - 8;
}
END
compile -O1 -o levels levels.c
record -- ./levels
expect "$what" "inner 4 outer 2" "$(counts trace | xargs)"
PROBITY_LEVEL=4 "$PROBITY" record --functions -o low ./code > out 2> errors ||
    fail "$what: $(cat errors)"
grep -q 'no function was recorded' errors || fail "$what: $(cat errors)"

# Registers, on the common path and on all others.
what=registers
compile -O2 -o registers "$sources/sled_registers.c"
for settings in "PROBITY_MODE=block" "PROBITY_CHUNK_RECORDS=64 PROBITY_CPU_GAP_NS=200" \
    "PROBITY_PROFILE=1" "PROBITY_LEVEL=4" "PROBITY_CHUNK_RECORDS=64 PROBITY_ORDER=strict"; do
    what="registers, $settings"
    rm -rf trace*
    # shellcheck disable=SC2086 # several
    env $settings "$PROBITY" record --functions -o trace -- ./registers 4000 > out 2> errors ||
        fail "$what: $(cat errors)"
    [ "$settings" = PROBITY_LEVEL=4 ] || expect "$what" "$(cat out)" "$(counts trace)"
done

# Profile mode in a program that requests it itself: it is already on when the library is loaded.
what="profile mode at load"
rm -rf trace*
LD_PRELOAD=$BUILD/lib/libprobity-functions.so PROBITY_PROFILE=1 PROBITY_OUT=$WORK/trace \
    ./registers 4000 > out 2> errors || fail "$what: $(cat errors)"
expect "$what" "$(cat out)" "$(counts trace)"

# Signals at arbitrary instructions, including the recording code: the handler calls functions.
what=signals
cat > signals.c << 'END'
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
static volatile unsigned long inner_calls, handler_calls, outer_calls;
static void inner(void) { __atomic_add_fetch(&inner_calls, 1, __ATOMIC_RELAXED); }
static void handler(int number) { handler_calls += (unsigned long)(number != 0); inner(); }
__attribute__((noinline)) static void outer(void) { outer_calls++; inner(); }
__attribute__((xray_never_instrument)) int main(void)
{
    struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
    signal(SIGALRM, handler);
    setitimer(ITIMER_REAL, &often, NULL);
    while (handler_calls < 500 || outer_calls < 200000)
        outer();
    setitimer(ITIMER_REAL, &never, NULL);
    signal(SIGALRM, SIG_IGN);
    printf("handler %lu\ninner %lu\nouter %lu\n", handler_calls, inner_calls, outer_calls);
    return 0;
}
END
compile -O1 -fno-inline -o signals signals.c
for settings in "PROBITY_CHUNK_RECORDS=64" "PROBITY_CPU_GAP_NS=200"; do
    rm -rf trace*
    env "$settings" "$PROBITY" record --functions -o trace -- ./signals > out 2> errors ||
        fail "$what: $(cat errors)"
    same_counts out trace
done

# C++: names as in the source; calls left by an exception end at the next call.
what=shapes
clang++ -std=c++17 -g -O1 -fno-inline $xray -o shapes "$sources/shapes.cc" || fail "$what"
record -- ./shapes
same_shapes trace
"$PROBITY" log trace > log 2> errors
grep -q 'repaired: 4 unwound' errors || fail "$what: exceptions: $(cat errors)"

# Functions called in turn from one place, the first of which was left by an exception or a jump.
cat > places.cc << 'END'
#include <csetjmp>
static std::jmp_buf target;
__attribute__((noinline)) static void throws(int) { throw 1; }
__attribute__((noinline)) static void jumps(int) { std::longjmp(target, 1); }
__attribute__((noinline)) static void returns(int x) { __asm__ volatile("" : : "r"(x)); }
__attribute__((noinline)) static void calls()
{
    static void (*const functions[])(int) = {throws, returns, jumps, returns};
    for (volatile int i = 0; i < 4; i = i + 1) {
        try {
            if (setjmp(target) == 0)
                functions[i](i);
        } catch (int) {
        }
    }
}
int main()
{
    for (int i = 0; i < 100; i++)
        calls();
}
END
what=places
clang++ -g -O1 $xray -o places places.cc || fail "$what"
record -- ./places
"$PROBITY" export --format folded trace 2> errors > folded
grep -q '^main;calls;returns ' folded || fail "$what: $(cat folded)"
! grep -E '(returns|throws|jumps);' folded > other || fail "$what: $(cat other)"
expect "$what" "calls 100 jumps 100 main 1 returns 200 throws 100" \
    "$(counts trace | xargs)"

# Shared libraries: linked, and loaded while the program runs, even at the address of another one;
# found by path, or by name in directories that the program specifies.
for plugin in one two; do
    what=$plugin.so
    compile -O1 -fPIC -shared -DNAME=$plugin -o $plugin.so "$sources/plugin.c"
done
what=plugins
compile -O1 -o calls "$sources/calls.c"
record -- ./calls ./one.so ./two.so ./one.so
counts trace '.object != "" and .object != null' > found
printf '%s\n' 'in_one 6' 'in_two 3' 'run_plugin 1' 'run_plugin 2' 'same_name 3' 'same_name 6' |
    diff - found > difference || fail "$what: $(cat difference)"
what="a linked library"
mkdir elsewhere
cp one.so elsewhere/libone.so
cat > linked.c << 'END'
extern void run_plugin(void);
int main(void) { run_plugin(); return 0; }
END
gcc -o linked linked.c -Lelsewhere -lone -Wl,-rpath,"$PWD/elsewhere"
record -- ./linked
says "3 functions by XRay sleds in 1 object"
expect "$what" "in_one 3 run_plugin 1 same_name 3" "$(counts trace | xargs)"
what="a library found by its name"
cat > named.c << 'END'
#include <dlfcn.h>
int main(void)
{
    void *library = dlopen("libone.so", RTLD_NOW);
    if (library == 0 || dlopen("./two.so", RTLD_NOW) == 0)
        return 1;
    ((void (*)(void))dlsym(library, "run_plugin"))();
    return 0;
}
END
if [ -z "${SANITIZE:-}" ]; then
    gcc -o named named.c -ldl -Wl,--enable-new-dtags,-rpath,"$PWD/elsewhere"
    record -- ./named
    expect "$what" "in_one 3 run_plugin 1 same_name 3" "$(counts trace | xargs)"
fi

# Loaded and unloaded many times: ids are reused, and names remain those of the library.
what="many times"
cat > many.c << 'END'
#include <dlfcn.h>
int main(int argc, char **argv)
{
    for (int i = 0; i < 300; i++) {
        void *library = dlopen(argv[1 + i % (argc - 1)], RTLD_NOW);
        if (library == 0)
            return 1;
        ((void (*)(void))dlsym(library, "run_plugin"))();
        if (dlclose(library) != 0)
            return 1;
    }
    return 0;
}
END
gcc -o many many.c -ldl
record -- ./many ./one.so ./two.so
expect "$what" "in_one 450 in_two 450 run_plugin 150 run_plugin 150 same_name 450 same_name 450" \
    "$(counts trace | xargs)"

# Code that runs while it is changed.
what="while it runs"
compile -O2 -fPIC -shared -o running.so "$sources/patched_running.c"
cat > running.c << 'END'
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    for (int i = 0; i < (argc > 1 ? 10 : 1); i++) {
        void *library = dlopen("./running.so", RTLD_NOW);
        if (library == 0)
            return 1;
        printf("%lu\n", ((unsigned long (*)(void))dlsym(library, "finish"))());
        if (dlclose(library) != 0)
            return 1;
    }
    return argv[0] == 0;
}
END
gcc -o running running.c -ldl
record -- ./running ten
calls=$(counts trace | sed -n 's/^called //p')
jumps=$(counts trace | sed -n 's/^jumping //p')
all=$(awk '{ n += $1 } END { print n }' out)
[ "${calls:-0}" -ge 600000 ] && [ "$calls" -le "$all" ] || fail "$what: $calls of $all"
[ "${jumps:-0}" -ge 600000 ] && [ "$jumps" -le "$all" ] || fail "$what: jumps: $jumps of $all"
"$PROBITY" check trace > checked 2>&1 || fail "$what: $(cat checked)"

# A damaged table of sleds, or that of another program, is harmless.
what=damaged
compile -O1 -o code code.c
objcopy -O binary --only-section=xray_instr_map --set-section-flags xray_instr_map=alloc \
    code map
bytes=$(stat -c %s map)
[ "$bytes" -ge 256 ] || fail "no table: $bytes bytes"
./code > expected
cat > damage.py << 'END'
import random, struct, sys
how, seed = sys.argv[1], int(sys.argv[2])
data = bytearray(open("map", "rb").read())
random.seed(seed)
entries = range(0, len(data), 32)
if how == "random":
    data = bytearray(random.randbytes(len(data)))
elif how == "zeros":
    data = bytearray(len(data))
elif how == "ones":
    data = bytearray(b"\xff" * len(data))
elif how == "bits":
    for _ in range(8):
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)
elif how == "shifted":
    for at in entries:
        value, = struct.unpack_from("<q", data, at)
        struct.pack_into("<q", data, at, value + random.randrange(-16, 16))
elif how == "kinds":
    for at in entries:
        data[at + 16] = random.randrange(8)
elif how == "versions":
    for at in entries:
        data[at + 18] = random.randrange(4)
elif how == "far":
    for at in entries:
        struct.pack_into("<q", data, at, random.choice([-1, 1]) << random.randrange(20, 62))
elif how == "short":
    data = data[:-7]
elif how == "long":
    data = data * 3
open("damaged.map", "wb").write(data)
END
for how in random zeros ones bits shifted kinds versions far short long; do
    for seed in 1 2; do
        [[ $seed = 1 || $how =~ random|bits|far|kinds ]] || continue
        what="damaged: $how $seed"
        python3 damage.py $how $seed
        objcopy --update-section xray_instr_map=damaged.map code damaged 2> errors ||
            { fail "$what: $(cat errors)"; continue; }
        ./damaged > out 2> errors || continue # not even without the library
        record -- ./damaged
        [ "$(wc -l < errors)" -le 2 ] || fail "$what: $(cat errors)"
        [[ $how =~ bits|kinds|versions|long|short ]] ||
            expect "$what: output" "$(cat expected)" "$(cat out)"
        [ ! -e trace ] || "$PROBITY" check trace > checked 2>&1 || fail "$what: $(cat checked)"
    done
done
# Other code where the table lists a sled: its function is not changed, and a message reports that.
what="other code"
at=$(nm code | awk '$3 == "get_one" { print $1 }')
python3 - "$at" << 'END'
import sys
data = bytearray(open("code", "rb").read())
at = data.find(b"\xeb\x09\x66\x0f\x1f\x84\0\0\x02\0\0", int(sys.argv[1], 16) & 0xfffff)
data[at + 6] = 1
open("other", "wb").write(data)
END
chmod +x other
record -- ./other
grep -q '; not recorded because their sleds are damaged: 1$' errors ||
    fail "$what: $(cat errors)"

# XRay's own runtime has patched the code first.
what="patched by XRay"
XRAY_OPTIONS=patch_premain=true "$PROBITY" record --functions -o premain -- ./code > out \
    2> errors || fail "$what: $(cat errors)"
grep -q "because XRay's runtime has patched them (XRAY_OPTIONS): 3$" errors ||
    fail "$what: $(cat errors)"

# A system on which code cannot be changed: the program runs, and nothing is recorded.
what="code cannot be changed"
cat > confined.c << 'END'
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 4),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, PROT_EXEC),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PROT_EXEC, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    if (argc < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        return 77;
    execv(argv[1], argv + 1);
    return 1;
}
END
gcc -o confined confined.c
status=0
./confined /bin/true || status=$?
if [ "$status" = 0 ]; then
    record -- ./confined ./code
    expect "$what" 000 "$(cat out)"
    grep -q '; cannot change their code: Permission denied' errors || fail "$what: $(cat errors)"
fi

# A real program: the number of calls of each function equals callgrind's.
what=callgrind
if command -v valgrind > /dev/null; then
    clang -O1 -g -fno-inline $xray -o decoder "$SOURCE/examples/second_decoder.c"
    input=$(find "$SOURCE/tests/golden/good" -name '*.probity' -size -64k | LC_ALL=C sort |
        head -n 1)
    valgrind --quiet --tool=callgrind --callgrind-out-file=callgrind.out ./decoder "$input" \
        > decoded 2> errors || fail "$what: $(cat errors)"
    record -- ./decoder "$input"
    cmp out decoded || fail "$what: other output"
    counts trace > found
    awk '/^fn=|^cfn=/ { cut = index($0, "="); name = substr($0, cut + 1); number = name
            sub(/\).*/, "", number)
            if (sub(/^\([0-9]+\) /, "", name)) names[number] = name
            sub(/\x27[0-9]+$/, "", names[number])
            called = names[number] }
        /^calls=/ { split(substr($0, 7), part, " "); calls[called] += part[1] }
        END { for (name in calls) print name, calls[name] }' callgrind.out |
        LC_ALL=C sort > made
    LC_ALL=C join -j 1 found made > both
    [ "$(wc -l < found)" -ge 20 ] || fail "$what: few functions: $(cat found)"
    expect "$what: functions" "$(wc -l < found)" "$(wc -l < both)"
    awk '$2 != $3' both > other
    expect "$what" "" "$(cat other)"
fi
finish
