#!/usr/bin/env bash
# probity.exe with protobuf-c writes the same bytes for pprof and OpenTelemetry as the tool on
# Linux; without protobuf-c, it reports that. It cannot send. On a full disk, an export to a file
# fails with a message, leaves no partial file, and keeps the file that it would have replaced.
# shellcheck source=tests/windows/common.bash
. "$(dirname "${BASH_SOURCE[0]}")/common.bash"
exe=$WINDOWS/bin/probity.exe
cp "$SOURCE"/tests/golden/{good/sites,good/threads,systems/windows}.probity .

# $1 expected status, the rest: arguments. Its output is in `out`.
export_to() {
    local expected=$1
    shift
    wine_run "$exe" export "$@" > out 2>&1
    expect "export $*: status; $(head -n 3 out)" "$expected" "$status"
}

# $1 word of the message
says() {
    grep -q "^probity export: $1" out || fail "expected '$1', found '$(cat out)'"
}

files=()
same() {
    local trace format
    for trace in sites threads windows; do
        for format in pprof otlp otlp-json; do
            export_to 0 --format "$format" -o "$trace.$format" "$trace.probity"
            "$PROBITY" export --format "$format" -o expected -f "$trace.probity" 2> errors
            cmp expected "$trace.$format" || fail "$trace as $format differs from Linux's"
            [ -s expected ] || fail "$trace as $format: no bytes"
        done
    done
    export_to 0 --format pprof --value calls --by-thread threads.probity
    export_to 1 --format otlp -o http://127.0.0.1:1/v1/traces sites.probity
    says "cannot send to 'http://127.0.0.1:1/v1/traces': built without HTTP"
    echo "9 exports have the same bytes"
}
if wine_run "$exe" export --format pprof -o x sites.probity > out 2>&1 && [ -s x ]; then
    files=(pprof otlp otlp-json)
    same
else
    for format in pprof otlp otlp-json; do
        export_to 1 --format "$format" -o x sites.probity
        says "this build cannot write format '$format' (requires protobuf-c)"
    done
    echo "probity.exe was built without protobuf-c"
fi
rm -f x
if wine_run "$exe" export --format sqlite -o x sites.probity > out 2>&1 && [ -s x ]; then
    files+=(sqlite)
fi

# $1 format, then more options
full() {
    local format=$1
    shift
    export_to 1 --format "$format" "$@" -o disk/file threads.probity
    says "cannot write 'disk/file': No space left on device; free some space and retry"
}

# In a separate mount namespace: one page is free at first, and none next to the previous file.
full_disk() {
    local format
    mount -t tmpfs -o size=8k,mode=700 none disk || fail "cannot mount"
    head -c 4096 /dev/zero > disk/room
    for format in chrome perfetto firefox speedscope "${files[@]}"; do
        full "$format"
        expect "$format: files on the full disk" room "$(ls -A disk)"
        echo former > disk/file
        full "$format" --force
        expect "$format: the former file" former "$(cat disk/file)"
        rm disk/file
        expect "$format: files on the full disk" room "$(ls -A disk)"
    done
    echo "full disk: $((8 + 2 * ${#files[@]})) exports failed without a trace of them"
}

# Wine's server opens files in the namespace that it was started in.
if [ "$(id -u)" != 0 ] || ! unshare -m true 2> /dev/null || [ ! -x "$SERVER" ]; then
    echo "no mounts here: a full disk is not tested"
    exit 0
fi
[[ " ${files[*]} " != *" pprof "* ]] || files=("${files[@]:1}") # one page is enough for it
mkdir disk
"$SERVER" -k -w || true
export -f full_disk full export_to says expect fail wine_run start_wine
export exe SERVER
# shellcheck disable=SC2016 # expanded there
unshare -m bash -c 'set -eu; start_wine; files=("$@"); full_disk' full_disk "${files[@]}" &&
    status=0 || status=$?
"$SERVER" -k -w || true
exit "$status"
