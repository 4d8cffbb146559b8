#!/usr/bin/env bash
# Runs langgraph.mjs with the packages it needs: langgraph.sh ADDON WORK_FOLDER. Fails if they cannot be installed.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../../tests/npm_packages.sh"
. "$here/../../tests/bindings/package.sh"
{
  npm_packages "$here" "${BOUGH_BINDINGS:-${XDG_CACHE_HOME:-$HOME/.cache}/bough-bindings}"
  suite_folder "$2/langgraph" "$modules" "$1" "$here/langgraph.mjs"
} >&2
cd "$2/langgraph"
exec node_modules/node-linux-*/bin/node langgraph.mjs "$2/langgraph" "$2/langgraph/node_modules"
