#!/usr/bin/env bash
# Third-party programs each do a job with all calls recorded: their output and status are the same,
# byte for byte, and their traces have no errors. Programs that are not installed are skipped.
# variants: gcc
# timeout: 600
# shellcheck disable=SC2016 # R is of the job's shell
. "$(dirname "$0")/../common.bash"

# Runs the job with and without recording. $1 name of the program, $2 a shell script in which R runs
# it
job() {
    local status=0
    if ! command -v "$1" > /dev/null; then
        echo "left out: no $1 here"
        return 0
    fi
    rm -rf alone recorded traces && mkdir alone recorded traces
    (cd alone && R='' bash -c "$2" > ../alone.out 2> ../alone.err) || status=$?
    expect "$1: status of the job alone ($(tail -n 3 alone.err))" 0 "$status"
    status=0
    (cd recorded && R="$PROBITY record --calls all -o $WORK/traces/%n.%p.probity --" \
        bash -c "$2" > ../recorded.out 2> ../recorded.err) || status=$?
    expect "$1: status ($(tail -n 3 recorded.err))" 0 "$status"
    cmp alone.out recorded.out || fail "$1: another output"
    cmp alone.err recorded.err || fail "$1: another standard error: $(tail -n 3 recorded.err)"
    diff -r alone recorded > difference || fail "$1: other files: $(head -n 3 difference)"
    for trace in traces/*.probity; do
        "$PROBITY" check "$trace" > /dev/null 2> faults || fail "$1: $trace: $(cat faults)"
    done
    [ "$(find traces -name '*.probity' | wc -l)" -gt 0 ] || fail "$1: no trace"
}

export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a
export GIT_COMMITTER_EMAIL=a@b GIT_AUTHOR_DATE='1700000000 +0000'
export GIT_COMMITTER_DATE=$GIT_AUTHOR_DATE

job bash '$R bash -c "for i in 1 2 3; do echo \$i | cat | tr 1 x; done; seq 1000 | sort -r | cksum
    (exit 3); echo \$?; read -r line < <(echo one); echo \$line; exec ls /"'
job git '$R git init -q -b main . && seq 2000 > a && $R git add a && $R git commit -qm one &&
    seq 3000 > a && $R git commit -qam two && $R git log -p --stat | cksum && $R git gc -q &&
    $R git fsck && $R git grep -c 7 && rm -rf .git'
job sqlite3 '$R sqlite3 db "create table t(a, b); with recursive c(x) as
    (select 1 union all select x + 1 from c where x < 5000) insert into t select x, x * x from c;
    create index i on t(b); select sum(a), sum(b) from t; select count(*) from t where b % 7 = 0;"'
job gcc 'echo "int main(void) { return 0; }" > a.c && $R gcc -O2 -o a.o -c a.c'
job python3 '$R python3 -c "
import ctypes, hashlib, subprocess, threading
found = []
threads = [threading.Thread(target=lambda i=i: found.append(
    hashlib.sha256(str(i).encode() * 10000).hexdigest())) for i in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(sorted(found), subprocess.run([\"echo\", \"hi\"], capture_output=True).stdout)
print(ctypes.CDLL(\"libm.so.6\").abs(-3))"'
job node '$R node -e "
const crypto = require(\"crypto\"), fs = require(\"fs\");
fs.writeFileSync(\"f\", \"x\".repeat(100000));
fs.readFile(\"f\", (e, d) =>
    console.log(crypto.createHash(\"sha256\").update(d).digest(\"hex\")));"'
job perl '$R perl -e "my %h; \$h{\$_ % 97} .= \$_ for 1 .. 20000;
    print length(\$h{\$_}), \"\n\" for sort keys %h; print qx(echo hi);"'

# Compiled beforehand without a recording; the resulting programs are recorded.
build() {
    command -v "$1" > /dev/null && "$@" > build.out 2>&1
}
cat > threads.rs << 'END'
use std::sync::{mpsc, Arc, Mutex};
fn main() {
    let sum = Arc::new(Mutex::new(0u64));
    let (to, from) = mpsc::channel();
    let threads: Vec<_> = (0..8u64).map(|i| {
        let (sum, to) = (sum.clone(), to.clone());
        std::thread::spawn(move || {
            for k in 0..1000 { *sum.lock().unwrap() += i * k; }
            to.send(vec![i; 1000]).unwrap();
        })
    }).collect();
    for thread in threads { thread.join().unwrap(); }
    drop(to);
    let sent: u64 = from.iter().map(|v: Vec<u64>| v.iter().sum::<u64>()).sum();
    std::fs::write("f", vec![7u8; 10000]).unwrap();
    println!("{} {} {}", sum.lock().unwrap(), sent, std::fs::read("f").unwrap().len());
}
END
cat > threads.go << 'END'
package main

// #include <stdlib.h>
// static int twice(int n) { void *at = malloc(64); free(at); return at ? 2 * n : 0; }
import "C"
import ("fmt"; "os"; "sync")

func main() {
	var all sync.WaitGroup
	var mutex sync.Mutex
	sum := 0
	for i := 0; i < 8; i++ {
		all.Add(1)
		go func(i int) {
			defer all.Done()
			for k := 0; k < 1000; k++ {
				n := int(C.twice(C.int(k)))
				mutex.Lock()
				sum += i * n
				mutex.Unlock()
			}
		}(i)
	}
	all.Wait()
	os.WriteFile("f", make([]byte, 10000), 0600)
	fmt.Println(sum)
}
END
cat > Threads.java << 'END'
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.*;

public class Threads {
    public static void main(String[] arguments) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(4);
        List<Future<Long>> sums = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            final long n = i;
            sums.add(pool.submit(() -> n * 100000 * 99999 / 2));
        }
        long sum = 0;
        for (Future<Long> one : sums) sum += one.get();
        pool.shutdown();
        Files.write(Path.of("f"), new byte[10000]);
        System.gc();
        System.out.println(sum + " " + Files.size(Path.of("f")));
    }
}
END
if build rustc -O -o rust threads.rs; then job rustc '$R ../rust'; else echo "left out: no Rust"; fi
if build go build -o go threads.go; then job go '$R ../go'; else echo "left out: no Go"; fi
if build javac Threads.java; then
    job java '$R java -Xshare:off -XX:-UsePerfData -cp .. Threads'
else
    echo "left out: no Java"
fi
finish
