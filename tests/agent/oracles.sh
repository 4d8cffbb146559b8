#!/usr/bin/env bash
# Runs tests of the agent, and lets the collected run-time rules of the APIs judge the requests that they keep: all of the
# scenario of thirty steps, and those that take up a run that was killed.
# Usage: tests/agent/oracles.sh AGENT_TEST_PROGRAM FOLDER_OF_THE_ORACLES FILTER
# Where the oracles are not installed the tests run without them; those of the scenario, which run elsewhere too, do not.
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
