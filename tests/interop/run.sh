#!/usr/bin/env bash
# The real agents read what bough writes: tests/interop/run.sh BOUGH [WORD…] runs the cases whose names contain a word.
# The agents are installed once, as package-lock.json specifies, into $BOUGH_INTEROP (~/.cache/bough-interop by
# default). Without node or npm, or when a package cannot be fetched, the suite is skipped (77).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${BOUGH_INTEROP:-${XDG_CACHE_HOME:-$HOME/.cache}/bough-interop}
. "$here/../npm_packages.sh"
npm_packages "$here" "$cache"
exec node "$here/run.mjs" "$modules" "$@"
