#!/usr/bin/env bash
# Hits with ids of two hosts: if there are too many ids to keep, some are left out entirely, so that
# no message is compared with a later one; reused ids; names with colons; too many hosts.
# variants: gcc
. "$(dirname "$0")/../common.bash"

# Starts the programs that record what `hit` requests. Both run on this machine, so their clocks
# agree.
begin() {
    rm -f a.* b.*
    mkfifo a.in a.out b.in b.out
    PROBITY_MODE=block PROBITY_OUT=a.probity "$PROGRAMS/messages" < a.in > a.out &
    a=$!
    PROBITY_MODE=block PROBITY_OUT=b.probity "$PROGRAMS/messages" < b.in > b.out &
    b=$!
    exec 3> a.in 4< a.out 5> b.in 6< b.out
}

hit() { # $1 a or b, $2 role, $3 id, $4 count, default 1
    local answer=
    if [ "$1" = a ]; then
        echo "$2 $3 ${4:-1}" >&3
        read -r answer <&4 || true
    else
        echo "$2 $3 ${4:-1}" >&5
        read -r answer <&6 || true
    fi
    expect "$*" "done" "$answer"
}

end() {
    exec 3>&- 4<&- 5>&- 6<&-
    wait "$a" || fail "a: status $?"
    wait "$b" || fail "b: status $?"
    python3 "$SOURCE/tests/tool/shift_clock.py" b.probity other 0 0
}

info() {
    "$PROBITY" info --json a.probity b.probity > info 2> errors || fail "info: status $?"
}

# The hash of 94 is smaller than that of 91 (src/reader/hosts_links.c). The last message is lost, so
# the number of receives does not show that a send was left out.
begin
hit a send 91 $((2**20 - 5))
for ((i = 0; i < 20; i++)); do
    hit a send 94
    [ "$i" = 19 ] || hit b receive 94
done
end
info
expect "too many" "one-sided 19 0" \
    "$(jq -r '.[0].alignment.pairs[] | "\(.state) \(.forward) \(.offset_ns)"' info)"
expect "too many: reported" 1 \
    "$(grep -c ": $((2**20 - 5)) hits with ids not used to align clocks" errors)"

# The hash of this id is 0.
begin
hit a send 6364136223846793005 $((2**20 + 10))
hit b receive 6364136223846793005 3
end
info
expect "least hash" '[]' "$(jq -c '.[0].alignment.pairs // []' info)"
expect "least hash: reported" 1 \
    "$(grep -c ": $((2**20 + 13)) hits with ids not used to align clocks" errors)"

# The second request of a sends nothing, so the hits of b with the same id are not part of it.
begin
hit a begin 5
hit a send 5
hit b receive 5
hit a end 5
hit a begin 5
hit b begin 5
hit b end 5
hit a end 5
hit a send 7
hit b receive 7
hit a get:send 7
hit b get:receive 7
end
"$PROBITY" path --slowest 9 --json a.probity b.probity > output 2> errors || fail "path: status $?"
expect "ids again" 3 "$(jq '.spans | length' output)"
"$PROBITY" export --format perfetto -o out.perfetto a.probity b.probity 2> errors ||
    fail "perfetto: status $?"
cat > flows.py << 'END'
import struct

with open("out.perfetto", "rb") as file:
    data = file.read()
for name in (b"db", b"db:get"):
    flow = 7
    for byte in name:
        flow = (flow ^ byte) * 0x100000001b3 % 2**64
    print(name.decode(), data.count(struct.pack("<Q", flow ^ 0xa0761d6478bd642f)))
END
expect "arrows by name" "db 2 db:get 2" "$(python3 flows.py | paste -sd ' ')"

# More hosts than can be aligned.
mkdir many
python3 - "$SOURCE/tests/tool" << 'END' || fail "many hosts: not made"
import struct
import sys

sys.path.insert(0, sys.argv[1])
from make_golden import TICK, Hit, Trace, probe


class OfHost(Trace):
    def put(self, kind, payload, **learned):
        if kind == 1:
            payload = struct.pack("<QQQQ", number, 0, number, 1) + payload[32:]
        super().put(kind, payload, **learned)


for number in range(1025):
    trace = OfHost()
    trace.put_data(0, [Hit(TICK + 1, probe(1))])
    with open(f"many/{number}.probity", "wb") as file:
        file.write(trace.end().data())
END
"$PROBITY" csv many/*.probity > output 2> errors || fail "many hosts: status $?"
expect "many hosts" 1 "$(grep -c 'clocks not aligned: .* of 1025 hosts, more than 1024' errors)"
finish
