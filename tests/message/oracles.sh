#!/usr/bin/env bash
# Lets the official SDK types and the collected run-time rules judge every sample converted to every dialect.
# Usage: tests/message/oracles.sh MESSAGE_TEST_PROGRAM FOLDER_OF_THE_ORACLES
set -euo pipefail
program=$1
oracles=$2
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
BOUGH_MESSAGE_DUMP=$out "$program" --gtest_filter='Samples.*' --gtest_brief=1
status=0
for dialect in anthropic openai-chat openai-responses gemini; do
  node "$oracles/provider_rules.mjs" "$dialect" --gemini3 --strict-ids --store-false "$out/$dialect"/*.json || status=1
  node "$oracles/provider_types.mjs" "$dialect" "$out/$dialect"/*.json || status=1
done
exit $status
