#!/usr/bin/env bash
# Prints the scripts that `make test` runs: all in tests/SUBJECT, except those for qemu, Wine and
# the campaigns, and those that only prepare other tests.
cd "$(dirname "$0")/.." || exit
printf '%s\n' tests/*/*.sh | grep -vE '^tests/(aarch64|campaign|engine|fuzz|windows)/'
