# Sourced by suites that need npm packages. npm_packages FOLDER CACHE installs the packages of FOLDER/package-lock.json
# into CACHE, once per lock file, and sets `modules` to its node_modules. When that is impossible, `skip` prints the
# reason and exits with 77.
skip() {
  echo "skipped: $1"
  exit 77
}

npm_packages() {
  local folder=$1 cache=$2 installed
  command -v node >/dev/null || skip "node is not installed"
  command -v npm >/dev/null || skip "npm is not installed"
  installed=$cache/$(sha256sum "$folder/package-lock.json" | cut -c1-16)
  modules=$installed/node_modules
  [ -f "$installed/installed" ] && return
  mkdir -p "$installed"
  # Only one process installs at a time; the others wait.
  exec 9>"$cache/lock"
  flock 9
  if [ ! -f "$installed/installed" ]; then
    cp "$folder/package.json" "$folder/package-lock.json" "$installed/"
    # Not `npm ci`: it rejects a lock file that lacks a package for another platform, and some registries lack such
    # packages.
    (cd "$installed" && timeout 600 npm install --no-save --ignore-scripts --no-audit --no-fund >npm.log 2>&1) ||
      skip "npm packages cannot be installed: $(tail -1 "$installed/npm.log")"
    touch "$installed/installed"
  fi
  exec 9>&-
}
