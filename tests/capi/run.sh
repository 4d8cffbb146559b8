#!/usr/bin/env bash
# Runs the C walk in a new store, and compares the library's C symbols with the golden list: run.sh WALK LIBRARY.
# BOUGH_UPDATE_GOLDEN=1 rewrites the list.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
store=$(mktemp -d)
trap 'rm -rf "$store"' EXIT
"$1" "$store/store"
symbols() { nm -D --defined-only "$2" | awk '{print $3}' | sed 's/@.*//' | grep '^bough_' | sort; }
[ -z "${BOUGH_UPDATE_GOLDEN:-}" ] || symbols "$@" >"$here/symbols.txt"
diff -u "$here/symbols.txt" <(symbols "$@")
# What the header declares is there, and nothing else is.
diff -u <(grep -oE '\bbough_[a-z0-9_]+\(' "$here/../../include/bough/bough_c.h" | tr -d '(' | sort -u) "$here/symbols.txt"
