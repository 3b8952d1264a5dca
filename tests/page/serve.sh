#!/usr/bin/env bash
# `probity view --serve`: windows that the server reads have the calls of the trace, up to the last
# record (serve_windows.py); it rejects requests without the token, for other hosts, or by other
# methods; it writes no file. In headless chromium the page replaces merged spans with single calls.
# BROWSER=no leaves that out.
# variants: gcc clang asan
# timeout: 600
. "$(dirname "$0")/../common.bash"

for wrong in "--serve -o x.html" "--serve -f" "--port 80" "--serve --port 99999" \
    "--serve --diff x"; do
    status=0
    # shellcheck disable=SC2086
    "$PROBITY" view $wrong none.probity > output 2> errors || status=$?
    expect "view $wrong: status ($(cat errors))" 2 "$status"
done

# The shortest span must be far shorter than a column of the whole trace: the page begins with its
# own spans.
SPANS=40000
"$BUILD/bench/gen_scopes" run.probity 2 1 values
"$PROBITY" export --format sqlite -o run.db run.probity 2> /dev/null
mkdir served
cp run.probity served
cd served || exit
"$PROBITY" view --serve --spans "$SPANS" run.probity > ../address 2> ../errors &
server=$!
cd ..
wait_until "$server" has_lines address 1 '^http://127.0.0.1:'
if ! grep -q . address; then
    wait "$server" || true
    grep -q "built without --serve" errors || fail "no server: $(cat errors)"
    echo "built without --serve: nothing was served" >&2
    finish
    exit
fi
"$PROBITY" view --spans "$SPANS" -o - run.probity |
    sed -n 's,.*id="probity-data">\([^<]*\)<.*,\1,p' | base64 -d |
    python3 -c 'import json, sys, zlib
timeline = json.loads(zlib.decompress(sys.stdin.buffer.read()))["timeline"]
json.dump({"unit": timeline["unit_ns"]}, sys.stdout)' > unit.json
python3 "$SOURCE/tests/page/serve_windows.py" "$(cat address)" run.db < unit.json > said 2>&1 ||
    fail "serve_windows.py failed"
expect "failures" "" "$(grep -v '^compared' said | head -20)"
grep '^compared' said || fail "nothing was compared"
is_running "$server" || fail "the server has ended: $(cat errors)"
expect "listening" "127.0.0.1" "$(python3 - "$server" "$(cat address)" <<'END'
import sys
from urllib.parse import urlsplit
port = urlsplit(sys.argv[2]).port
for line in open(f"/proc/{sys.argv[1]}/net/tcp").readlines()[1:]:
    place, state = line.split()[1], line.split()[3]
    if state == "0A" and int(place.split(":")[1], 16) == port:
        print(".".join(str(byte) for byte in bytes.fromhex(place.split(":")[0])[::-1]))
END
)"
expect "files" "run.probity" "$(ls served)"

# The address is a secret, and every user can read command lines: the browser gets an address that
# redirects there once, and only for this user.
mkdir bin private
cat > bin/xdg-open << 'END'
#!/bin/sh
echo "$#" "$@" > reported
END
chmod +x bin/xdg-open
cat > ask.py << 'END'
import http.client, os, sys
from urllib.parse import urlsplit
place = urlsplit(sys.argv[1])
if len(sys.argv) > 2:
    "".encode("idna")  # loads a module that the other user may not be able to read
    os.setuid(int(sys.argv[2]))
connection = http.client.HTTPConnection(place.hostname, place.port, timeout=60)
connection.request("GET", place.path)
reply = connection.getresponse()
print(reply.status, reply.getheader("Location"))
END
PATH=$WORK/bin:$PATH TMPDIR=$WORK/private "$PROBITY" view --serve --open run.probity > opened \
    2> errors &
opener=$!
wait_until "$opener" has_lines reported 1
address=$(cat opened)
once=$(sed -n 's/^1 //p' reported)
token=${address#http://*/}
expect "the token's length" 33 "${#token}"
expect "the address for the browser" 1 \
    "$(grep -cE "^1 ${address%"$token"}[0-9a-f]{32}/$" reported)"
! grep -qF "$token" reported || fail "the token is in a command line: $(cat reported)"
if [ "$(id -u)" = 0 ]; then
    expect "asked by another user" "404 None" "$(python3 ask.py "$once" 65534)"
fi
expect "asked for something else" "404 None" "$(python3 ask.py "${once}window")"
expect "asked once" "303 $address" "$(python3 ask.py "$once")"
expect "asked twice" "404 None" "$(python3 ask.py "$once")"
expect "where that leads" "200 None" "$(python3 ask.py "$address")"
kill "$opener"
wait "$opener" || true
expect "files of --open" "" "$(ls private)"

if [ "${BROWSER:-yes}" = yes ] && command -v /usr/bin/chromium > /dev/null &&
    command -v node > /dev/null; then
    MODULES=$BUILD/npm-view
    "$SOURCE/tools/npm_install.sh" "$SOURCE/view" "$MODULES" --include=dev
    mkdir -p "$BUILD/test-logs/view"
    HOME=$WORK node "$SOURCE/tests/browser/view.mjs" "$MODULES/node_modules" \
        "$BUILD/test-logs/view" served "$(cat address)" -- cut "$(cat address)" > said 2> errors ||
        fail "$(cat said errors)"
fi
signal_job INT "$server" || true
signal_job TERM "$server" || true
wait "$server" 2> /dev/null || true
finish
