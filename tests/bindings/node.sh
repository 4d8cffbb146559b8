#!/usr/bin/env bash
# The Node package: its own tests, LangGraph's suite, an install of the tarball in an empty folder: node.sh ADDON WORK_FOLDER BOUGH.
# Exit code 77: skipped, because Node or the npm packages are not here.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
addon=$1
work=$2
skip() { echo "skipped: $1"; exit 77; }
command -v node >/dev/null && command -v npm >/dev/null || skip "there is no node or npm"
[ -f "$addon" ] || skip "the addon is not built: node_api.h was not found when CMake ran"
mkdir -p "$work"
cp "$here/package.json" "$here/package-lock.json" "$work/"
if ! cmp -s "$work/package-lock.json" "$work/installed-lock.json"; then
  (cd "$work" && timeout 600 npm install --no-save --no-audit --no-fund --ignore-scripts >npm.log 2>&1) || skip "npm packages cannot be installed: $(tail -1 "$work/npm.log")"
  cp "$work/package-lock.json" "$work/installed-lock.json"
fi
# The tarball, with this binary inside, installed as users do.
rm -rf "$work/package" "$work/node_modules/bough"
mkdir -p "$work/package"
cp -r "$here/../../bindings/node/." "$work/package"
rm -rf "$work/package/node_modules" "$work/package/prebuilds"
platform=$(node -p 'process.platform + "-" + process.arch')
mkdir -p "$work/package/prebuilds/$platform"
cp "$addon" "$work/package/prebuilds/$platform/bough.node"
tarball=$(cd "$work" && npm pack --silent --ignore-scripts ./package)
empty=$(mktemp -d)
trap 'rm -rf "$empty"' EXIT
(cd "$empty" && echo '{"private":true}' >package.json && npm install --silent --no-audit --no-fund --offline "$work/$tarball")
cp "$here/../../examples/node/first-session.mjs" "$empty/"
(cd "$empty" && node first-session.mjs) | diff -u - <(printf '%s\n' 'user - Name a tree.' 'assistant - Beech.' '2 branches')
# The suites, beside the frameworks' packages.
tar -xzf "$work/$tarball" -C "$work/node_modules" --one-top-level=bough --strip-components=1
cp "$here/../../bindings/node/test/"*.mjs "$here/mcp_clients.mjs" "$work/"
cd "$work"
node --test core.test.mjs adapters.test.mjs
cat >vitest.config.mjs <<'CONFIG'
export default { test: { include: ['langgraph.validation.mjs'], reporters: ['dot'], globals: true } };
CONFIG
npx --no-install vitest run --globals
node mcp_clients.mjs "$3"
