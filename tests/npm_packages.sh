# Sourced by suites that need packages of npm: npm_packages FOLDER CACHE installs what FOLDER/package-lock.json names into
# CACHE, once for each lock file, and sets `modules` to its node_modules. Where that cannot be done, `skip` says why (77).
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
  # One installation at a time; the others wait for it.
  exec 9>"$cache/lock"
  flock 9
  if [ ! -f "$installed/installed" ]; then
    cp "$folder/package.json" "$folder/package-lock.json" "$installed/"
    # Not `npm ci`: it refuses a lock file that lacks a package of another platform, and not every registry has them all.
    (cd "$installed" && timeout 600 npm install --no-save --ignore-scripts --no-audit --no-fund >npm.log 2>&1) ||
      skip "npm packages cannot be installed: $(tail -1 "$installed/npm.log")"
    touch "$installed/installed"
  fi
  exec 9>&-
}
