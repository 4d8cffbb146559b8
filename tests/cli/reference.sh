#!/usr/bin/env bash
# Checks that docs/cli.md matches the command's own definitions: reference.sh BOUGH DOCS. BOUGH_UPDATE_GOLDEN=1 rewrites
# it.
set -euo pipefail
if [ -n "${BOUGH_UPDATE_GOLDEN:-}" ]; then
  "$1" help --format markdown > "$2"
fi
diff -u "$2" <("$1" help --format markdown)
# The manual page has a section for every command, and troff reports no warnings.
page=$("$1" help --format man)
for command in $("$1" completion bash -- ''); do
  grep -qF ".SS bough ${command//-/\\-}" <<<"$page" || { echo "the manual page lacks $command"; exit 1; }
done
for section in ENVIRONMENT FILES EXAMPLES "EXIT STATUS"; do
  grep -qxF ".SH $section" <<<"$page" || { echo "the manual page lacks $section"; exit 1; }
done
# The manual page lists every variable that the source reads by name, except those of the system.
sources=$(dirname "$2")/../src
for variable in $(grep -rhoE '(environmentVariable|variable|getenv)\("[A-Z][A-Z_]+"|"[A-Z]+(_[A-Z]+)*_(API_KEY|BASE_URL|HOST|HOME|DIR|FILE)"' "$sources" |
                  grep -oE '[A-Z_]{3,}' | sort -u); do
  case $variable in HOME | USER | PATH | TMUX | XTERM_VERSION | OLLAMA_API_KEY) continue ;; esac
  grep -qE "(^|[ ,])$variable(,| |$)" <<<"$page" || { echo "the manual page lacks the variable $variable"; exit 1; }
done
if command -v groff >/dev/null; then
  warnings=$(groff -Kutf8 -man -Tutf8 -ww -z <<<"$page" 2>&1)
  [ -z "$warnings" ] || { echo "$warnings"; exit 1; }
fi
