#!/usr/bin/env bash
# Compares three accounts of the tool's options: what `probity COMMAND --help` prints, the manual
# page, and the completions for bash, zsh and fish; and looks for each variable that the library
# reads in probity(3). Usage: tools/check_options.sh PROBITY. Exit status 1 when they differ.
set -eu
cd "$(dirname "$0")/.."
tool=${1:?usage: check_options.sh PROBITY}
failed=0

# Options in a text, one a line.
options_in() {
    grep -oE -- '(^|[^A-Za-z0-9_-])(--[a-z][a-z-]*|-[a-zA-Z]($|[^a-zA-Z]))' |
        grep -oE -- '--?[A-Za-z][a-z-]*' | sort -u
}

page_of() {
    mandoc -T ascii "man/probity-$1.1" | sed 's/.\x08//g' | sed '/^EXAMPLES/,$d'
}

# $1 what is compared, $2 options of --help, $3 options of the other account
compare() {
    local difference
    difference=$(diff <(echo "$2") <(echo "$3") | grep '^[<>]' | tr '\n' ' ' || true)
    if [ -n "$difference" ]; then
        echo "options: $1, --help (<) and it (>) differ: $difference" >&2
        failed=1
    fi
}

in_bash() {
    bash -c 'source completion/probity.bash
        COMP_WORDS=(probity "$1" -) COMP_CWORD=2
        _probity
        printf "%s\n" "${COMPREPLY[@]}"' complete "$1" | sed 's/=$//' | grep -vx -- '--' | sort -u
}

in_zsh() {
    awk -v command="$1" '$0 ~ "^ *([a-z]+ [|] )*" command "( [|] [a-z]+)*[)]" { inside = 1 }
        inside { print }
        inside && /;;/ { exit }' completion/_probity |
        grep -oE "[' (]--?[a-zA-Z][a-z-]*[=[]" | grep -oE -- '--?[a-zA-Z][a-z-]*' | sort -u
}

in_fish() {
    grep -E "^complete -c probity (-s|-n \"[$]in $1\")" completion/probity.fish |
        grep -oE -- ' -[sl] [a-z][a-z-]*' | sed 's/ -s /-/; s/ -l /--/' | sort -u
}

commands=$("$tool" --help | sed -n 's/^  \([a-z]*\)  .*/\1/p')
[ -n "$commands" ] || { echo "options: no command in --help" >&2; exit 1; }
for command in $commands; do
    help=$("$tool" "$command" --help | options_in)
    [ -n "$help" ] || { echo "options: $command --help names none" >&2; failed=1; }
    compare "manual page of $command" "$help" "$(page_of "$command" | options_in)"
    compare "bash completion of $command" "$help" "$(in_bash "$command")"
    compare "zsh completion of $command" "$help" "$(in_zsh "$command")"
    compare "fish completion of $command" "$help" "$(in_fish "$command")"
done
variables=$(grep -rhoE --exclude-dir=cli '"PROBITY_[A-Z_]+"' src | tr -d '"' | sort -u)
[ -n "$variables" ] || { echo "options: no variable in src/" >&2; failed=1; }
for variable in $variables; do
    if ! grep -qE "^[.]It .*Ev $variable( |\$)" man/probity.3; then
        echo "options: $variable is not in man/probity.3" >&2
        failed=1
    fi
done
variables=$(grep -rhoE 'getenv[(]"PROBITY_[A-Z_]+"' src/cli | grep -o 'PROBITY_[A-Z_]*' | sort -u)
for variable in $variables; do
    if ! grep -qE "^[.]It Ev $variable\$" man/*.1; then
        echo "options: $variable is in no manual page of a command" >&2
        failed=1
    fi
done
[ "$failed" -eq 0 ] && echo "options: $(wc -w <<< "$commands") commands, told alike in five places"
exit "$failed"
