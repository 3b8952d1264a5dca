#!/usr/bin/env bash
# Runs all tests in all variants and without tests/shortened, including what `make test` leaves out
# of a variant or repeats less often. Each variant and subject is a step, so that a run can be
# resumed. The thread sanitizer is in races.sh. VARIANTS, SUBJECTS: only these, without the style
# checks, Windows and AArch64.
# shellcheck source=tests/campaign/campaign.bash
. "$(dirname "$0")/campaign.bash"
mapfile -t subjects < <("$SOURCE/tools/test_scripts.sh" | cut -d / -f 2 | sort -u)
[ -z "${SUBJECTS:-}" ] || read -r -a subjects <<< "$SUBJECTS"
read -r -a variants <<< "${VARIANTS:-gcc clang asan}"

# $1 regular expression for names of tests
tests_in_step() {
    (cd "$SOURCE" && CAMPAIGN=yes ONLY="$1" BUILD=$BUILD tools/test.sh)
}

aarch64_in_step() {
    (cd "$SOURCE" && TIER=aarch64 BUILD=$BUILD tools/test.sh)
}

# Prints a failed step, which runs again in the next run of this part.
for variant in "${variants[@]}"; do
    for subject in unit "${subjects[@]}"; do
        step "${variant}_$subject" tests_in_step "^$variant/$subject/" || true
    done
done
if [ -z "${VARIANTS:-}${SUBJECTS:-}" ]; then
    variants+=(check windows aarch64)
    step check tests_in_step "^check/" || true
    step windows tests_in_step "^windows/" || true
    step aarch64 aarch64_in_step || true
fi

# $1 variant
passed() {
    cat "$STATE/${1}"*.out 2> /dev/null |
        awk '/^[0-9]+ passed, [0-9]+ failed/ { n += $1 } END { print n + 0 }'
}
for variant in "${variants[@]}"; do
    row "Tests in $variant, and their builds, passed" "all" "$(passed "$variant")"
done
row "Steps with a failed test" 0 "$failures"
finish
