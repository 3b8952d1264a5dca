#!/usr/bin/env bash
# Checks every shell script in the tree with shellcheck. Exit status 1 if it reports anything.
# RECENT=N: only scripts that changed in the last N commits or are not committed, and a random
# eighth of the others, which are only affected by a change in a file that they source or by
# another version of shellcheck; all if the tree has no history.
set -eu
cd "$(dirname "$0")/.."
mapfile -t scripts < <(find .ci tools tests bench examples completion \
    \( -name '*.sh' -o -path .ci/run -o -name '*.bash' \) | sort)

# Prints the names of files that changed.
changed_files() {
    git diff --name-only "HEAD~$RECENT" -- && git ls-files --others --exclude-standard
}

if [ -n "${RECENT:-}" ] && changed=$(changed_files 2> /dev/null); then
    chosen=()
    for script in "${scripts[@]}"; do
        if [[ $'\n'$changed$'\n' == *$'\n'"$script"$'\n'* ]] || ((RANDOM % 8 == 0)); then
            chosen+=("$script")
        fi
    done
    scripts=("${chosen[@]}")
fi
shellcheck --external-sources --severity=warning --shell=bash "${scripts[@]}"
echo "scripts: ${#scripts[@]} without a warning"
