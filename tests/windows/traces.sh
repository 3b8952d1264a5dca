#!/usr/bin/env bash
# Traces of one program in C, made under Wine, natively and, with AARCH64, in qemu. Each tool prints
# the same about each trace: probity.exe, the tool of this machine, and the one for AArch64. The
# files of the programs are removed first: signatures of C functions are in no trace, and the tools
# on Linux read them from those files, but probity.exe cannot. With those files, only signatures may
# differ, which is tested, too.
#
#   AARCH64   the build for AArch64, if it exists
# shellcheck source=tests/windows/common.bash
. "$(dirname "${BASH_SOURCE[0]}")/common.bash"
export TZ=UTC COLUMNS=100
build=$(cd "$(dirname "$PROBITY")/.." && pwd)
emulated=()
if command -v qemu-aarch64 > /dev/null && [ -x "${AARCH64:-}/bin/probity" ]; then
    emulated=(qemu-aarch64 -L "$(dirname "$AARCH64")/aarch64-root")
fi

cat > values.c <<'PROGRAM'
#define FN_INSTRUMENT
#include <FnTrace.h>
#include <setjmp.h>
#include <stdlib.h>

static jmp_buf back;

static int values(char c, unsigned char u, short s, long long l, double d, float f,
                  const char *text)
{
    int result = c + u + s;
    FN_FUNC_PARAMS(int, result, FN_1, 7, c, u, s, l, d, f, text);
    PROBITY_PROBE(100 + (result & 1));
    return result;
}

static int nested(int depth)
{
    int result = depth;
    FN_FUNC_PARAMS(int, result, FN_1, 1, depth);
    if (depth == 0)
        longjmp(back, 1);
    return nested(depth - 1);
}

int main(int count, char **arguments)
{
    (void)arguments;
    for (int i = 0; i < 1000; i++)
        values('a', 255, (short)i, -4000000000LL * i, 0.1 * i, 0.1f, i % 2 ? "text" : NULL);
    if (setjmp(back) == 0)
        nested(5);
    values('b', 0, 32767, 1LL << 62, 1e300, -0.0f, "");
    if (count > 1)
        abort();
    return 0;
}
PROGRAM
flags=(-O2 -g "-I$SOURCE/include" values.c)
x86_64-w64-mingw32-gcc "${flags[@]}" -o wine.exe "${STATIC[@]}"
PROBITY_OUT=wine.probity wine_run wine.exe > out 2>&1
expect "wine.exe: status; $(head -n 3 out)" 0 "$status"
PROBITY_OUT=wine_aborted.probity wine_run wine.exe abort > out 2>&1
gcc "${flags[@]}" -pthread -o native "$build/lib/libprobity.a"
PROBITY_OUT=native.probity ./native
ulimit -c 0
# Otherwise this shell would report the signal.
PROBITY_OUT=native_aborted.probity sh -c './native abort; exit 0' 2> /dev/null
if [ ${#emulated[@]} -gt 0 ]; then
    aarch64-linux-gnu-gcc "${flags[@]}" -pthread -o qemu "$AARCH64/lib/libprobity.a"
    PROBITY_OUT=qemu.probity "${emulated[@]}" ./qemu
fi

# A tool of another system finds the records that an aborted program leaves.
for trace in *_aborted.probity; do
    "$PROBITY" recover --trust "$trace" > out 2>&1 ||
        [[ $("$PROBITY" info "$trace") == *closed* ]] || fail "$trace: $(cat out)"
    expect "$trace: hits of values()" 1001 "$("$PROBITY" report --json "$trace" |
        jq '.functions[] | select(.name == "values") | .calls')"
done

commands=(report 'report --json' 'report --csv' tree 'tree --json' blocks 'blocks --json' list
    'list --json' threads 'threads --json' info 'info --json' check csv log 'model --json'
    'timeline' 'hist values' 'view -o -')
lines=()
for trace in *.probity; do
    lines+=("${commands[@]/%/ $trace}")
done
# Each line contains the arguments of the tool, for output about the traces in the directories of
# the readers.
exe=Z:${WINDOWS//\//\\}\\bin\\probity.exe
mkdir with linux windows aarch64
{
    printf '@echo off\r\n'
    for i in "${!lines[@]}"; do
        printf '%s %s > windows\\%d.out 2> windows\\%d.err\r\n' "$exe" "${lines[i]}" "$i" "$i"
        printf '>>windows\\%d.err echo status %%errorlevel%%\r\n' "$i"
    done
    printf 'exit 0\r\n'
} > run.bat
LIMIT=1500 wine_run cmd /c run.bat > out 2>&1
expect "run.bat: status; $(head -n 3 out)" 0 "$status"

# $1 directory, then the tool
read_all() {
    local directory=$1 i
    shift
    for i in "${!lines[@]}"; do
        status=0
        # shellcheck disable=SC2086 # words
        "$@" ${lines[i]} > "$directory/$i.out" 2> "$directory/$i.err" < /dev/null || status=$?
        echo "status $status" >> "$directory/$i.err"
    done
}
read_all with "$PROBITY"
rm -f native qemu wine.exe
read_all linux "$PROBITY"
readers=(windows)
if [ ${#emulated[@]} -gt 0 ]; then
    read_all aarch64 "${emulated[@]}" "$AARCH64/bin/probity"
    readers+=(aarch64)
fi
for reader in "${readers[@]}"; do
    for i in "${!lines[@]}"; do
        for part in out err; do
            tr -d '\r' < "$reader/$i.$part" > found
            tr -d '\r' < "linux/$i.$part" | cmp -s - found ||
                fail "probity ${lines[i]}: $part: linux (<), $reader (>):" \
                    "$(diff "linux/$i.$part" "$reader/$i.$part" | head -n 10)"
        done
        [ -s "linux/$i.out" ] || [[ ${lines[i]} == csv* ]] || fail "${lines[i]}: no output"
    done
done

# With the files, signatures are added, but nothing else, and only by commands that print them.
for i in "${!lines[@]}"; do
    case ${lines[i]} in
        log* | report\ --* | view*) continue ;;
    esac
    cmp -s "with/$i.out" "linux/$i.out" || fail "${lines[i]}: depends on the program's file:" \
        "$(diff "with/$i.out" "linux/$i.out" | head -n 10)"
done
signature='int values(char c, unsigned char u, short int s, long long int l, double d, float f,'
signature+=' const char *text)'
for i in "${!lines[@]}"; do
    case ${lines[i]} in
        'log native'*)
            grep -qF "$signature" "with/$i.out" || fail "${lines[i]}: no signature"
            sed -E 's/^([0-9]+: *)[a-z *]*\b(main|values|nested)\(.*\)$/\1int \2/' "with/$i.out" |
                diff - "linux/$i.out" > difference || fail "${lines[i]}: $(head -n 8 difference)"
            ;;
        'report --json native'*)
            jq 'del(.functions[].signature)' "with/$i.out" > with.json
            jq 'del(.functions[].signature)' "linux/$i.out" > linux.json
            diff with.json linux.json > difference || fail "${lines[i]}: $(head -n 8 difference)"
            expect "${lines[i]}: signature" "$signature" "$(jq -r \
                '.functions[] | select(.name == "values") | .signature' "with/$i.out")"
            ;;
    esac
done
echo "${#lines[@]} answers are the same, natively and by: ${readers[*]}"
