#!/usr/bin/env bash
# Runs the C walk in a new store: run.sh WALK [LIBRARY [C_LIBRARY]]. Compares the C symbols of LIBRARY with the golden
# list, and the types and functions of C_LIBRARY, which exports only C, with the golden ABI (abidiff).
# BOUGH_UPDATE_GOLDEN=1 rewrites both.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
store=$(mktemp -d)
trap 'rm -rf "$store"' EXIT
"$1" "$store/store"
[ -n "${2:-}" ] || exit 0
symbols() { nm -D --defined-only "$2" | awk '{print $3}' | sed 's/@.*//' | grep '^bough_' | sort; }
[ -z "${BOUGH_UPDATE_GOLDEN:-}" ] || symbols "$@" >"$here/symbols.txt"
diff -u "$here/symbols.txt" <(symbols "$@")
# The library exports exactly what the header declares.
diff -u <(grep -oE '\bbough_[a-z0-9_]+\(' "$here/../../include/bough/bough_c.h" | tr -d '(' | sort -u) "$here/symbols.txt"
# The walk uses every symbol.
missing=$(grep -vxFf <(grep -ohE '\bbough_[a-z0-9_]+\b' "$here"/walk*.c | sort -u) "$here/symbols.txt") || true
[ -z "$missing" ] || { echo "the walk does not call $missing"; exit 1; }
[ -n "${3:-}" ] || exit 0
command -v abidiff >/dev/null || { echo "the ABI was not compared: abidiff (abigail-tools) is not installed"; exit 0; }
headers=$here/../../include/bough
if [ -n "${BOUGH_UPDATE_GOLDEN:-}" ]; then
  abidw --headers-dir "$headers" --drop-private-types --exported-interfaces-only --no-architecture --no-corpus-path --no-show-locs \
    --no-comp-dir-path --no-elf-needed --no-parameter-names --type-id-style hash --out-file "$here/abi.xml" "$3"
  sed -i "s|path='/[^']*/rooms/|path='rooms/|" "$here/abi.xml"  # remove the local build path
fi
compare() { abidiff --no-architecture --no-show-locs "$1" "$2"; }
compare "$here/abi.xml" "$3" || {
  echo "The C ABI changed. Calls and structs that exist stay as they are; after an addition, BOUGH_UPDATE_GOLDEN=1 rewrites the golden ABI."
  exit 1
}
# Check that abidiff notices a moved member.
python3 - "$here/abi.xml" "$store/moved.xml" <<'MOVE'
import sys

text = open(sys.argv[1]).read()
at = text.index("layout-offset-in-bits='64'", text.index("name='bough_append_options'"))
open(sys.argv[2], "w").write(text[:at] + text[at:].replace("='64'", "='96'", 1))
MOVE
! compare "$store/moved.xml" "$3" >/dev/null || { echo "abidiff does not notice a member that moved"; exit 1; }
