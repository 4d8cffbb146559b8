#!/usr/bin/env bash
# Tests the adapters with the frameworks' own packages, with LangGraph's unmodified suite and with the official MCP
# clients: frameworks.sh ADDON WORK_FOLDER BOUGH. Exit code 77: skipped, because Node or the npm packages are missing.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../npm_packages.sh"
. "$here/package.sh"
[ -f "$1" ] || skip "the addon is not built: node_api.h was not found when CMake ran"
npm_packages "$here" "${BOUGH_BINDINGS:-${XDG_CACHE_HOME:-$HOME/.cache}/bough-bindings}"
tests=$here/../../bindings/node/test
suite_folder "$2" "$modules" "$1" "$tests"/*.m* "$tests"/*.c* "$here/mcp_clients.mjs"
cd "$2"
# `ai` and vitest need a newer Node than Debian 12 has; npm has one.
node=node
[ "$(node -p 'process.versions.node.split(".")[0] >= 22')" = true ] || node=$(echo "$PWD"/node_modules/node-linux-*/bin/node)
"$node" --test langgraph.test.mjs openai-agents.test.mjs claude.test.mjs ai.test.mjs commonjs.test.cjs
"$node" node_modules/typescript/bin/tsc --noEmit --strict --module nodenext --target es2022 --skipLibCheck types.mts types.cts every-type.mts
# Programs in CommonJS are often compiled with the older resolution, which does not read `exports`.
"$node" node_modules/typescript/bin/tsc --noEmit --strict --module commonjs --moduleResolution node10 --target es2022 --skipLibCheck types.cts
cat >vitest.config.mjs <<'CONFIG'
export default { test: { include: ['langgraph.validation.mjs'], reporters: ['json'], outputFile: 'validation.json', globals: true } };
CONFIG
"$node" node_modules/vitest/vitest.mjs run --globals || true
"$node" -e '
const { numTotalTests, numPassedTests, testResults } = JSON.parse(require("fs").readFileSync("validation.json"));
for (const { assertionResults } of testResults)
  for (const { status, fullName } of assertionResults) if (status !== "passed") console.log(`${status}: ${fullName}`);
console.log(`LangGraph: ${numPassedTests} of ${numTotalTests}`);
// 718 of the suite, and its 8 of delta channels.
if (numTotalTests < 726 || numPassedTests !== numTotalTests) process.exit(1);
'
"$node" mcp_clients.mjs "$3"
