#!/usr/bin/env bash
# The Python package against the built library, then as a wheel in an empty environment: python.sh LIBRARY [BUNDLED_LIBRARY].
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
package=$here/../../bindings/python
BOUGH_LIBRARY=$1 PYTHONPATH=$package python3 "$package/tests/test_bough.py" 2>&1 | tail -40
[ "${PIPESTATUS[0]}" -eq 0 ]
[ -n "${2:-}" ] && [ -f "$2" ] || exit 0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
wheel=$(python3 "$package/wheel_builder.py" "$2" "$work")
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --no-index "$work/$wheel"
cd "$work"
env -u BOUGH_LIBRARY -u PYTHONPATH "$work/venv/bin/python" "$here/../../examples/python/first_session.py" | diff -u - <(
  printf '%s\n' 'user - Name a tree.' 'assistant - Beech.' '2 branches'
)
echo "1 wheel passed"
