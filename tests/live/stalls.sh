#!/usr/bin/env bash
# Stalls in the web server under load are dumped, and their causes named. The campaign has 1,000.
. "$(dirname "$0")/../common.bash"
# shellcheck source=tests/live/planted_stalls.bash
. "$SOURCE/tests/live/planted_stalls.bash"
trap '[[ $BASHPID != $$ ]] || { stalls_stop; rm -rf "$WORK" "$SPOOL"; }' EXIT

planted=${STALLS:-20}
[ "${VARIANT:-gcc}" = gcc ] || planted=0
if [ "$planted" != 0 ]; then
    stalls_record "$planted" 1
    stalls_judge > judged || fail "not judged"
    read -r answered dumped right taken < judged
    echo "$answered stalls, $dumped dumped, the cause of $right is right, $taken lost their CPU"
    [ "$answered" -ge $((planted / 2)) ] || fail "$answered of $planted stalls answered"
    [ "$dumped" = "$answered" ] || fail "dumped: $(cat judged)"
    [ $((right * 100)) -ge $(((answered - taken) * 90)) ] || fail "causes: $(cat judged)"
fi
finish
