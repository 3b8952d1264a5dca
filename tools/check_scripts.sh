#!/usr/bin/env bash
# Every shell script in the tree passes shellcheck. Exit status 1 when it finds something.
set -eu
cd "$(dirname "$0")/.."
mapfile -t scripts < <(find .ci tools tests bench examples completion \
    \( -name '*.sh' -o -path .ci/run -o -name '*.bash' \) | sort)
shellcheck --severity=warning --shell=bash "${scripts[@]}"
echo "scripts: ${#scripts[@]} without a warning"
