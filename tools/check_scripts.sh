#!/usr/bin/env bash
# Every shell script in the tree passes shellcheck. Exit status 1 when it finds something. RECENT=N:
# only those that changed in the last N commits or are not committed, and a random fourth of the
# others; all if the tree has no history.
set -eu
cd "$(dirname "$0")/.."
mapfile -t scripts < <(find .ci tools tests bench examples completion \
    \( -name '*.sh' -o -path .ci/run -o -name '*.bash' \) | sort)

# Prints the names of files that changed.
changed_files() {
    git diff --name-only "HEAD~$RECENT" -- && git ls-files --others --exclude-standard
}

export seed=$RANDOM
if [ -n "${RECENT:-}" ] && changed=$(changed_files 2> /dev/null); then
    mapfile -t scripts < <(printf '%s\n' "${scripts[@]}" | awk -v changed="$changed" '
        BEGIN {
            srand(ENVIRON["seed"])
            count = split(changed, names, "\n")
            for (i = 1; i <= count; i++) recent[names[i]]
        }
        $0 in recent || rand() < 0.25')
fi
shellcheck --severity=warning --shell=bash "${scripts[@]}"
echo "scripts: ${#scripts[@]} without a warning"
