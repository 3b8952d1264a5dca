# What tests/run/death.sh and the campaign share. Sourced behind common.bash.

if [ "$(uname -m)" != x86_64 ]; then
    echo "instructions are counted by a stepper that knows x86-64 only"
    exit 77
fi

# Paths that are stepped through: of the thread that records, and of the writing thread.
probe_paths="probe probe_gap wide typed typed_gap scope scope_gap profile change change_gap"
chunk_paths="all change_typed change_all"
life_paths="first first_profile segment thread_exit thread_exit_profile fork"
end_paths="stop exit exit_profile"
writer_paths="drain drain_profile stop_writer exit_writer"

# $@: arguments of tests/death/main.c. In folders of its own, so that several may run at once.
death() {
    local status=0
    fresh
    "$BUILD/tests/death" "$@" 2>&1 || status=$?
    return "$status"
}

# Sums the figures that stand before a word, over files or standard input. $1 word
sum_of() {
    local word=$1
    shift
    cat -- "$@" | grep -oE "[0-9]+ $word\b" | awk '{ sum += $1 } END { printf "%.0f\n", sum }'
}
