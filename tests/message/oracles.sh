#!/usr/bin/env bash
# Checks every sample, converted to every dialect, with the official SDK types and the collected run-time rules.
# Usage: tests/message/oracles.sh MESSAGE_TEST_PROGRAM [FOLDER_OF_THE_ORACLES]
# The folder is $BOUGH_ORACLE_SCRIPTS, otherwise the argument. It contains provider_rules.mjs and provider_types.mjs;
# their packages are in $BOUGH_ORACLES (default ~/.cache/bough-oracles). Exit code 77: they are not installed.
set -euo pipefail
program=$1
oracles=${BOUGH_ORACLE_SCRIPTS:-${2:-}}
packages=${BOUGH_ORACLES:-$HOME/.cache/bough-oracles}/node_modules
if ! command -v node >/dev/null || [[ ! -f $oracles/provider_rules.mjs || ! -d $packages ]]; then
  echo "skipped: the oracles are not installed; set BOUGH_ORACLE_SCRIPTS to the folder of provider_rules.mjs"
  exit 77
fi
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
BOUGH_MESSAGE_DUMP=$out "$program" --gtest_filter='Samples.*' --gtest_brief=1
status=0
for dialect in anthropic openai-chat openai-responses gemini; do
  node "$oracles/provider_rules.mjs" "$dialect" --gemini3 --strict-ids --store-false "$out/$dialect"/*.json || status=1
  node "$oracles/provider_types.mjs" "$dialect" "$out/$dialect"/*.json || status=1
done
exit $status
