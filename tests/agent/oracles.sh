#!/usr/bin/env bash
# Runs tests of the agent, and checks the requests that they save against the collected run-time rules of the APIs: all
# requests of the scenario of thirty steps, and those after resuming a killed run.
# Usage: tests/agent/oracles.sh AGENT_TEST_PROGRAM FOLDER_OF_THE_ORACLES FILTER
# Without the oracles, the tests run unchecked, except those of the scenario, which are skipped because they also run
# elsewhere.
set -euo pipefail
program=$1
oracles=$2
filter=$3
if ! command -v node >/dev/null || [[ ! -f $oracles/provider_rules.mjs ]]; then
  echo "the oracles are not installed"
  [[ $filter == Scenario* ]] && exit 77
  exec "$program" --gtest_filter="$filter"
fi
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
BOUGH_AGENT_DUMP=$out "$program" --gtest_filter="$filter" --gtest_brief=1
status=0
for folder in "$out"/*/; do
  dialect=$(basename "$folder")
  node "$oracles/provider_rules.mjs" "$dialect" --gemini3 --store-false "$folder"*.json > "$out/said" || status=1
  grep -v '^ok' "$out/said" | sort | uniq -c | head -50 || true
  echo "$dialect: $(find "$folder" -name '*.json' | wc -l) requests judged"
done
exit $status
