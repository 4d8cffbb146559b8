#!/usr/bin/env bash
# The real Claude Agent SDK resumes a session from bough/claude, with a local model: claude.sh ADDON WORK_FOLDER. Uses
# the package that tests/interop installs; TypeScript compares its types with ours. Exit code 77: skipped, because Node
# or the npm packages are missing.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../npm_packages.sh"
. "$here/package.sh"
[ -f "$1" ] || skip "the addon is not built: node_api.h was not found when CMake ran"
npm_packages "$here" "${BOUGH_BINDINGS:-${XDG_CACHE_HOME:-$HOME/.cache}/bough-bindings}"
typescript=$modules
npm_packages "$here/../interop" "${BOUGH_INTEROP:-${XDG_CACHE_HOME:-$HOME/.cache}/bough-interop}"
tests=$here/../../bindings/node/test
suite_folder "$2" "$modules" "$1" "$tests/claude-sdk.test.mjs" "$tests/claude-types.mts" "$here/../interop/lib/model.mjs"
cd "$2"
node "$typescript/typescript/bin/tsc" --noEmit --strict --module nodenext --target es2022 --skipLibCheck --types node --typeRoots "$typescript/@types" claude-types.mts
node --test claude-sdk.test.mjs
