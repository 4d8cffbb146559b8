#!/usr/bin/env bash
# The real programs read what bough writes: tests/interop/run.sh BOUGH [WORD…] runs the cases whose names hold a word.
# The programs are installed once, as package-lock.json says, into $BOUGH_INTEROP (~/.cache/bough-interop by default).
# Where node or npm is missing, or no package can be fetched, the suite is skipped (77).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${BOUGH_INTEROP:-${XDG_CACHE_HOME:-$HOME/.cache}/bough-interop}
. "$here/../npm_packages.sh"
npm_packages "$here" "$cache"
exec node "$here/run.mjs" "$modules" "$@"
