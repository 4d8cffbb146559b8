# Sourced by ./run, ./test and ./bench: installs missing packages and builds. For Debian 12 or newer.

# need PACKAGE…: installs the packages that are missing.
need() {
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  local sudo=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || {
      echo "bough needs these packages: ${missing[*]}; install them as root and run this again" >&2
      return 1
    }
    sudo=(sudo)
  fi
  echo "installing ${missing[*]}" >&2
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}" >&2 </dev/null ||
    { "${sudo[@]}" apt-get update >&2 </dev/null &&
      "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}" >&2 </dev/null; }
}

build_packages=(g++ cmake ninja-build pkg-config libfmt-dev libcli11-dev libzstd-dev zlib1g-dev libssl-dev libsqlite3-dev
  libutf8proc-dev libcurl4-openssl-dev libedit-dev libpq-dev libre2-dev)
test_packages=(libsimdjson-dev libgtest-dev python3 python3-venv mypy abigail-tools git tmux less zstd gzip postgresql pgbouncer iproute2 openssl zsh fish)
ha_packages=(patroni etcd-server python3-etcd procps)
node_packages=(nodejs npm libnode-dev)
clang_packages=(clang-19 libclang-rt-19-dev)
tidy_packages=(clang-19 clang-tidy-19 clang-format-19)
bench_packages=(libsimdjson-dev librocksdb-dev sqlite3 ripgrep postgresql)

# configure FOLDER OPTION…: runs CMake once; ninja reruns it when build files change.
configure() {
  local folder=$1
  shift
  [ -f "$folder/build.ninja" ] && return 0
  cmake -S . -B "$folder" -G Ninja "$@" >"$folder.log" 2>&1 || {
    cat "$folder.log" >&2
    return 1
  }
}

# build FOLDER TARGET…: prints nothing when there is nothing to do or the build succeeds.
build() {
  local folder=$1
  shift
  if [ -t 2 ] && ! ninja -C "$folder" -n "$@" | grep -q 'no work to do'; then
    ninja -C "$folder" "$@" >&2
    return
  fi
  ninja -C "$folder" "$@" >"$folder.log" 2>&1 || {
    cat "$folder.log" >&2
    return 1
  }
}
