#!/usr/bin/env bash
# A client and a server, whose clock is changed after recording to be ahead and to drift: the path
# of a request leads there and back, and other commands read both traces.
# variants: gcc
. "$(dirname "$0")/../common.bash"

requests=400
PROBITY_OUT=server.probity "$PROGRAMS/remote" server port &
server=$!
wait_until "$server" test -s port
PROBITY_OUT=client.probity "$PROGRAMS/remote" client port $requests || fail "client: status $?"
wait "$server" || fail "server: status $?"
python3 "$SOURCE/tests/tool/shift_clock.py" server.probity other 2500000000 150
"$PROBITY" check server.probity > output 2>&1 || fail "check: $(cat output)"

"$PROBITY" info --json client.probity server.probity > info 2> errors || fail "info: status $?"
expect "pair" "bounded messages $requests $requests" "$(jq -r '.[0].alignment.pairs[] |
    "\(.state) \(.by) \(.forward) \(.backward)"' info)"
expect "offset" true "$(jq '.[1].alignment | (.offset_ns - 2500000000 | fabs) <=
    .error_ns + 1000000 and .error_ns < 1000000000' info)"
"$PROBITY" path --json --slowest $requests client.probity server.probity > paths 2> errors ||
    fail "path: status $?"
expect "requests" $requests "$(jq '.spans | length' paths)"
expect "ways" '["01 10"]' "$(jq -c '[.spans[].parts | map(select(.state == "wire") |
    "\(.from_trace)\(.to_trace)") | join(" ")] | unique' paths)"
"$PROBITY" timeline --json client.probity server.probity > /dev/null 2> errors ||
    fail "timeline: status $?"
"$PROBITY" view -o page.html client.probity server.probity 2> errors || fail "view: status $?"

for format in perfetto chrome; do
    "$PROBITY" export --format $format -o out.$format client.probity server.probity 2> errors ||
        fail "$format: status $?"
done
# Each message is a flow with one event on each side.
cat > flows.py << 'END'
import struct
import sys

data = open("out.perfetto", "rb").read()
for i in range(int(sys.argv[1])):
    for name in (b"call", b"reply"):
        flow = 0xabcd000000000000 + i
        for byte in name:
            flow = (flow ^ byte) * 0x100000001b3 % 2**64
        if data.count(struct.pack("<Q", flow ^ 0xa0761d6478bd642f)) != 2:
            print("no arrow for", name, i)
END
python3 flows.py $requests > wrong
[ ! -s wrong ] || fail "perfetto: $(head -n 3 wrong)"
finish
