#!/usr/bin/env bash
# Lets the collected run-time rules of the APIs judge every request that the agent sends in the scenario of thirty steps.
# Usage: tests/agent/oracles.sh AGENT_TEST_PROGRAM FOLDER_OF_THE_ORACLES
set -euo pipefail
program=$1
oracles=$2
command -v node >/dev/null && [ -f "$oracles/provider_rules.mjs" ] || { echo "the oracles are not installed"; exit 77; }
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
BOUGH_AGENT_DUMP=$out "$program" --gtest_filter='Scenario.*' --gtest_brief=1
status=0
for dialect in anthropic openai-chat openai-responses gemini; do
  node "$oracles/provider_rules.mjs" "$dialect" --gemini3 --store-false "$out/$dialect"/*.json || status=1
done
exit $status
