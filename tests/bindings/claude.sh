#!/usr/bin/env bash
# The real Claude Agent SDK resumes a session from bough/claude, with a local model: claude.sh ADDON WORK_FOLDER. It is the
# package that tests/interop installs. Exit code 77: skipped, because Node or the packages of npm are not here.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../npm_packages.sh"
. "$here/package.sh"
[ -f "$1" ] || skip "the addon is not built: node_api.h was not found when CMake ran"
npm_packages "$here/../interop" "${BOUGH_INTEROP:-${XDG_CACHE_HOME:-$HOME/.cache}/bough-interop}"
suite_folder "$2" "$modules" "$1" "$here/../../bindings/node/test/claude-sdk.test.mjs" "$here/../interop/lib/model.mjs"
cd "$2"
node --test claude-sdk.test.mjs
