#!/usr/bin/env bash
# The time from the start of `probity attach` to the first record of a loaded, dormant web server:
# minimum, median and maximum of ROUNDS (20), in ms.
set -eu
cd "$(dirname "$0")/.."
BUILD=$(realpath "${BUILD:-build}")
source=$PWD
probity=$BUILD/bin/probity
rounds=${ROUNDS:-20}
work=$(mktemp -d)
server='' load=''
stop() {
    [ -z "$load" ] || kill "$load" || true
    [ -z "$server" ] || kill "$server" || true
    rm -rf "$work"
}
trap '[[ $BASHPID != $$ ]] || stop' EXIT
cd "$work"
for name in "${!PROBITY_@}"; do unset "$name"; done

"${CC:-gcc}" -O2 -pthread -DFN_INSTRUMENT -I"$source/include" -o httpd \
    "$source"/examples/httpd/*.c -L"$BUILD/lib" -Wl,-rpath,"$BUILD/lib" -lprobity
mkdir root
head -c 4096 /dev/zero > root/page.html
: > listening
./httpd --root root --port 0 --threads 4 > listening &
server=$!
port=
until [ -n "$port" ]; do
    sleep 0.05
    port=$(sed -n 's/^listening on 127.0.0.1://p' listening)
done
"$BUILD/examples/httpd_load" --connections 16 --seconds 3600 "$port" /page.html \
    > answers &
load=$!
for ((i = 0; i < rounds; i++)); do
    begin=$(date +%s%N)
    "$probity" attach -o "$i.probity" "$server" > said
    sleep 0.05
    "$probity" detach "$server" > said
    "$probity" csv --columns wall_s,wall_ns "$i.probity" | awk -F, -v begin="$begin" '
        $1 ~ /^[0-9]/ {
            ns = $2 - substr(begin, 11)
            printf "%.2f\n", ($1 - substr(begin, 1, 10)) * 1e3 + ns / 1e6
            exit
        }' >> ms
    rm "$i.probity"
done
sort -g ms | awk -v load="$(cut -d' ' -f1-3 /proc/loadavg)" '{ value[NR] = $1 }
    END {
        printf "attach: first record after the command: %s, median %s, most %s ms", value[1],
            value[int((NR + 1) / 2)], value[NR]
        printf " of %d; load %s\n", NR, load
    }'
