# Checks that are counted, for scripts that print "N passed, N failed" at the end. Sourced.
# shellcheck shell=bash
passed=0 failed=0

check() { # NAME WANTED GOT
    if [ "$2" = "$3" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'failed: %s\n  wanted: %q\n  got:    %q\n' "$1" "${2:0:600}" "${3:0:600}"
    fi
}
