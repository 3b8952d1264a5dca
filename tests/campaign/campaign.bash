# Shared by the parts of the campaign. Sourced; tools/campaign.sh sets STATE (a directory that
# outlives the run), PART, and the variables that tools/test.sh sets for scripts.
# shellcheck source=tests/common.bash
. "$(dirname "${BASH_SOURCE[0]}")/../common.bash"
: > "$STATE/rows"

# Runs a command unless an earlier run has completed it. Its output, old or new, is then in
# $STATE/NAME.out. Fails if the command does. $1 a name of one word, the rest: the command
step() {
    local name=$1
    shift
    if [ -e "$STATE/$name.done" ]; then
        return 0
    fi
    if "$@" > "$STATE/$name.running" 2>&1; then
        mv "$STATE/$name.running" "$STATE/$name.out"
        touch "$STATE/$name.done"
        return 0
    fi
    fail "$name: $(tail -n 5 "$STATE/$name.running")"
    return 1
}

# Adds $2 to the total $1, which outlives the run; total_of prints it.
count() {
    echo "$(($(total_of "$1") + $2))" > "$STATE/$1.count.new"
    mv "$STATE/$1.count.new" "$STATE/$1.count"
}

total_of() {
    cat "$STATE/$1.count" 2> /dev/null || echo 0
}

# Prints a row for the table in doc/reliability.md. $1 description, $2 target, $3 result
row() {
    printf '%s\t%s\t%s\n' "$1" "$2" "$3" >> "$STATE/rows"
    printf '  %s: %s (target: %s)\n' "$1" "$3" "$2"
}
