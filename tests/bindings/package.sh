# Sourced by the Node suites. unpacked ADDON FOLDER: creates the package in FOLDER, including this binary.
source_of_package=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../bindings/node" && pwd)

unpacked() {
  local platform
  platform=$(node -p 'require(process.argv[1])' "$source_of_package/lib/platform.cjs")
  rm -rf "$2"
  mkdir -p "$2/prebuilds/$platform"
  cp -r "$source_of_package"/{lib,package.json,README.md,LICENSE,THIRD_PARTY_LICENSES} "$2"
  cp "$1" "$2/prebuilds/$platform/bough.node"
}

# suite_folder FOLDER MODULES ADDON FILE…: creates the folder of a suite with its files, its node_modules and the
# package.
suite_folder() {
  local folder=$1 modules=$2 addon=$3 module
  shift 3
  rm -rf "$folder"
  mkdir -p "$folder/node_modules"
  for module in "$modules"/* "$modules/.bin"; do ln -s "$module" "$folder/node_modules/"; done
  unpacked "$addon" "$folder/node_modules/bough"
  echo '{"private":true,"type":"module"}' >"$folder/package.json"
  cp "$@" "$folder/"
}
