#!/usr/bin/env bash
# Tests the Node package as users get it: packs it, installs it in an empty folder without network access, runs the
# README's commands and the package's tests: node.sh ADDON. Exit code 77: skipped, because Node is missing.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../npm_packages.sh"
. "$here/package.sh"
command -v node >/dev/null && command -v npm >/dev/null || skip "node or npm is not installed"
[ -f "$1" ] || skip "the addon is not built: node_api.h was not found when CMake ran"
# --help builds nothing, and an option is not taken for a folder.
"$here/../../bindings/node/build" --help | grep -q '^Builds '
! "$here/../../bindings/node/build" --none 2>/dev/null || { echo "bindings/node/build takes an option for a folder"; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unpacked "$1" "$work/bindings/node"
cp -r "$here/../../examples" "$work/"
cd "$work"
# The README's commands, with npm in offline mode.
commands=$("$here/readme.py" examples/node)
export npm_config_offline=true npm_config_audit=false npm_config_fund=false npm_config_loglevel=error
bash -euo pipefail -c "$commands" >output
tail -3 output | diff -u - <(printf '%s\n' 'user - Name a tree.' 'assistant - Beech.' '2 branches')
# The package has no script that a package manager would run, and no file that users do not need.
node -e 'const { scripts } = require("bough/package.json"); if (scripts) throw new Error("the package has scripts")'
tar -tzf bough-*.tgz | grep -vE '^package/(lib/|prebuilds/|README.md|LICENSE|THIRD_PARTY_LICENSES|package.json)' && { echo "the package holds more than it needs"; exit 1; }
# The package has its licence, and the licences of the libraries in the binary.
diff "$here/../../LICENSE" node_modules/bough/LICENSE
grep -q '^zstd' node_modules/bough/THIRD_PARTY_LICENSES
cp "$here"/../../bindings/node/test/{core.test,endings.test,folder}.mjs .
node --test core.test.mjs endings.test.mjs
# On a platform without a binary, or without the binary itself, an error message says what to do.
refused() {
  if node -e 'require("bough")' 2>message; then echo "a package without a binary was loaded"; exit 1; fi
  grep -q "$1" message || { cat message; exit 1; }
}
binary=$(echo node_modules/bough/prebuilds/*/bough.node)
mv "$binary" moved.node
BOUGH_NODE_BINARY=moved.node node -e 'require("bough")'
BOUGH_NODE_BINARY=nowhere.node refused 'BOUGH_NODE_BINARY names .*/nowhere.node'
echo 'not a binary' >"$binary"
refused 'cannot be loaded: .*bindings/node/build'
rm "$binary"
refused 'has no binary for .*bindings/node/build'
rm -r node_modules/bough/prebuilds # as after a bundler has moved the code
refused 'out of the bundle'
