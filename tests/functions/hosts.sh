#!/usr/bin/env bash
# Programs in Rust and Go call a C library that is recorded: by macros and by each compiler flag,
# linked and by the command. Threads of Rust end while others record, goroutines call from several
# threads, and both languages are called back. Calls are counted, and the output is the same.
# variants: gcc clang
# timeout: 300
. "$(dirname "$0")/../common.bash"
# shellcheck source=tests/functions/functions.bash
. "$SOURCE/tests/functions/functions.bash"

cat > host.rs << 'END'
extern "C" {
    fn nested(depth: i64) -> i64;
    fn visit(n: i64, visitor: extern "C" fn(i64) -> i64) -> i64;
}
extern "C" fn visitor(n: i64) -> i64 {
    unsafe { n + nested(1) }
}
fn main() {
    let threads: Vec<_> = (0..8).map(|_| std::thread::spawn(|| unsafe {
        (0..100).map(|_| nested(4)).sum::<i64>() + visit(10, visitor)
    })).collect();
    println!("{}", threads.into_iter().map(|t| t.join().unwrap()).sum::<i64>());
}
END
# Go's stack grows, and so is moved, while functions of C are open.
cat > host.go << 'END'
package main

// #cgo LDFLAGS: -L. -lhosts
// long nested(long depth);
// long visit(long n, long (*visitor)(long));
// long visitor(long n);
// static long visited(long n) { return visit(n, visitor); }
import "C"
import ("fmt"; "runtime"; "sync")

//export visitor
func visitor(n C.long) C.long {
	return n + C.nested(1) + C.long(grow(100))
}

func grow(depth int) int {
	var room [64]int
	if depth == 0 {
		runtime.Gosched()
		return room[0]
	}
	return grow(depth - 1) + room[depth % 64]
}

func main() {
	var all sync.WaitGroup
	var mutex sync.Mutex
	var sum C.long
	for i := 0; i < 8; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			var own C.long
			for k := 0; k < 100; k++ {
				own += C.nested(4)
				runtime.Gosched()
			}
			own += C.visited(10)
			mutex.Lock()
			sum += own
			mutex.Unlock()
		}()
	}
	all.Wait()
	fmt.Println(sum)
}
END

# $1 flags of the library, $2 of its link
build_library() {
    # shellcheck disable=SC2086
    "${compiler:-$CC}" -O2 -fPIC -fno-inline -fno-optimize-sibling-calls $1 -I"$SOURCE/include" -c \
        -o hosts.o "$SOURCE/tests/functions/hosts.c" 2> errors &&
        "$CC" -shared -o libhosts.so hosts.o $2 2>> errors ||
        fail "$what: the library does not compile: $(cat errors)"
}
what="no hooks"
build_library "" ""
hosts=
if rustc -O -L. -lhosts -o rust host.rs > build.out 2>&1; then
    hosts+=" rust"
else
    echo "left out: no Rust: $(tail -n 1 build.out)"
fi
if CC=gcc GOCACHE=$WORK/cache go build -o go host.go > build.out 2>&1; then
    hosts+=" go"
else
    echo "left out: no Go: $(tail -n 1 build.out)"
fi
[ -n "$hosts" ] || { echo "skipped: neither Rust nor Go here"; exit 77; }
export LD_LIBRARY_PATH=.:$BUILD/lib
# In each of 8 threads: 100 calls of nested() to a depth of 4, then 10 visits, which call it to a
# depth of 1.
printf '%s\n' "leaf $((8 * (100 * 5 + 10 * 2 + 10)))" "nested $((8 * (100 * 5 + 10 * 2)))" \
    "visit 8" > expected
for host in $hosts; do
    "./$host" > "$host.plain" || fail "$host alone: status $?"
done

# Runs each host with the library built last. $1: options of the command; without any, the library
# itself records
run_hosts() {
    local host case=$what
    for host in $hosts; do
        what="$host, $case"
        rm -rf trace*
        if [ -n "$1" ]; then
            # shellcheck disable=SC2086
            "$PROBITY" record $1 -o trace -- "./$host" > out 2> errors
        else
            PROBITY_OUT=trace "./$host" > out 2> errors
        fi || fail "$what: status $?: $(tail -n 3 errors)"
        cmp "$host.plain" out || fail "$what: another output"
        counts trace '.name == "leaf" or .name == "nested" or .name == "visit"' > found
        same_as_expected trace
    done
}

# The program is linked with libc, whose empty hooks take precedence over those of a shared library
# with which only this library is linked.
linked="-Wl,-Bsymbolic $BUILD/lib/libprobity-functions.a $BUILD/lib/libprobity.a"
what="macros"
build_library -DFN_INSTRUMENT "-L$BUILD/lib -lprobity"
run_hosts ""
what="-finstrument-functions, linked"
build_library -finstrument-functions "$linked"
run_hosts ""
what="-finstrument-functions, by the command"
build_library -finstrument-functions ""
run_hosts --functions
if [ "$(uname -m)" = x86_64 ] && gcc --version > gcc.out 2>&1; then
    compiler=gcc
    hooks="-pg -mfentry -minstrument-return=call"
    what="-mfentry, linked"
    build_library "$hooks" "$linked"
    run_hosts ""
    what="-mfentry, by the command"
    build_library "$hooks" ""
    run_hosts --functions
    compiler=
else
    echo "left out: no gcc for x86-64, which has -mfentry"
fi
what="patchable entries, by the command"
build_library -fpatchable-function-entry=5 ""
run_hosts --functions
finish
