# Checks the output of `probity waits` for tests/programs/planted.c. Sourced after common.bash.

# $1 description, $2 status, $3 command; then its arguments. Writes "output" and "errors".
tool() {
    local what=$1 expected=$2 status=0
    shift 2
    "$PROBITY" "$@" > output 2> errors || status=$?
    expect "$what: status ($(cat errors))" "$expected" "$status"
}

# Lines "OBJECT WAITER CULPRIT FUNCTION" of a JSON answer in "output"; "null" is unknown.
# shellcheck disable=SC2016
causes='.rows[] | select(.object != null) | .object as $object | .worst[0] |
    "\($object) \(.tid) \(.culprit_tid) \(.culprit_function)"'

# $1 description, $2 status, $3 trace, $4 the true causes, $5 minimum number that must be named, $6
# "others" if there may be other waits. Sets right and unknown.
same_causes() {
    tool "$1" "$2" waits --json "$3"
    jq -r "$causes" output | sort > found
    awk '{ print $2, $3, $4, $5 }' "$4" | sort > truth
    awk -v is_damaged="$(($2 == 3))" -v others="${6:-}" '
        FILENAME == "truth" { cause[$1] = $2 " " $3 " " $4; next }
        { said = $2 " " $3 " " $4 }
        !($1 in cause) { if (others == "") print $1, "was not planted"; next }
        # A scope whose leave was destroyed appears to be open: only the thread is certain.
        is_damaged && index(cause[$1], $2 " " $3 " ") == 1 { right++; next }
        said == cause[$1] { right++; next }
        $3 == "null" { unknown++; next }
        $4 == "null" && index(cause[$1], $2 " " $3 " ") == 1 { unknown++; next }
        { print $1 ": " said ", not " cause[$1] }
        END { print right + 0, unknown + 0 > "counts" }' truth found > wrong
    [ ! -s wrong ] || fail "$1: $(wc -l < wrong) wrong causes: $(head -n 5 wrong)"
    read -r right unknown < counts
    echo "$1: $right of $(wc -l < truth) right, $unknown unknown"
    [ "$right" -ge "$5" ] || fail "$1: only $right of $(wc -l < truth) causes are named"
}

# Makes ./planted_calls, whose locks only --calls records.
build_planted_calls() {
    "$CC" -O1 -g -D_GNU_SOURCE -DPLANTED_BY_CALLS -I"$SOURCE/include" -pthread -o planted_calls \
        "$SOURCE/tests/programs/planted.c" -L"$BUILD/lib" -Wl,-rpath,"$BUILD/lib" -lprobity -lm
}
