#!/usr/bin/env bash
# Compares the output of `probity COMMAND --help` with the manual page and with the completions for
# bash, zsh and fish, which must be those that the tool generates; tries each choice that bash
# offers as a value; and checks that probity(3) documents each variable that the library reads.
# Usage: tools/check_options.sh PROBITY. Exit status 1 if there are differences.
set -eu
cd "$(dirname "$0")/.."
tool=${1:?usage: check_options.sh PROBITY}
failed=0
# Empty, so that `top` does not find and watch other recordings.
PROBITY_SPOOL_DIR=$(mktemp -d)
export PROBITY_SPOOL_DIR
trap '[[ $BASHPID != $$ ]] || rmdir "$PROBITY_SPOOL_DIR"' EXIT

# Prints the options in a text, one per line.
options_in() {
    grep -oE -- '(^|[^A-Za-z0-9_-])(--[a-z][a-z-]*|-[a-zA-Z]($|[^a-zA-Z]))' |
        grep -oE -- '--?[A-Za-z][a-z-]*' | sort -u
}

page_of() {
    mandoc -T ascii "man/probity-$1.1" | sed 's/.\x08//g' | sed '/^EXAMPLES/,$d'
}

# $1 description, $2 options of --help, $3 options of the other source
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

# Prints an option of a command and the values that completions offer for it, one option per line.
choices_of() {
    grep "^complete -c probity -n \"[$]in $1\"" completion/probity.fish |
        sed -nE "s/.* -l ([a-z-]+) -x -a ['\"]([(]__fish_append , )?([^)'\"]+).*/\1 \3/p"
}

# Prints the commands that each shell offers, one per line.
commands_in_bash() {
    bash -c 'source completion/probity.bash
        COMP_WORDS=(probity "") COMP_CWORD=1
        _probity
        printf "%s\n" "${COMPREPLY[@]}"' complete | grep -v '^-' | sort
}

commands_in_zsh() {
    sed -n "/^local -a commands=(/,/^)/s/^ *'\([a-z]*\):.*/\1/p" completion/_probity | sort
}

# Twice: in the list of known commands, and in the offered choices.
commands_in_fish() {
    if [ "$1" = known ]; then
        sed -n '/^set -l commands/,/[^\\]$/p' completion/probity.fish | grep -oE '^ +[a-z]+'
    else
        sed -n 's/^complete -c probity -n [$]none -a \([a-z]*\) -d .*/\1/p' completion/probity.fish
    fi | tr -d ' ' | sort
}

# Headings of mdoc pages are parsed for macros, so that "In a file" comes out as "<a> file".
macros='A[cdnoqrt]|B[cfkloqtx]|C[dm]|D[1cdlqvx]|E[cdfhklmnorsvx]|F[acdlnortx]|I[cnt]|L[bikp]'
macros+='|M[st]|N[dmosx]|O[copstx]|P[acfopq]|Q[coq]|R[ev]|S[chmoqstxy]|T[an]|U[dx]|V[at]|X[cor]'
for page in man/*.[13]; do
    found=$(grep -nE "^[.]S[hs] ([^\"]* )?($macros)( |\$)" "$page" || true)
    if [ -n "$found" ]; then
        echo "options: $page: a macro in a heading: $found" >&2
        failed=1
    fi
done

commands=$("$tool" --help | sed -n 's/^  \([a-z]*\)  .*/\1/p')
[ -n "$commands" ] || { echo "options: no command in --help" >&2; exit 1; }
expected=$( (grep . <<< "$commands"; echo help) | sort)
compare "commands of the bash completion" "$expected" "$(commands_in_bash)"
compare "commands of the zsh completion" "$expected" "$(commands_in_zsh)"
compare "commands of the fish completion" "$expected" "$(commands_in_fish known)"
compare "commands that the fish completion offers" "$expected" "$(commands_in_fish offered)"
choices=0
for command in $commands; do
    help=$("$tool" "$command" --help | options_in)
    [ -n "$help" ] || { echo "options: $command --help lists no option" >&2; failed=1; }
    compare "manual page of $command" "$help" "$(page_of "$command" | options_in)"
    if grep -qx -- --csv <<< "$help" && ! grep -q formulas "man/probity-$command.1"; then
        echo "options: man/probity-$command.1: mentions CSV, but not cells that are formulas" >&2
        failed=1
    fi
    compare "bash completion of $command" "$help" "$(in_bash "$command")"
    compare "zsh completion of $command" "$help" "$(in_zsh "$command")"
    compare "fish completion of $command" "$help" "$(in_fish "$command")"
    while read -r option values; do
        for value in $values; do
            choices=$((choices + 1))
            if [[ $("$tool" "$command" "--$option" "$value" 2>&1 || true) == *' invalid '* ]]; then
                echo "options: completions offer $command --$option $value, which is invalid" >&2
                failed=1
            fi
        done
    done < <(choices_of "$command")
done
if [ "$choices" -lt 100 ]; then
    echo "options: completions offer only $choices values of options" >&2
    failed=1
fi
for file in bash:probity.bash zsh:_probity fish:probity.fish; do
    if ! "$tool" --completion "${file%:*}" | cmp -s - "completion/${file#*:}"; then
        echo "options: completion/${file#*:} is not the output of probity --completion" \
            "${file%:*}; use \`make completion\`" >&2
        failed=1
    fi
done
variables=$(grep -rhoE --exclude-dir=cli '"PROBITY_[A-Z_]+"' src | tr -d '"' | sort -u)
[ -n "$variables" ] || { echo "options: no variable in src/" >&2; failed=1; }
for variable in $variables; do
    if ! grep -qE "^[.]It .*Ev $variable( |\$)" man/probity.3; then
        echo "options: $variable is not in man/probity.3" >&2
        failed=1
    fi
done
variables=$(grep -rhoE 'getenv[(]"PROBITY_[A-Z_]+"' src/{cli,answers,exports,log,page} |
    grep -o 'PROBITY_[A-Z_]*' | sort -u)
for variable in $variables; do
    if ! grep -qE "^[.]It Ev $variable\$" man/*.1; then
        echo "options: $variable is in no manual page of a command" >&2
        failed=1
    fi
done
if [ "$failed" -eq 0 ]; then
    echo "options: $(wc -w <<< "$commands") commands, $choices values, the same in five places"
fi
exit "$failed"
