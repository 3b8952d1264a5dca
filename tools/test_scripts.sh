#!/usr/bin/env bash
# Prints the scripts that `make test` runs: all in tests/SUBJECT, without those of qemu, Wine and
# the campaigns, and without what only prepares something.
cd "$(dirname "$0")/.." || exit
printf '%s\n' tests/*/*.sh | grep -vE '^tests/(aarch64|campaign|engine|fuzz|windows)/'
