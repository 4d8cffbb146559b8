#!/usr/bin/env bash
# The real programs read what bough writes: tests/interop/run.sh BOUGH [WORD…] runs the cases whose names hold a word.
# The programs are installed once, as package-lock.json says, into $BOUGH_INTEROP (~/.cache/bough-interop by default).
# Where node or npm is missing, or no package can be fetched, the suite is skipped (77).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${BOUGH_INTEROP:-${XDG_CACHE_HOME:-$HOME/.cache}/bough-interop}
skip() {
  echo "interop: skipped: $1"
  exit 77
}
command -v node >/dev/null || skip "node is not installed"
command -v npm >/dev/null || skip "npm is not installed"
lock=$(sha256sum "$here/package-lock.json" | cut -c1-16)
programs=$cache/$lock
if [[ ! -f $programs/installed ]]; then
  mkdir -p "$programs"
  # One installation at a time; the others wait for it.
  exec 9>"$cache/lock"
  flock 9
  if [[ ! -f $programs/installed ]]; then
    cp "$here/package.json" "$here/package-lock.json" "$programs/"
    (cd "$programs" && timeout 600 npm ci --ignore-scripts --no-audit --no-fund >npm.log 2>&1) ||
      skip "the packages cannot be installed ($(tail -1 "$programs/npm.log" 2>/dev/null))"
    touch "$programs/installed"
  fi
  exec 9>&-
fi
exec node "$here/run.mjs" "$programs/node_modules" "$@"
