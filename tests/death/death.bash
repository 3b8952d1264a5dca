# Shared by the scripts that kill or interrupt. Sourced after common.bash.

if [ "$(uname -m)" != x86_64 ]; then
    echo "skipped: instructions are counted by a stepper for x86-64 only"
    exit 77
fi

# Paths that are single-stepped, from a few hundred to 80,000 instructions, for the scripts.
# shellcheck disable=SC2034
{
    short_paths="probe wide typed change"
    middle_paths="scope probe_gap typed_gap all change_typed stop exit exit_profile thread_exit
        thread_exit_profile"
    long_paths="scope_gap profile change_gap change_all exit_writer drain_profile"
    longest_paths="first first_gap first_profile segment fork drain stop_writer"
}

# $@: arguments of tests/death/main.c
death() {
    local status=0
    fresh
    "$BUILD/tests/death" "$@" 2>&1 || status=$?
    rm -rf "$SPOOL.own"
    return "$status"
}

# $1 action, $2 stride, $3 seed, then paths
death_paths() {
    local how=$1 stride=$2 seed=$3 path
    shift 3
    for path; do
        death steps "$how" "$path" "$stride" "$seed" || fail "$how $path: seed $seed"
    done
}

skip_without_ptrace() {
    if ! death steps kill probe 1000 1 > output 2>&1 && grep -q 'first stop\|TRACEME' output; then
        echo "no ptrace here"
        exit 77
    fi
}

# Sums up the numbers before a word in the output of campaign steps. $1 word, then files
total() {
    local word=$1
    shift
    cat "$@" 2> /dev/null | grep -oE "[0-9]+ $word\b" | awk '{ n += $1 } END { printf "%.0f", n }'
}
