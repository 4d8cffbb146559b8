#!/usr/bin/env bash
# Tests the Python package with the built library, then as a wheel in an empty environment without network access, using
# the README's commands: python.sh LIBRARY BUNDLED_LIBRARY.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
package=$here/../../bindings/python
BOUGH_LIBRARY=$1 PYTHONPATH=$package python3 -m unittest discover -s "$package/tests" 2>&1 | tail -40
if command -v mypy >/dev/null; then
  mypy --strict --allow-subclassing-any --ignore-missing-imports --cache-dir=/dev/null "$package/bough"
else
  echo "the types were not checked: mypy is not installed"
fi
# --help builds nothing, and an option is not taken for a folder.
"$here/../../bindings/python/build" --help | grep -q '^Builds '
! "$here/../../bindings/python/build" --none 2>/dev/null || { echo "bindings/python/build takes an option for a folder"; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/bindings/python/dist"
python3 "$package/wheel_builder.py" "$2" "$work/bindings/python/dist" >/dev/null
cp -r "$here/../../examples" "$work/"
cd "$work"
commands=$("$here/readme.py" examples/python)
export PIP_NO_INDEX=1 PIP_QUIET=1 PIP_DISABLE_PIP_VERSION_CHECK=1
unset BOUGH_LIBRARY PYTHONPATH
bash -euo pipefail -c "$commands" | diff -u - <(printf '%s\n' 'user - Name a tree.' 'assistant - Beech.' '2 branches')
# The wheel has type information and contains the library.
.venv/bin/python3 -c 'import bough, pathlib; folder = pathlib.Path(bough.__file__).parent; assert (folder / "py.typed").exists() and (folder / "libbough.so").exists()'
# The metadata names the licences of the package and of the libraries in it, and the licence files match RECORD.
.venv/bin/python3 - "$here/../../LICENSE" <<'PYTHON'
import base64, hashlib, importlib.metadata, pathlib, sys

wheel = importlib.metadata.distribution("bough")
metadata = wheel.metadata
assert metadata["Metadata-Version"] == "2.4", metadata["Metadata-Version"]
assert metadata["License-Expression"] == "Apache-2.0" and metadata["License"] is None
assert metadata.get_all("License-File") == ["LICENSE", "THIRD_PARTY_LICENSES"]
texts = {path.name: path for path in wheel.files if path.parent.name == "licenses"}
assert texts["LICENSE"].read_text() == pathlib.Path(sys.argv[1]).read_text()
assert "zstd" in texts["THIRD_PARTY_LICENSES"].read_text()
for path in texts.values():
    digest = hashlib.sha256(path.locate().read_bytes()).digest()
    assert path.hash.value == base64.urlsafe_b64encode(digest).rstrip(b"=").decode(), path
PYTHON
echo "1 wheel passed"
